-- A transfer whose date has rolled waits for the next window, and its row says so, as answers, metrics and workflows do. The rule allows more
-- than the one before, so no row needs to be looked at.
ALTER DOMAIN outgoing_transfer_wait DROP CONSTRAINT outgoing_transfer_wait_check;
ALTER DOMAIN outgoing_transfer_wait ADD CONSTRAINT outgoing_transfer_wait_check CHECK (VALUE IN (
  'authorization', 'compliance', 'date', 'next-window', 'balance', 'account', 'provider', 'retry', 'recall', 'caller')) NOT VALID;
-- The index of before goes last: only that holds up readers.
CREATE INDEX outgoing_transfers_next_releases ON outgoing_transfers (waiting_until, id) WHERE waiting_for IN ('date', 'next-window', 'retry');
COMMENT ON INDEX outgoing_transfers_next_releases IS 'A workflow that begins to wait for an instant: how many transfers are released before it.';
UPDATE outgoing_transfers SET waiting_for = 'next-window' WHERE waiting_for = 'date' AND roll_count > 0;
DROP INDEX outgoing_transfers_releases;
ALTER INDEX outgoing_transfers_next_releases RENAME TO outgoing_transfers_releases;
