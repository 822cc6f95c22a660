-- Passwords of users, and what third-party providers sign: links that set a new password, and the limit on wrong ones.

-- A password reset is a sign-up of another kind: one e-mail, one link, one answer, the same workflow. It belongs to a user
-- who has a password, and covers no invitations. A page of the previous release changes nothing through such a link.
ALTER TABLE user_sign_ups
  ADD COLUMN kind text NOT NULL DEFAULT 'invitation' CHECK (kind IN ('invitation', 'password-reset')),
  ADD COLUMN user_id uuid REFERENCES users (id),
  ADD CONSTRAINT user_sign_ups_of_user CHECK ((kind = 'password-reset') = (user_id IS NOT NULL));
-- A new reset replaces the one before: at most one link of a user works.
CREATE UNIQUE INDEX user_sign_ups_one_reset ON user_sign_ups (user_id)
  WHERE kind = 'password-reset' AND status = 'pending';

-- When sign-ins with an address have failed, or are still being checked, of the last minutes alone. Addresses without a
-- user have rows like all others, so that the limit does not tell them apart. The address itself is not kept: address_hash is
-- the SHA-256 of its key.
CREATE TABLE user_authentication_failures (
  address_hash bytea PRIMARY KEY,
  failed_at timestamptz[] NOT NULL,
  forget_at timestamptz NOT NULL
);
CREATE INDEX user_authentication_failures_by_age ON user_authentication_failures (forget_at);

-- Third-party providers (0042): a list of them. Tokens that they have signed and used, until those would be refused as expired; two
-- parties may draw the same jti.
CREATE INDEX third_party_providers_by_status ON third_party_providers (status, id);
CREATE TABLE third_party_assertions (
  third_party_provider_id uuid NOT NULL REFERENCES third_party_providers (id),
  jti_hash bytea NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (third_party_provider_id, jti_hash)
);
CREATE INDEX third_party_assertions_by_age ON third_party_assertions (expires_at);

COMMENT ON INDEX user_sign_ups_one_reset IS 'The open reset of a user, and that there is only one.';
COMMENT ON INDEX user_authentication_failures_by_age IS 'Housekeeping: failures to forget.';
COMMENT ON INDEX third_party_providers_by_status IS 'GET /third-party-providers by status.';
COMMENT ON INDEX third_party_assertions_by_age IS 'Housekeeping: assertions that have expired.';
