-- Comparing the providers' statements with our books, and what a restored database needs.

-- Up to where the statement of a provider's pooled position has been compared: entries booked before compared_until, and
-- our own postings up to posting_id.
CREATE TABLE statement_comparisons (
  provider text NOT NULL,
  currency text NOT NULL,
  compared_until timestamptz NOT NULL,
  posting_id bigint NOT NULL,
  PRIMARY KEY (provider, currency)
);

-- A difference is recorded once, however often it is found.
CREATE UNIQUE INDEX reconciliation_breaks_of_statements ON reconciliation_breaks (provider, kind, our_reference)
  WHERE kind LIKE 'statement-%';
CREATE INDEX reconciliation_breaks_open ON reconciliation_breaks (provider, id) WHERE status = 'open';

-- While closed_at is set nothing is submitted to any provider: after a restore their statements come first.
CREATE TABLE provider_submissions (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  closed_at timestamptz
);
INSERT INTO provider_submissions (closed_at) VALUES (NULL);
