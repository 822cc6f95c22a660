-- What name directories were asked and said, kept for audit: a row is one answer, and one request charged to the client.
-- A name is only ever kept where the directory tells it, at a close match.
CREATE TABLE beneficiary_verifications (
  id uuid PRIMARY KEY,
  client_id uuid NOT NULL REFERENCES clients (id),
  directory text NOT NULL CHECK (directory IN ('pay-uk')),
  provider text NOT NULL,
  provider_reference text NOT NULL,
  identity jsonb NOT NULL,
  bank_account jsonb NOT NULL,
  secondary_identification text,
  matched boolean NOT NULL,
  reason text CHECK (reason IN (
    'close-match', 'corporate-account-name-matched', 'individual-account-name-matched', 'corporate-account-close-match',
    'individual-account-close-match', 'incorrect-account-number', 'account-type-not-supported', 'account-switched',
    'sort-code-not-supported', 'invalid-secondary-identifier', 'opted-out')),
  scheme_reason_code text,
  account_holder_name text,
  requested_by uuid NOT NULL REFERENCES machine_users (id),
  created_at timestamptz NOT NULL,
  CONSTRAINT beneficiary_verifications_result CHECK (matched = (reason IS NULL) AND matched = (scheme_reason_code IS NULL)),
  CONSTRAINT beneficiary_verifications_name CHECK (account_holder_name IS NULL
    OR (reason IS NOT NULL AND reason IN ('close-match', 'corporate-account-close-match', 'individual-account-close-match')))
);
CREATE INDEX beneficiary_verifications_by_client ON beneficiary_verifications (client_id, created_at);
