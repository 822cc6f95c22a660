-- Accounts migrated from a provider (workflow.code client.migration), each with at most one opening balance.

-- The id under which the account was asked for at its provider. One account of a provider is one account here, however many
-- ask for it at once.
CREATE TABLE account_migrations (
  account_id uuid PRIMARY KEY REFERENCES accounts (id),
  provider text NOT NULL,
  source_id text NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT account_migrations_by_source_id UNIQUE (provider, source_id)
);

-- An opening balance is a synchronization: the previous release's ledger check expects it against settlement too.
ALTER TABLE balance_adjustments
  DROP CONSTRAINT balance_adjustments_workflow_type_check,
  DROP CONSTRAINT balance_adjustments_workflow,
  ADD CONSTRAINT balance_adjustments_workflow_type_check
    CHECK (workflow_type IN ('fee', 'unknown', 'unconnected-service-provider', 'opening-balance')),
  ADD CONSTRAINT balance_adjustments_workflow CHECK (CASE workflow_code
    WHEN 'correction' THEN workflow_type IN ('fee', 'unknown') AND workflow_transaction_type IS NOT NULL
    ELSE workflow_type IN ('unconnected-service-provider', 'opening-balance') AND workflow_transaction_type IS NULL END),
  ADD CONSTRAINT balance_adjustments_opening_balance CHECK (workflow_type <> 'opening-balance' OR direction = 'credit');
CREATE UNIQUE INDEX balance_adjustments_opening_balances ON balance_adjustments (account_id) WHERE workflow_type = 'opening-balance';
COMMENT ON INDEX balance_adjustments_opening_balances IS 'An account opens with one balance; the comparison of opening balances with the provider''s statement.';
