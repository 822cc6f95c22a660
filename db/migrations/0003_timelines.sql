-- A timeline joins the rows that concern one resource (db/timelines). These find them by the resource.
CREATE INDEX events_by_resource ON events (resource_id, first_sequence);
COMMENT ON INDEX events_by_resource IS 'Timelines: the events of a resource in their sequence.';
CREATE INDEX postings_by_outgoing_transfer ON postings (outgoing_transfer_id) WHERE outgoing_transfer_id IS NOT NULL;
COMMENT ON INDEX postings_by_outgoing_transfer IS 'Timelines: the ledger entries of an outgoing transfer.';
CREATE INDEX postings_by_incoming_transfer ON postings (incoming_transfer_id) WHERE incoming_transfer_id IS NOT NULL;
COMMENT ON INDEX postings_by_incoming_transfer IS 'Timelines: the ledger entries of an incoming transfer.';
CREATE INDEX provider_callbacks_by_reference ON provider_callbacks (our_reference) WHERE our_reference IS NOT NULL;
COMMENT ON INDEX provider_callbacks_by_reference IS 'Timelines: the callbacks about a payment or an account.';
CREATE INDEX webhook_deliveries_by_resource ON webhook_deliveries (resource_id, id);
COMMENT ON INDEX webhook_deliveries_by_resource IS 'Timelines, and GET /webhook-deliveries by resourceId.';
