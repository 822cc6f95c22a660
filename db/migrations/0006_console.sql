-- The console: the people who sign in to it, their sessions and saved views, and remedies for many resources at once.
-- People's sign-ins and sessions go by real time, which the console hands in, never by the sandbox's clock: as tokens do.

CREATE TABLE people (
  id uuid PRIMARY KEY,
  -- Who they are at the identity provider. Names and e-mail addresses are those of the last sign-in.
  issuer text NOT NULL,
  subject text NOT NULL,
  name text NOT NULL,
  email text,
  roles text[] NOT NULL CHECK (roles <@ ARRAY['viewer', 'operator', 'approver', 'compliance', 'admin']),
  created_at timestamptz NOT NULL,
  last_signed_in_at timestamptz NOT NULL,
  -- Until when the person has seen what changed.
  last_looked_at timestamptz,
  CONSTRAINT people_one_per_subject UNIQUE (issuer, subject)
);

CREATE TABLE console_sign_ins (
  -- The digest of `state`: a sign-in on its way to the identity provider and back. Used once.
  state_hash bytea PRIMARY KEY,
  -- The digest of the cookie of the browser that began it.
  browser_hash bytea NOT NULL,
  nonce text NOT NULL,
  code_verifier text NOT NULL,
  return_to text NOT NULL,
  -- Whether the person was to prove again who they are.
  asks_again boolean NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX console_sign_ins_by_age ON console_sign_ins (created_at);
COMMENT ON INDEX console_sign_ins_by_age IS 'The deletion of sign-ins that never came back.';

CREATE TABLE console_sessions (
  -- The digest of the cookie; the cookie itself is kept nowhere.
  token_hash bytea PRIMARY KEY,
  id uuid NOT NULL,
  person_id uuid NOT NULL REFERENCES people (id),
  roles text[] NOT NULL CHECK (roles <@ ARRAY['viewer', 'operator', 'approver', 'compliance', 'admin']),
  csrf_token text NOT NULL,
  -- When the person last proved who they are: what moves money asks for a recent one.
  signed_in_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  last_seen_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL,
  revoked_at timestamptz,
  -- What acts did, by the path of the page that shows it, once.
  notice jsonb,
  CONSTRAINT console_sessions_one_per_id UNIQUE (id)
);
CREATE INDEX console_sessions_by_person ON console_sessions (person_id);
COMMENT ON INDEX console_sessions_by_person IS 'The sessions of a person, to list and revoke them.';
CREATE INDEX console_sessions_by_end ON console_sessions (ends_at);
COMMENT ON INDEX console_sessions_by_end IS 'The deletion of sessions that have ended.';

CREATE TABLE console_views (
  id uuid PRIMARY KEY,
  person_id uuid NOT NULL REFERENCES people (id),
  -- The path of the list, and the query that its filters write.
  path text NOT NULL,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 60),
  query text NOT NULL CHECK (length(query) <= 2000),
  created_at timestamptz NOT NULL,
  CONSTRAINT console_views_one_name UNIQUE (person_id, path, name)
);

-- A remedy for all that a filter found, frozen as a list. A second person signs the list, then each item is done by the rules of the
-- single act, in one transaction with its result. Lists expire by real time, as sign-ins do.
CREATE TABLE remedy_lists (
  id uuid PRIMARY KEY,
  -- The kind of the remedy, and the kind of the resources.
  remedy text NOT NULL,
  resource text NOT NULL,
  -- The address of the list that was frozen, with its filter.
  filter text NOT NULL CHECK (length(filter) <= 2000),
  reason text NOT NULL,
  item_count integer NOT NULL CHECK (item_count BETWEEN 1 AND 10000),
  -- Sums in minor units as text, by currency.
  sums jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('waiting', 'rejected', 'running', 'done', 'expired')),
  created_by uuid NOT NULL REFERENCES people (id),
  created_role text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  decided_by uuid REFERENCES people (id),
  decided_role text,
  decided_at timestamptz,
  decision_reason text,
  -- When it ended: done, or expired with items that stay undone.
  done_at timestamptz,
  CONSTRAINT remedy_lists_decided CHECK ((status = 'waiting') = (decided_by IS NULL)),
  CONSTRAINT remedy_lists_two_people CHECK (status IN ('waiting', 'rejected') OR decided_by <> created_by),
  CONSTRAINT remedy_lists_done CHECK ((status IN ('done', 'expired')) = (done_at IS NOT NULL))
);
CREATE INDEX remedy_lists_by_status ON remedy_lists (status, expires_at);
COMMENT ON INDEX remedy_lists_by_status IS 'The lists that wait for a signature, and those to be carried out.';

CREATE TABLE remedy_list_items (
  list_id uuid NOT NULL REFERENCES remedy_lists (id),
  position integer NOT NULL,
  resource_id uuid NOT NULL,
  -- As they were when the list was frozen.
  transaction_number text NOT NULL,
  amount_minor bigint NOT NULL,
  currency text NOT NULL,
  -- An item that waits for something else by now, or has another owner, is left as it is.
  waiting_for text,
  account_id uuid,
  -- Null: not done yet. `unknown`: done, and its outcome shows later, as with a question to a bank.
  result text CHECK (result IN ('done', 'unchanged', 'rejected', 'unknown')),
  message text,
  done_at timestamptz,
  PRIMARY KEY (list_id, position),
  CONSTRAINT remedy_list_items_once UNIQUE (list_id, resource_id),
  CONSTRAINT remedy_list_items_result CHECK ((result IS NULL) = (done_at IS NULL))
);
CREATE INDEX remedy_list_items_open ON remedy_list_items (list_id, position) WHERE result IS NULL;
COMMENT ON INDEX remedy_list_items_open IS 'What of a list is left to do.';

-- Acts of people carry the role that allowed them, and the reason that the person gave.
ALTER TABLE audit_entries ADD COLUMN role text, ADD COLUMN reason text;
CREATE OR REPLACE VIEW audit_log AS
  SELECT id, occurred_at, actor, action, resource, resource_id, request_id, before, after, NULL::uuid AS transfer_id, NULL::bigint AS amount_minor, NULL::text AS currency,
    role, reason
  FROM audit_entries
  UNION ALL
  SELECT id, created_at, coalesce(created_by::text, 'unknown'), 'created'::text, 'outgoing-transfer'::text, id::text, request_id, NULL::jsonb,
    jsonb_strip_nulls(jsonb_build_object('transactionNumber', transaction_number, 'clientId', client_id, 'currency', currency,
      'scope', scope, 'scheme', scheme, 'transferDate', original_transfer_date, 'sourceAccountId', account_id,
      'destinationAccountId', destination_account_id, 'beneficiaryBankAccountId', beneficiary_bank_account_id)),
    id, amount_minor::bigint, currency, NULL, NULL
  FROM outgoing_transfers;
