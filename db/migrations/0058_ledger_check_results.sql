-- What the last check of the ledger found, for metrics: any worker may have made it. A check that holds moves checked_at instead, so a
-- breach counts while violated_at is the later one. The release before writes neither column, and its checks that hold count as well.
ALTER TABLE ledger_checks
  ADD COLUMN violated_at timestamptz,
  ADD COLUMN violation_count integer CHECK (violation_count > 0),
  ADD CONSTRAINT ledger_checks_violation CHECK ((violated_at IS NULL) = (violation_count IS NULL));
