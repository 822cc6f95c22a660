-- A bank that is no longer configured tells no more: two people end its restore. The rule allows more than that before.
ALTER TABLE bank_restores
  ADD COLUMN closed_at timestamptz;
ALTER TABLE bank_file_requests
  DROP CONSTRAINT bank_file_requests_kind_check,
  ADD CONSTRAINT bank_file_requests_kind_check CHECK (kind IN ('send-again', 'take-carried', 'release', 'close-restore')) NOT VALID;
