-- An account's entries by version, so that any page of its statement starts where it begins instead of behind all earlier
-- entries. While the indexes are built, nothing can be posted: on a large ledger, build them beforehand under the same names
-- with CREATE UNIQUE INDEX CONCURRENTLY.
CREATE UNIQUE INDEX IF NOT EXISTS postings_by_debit_version ON postings (debit_account_id, debit_version) WHERE debit_version IS NOT NULL;
CREATE UNIQUE INDEX IF NOT EXISTS postings_by_credit_version ON postings (credit_account_id, credit_version) WHERE credit_version IS NOT NULL;
COMMENT ON INDEX postings_by_debit_version IS 'Statements and their files: a page of an account''s debits by version.';
COMMENT ON INDEX postings_by_credit_version IS 'Statements and their files: a page of an account''s credits by version.';
