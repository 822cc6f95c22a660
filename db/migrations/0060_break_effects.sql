-- What each break does to the sums of its day: the provider's movements less ours, as far as the break accounts for them. Those of a day,
-- resolved and explained ones too, add up to how its two sides differ. Of a break that is no longer found they are 0.
ALTER TABLE reconciliation_breaks
  ADD COLUMN credit_count bigint NOT NULL DEFAULT 0,
  ADD COLUMN credit_minor bigint NOT NULL DEFAULT 0,
  ADD COLUMN debit_count bigint NOT NULL DEFAULT 0,
  ADD COLUMN debit_minor bigint NOT NULL DEFAULT 0,
  -- The day that has what explains the difference. If it no longer has, the break is open.
  ADD COLUMN explained_by date;
CREATE INDEX reconciliation_breaks_explained ON reconciliation_breaks (provider, currency, explained_by) WHERE explained_by IS NOT NULL;
COMMENT ON INDEX reconciliation_breaks_explained IS 'What a day explains of other days, when it has been compared.';

-- The other side is just beyond midnight, so it is not for a third day to explain.
ALTER TABLE reconciliation_carry_overs ADD COLUMN is_paired boolean NOT NULL DEFAULT false;

-- While this is built, no incoming transfer can be written: with millions of them, build it beforehand under the same name with
-- CREATE INDEX CONCURRENTLY.
CREATE INDEX IF NOT EXISTS incoming_transfers_by_provider_reference ON incoming_transfers (service_provider_reference)
  WHERE service_provider_reference IS NOT NULL;
COMMENT ON INDEX incoming_transfers_by_provider_reference IS 'Money in by the reference of the bank, as its files name it.';
