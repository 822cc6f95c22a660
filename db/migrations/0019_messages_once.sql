UPDATE bank_files SET plain_digest = digest WHERE state <> 'fetched';
CREATE UNIQUE INDEX bank_files_told_once ON bank_files (provider, plain_digest) WHERE direction = 'in' AND plain_digest IS NOT NULL;
COMMENT ON INDEX bank_files_told_once IS 'Each message of the bank is taken once, however often it is encrypted.';

-- What the bank's statements (camt.053) say, by which days are compared. Exchanges are trials so far: what was taken before is on no statement.
-- The days that statements cover, also those without a movement.
CREATE TABLE bank_statement_days (
  provider text NOT NULL,
  currency text NOT NULL,
  -- As the statement names it.
  account text NOT NULL,
  day date NOT NULL,
  -- The balances of the statement, by which two statements without one in between follow each other; null if it does not say.
  opening_minor bigint,
  closing_minor bigint,
  file_id uuid NOT NULL REFERENCES bank_files (id),
  PRIMARY KEY (provider, currency, account, day)
);
-- The first camt.053 that tells the movement: what only a camt.054 has told is on no statement.
ALTER TABLE bank_entries ADD COLUMN stated_by uuid REFERENCES bank_files (id);
