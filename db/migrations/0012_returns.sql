-- Returns of completed money in: outgoing transfers that go back to the payer of an incoming one. No row that is there needs to be looked at:
-- none is a return, and the rule of destinations says of the others what it said before.
ALTER TABLE outgoing_transfers
  -- The incoming transfer whose money goes back, and why, as an ISO 20022 code. Such a transfer has no beneficiary's bank account.
  ADD COLUMN return_of uuid,
  ADD COLUMN return_code text,
  DROP CONSTRAINT outgoing_transfers_destination,
  ADD CONSTRAINT outgoing_transfers_destination CHECK (
    CASE scope WHEN 'internal' THEN destination_account_id IS NOT NULL AND scheme IS NULL AND beneficiary_bank_account_id IS NULL AND return_of IS NULL
    ELSE scheme IS NOT NULL AND (beneficiary_bank_account_id IS NULL) = (return_of IS NOT NULL) AND destination_account_id IS NULL END) NOT VALID,
  ADD CONSTRAINT outgoing_transfers_return CHECK ((return_of IS NULL) = (return_code IS NULL)) NOT VALID;
ALTER TABLE incoming_transfers
  -- Its returns, oldest first, and the sum of those that have neither failed nor been cancelled. A trigger of the returns keeps both.
  ADD COLUMN return_ids uuid[] NOT NULL DEFAULT '{}',
  ADD COLUMN returning_minor bigint NOT NULL DEFAULT 0,
  ADD CONSTRAINT incoming_transfers_returning CHECK (returning_minor >= 0 AND returning_minor <= amount_minor) NOT VALID;
