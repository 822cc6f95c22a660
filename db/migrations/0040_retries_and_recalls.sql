-- What follows a payment's release, or a refusal before it: another attempt, returns in parts, recalls.

-- `refused`: the provider has refused this attempt for a reason that is worth another one, due at retry_at. The release before never
-- writes it. Reading it, it repeats the refused submission, which the provider refuses again: the payment fails with its reason.
ALTER DOMAIN submission_status DROP CONSTRAINT submission_status_check;
-- NOT VALID, here and below, so that no row is read: every stored value is one of the former ones.
ALTER DOMAIN submission_status ADD CONSTRAINT submission_status_check
  CHECK (VALUE IN ('none', 'unresolved', 'not-found', 'refused', 'resolved')) NOT VALID;
ALTER DOMAIN outgoing_transfer_wait DROP CONSTRAINT outgoing_transfer_wait_check;
ALTER DOMAIN outgoing_transfer_wait ADD CONSTRAINT outgoing_transfer_wait_check
  CHECK (VALUE IN ('authorization', 'compliance', 'date', 'balance', 'account', 'provider', 'retry', 'recall', 'caller')) NOT VALID;

ALTER TABLE outgoing_transfers
  ADD COLUMN retry_count integer NOT NULL DEFAULT 0,
  ADD COLUMN retry_at timestamptz,
  ADD COLUMN refusal_code text,
  -- The sum of its returns that have return_of, which the release before does not write: zero beside `returned` is one of that release.
  ADD COLUMN returned_minor bigint NOT NULL DEFAULT 0,
  -- The latest recall; 0 and null if there was none.
  ADD COLUMN recall_number integer NOT NULL DEFAULT 0,
  ADD COLUMN recall_status text;
ALTER TABLE outgoing_transfers
  ADD CONSTRAINT outgoing_transfers_returned_sum
    CHECK (returned_minor >= 0 AND returned_minor <= amount_minor AND (returned OR returned_minor = 0)) NOT VALID,
  ADD CONSTRAINT outgoing_transfers_retry CHECK (submission_status <> 'refused' OR (retry_at IS NOT NULL AND retry_count > 0)) NOT VALID,
  ADD CONSTRAINT outgoing_transfers_recall
    CHECK ((recall_status IS NULL) = (recall_number = 0) AND recall_number >= 0) NOT VALID,
  ADD CONSTRAINT outgoing_transfers_recall_status CHECK (recall_status IN ('due', 'asked', 'refused', 'ended')) NOT VALID,
  -- Only what was released can be recalled.
  ADD CONSTRAINT outgoing_transfers_recalled
    CHECK (recall_status IS NULL OR recall_status NOT IN ('due', 'asked') OR status IN ('released', 'completed', 'failed')) NOT VALID;

-- Which payment a return is of. A payment may come back in parts, so its own incoming_transfer_id names only the latest.
ALTER TABLE incoming_transfers ADD COLUMN return_of uuid;
UPDATE incoming_transfers AS arrived SET return_of = paid.id
  FROM outgoing_transfers AS paid WHERE paid.returned AND paid.incoming_transfer_id = arrived.id;
UPDATE outgoing_transfers AS paid SET returned_minor = arrived.amount_minor
  FROM incoming_transfers AS arrived WHERE paid.returned AND paid.incoming_transfer_id = arrived.id;
-- The same return is booked once, whatever a program decides.
CREATE UNIQUE INDEX incoming_transfers_by_return ON incoming_transfers (return_of, return_reference) WHERE return_of IS NOT NULL;
COMMENT ON INDEX incoming_transfers_by_return IS 'The returns of a payment, and that each is booked once.';

SELECT make_row_writer('outgoing_transfers'), make_row_writer('incoming_transfers');
