-- Consents that users give to third-party providers (specification 2.12), the codes and access tokens that follow from them, and the
-- keys by which this service signs.

-- Who asks for consents. What registers and changes them comes with a migration of its own.
CREATE TABLE third_party_providers (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  website text NOT NULL,
  application_name text NOT NULL,
  application_description text NOT NULL,
  application_website text NOT NULL,
  redirect_uris text[] NOT NULL,
  jwks jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('active', 'inactive')),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);

-- An open consent ends by itself at the instant of its status: request_expires_at, code_expires_at or expires_at. Approval names
-- user_id and account_ids; an account that closes is taken out of account_ids, unless it is the last. state, nonce and redirect_uri are
-- the third party's and are never shown.
CREATE TABLE open_banking_consents (
  id uuid PRIMARY KEY,
  third_party_provider_id uuid NOT NULL REFERENCES third_party_providers (id),
  status text NOT NULL CHECK (status IN ('awaiting-authorisation', 'awaiting-exchange', 'authorised', 'consumed', 'rejected', 'revoked', 'expired')),
  scope text NOT NULL CHECK (scope IN ('accounts', 'payments')),
  payment_scope text CHECK (payment_scope IN ('domestic', 'international')),
  payment_type text CHECK (payment_type IN ('standard', 'scheduled')),
  instructed_amount_minor bigint CHECK (instructed_amount_minor > 0),
  instructed_currency text,
  creditor_account jsonb,
  currency_of_transfer text,
  requested_execution_at timestamptz,
  redirect_uri text NOT NULL,
  state text NOT NULL,
  nonce text NOT NULL,
  user_id uuid REFERENCES users (id),
  account_ids uuid[] CHECK (cardinality(account_ids) > 0),
  request_expires_at timestamptz NOT NULL,
  code_expires_at timestamptz,
  granted_at timestamptz,
  expires_at timestamptz,
  next_check_at timestamptz,
  revision bigint NOT NULL DEFAULT 1,
  event_sequence bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  CONSTRAINT open_banking_consents_content CHECK (CASE scope
    WHEN 'accounts' THEN num_nonnulls(payment_scope, payment_type, instructed_amount_minor, instructed_currency, creditor_account,
      currency_of_transfer, requested_execution_at) = 0
    ELSE num_nonnulls(payment_scope, payment_type, instructed_amount_minor, instructed_currency, creditor_account) = 5
      AND (currency_of_transfer IS NOT NULL) = (payment_scope = 'international')
      AND (requested_execution_at IS NOT NULL) = (payment_type = 'scheduled') END),
  CONSTRAINT open_banking_consents_approved CHECK (num_nonnulls(user_id, account_ids, code_expires_at) IN (0, 3)
    AND CASE WHEN status IN ('awaiting-authorisation', 'rejected') THEN user_id IS NULL
      WHEN status = 'expired' THEN true ELSE user_id IS NOT NULL END),
  CONSTRAINT open_banking_consents_granted CHECK (num_nonnulls(granted_at, expires_at) IN (0, 2)
    AND (granted_at IS NULL OR user_id IS NOT NULL)
    AND CASE WHEN status IN ('authorised', 'consumed') THEN granted_at IS NOT NULL
      WHEN status IN ('revoked', 'expired') THEN true ELSE granted_at IS NULL END),
  CONSTRAINT open_banking_consents_payment CHECK (scope = 'accounts' OR account_ids IS NULL OR cardinality(account_ids) = 1),
  CONSTRAINT open_banking_consents_consumed CHECK (status <> 'consumed' OR scope = 'payments'),
  CONSTRAINT open_banking_consents_checked CHECK ((next_check_at IS NOT NULL) = (status IN ('awaiting-authorisation', 'awaiting-exchange', 'authorised')))
);
CREATE INDEX open_banking_consents_due ON open_banking_consents (next_check_at) WHERE next_check_at IS NOT NULL;
CREATE INDEX open_banking_consents_by_user ON open_banking_consents (user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX open_banking_consents_by_account ON open_banking_consents USING gin (account_ids) WHERE status IN ('awaiting-exchange', 'authorised');
COMMENT ON INDEX open_banking_consents_due IS 'The sweep: consents that are due.';
COMMENT ON INDEX open_banking_consents_by_user IS 'GET /open-banking/{countryCode}/consents by userId; consents of a user that becomes inactive or whose relation is revoked.';
COMMENT ON INDEX open_banking_consents_by_account IS 'Consents to an account that closes.';

-- One approval makes one code, of which the SHA-256 is kept. It can be exchanged once, until the code_expires_at of its consent.
CREATE TABLE open_banking_codes (
  code_hash bytea PRIMARY KEY,
  consent_id uuid NOT NULL UNIQUE REFERENCES open_banking_consents (id),
  used_at timestamptz,
  created_at timestamptz NOT NULL
);

-- Access tokens, by their SHA-256. Unless it is revoked, a token is valid until expires_at, while its consent is authorised or consumed.
CREATE TABLE open_banking_access_tokens (
  token_hash bytea PRIMARY KEY,
  consent_id uuid NOT NULL REFERENCES open_banking_consents (id),
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz,
  created_at timestamptz NOT NULL
);
CREATE INDEX open_banking_access_tokens_by_consent ON open_banking_access_tokens (consent_id);
COMMENT ON INDEX open_banking_access_tokens_by_consent IS 'A code that is sent again revokes the tokens that it gave.';

-- Keys that sign for this service; the id is the kid. The newest whose signs_from has come signs; it is published before that, and
-- for a while after its successor began. private_key is PKCS #8 in PEM, encrypted (docs/operations.md).
CREATE TABLE signing_keys (
  id uuid PRIMARY KEY,
  public_jwk jsonb NOT NULL,
  private_key text NOT NULL,
  signs_from timestamptz NOT NULL UNIQUE,
  created_at timestamptz NOT NULL
);
