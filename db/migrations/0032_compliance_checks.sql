-- What was decided in the compliance check of a transfer: the latest result, and, once the check is final, when and by whom.
-- compliance_check_status says where the check is: not-required (no check), not-checked (in review), fulfilled (approved) and
-- not-fulfilled (rejected).
CREATE DOMAIN compliance_result AS text CHECK (VALUE IN ('all-passed', 'soft-stop', 'hard-stop', 'hard-stop-accepted', 'hard-stop-rejected'));
ALTER TABLE outgoing_transfers ADD COLUMN compliance_result compliance_result, ADD COLUMN compliance_decided_at timestamptz,
  ADD COLUMN compliance_decided_by text;
ALTER TABLE incoming_transfers ADD COLUMN compliance_result compliance_result, ADD COLUMN compliance_decided_at timestamptz,
  ADD COLUMN compliance_decided_by text;
SELECT make_row_writer('outgoing_transfers'), make_row_writer('incoming_transfers');

-- No money moves before a review has approved it, whichever release decides. NOT VALID: no release before this one reviewed
-- anything, so that no row has to be looked at.
ALTER TABLE outgoing_transfers ADD CONSTRAINT outgoing_transfers_reviewed CHECK (status NOT IN ('processing', 'released', 'completed')
  OR compliance_check_status IN ('fulfilled', 'not-required')) NOT VALID;
ALTER TABLE incoming_transfers ADD CONSTRAINT incoming_transfers_reviewed CHECK (status <> 'completed'
  OR compliance_check_status IN ('fulfilled', 'not-required')) NOT VALID;

-- The ids of the decisions that came by Temporal's signal: a signal may be delivered again, after later decisions.
CREATE TABLE compliance_decisions (
  transfer_id uuid NOT NULL,
  decision_id text NOT NULL,
  received_at timestamptz NOT NULL,
  PRIMARY KEY (transfer_id, decision_id)
);
