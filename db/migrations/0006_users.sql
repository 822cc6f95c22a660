-- External human users, the clients that they may act for, and the invitations by which they become users.

-- email_key is what two equal addresses share. password_hash is argon2id's own text; a user who was created without an
-- invitation has none and cannot sign in.
CREATE TABLE users (
  id uuid PRIMARY KEY,
  email text NOT NULL,
  email_key text NOT NULL UNIQUE,
  status text NOT NULL CHECK (status IN ('active', 'inactive')),
  identity jsonb NOT NULL,
  profile jsonb NOT NULL,
  password_hash text,
  revision bigint NOT NULL DEFAULT 1,
  event_sequence bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL
);

CREATE TABLE user_client_relations (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id),
  client_id uuid NOT NULL REFERENCES clients (id),
  status text NOT NULL CHECK (status IN ('allowed', 'revoked')),
  revision bigint NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  UNIQUE (user_id, client_id)
);
CREATE INDEX user_client_relations_by_client ON user_client_relations (client_id, user_id);

-- What one e-mail asks one person for: to accept or reject all invitations of one request together. Its id is that of the
-- first of them, and so is its workflow's. mailed_at = a mail server has the e-mail.
CREATE TABLE user_sign_ups (
  id uuid PRIMARY KEY,
  email text NOT NULL,
  identity jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'accepted', 'rejected', 'cancelled', 'expired')),
  expires_at timestamptz NOT NULL,
  mailed_at timestamptz,
  next_check_at timestamptz,
  revision bigint NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  CONSTRAINT user_sign_ups_checked CHECK ((next_check_at IS NULL) = (status <> 'pending'))
);
CREATE INDEX user_sign_ups_due ON user_sign_ups (next_check_at) WHERE next_check_at IS NOT NULL;

CREATE TABLE user_invitations (
  id uuid PRIMARY KEY,
  sign_up_id uuid NOT NULL REFERENCES user_sign_ups (id),
  email_key text NOT NULL,
  client_id uuid NOT NULL REFERENCES clients (id),
  user_client_relation text NOT NULL
    CHECK (user_client_relation IN ('director', 'shareholder', 'director-and-shareholder', 'authorized-person')),
  status text NOT NULL CHECK (status IN ('pending', 'accepted', 'rejected', 'cancelled')),
  created_at timestamptz NOT NULL
);
CREATE INDEX user_invitations_by_email ON user_invitations (email_key, id);
CREATE INDEX user_invitations_by_sign_up ON user_invitations (sign_up_id, id);
CREATE UNIQUE INDEX user_invitations_pending_once ON user_invitations (email_key, client_id) WHERE status = 'pending';

-- One-time links, by the SHA-256 of their token. Every attempt to send the e-mail makes one: an e-mail whose fate is
-- unknown may have arrived, so the link in it stays good.
CREATE TABLE user_sign_up_links (
  token_hash bytea PRIMARY KEY,
  sign_up_id uuid NOT NULL REFERENCES user_sign_ups (id),
  created_at timestamptz NOT NULL
);
CREATE INDEX user_sign_up_links_by_sign_up ON user_sign_up_links (sign_up_id);
