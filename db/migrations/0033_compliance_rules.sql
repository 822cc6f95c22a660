-- Which rule of the service's own review stopped the transfer: {"name", "kind"}. It stays when a person has decided.
ALTER TABLE outgoing_transfers ADD COLUMN compliance_rule jsonb;
ALTER TABLE incoming_transfers ADD COLUMN compliance_rule jsonb;
SELECT make_row_writer('outgoing_transfers'), make_row_writer('incoming_transfers');

-- While these are built, no transfer is created or changed: on a large ledger, build them beforehand under the same names with
-- CREATE INDEX CONCURRENTLY.
CREATE INDEX IF NOT EXISTS outgoing_transfers_by_account_and_time ON outgoing_transfers (account_id, created_at) INCLUDE (id, amount_minor, status);
CREATE INDEX IF NOT EXISTS incoming_transfers_by_account_and_time ON incoming_transfers (account_id, created_at) INCLUDE (id, amount_minor, status);

COMMENT ON INDEX outgoing_transfers_by_account_and_time IS 'Velocity rules of built-in reviews: number and sum of an account''s payments in a window.';
COMMENT ON INDEX incoming_transfers_by_account_and_time IS 'Velocity rules of built-in reviews: number and sum of an account''s receipts in a window.';
