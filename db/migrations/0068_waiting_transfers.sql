-- What open transfers wait for, and since when, for metrics that show a silent bank at once: each figure is one look into an index,
-- however many transfers wait. While they are built, no transfer and no delivery can be written: with millions of rows, build them
-- beforehand under the same names with CREATE INDEX CONCURRENTLY. The release before writes the same columns.
CREATE INDEX IF NOT EXISTS outgoing_transfers_waits ON outgoing_transfers
  (coalesce(waiting_for, 'provider'), status, coalesce(waiting_since, updated_at)) WHERE waiting_for IS NOT NULL OR next_check_at IS NOT NULL;
COMMENT ON INDEX outgoing_transfers_waits IS 'Metrics: how many transfers wait for what, and since when the oldest does.';
CREATE INDEX IF NOT EXISTS incoming_transfers_waits ON incoming_transfers
  (coalesce(waiting_for, 'provider'), status, coalesce(waiting_since, updated_at)) WHERE waiting_for IS NOT NULL OR next_check_at IS NOT NULL;
COMMENT ON INDEX incoming_transfers_waits IS 'Metrics: how many transfers in wait for what, and since when the oldest does.';

CREATE INDEX IF NOT EXISTS webhook_deliveries_undelivered ON webhook_deliveries (subscription_id, created_at) WHERE status = 'pending';
COMMENT ON INDEX webhook_deliveries_undelivered IS 'Metrics: deliveries that are not made yet, whenever their next attempt is, and the oldest of a subscription.';
