-- The daily reconciliation: a row per provider, currency and day, and breaks that say what we expected and what the provider has.

ALTER TABLE reconciliation_breaks
  -- What the break is about: an outgoing or incoming transfer, or an account. Null if none of ours has the reference.
  ADD COLUMN resource_id uuid,
  ADD COLUMN currency text,
  -- The day whose comparison found it; null if no daily comparison has.
  ADD COLUMN day date,
  -- {"amountMinor": text, "currency", "account", "date"} of our books and of the provider's; null if a side has nothing.
  ADD COLUMN expected jsonb,
  ADD COLUMN actual jsonb,
  -- The daily comparison that last saw it.
  ADD COLUMN run_id uuid,
  ADD COLUMN note text,
  -- Null while it is open, and if it has gone by itself.
  ADD COLUMN resolved_by text;

CREATE FUNCTION reconciliation_break_resource(p_provider text, p_reference text) RETURNS uuid LANGUAGE sql STABLE AS $$
  WITH named AS (
    SELECT CASE WHEN p_reference ~ '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$' THEN p_reference::uuid END AS id
  )
  SELECT coalesce(
    (SELECT outgoing_transfers.id FROM outgoing_transfers JOIN named USING (id)),
    (SELECT accounts.id FROM accounts JOIN named USING (id)),
    (SELECT id FROM incoming_transfers WHERE provider = p_provider AND service_provider_id = p_reference))
$$;

-- Breaks come from callbacks, look-ups and comparisons; each names its resource in the same way.
CREATE FUNCTION complete_reconciliation_break() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.resource_id := coalesce(NEW.resource_id, reconciliation_break_resource(NEW.provider, NEW.our_reference));
  NEW.currency := coalesce(NEW.currency, NEW.details ->> 'currency');
  RETURN NEW;
END $$;
CREATE TRIGGER reconciliation_breaks_complete BEFORE INSERT ON reconciliation_breaks
  FOR EACH ROW EXECUTE FUNCTION complete_reconciliation_break();

UPDATE reconciliation_breaks SET currency = details ->> 'currency',
  resource_id = reconciliation_break_resource(provider, our_reference);

-- Whether a break that a comparison finds again needs a person: it had gone by itself, or was resolved with other facts.
CREATE FUNCTION is_reopened(p_known reconciliation_breaks, p_expected jsonb, p_actual jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT p_known.status = 'resolved' AND (
    coalesce(p_known.details ->> 'goneByItself', '') = 'true'
    -- Found by a look-up, it had no facts yet.
    OR (p_known.run_id IS NOT NULL AND (
      (p_known.expected - 'date') IS DISTINCT FROM (p_expected - 'date') OR (p_known.actual - 'date') IS DISTINCT FROM (p_actual - 'date'))))
$$;

CREATE INDEX reconciliation_breaks_of_day ON reconciliation_breaks (provider, currency, day, status) WHERE day IS NOT NULL;
COMMENT ON INDEX reconciliation_breaks_of_day IS 'The breaks of a day, its status, and those that its next comparison no longer finds.';

CREATE TABLE reconciliations (
  id uuid PRIMARY KEY,
  provider text NOT NULL,
  currency text NOT NULL,
  -- In UTC.
  day date NOT NULL,
  provider_credit_count bigint NOT NULL,
  provider_credit_minor bigint NOT NULL,
  provider_debit_count bigint NOT NULL,
  provider_debit_minor bigint NOT NULL,
  ledger_credit_count bigint NOT NULL,
  ledger_credit_minor bigint NOT NULL,
  ledger_debit_count bigint NOT NULL,
  ledger_debit_minor bigint NOT NULL,
  -- Every posting of an earlier day than this one has a smaller id than those after this: where later days begin to read.
  posting_id bigint NOT NULL,
  created_at timestamptz NOT NULL,
  compared_at timestamptz NOT NULL,
  CONSTRAINT reconciliations_of_day UNIQUE (provider, currency, day)
);

-- As the interface shows them: a day has breaks while one of them is open.
CREATE VIEW reconciliation_days AS
  SELECT reconciliations.*, counted.break_count, counted.open_break_count,
    CASE WHEN counted.open_break_count > 0 THEN 'breaks' ELSE 'balanced' END AS status
  FROM reconciliations, LATERAL (
    SELECT count(*) AS break_count, count(*) FILTER (WHERE found.status = 'open') AS open_break_count
    FROM reconciliation_breaks found
    WHERE found.provider = reconciliations.provider AND found.currency = reconciliations.currency AND found.day = reconciliations.day
  ) AS counted;

-- Both sides' movements of one comparison, sorted by payment while it runs, and deleted at its end. A crash loses them, and the
-- comparison begins anew.
CREATE UNLOGGED TABLE reconciliation_movements (
  run_id uuid NOT NULL,
  direction text COLLATE "C" NOT NULL,
  reference text COLLATE "C" NOT NULL,
  side text COLLATE "C" NOT NULL CHECK (side IN ('provider', 'ours')),
  entry_id text COLLATE "C" NOT NULL,
  movement text NOT NULL,
  amount_minor bigint NOT NULL,
  booked_at timestamptz NOT NULL,
  -- Whether it is booked on the compared day; the others explain what seems to be missing at its ends.
  of_day boolean NOT NULL,
  accounts text[] NOT NULL,
  resource_id uuid,
  PRIMARY KEY (run_id, direction, reference, side, entry_id)
);

-- What a compared day had on one side alone, for the days whose other side has it.
CREATE TABLE reconciliation_carry_overs (
  provider text NOT NULL,
  currency text NOT NULL,
  direction text NOT NULL,
  reference text NOT NULL,
  movement text NOT NULL,
  side text NOT NULL CHECK (side IN ('provider', 'ours')),
  day date NOT NULL,
  booked_at timestamptz NOT NULL,
  amount_minor bigint NOT NULL,
  accounts text[] NOT NULL,
  resource_id uuid,
  run_id uuid NOT NULL,
  PRIMARY KEY (provider, currency, direction, reference, movement, side, day)
);
CREATE INDEX reconciliation_carry_overs_of_day ON reconciliation_carry_overs (provider, currency, day);
COMMENT ON INDEX reconciliation_carry_overs_of_day IS 'Those of a day that is compared again, and those to forget.';
