-- A provider may take a payment and decide on it later, such as a bank that takes files. The rules allow more than those before, so no row
-- needs to be looked at.
ALTER DOMAIN submission_status DROP CONSTRAINT submission_status_check;
ALTER DOMAIN submission_status ADD CONSTRAINT submission_status_check CHECK (VALUE IN (
  'none', 'unresolved', 'not-found', 'queued', 'rejected', 'resolved')) NOT VALID;
ALTER DOMAIN outgoing_transfer_wait DROP CONSTRAINT outgoing_transfer_wait_check;
ALTER DOMAIN outgoing_transfer_wait ADD CONSTRAINT outgoing_transfer_wait_check CHECK (VALUE IN (
  'authorization', 'compliance', 'date', 'next-window', 'balance', 'account', 'provider', 'provider-decision', 'retry', 'recall',
  'caller')) NOT VALID;
