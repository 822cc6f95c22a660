-- The console on a large database, and lists of remedies that a person stops.

-- What hours are summed from, without the rows. Of external transfers only: nothing is written for the many internal ones.
CREATE INDEX outgoing_transfers_by_hour ON outgoing_transfers (created_at) INCLUDE (currency, amount_minor) WHERE scope = 'external';
COMMENT ON INDEX outgoing_transfers_by_hour IS 'The console: what was requested to be paid out, by the hour.';
CREATE INDEX incoming_transfers_by_hour ON incoming_transfers (created_at) INCLUDE (currency, amount_minor) WHERE scope = 'external';
COMMENT ON INDEX incoming_transfers_by_hour IS 'The console: what came in from outside, by the hour.';

-- What waits, the longest wait first.
CREATE INDEX accounts_waiting ON accounts
  (coalesce(change_submitted_at, CASE requested_change WHEN 'close' THEN next_check_at ELSE created_at END), id)
  WHERE next_check_at IS NOT NULL OR status = 'pending';
COMMENT ON INDEX accounts_waiting IS 'The console: accounts that wait to be opened or closed, the longest wait first.';
CREATE INDEX open_banking_consents_waiting ON open_banking_consents (created_at, id)
  WHERE status IN ('awaiting-authorisation', 'awaiting-exchange');
COMMENT ON INDEX open_banking_consents_waiting IS 'The console: consents that wait for an answer, the longest wait first.';

ALTER TABLE remedy_lists
  ADD COLUMN stopped_by uuid REFERENCES people (id),
  ADD COLUMN stopped_role text,
  ADD COLUMN stop_reason text,
  DROP CONSTRAINT remedy_lists_status_check,
  ADD CONSTRAINT remedy_lists_status_check CHECK (status IN ('waiting', 'rejected', 'running', 'done', 'expired', 'stopped')) NOT VALID,
  DROP CONSTRAINT remedy_lists_done,
  ADD CONSTRAINT remedy_lists_done CHECK ((status IN ('done', 'expired', 'stopped')) = (done_at IS NOT NULL)) NOT VALID,
  ADD CONSTRAINT remedy_lists_stopped CHECK ((status = 'stopped') = (stopped_by IS NOT NULL)) NOT VALID;
ALTER TABLE remedy_lists VALIDATE CONSTRAINT remedy_lists_status_check;
ALTER TABLE remedy_lists VALIDATE CONSTRAINT remedy_lists_done;
ALTER TABLE remedy_lists VALIDATE CONSTRAINT remedy_lists_stopped;
