-- The foundation: callers, parties, accounts, the ledger, transfers, events and wake-ups.
-- Status lists stand here as CHECKs and in domain/ as unions; test/schema.test.ts compares the two.

-- What one column of the tables of the hot path may hold. These rules are domains and not CHECKs of the tables, because
-- Postgres reads every CHECK of a table anew for every statement that writes to it (measured: a quarter of what a
-- straight-through transfer cost), but keeps a domain's rule ready for the whole session.
CREATE DOMAIN amount AS bigint CHECK (VALUE > 0);
CREATE DOMAIN amount_or_zero AS bigint CHECK (VALUE >= 0);
CREATE DOMAIN count_or_zero AS integer CHECK (VALUE >= 0);
CREATE DOMAIN connect_method AS text CHECK (VALUE IN ('built-in', 'plug-in'));
CREATE DOMAIN transfer_scope AS text CHECK (VALUE IN ('internal', 'external'));
CREATE DOMAIN requirement_status AS text CHECK (VALUE IN ('not-checked', 'fulfilled', 'not-fulfilled', 'not-required'));
CREATE DOMAIN requirement_status_of_all AS text CHECK (VALUE IN ('not-checked', 'fulfilled', 'not-fulfilled'));
CREATE DOMAIN outgoing_transfer_status AS text CHECK (VALUE IN ('pending', 'processing', 'released', 'completed', 'cancelled', 'failed'));
CREATE DOMAIN outgoing_transfer_wait AS text CHECK (VALUE IN ('authorization', 'compliance', 'date', 'balance', 'account', 'provider', 'caller'));
CREATE DOMAIN submission_status AS text CHECK (VALUE IN ('none', 'unresolved', 'resolved'));
CREATE DOMAIN incoming_transfer_status AS text CHECK (VALUE IN ('pending', 'on-hold', 'completed', 'failed'));
CREATE DOMAIN incoming_transfer_wait AS text CHECK (VALUE IN ('compliance', 'account', 'match', 'outgoing-transfer', 'provider'));
CREATE DOMAIN hold_reason AS text CHECK (VALUE IN ('account-not-active', 'client-not-active', 'no-match', 'held-by-provider'));
CREATE DOMAIN send_back_status AS text CHECK (VALUE IN ('none', 'due', 'done'));
CREATE DOMAIN account_status AS text CHECK (VALUE IN ('pending', 'active', 'inactive', 'suspended', 'closed', 'declined'));
CREATE DOMAIN account_alias AS text CHECK (length(VALUE) BETWEEN 1 AND 30);
CREATE DOMAIN identity_type AS text CHECK (VALUE IN ('individual', 'corporate'));
CREATE DOMAIN connection_state AS text CHECK (VALUE IN ('creation-in-progress', 'creation-failed', 'dependency-failed', 'completed-up-to-date', 'update-in-progress', 'completed-outdated'));
CREATE DOMAIN connection_status AS text CHECK (VALUE IN ('active', 'inactive', 'closed'));
CREATE DOMAIN requested_change AS text CHECK (VALUE IN ('open', 'close'));
CREATE DOMAIN transaction_type AS text CHECK (VALUE IN ('incoming-transfer', 'outgoing-transfer', 'exchange-transaction', 'balance-adjustment', 'fee-sweep'));
CREATE DOMAIN entry_type AS text CHECK (VALUE IN ('principal', 'fee', 'principal-sell', 'principal-buy', 'cancellation-fee'));
CREATE DOMAIN idempotency_key AS text CHECK (length(VALUE) BETWEEN 1 AND 255);
CREATE DOMAIN event_entry_count AS smallint CHECK (VALUE BETWEEN 1 AND 16);

CREATE TABLE machine_users (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  roles text[] NOT NULL CHECK (roles <@ ARRAY['viewer', 'operator', 'approver', 'compliance', 'admin']),
  status text NOT NULL CHECK (status IN ('active', 'revoked')),
  created_at timestamptz NOT NULL,
  revoked_at timestamptz
);

CREATE TABLE machine_user_keys (
  id uuid PRIMARY KEY,
  machine_user_id uuid NOT NULL REFERENCES machine_users (id),
  kid text NOT NULL UNIQUE,
  algorithm text NOT NULL CHECK (algorithm IN ('RS256', 'PS256', 'ES256', 'EdDSA')),
  public_key jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('active', 'revoked')),
  created_at timestamptz NOT NULL,
  revoked_at timestamptz
);
CREATE INDEX machine_user_keys_by_user ON machine_user_keys (machine_user_id);

CREATE TABLE audit_entries (
  id uuid PRIMARY KEY,
  occurred_at timestamptz NOT NULL,
  actor text NOT NULL,
  action text NOT NULL,
  subject text NOT NULL,
  details jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX audit_entries_by_subject ON audit_entries (subject, id);

-- One row per accepted write that carried an Idempotency-Key; written in the transaction of the write itself.
CREATE TABLE idempotency_keys (
  machine_user_id uuid NOT NULL,
  method text NOT NULL,
  path text NOT NULL,
  key idempotency_key NOT NULL,
  request_hash bytea NOT NULL,
  response_status integer,
  response_body text,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (machine_user_id, method, path, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys USING brin (created_at);

CREATE SEQUENCE client_numbers;
CREATE SEQUENCE ledger_numbers;

CREATE TABLE clients (
  id uuid PRIMARY KEY,
  client_number text NOT NULL UNIQUE,
  status text NOT NULL CHECK (status IN ('pending', 'active', 'inactive', 'suspended', 'closed', 'declined')),
  identity_type text NOT NULL CHECK (identity_type IN ('individual', 'corporate')),
  identity jsonb NOT NULL,
  profile jsonb NOT NULL,
  full_name text NOT NULL,
  email text,
  country text,
  revision bigint NOT NULL DEFAULT 1,
  event_sequence bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL
);
CREATE INDEX clients_by_email ON clients (lower(email)) WHERE email IS NOT NULL;

-- The client as a provider knows it: made with the first account there.
CREATE TABLE client_connections (
  id uuid PRIMARY KEY,
  client_id uuid NOT NULL REFERENCES clients (id),
  provider text NOT NULL,
  reference text,
  state text NOT NULL CHECK (state IN ('creation-in-progress', 'creation-failed', 'completed-up-to-date')),
  error jsonb,
  created_at timestamptz NOT NULL,
  UNIQUE (client_id, provider)
);

CREATE TABLE client_relations (
  id uuid PRIMARY KEY,
  client_id uuid NOT NULL REFERENCES clients (id),
  relation text NOT NULL CHECK (relation IN ('director', 'shareholder', 'director-and-shareholder', 'authorized-person')),
  identity jsonb NOT NULL,
  profile jsonb NOT NULL,
  full_name text NOT NULL,
  revision bigint NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL
);
CREATE INDEX client_relations_by_client ON client_relations (client_id, id);

CREATE TABLE beneficiaries (
  id uuid PRIMARY KEY,
  client_id uuid NOT NULL REFERENCES clients (id),
  identity_type text CHECK (identity_type IN ('individual', 'corporate')),
  identity jsonb,
  full_name text NOT NULL,
  title text,
  contact jsonb,
  revision bigint NOT NULL DEFAULT 1,
  event_sequence bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL
);
CREATE INDEX beneficiaries_by_client ON beneficiaries (client_id, id);

CREATE TABLE beneficiary_bank_accounts (
  id uuid PRIMARY KEY,
  beneficiary_id uuid NOT NULL REFERENCES beneficiaries (id),
  status text NOT NULL CHECK (status IN ('active', 'inactive')),
  account_holder_name text NOT NULL,
  account_holder_type text CHECK (account_holder_type IN ('individual', 'corporate')),
  bank_name text,
  alias text,
  country text NOT NULL,
  currency text NOT NULL,
  account_number text,
  iban text,
  routing_codes jsonb NOT NULL DEFAULT '{}',
  revision bigint NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL
);
CREATE INDEX beneficiary_bank_accounts_by_beneficiary ON beneficiary_bank_accounts (beneficiary_id, id);

-- posted_minor is the sum of the account's postings; reserved_minor the sum of open reservations; receivable_minor the
-- sum of incoming transfers pending or on hold. version counts the account's ledger entries and has no gaps.
-- fillfactor leaves room so that a balance update stays on its page and touches no index.
CREATE TABLE accounts (
  id uuid PRIMARY KEY,
  client_id uuid NOT NULL REFERENCES clients (id),
  main_account_id uuid REFERENCES accounts (id),
  status account_status NOT NULL,
  method connect_method NOT NULL,
  provider text NOT NULL,
  country text NOT NULL,
  currency text NOT NULL,
  alias account_alias NOT NULL,
  routing_codes jsonb,
  iban text,
  account_number text,
  ledger_number text NOT NULL UNIQUE,
  account_holder_name text NOT NULL,
  account_holder_identity_type identity_type NOT NULL,
  connection_id uuid UNIQUE,
  connection_state connection_state,
  connection_status connection_status,
  connection_reference text,
  connection_error jsonb,
  -- The change that is under way at the provider ('open', 'close'), which attempt it is, and when to look it up.
  requested_change requested_change,
  change_attempt integer NOT NULL DEFAULT 0,
  change_submitted_at timestamptz,
  next_check_at timestamptz,
  posted_minor bigint NOT NULL DEFAULT 0,
  reserved_minor amount_or_zero NOT NULL DEFAULT 0,
  receivable_minor amount_or_zero NOT NULL DEFAULT 0,
  version bigint NOT NULL DEFAULT 0,
  last_entry_at timestamptz NOT NULL DEFAULT '-infinity',
  -- A transfer waits for money here; a credit then marks the account for the admission transaction.
  has_waiters boolean NOT NULL DEFAULT false,
  admission_due boolean NOT NULL DEFAULT false,
  revision bigint NOT NULL DEFAULT 1,
  event_sequence bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  CONSTRAINT accounts_available_not_negative CHECK (posted_minor >= reserved_minor),
  CONSTRAINT accounts_closed_is_empty CHECK (status NOT IN ('closed', 'declined') OR (posted_minor = 0 AND reserved_minor = 0))
) WITH (fillfactor = 60);
CREATE INDEX accounts_by_client ON accounts (client_id, id);
CREATE INDEX accounts_by_main_account ON accounts (main_account_id) WHERE main_account_id IS NOT NULL;
CREATE UNIQUE INDEX accounts_by_iban ON accounts (iban, currency) WHERE iban IS NOT NULL AND main_account_id IS NULL AND status NOT IN ('closed', 'declined');
CREATE INDEX accounts_by_account_number ON accounts (account_number) WHERE account_number IS NOT NULL;
CREATE INDEX accounts_admission_due ON accounts (id) WHERE admission_due;
CREATE INDEX accounts_next_check ON accounts (next_check_at) WHERE next_check_at IS NOT NULL;

-- The other side of client money, per provider and currency. Neither balance nor version: a priced transfer must not
-- queue behind one row. The balance is the last checkpoint and the postings after it.
CREATE TABLE system_accounts (
  id uuid PRIMARY KEY,
  provider text NOT NULL,
  currency text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('settlement', 'fee-revenue', 'suspense', 'correction')),
  UNIQUE (provider, currency, kind)
);

CREATE TABLE system_account_checkpoints (
  system_account_id uuid NOT NULL REFERENCES system_accounts (id),
  posting_id bigint NOT NULL,
  balance_minor bigint NOT NULL,
  PRIMARY KEY (system_account_id, posting_id)
);

-- Append-only double entry. One row is both sides, so an unbalanced posting cannot be written down. Balance and version
-- after the posting are those of a client account; a system account's side has neither.
CREATE TABLE postings (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  posted_at timestamptz NOT NULL,
  debit_account_id uuid NOT NULL,
  credit_account_id uuid NOT NULL,
  amount_minor amount NOT NULL,
  debit_version bigint,
  debit_balance_after_minor amount_or_zero,
  credit_version bigint,
  credit_balance_after_minor amount_or_zero,
  outgoing_transfer_id uuid,
  incoming_transfer_id uuid,
  currency text NOT NULL,
  debit_transaction_number text NOT NULL,
  credit_transaction_number text NOT NULL,
  debit_transaction_type transaction_type NOT NULL,
  credit_transaction_type transaction_type NOT NULL,
  entry_type entry_type NOT NULL,
  narrative text,
  CONSTRAINT postings_two_accounts CHECK (debit_account_id <> credit_account_id),
  CONSTRAINT postings_debit_pair CHECK ((debit_version IS NULL) = (debit_balance_after_minor IS NULL)),
  CONSTRAINT postings_credit_pair CHECK ((credit_version IS NULL) = (credit_balance_after_minor IS NULL))
);
CREATE UNIQUE INDEX postings_by_debit_account ON postings (debit_account_id, posted_at, debit_version) WHERE debit_version IS NOT NULL;
CREATE UNIQUE INDEX postings_by_credit_account ON postings (credit_account_id, posted_at, credit_version) WHERE credit_version IS NOT NULL;
CREATE INDEX postings_by_system_debit ON postings (debit_account_id, id) WHERE debit_version IS NULL;
CREATE INDEX postings_by_system_credit ON postings (credit_account_id, id) WHERE credit_version IS NULL;

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER postings_append_only BEFORE UPDATE OR DELETE ON postings FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER postings_never_truncated BEFORE TRUNCATE ON postings FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE outgoing_transfers (
  id uuid PRIMARY KEY,
  transaction_number text NOT NULL UNIQUE,
  client_id uuid NOT NULL,
  account_id uuid NOT NULL,
  status outgoing_transfer_status NOT NULL,
  scope transfer_scope NOT NULL,
  scheme text,
  currency text NOT NULL,
  amount_minor amount NOT NULL,
  fee_minor amount_or_zero NOT NULL DEFAULT 0,
  -- What this transfer holds of the account's reserved_minor: amount and fee while `processing`, else 0.
  reserved_minor bigint NOT NULL DEFAULT 0,
  transfer_date date NOT NULL,
  original_transfer_date date NOT NULL,
  roll_count count_or_zero NOT NULL DEFAULT 0,
  cut_off_at timestamptz,
  description text,
  transfer_reason_id uuid,
  transfer_custom_reason text,
  scheme_attributes jsonb,
  destination_account_id uuid,
  beneficiary_id uuid,
  beneficiary_bank_account_id uuid,
  -- The beneficiary as it was when the transfer was made; external transfers only.
  beneficiary jsonb,
  returned boolean NOT NULL DEFAULT false,
  incoming_transfer_id uuid,
  authorization_status requirement_status NOT NULL,
  compliance_check_status requirement_status NOT NULL,
  transfer_date_status requirement_status_of_all NOT NULL,
  balance_check_status requirement_status_of_all NOT NULL,
  method connect_method NOT NULL,
  provider text NOT NULL,
  service_provider_id text,
  service_provider_reference text,
  -- The submission under way: its number, and whether its outcome is known ('none', 'unresolved', 'resolved').
  submission_attempt integer NOT NULL DEFAULT 0,
  submission_status submission_status NOT NULL DEFAULT 'none',
  look_up_count integer NOT NULL DEFAULT 0,
  next_look_up_at timestamptz,
  failure_code text,
  failure_message text,
  waiting_for outgoing_transfer_wait,
  waiting_since timestamptz,
  waiting_until timestamptz,
  next_check_at timestamptz,
  created_by uuid,
  revision bigint NOT NULL DEFAULT 1,
  event_sequence bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT outgoing_transfers_reservation CHECK (reserved_minor = CASE WHEN status = 'processing' THEN amount_minor + fee_minor ELSE 0 END),
  CONSTRAINT outgoing_transfers_destination CHECK (
    CASE scope WHEN 'internal' THEN destination_account_id IS NOT NULL AND scheme IS NULL AND beneficiary_bank_account_id IS NULL
    ELSE scheme IS NOT NULL AND beneficiary_bank_account_id IS NOT NULL AND destination_account_id IS NULL END),
  CONSTRAINT outgoing_transfers_other_account CHECK (destination_account_id <> account_id),
  CONSTRAINT outgoing_transfers_returned CHECK (NOT returned OR (status = 'completed' AND incoming_transfer_id IS NOT NULL))
) WITH (fillfactor = 85);
-- With what lists of one account or client are filtered by, so that they find their page and its total without the rows.
CREATE INDEX outgoing_transfers_by_account ON outgoing_transfers (account_id, id) INCLUDE (transfer_date, status);
CREATE INDEX outgoing_transfers_by_client ON outgoing_transfers (client_id, id) INCLUDE (transfer_date, status);
CREATE INDEX outgoing_transfers_not_completed ON outgoing_transfers (status, id) WHERE status <> 'completed';
CREATE INDEX outgoing_transfers_waiting_for_balance ON outgoing_transfers (account_id, id) WHERE waiting_for = 'balance';
CREATE INDEX outgoing_transfers_next_check ON outgoing_transfers (next_check_at) WHERE next_check_at IS NOT NULL;
CREATE INDEX outgoing_transfers_by_provider_reference ON outgoing_transfers (service_provider_reference) WHERE service_provider_reference IS NOT NULL;

CREATE TABLE provisioned_account_credits (
  id uuid PRIMARY KEY,
  client_id uuid,
  account_id uuid,
  amount_minor bigint NOT NULL CHECK (amount_minor > 0),
  currency text NOT NULL,
  scope text NOT NULL CHECK (scope IN ('internal', 'external')),
  scheme text,
  sender_bank_account jsonb,
  sender_name text,
  sender_address jsonb,
  sender_to_receiver_information text,
  receiver_account jsonb,
  service_provider_id text,
  provider text NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX provisioned_account_credits_by_provider_id ON provisioned_account_credits (provider, service_provider_id) WHERE service_provider_id IS NOT NULL;
CREATE INDEX provisioned_account_credits_by_account ON provisioned_account_credits (account_id, id);

-- sender_account and receiver_account are kept for money from outside; between accounts of the service they are read
-- from the accounts (sender_account_id, account_id). account_id is null until an unmatched payment is assigned.
CREATE TABLE incoming_transfers (
  id uuid PRIMARY KEY,
  transaction_number text NOT NULL UNIQUE,
  client_id uuid,
  account_id uuid,
  status incoming_transfer_status NOT NULL,
  scope transfer_scope NOT NULL,
  scheme text,
  currency text NOT NULL,
  amount_minor amount NOT NULL,
  fee_minor bigint NOT NULL DEFAULT 0 CHECK (fee_minor BETWEEN 0 AND amount_minor),
  -- What this transfer adds to the account's receivable_minor.
  receivable_minor bigint NOT NULL DEFAULT 0 CHECK (receivable_minor IN (0, amount_minor)),
  -- Whether the money stands in the provider's suspense account (arrived, and not yet the client's).
  in_suspense boolean NOT NULL DEFAULT false,
  transfer_date date,
  outgoing_transfer_id uuid,
  sender_account_id uuid,
  provisioned_account_credit_id uuid,
  provider text NOT NULL,
  method connect_method NOT NULL,
  service_provider_id text,
  service_provider_reference text,
  sender_information text,
  sender_name text,
  sender_account jsonb,
  receiver_account jsonb,
  compliance_check_status requirement_status NOT NULL DEFAULT 'not-required',
  hold_reason hold_reason,
  failure_code text,
  send_back_status send_back_status NOT NULL DEFAULT 'none',
  waiting_for incoming_transfer_wait,
  waiting_since timestamptz,
  waiting_until timestamptz,
  next_check_at timestamptz,
  revision bigint NOT NULL DEFAULT 1,
  event_sequence bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT incoming_transfers_final_is_settled CHECK (status IN ('pending', 'on-hold') OR receivable_minor = 0),
  CONSTRAINT incoming_transfers_completed CHECK (status <> 'completed' OR (account_id IS NOT NULL AND transfer_date IS NOT NULL))
) WITH (fillfactor = 90);
CREATE INDEX incoming_transfers_by_account ON incoming_transfers (account_id, id) INCLUDE (transfer_date, status);
CREATE INDEX incoming_transfers_by_client ON incoming_transfers (client_id, id) INCLUDE (transfer_date, status);
CREATE INDEX incoming_transfers_not_completed ON incoming_transfers (status, id) WHERE status <> 'completed';
-- A returned payment's incoming transfer names no outgoing one here (it is no internal transfer); so one is the most.
CREATE UNIQUE INDEX incoming_transfers_by_outgoing_transfer ON incoming_transfers (outgoing_transfer_id) WHERE outgoing_transfer_id IS NOT NULL;
CREATE UNIQUE INDEX incoming_transfers_by_provider_id ON incoming_transfers (provider, service_provider_id) WHERE service_provider_id IS NOT NULL;
CREATE INDEX incoming_transfers_next_check ON incoming_transfers (next_check_at) WHERE next_check_at IS NOT NULL;

-- What providers tell us: stored once by the provider's own event id, applied in the same transaction.
CREATE TABLE provider_callbacks (
  provider text NOT NULL,
  provider_event_id text NOT NULL,
  kind text NOT NULL,
  our_reference text,
  payload jsonb NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('applied', 'no-effect', 'waiting', 'break')),
  received_at timestamptz NOT NULL,
  PRIMARY KEY (provider, provider_event_id)
);
CREATE INDEX provider_callbacks_waiting ON provider_callbacks (our_reference) WHERE outcome = 'waiting';

-- Where a provider's word and our rows disagree: nothing is posted, a person looks.
CREATE TABLE reconciliation_breaks (
  id uuid PRIMARY KEY,
  provider text NOT NULL,
  kind text NOT NULL,
  our_reference text,
  details jsonb NOT NULL,
  status text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'resolved')),
  found_at timestamptz NOT NULL,
  resolved_at timestamptz
);

-- The event log. One row is what one transition of one resource tells, in order: entries = [{"type", "data"}, ...],
-- at most 16. Event k of a row has the id `id + k` (the last hexadecimal digit of id is 0), the sequence
-- first_sequence + k and, once numbered by the sequencer, the position first_position + k. data holds what an event
-- shows differently from the resource's unchanging fields; the rest is read from the resource's row.
CREATE TABLE events (
  id uuid PRIMARY KEY,
  first_position bigint,
  entry_count event_entry_count NOT NULL,
  module text NOT NULL,
  resource_id uuid NOT NULL,
  first_sequence bigint NOT NULL,
  occurred_at timestamptz NOT NULL,
  entries json NOT NULL
) WITH (fillfactor = 90);
CREATE INDEX events_not_numbered ON events (id) WHERE first_position IS NULL;
CREATE UNIQUE INDEX events_by_position ON events (first_position) WHERE first_position IS NOT NULL;

-- The last position given out. A row of its own, so that a restored database can jump ahead by a gap.
CREATE TABLE event_sequencer (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  last_position bigint NOT NULL
);
INSERT INTO event_sequencer (last_position) VALUES (0);

-- One row per workflow that must be woken; deleted once Temporal has the signal of the generation that was read.
CREATE TABLE workflow_wakeups (
  workflow_id text PRIMARY KEY,
  workflow_type text NOT NULL,
  generation bigint NOT NULL DEFAULT 1,
  attempt_count integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz NOT NULL,
  claim_token uuid,
  claimed_until timestamptz,
  parked_at timestamptz,
  last_error text,
  created_at timestamptz NOT NULL
);
CREATE INDEX workflow_wakeups_due ON workflow_wakeups (next_attempt_at) WHERE parked_at IS NULL;
