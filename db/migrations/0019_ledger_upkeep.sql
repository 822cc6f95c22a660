-- Which transfers waiting for money in an account fit what is available there, found without reading those that do not.
-- outgoing_transfers_waiting_for_balance serves the release before this one alone.
CREATE INDEX outgoing_transfers_waiting_by_total ON outgoing_transfers (account_id, (amount_minor + fee_minor), id) WHERE waiting_for = 'balance';

-- How far the books have been checked: each account's entries up to a version, and events up to a position. The next check
-- looks at what came since (db/ledger-invariants-since.sql).
CREATE TABLE ledger_checked_accounts (
  account_id uuid PRIMARY KEY,
  version bigint NOT NULL,
  balance_minor bigint NOT NULL,
  last_entry_at timestamptz NOT NULL
);
CREATE TABLE ledger_checks (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  checked_at timestamptz NOT NULL,
  event_position bigint NOT NULL
);
INSERT INTO ledger_checks (checked_at, event_position) VALUES ('-infinity', 0);

-- What was moved from a provider's fee revenue to its settlement, each by one posting. Negative: corrections had taken more than
-- fees had brought. `day` is the day that the sweep counts to.
CREATE TABLE fee_sweeps (
  posting_id bigint PRIMARY KEY,
  transaction_number text NOT NULL UNIQUE,
  day date NOT NULL,
  provider text NOT NULL,
  currency text NOT NULL,
  amount_minor bigint NOT NULL CHECK (amount_minor <> 0),
  swept_at timestamptz NOT NULL
);
CREATE INDEX fee_sweeps_by_time ON fee_sweeps (swept_at);
CREATE TRIGGER fee_sweeps_append_only BEFORE UPDATE OR DELETE ON fee_sweeps FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER fee_sweeps_never_truncated BEFORE TRUNCATE ON fee_sweeps FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The days on which the schedule has swept, with or without fees: once each.
CREATE TABLE fee_sweep_days (
  day date PRIMARY KEY,
  swept_at timestamptz NOT NULL
);
