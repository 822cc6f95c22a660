-- Each balance adjustment with the one posting that moved its money. `transaction_number` is on the account's statement.
CREATE TABLE balance_adjustments (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id),
  posting_id bigint NOT NULL UNIQUE,
  transaction_number text NOT NULL UNIQUE,
  workflow_code text NOT NULL CHECK (workflow_code IN ('correction', 'synchronization')),
  workflow_type text NOT NULL CHECK (workflow_type IN ('fee', 'unknown', 'unconnected-service-provider')),
  workflow_transaction_type text CHECK (workflow_transaction_type IN ('incoming-transfer', 'unconnected-service-provider')),
  direction text NOT NULL CHECK (direction IN ('debit', 'credit')),
  currency text NOT NULL,
  amount_minor bigint NOT NULL CHECK (amount_minor > 0),
  description text,
  unconnected_service_provider text,
  created_at timestamptz NOT NULL,
  CONSTRAINT balance_adjustments_workflow CHECK (CASE workflow_code
    WHEN 'correction' THEN workflow_type IN ('fee', 'unknown') AND workflow_transaction_type IS NOT NULL
    ELSE workflow_type = 'unconnected-service-provider' AND workflow_transaction_type IS NULL END),
  CONSTRAINT balance_adjustments_unconnected_service_provider CHECK ((unconnected_service_provider IS NOT NULL)
    = ('unconnected-service-provider' IN (workflow_type, coalesce(workflow_transaction_type, workflow_type))))
);
CREATE INDEX balance_adjustments_by_time ON balance_adjustments (created_at);
COMMENT ON INDEX balance_adjustments_by_time IS 'The ledger check of what is new: adjustments since the last check.';
CREATE TRIGGER balance_adjustments_append_only BEFORE UPDATE OR DELETE ON balance_adjustments FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER balance_adjustments_never_truncated BEFORE TRUNCATE ON balance_adjustments FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
