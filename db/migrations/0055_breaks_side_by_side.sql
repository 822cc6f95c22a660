-- A payment's breaks of one kind stand side by side, one for each day and movement. There was one row for all of them, so that
-- the last one found overwrote the others.
-- The release before can no longer write by that key: docs/operations.md says what it does then.
ALTER TABLE reconciliation_breaks
  -- Tells breaks of one payment, kind and day apart.
  ADD COLUMN part integer NOT NULL DEFAULT 1 CHECK (part > 0);
DROP INDEX reconciliation_breaks_of_statements;
CREATE UNIQUE INDEX reconciliation_breaks_of_statements
  ON reconciliation_breaks (provider, currency, kind, our_reference, day, part) NULLS NOT DISTINCT WHERE kind LIKE 'statement-%';
COMMENT ON INDEX reconciliation_breaks_of_statements IS 'The known breaks of a payment, each recorded once, however often it is found.';

-- Of a payment that came back in parts, one side may have several alone on a day.
ALTER TABLE reconciliation_carry_overs ADD COLUMN part integer NOT NULL DEFAULT 1 CHECK (part > 0),
  DROP CONSTRAINT reconciliation_carry_overs_pkey,
  ADD PRIMARY KEY (provider, currency, direction, reference, movement, side, day, part);
