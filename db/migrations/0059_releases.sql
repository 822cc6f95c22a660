-- Transfers that are released at the same instant, in the order of their creation: each one's turn comes after those before it. The
-- release before writes the same columns. While it is built, no transfer can be written: with millions of transfers, build it
-- beforehand under the same name with CREATE INDEX CONCURRENTLY.
CREATE INDEX IF NOT EXISTS outgoing_transfers_releases ON outgoing_transfers (waiting_until, id) WHERE waiting_for IN ('date', 'retry');
COMMENT ON INDEX outgoing_transfers_releases IS 'A workflow that begins to wait for an instant: how many transfers are released before it.';
