-- The schema of the service, by subject: types, tables, CHECKs, indexes, views and first rows. The functions, and the triggers and
-- views that call them, are in db/functions/. Amounts are minor units of the row's currency.
-- A COMMENT names the queries that need an index. A primary key finds a row by its id; a unique constraint promises that there is one.
-- The words that a column may hold are listed here as CHECKs and in domain/ as unions; test/schema.test.ts compares the two.


-- ==== The allowed values of columns in the tables of the hot path ====

-- Domains and not CHECKs of the tables: Postgres reads every CHECK of a table again for every statement that writes to it (measured: a
-- quarter of what a straight-through transfer cost), but keeps a domain's rule ready for the whole session.
CREATE DOMAIN amount AS bigint CHECK (VALUE > 0);
CREATE DOMAIN amount_or_zero AS bigint CHECK (VALUE >= 0);
CREATE DOMAIN count_or_zero AS integer CHECK (VALUE >= 0);
CREATE DOMAIN connect_method AS text CHECK (VALUE IN ('built-in', 'plug-in'));
CREATE DOMAIN transfer_scope AS text CHECK (VALUE IN ('internal', 'external'));
CREATE DOMAIN requirement_status AS text CHECK (VALUE IN ('not-checked', 'fulfilled', 'not-fulfilled', 'not-required'));
CREATE DOMAIN requirement_status_of_all AS text CHECK (VALUE IN ('not-checked', 'fulfilled', 'not-fulfilled'));
CREATE DOMAIN outgoing_transfer_status AS text CHECK (VALUE IN ('pending', 'processing', 'released', 'completed', 'cancelled', 'failed'));
CREATE DOMAIN outgoing_transfer_wait AS text CHECK (VALUE IN ('authorization', 'compliance', 'date', 'balance', 'account', 'provider', 'retry', 'recall', 'caller'));
-- `unresolved`: sent, and its outcome is not known. `not-found`: asked by an operator's look-up, the provider does not know the payment,
-- and nothing was sent since. `rejected`: the provider has rejected this attempt for a retryable reason; the retry is due at retry_at.
CREATE DOMAIN submission_status AS text CHECK (VALUE IN ('none', 'unresolved', 'not-found', 'rejected', 'resolved'));
CREATE DOMAIN incoming_transfer_status AS text CHECK (VALUE IN ('pending', 'on-hold', 'completed', 'failed'));
CREATE DOMAIN incoming_transfer_wait AS text CHECK (VALUE IN ('compliance', 'account', 'match', 'outgoing-transfer', 'provider'));
CREATE DOMAIN hold_reason AS text CHECK (VALUE IN ('account-not-active', 'client-not-active', 'no-match', 'ambiguous-match', 'held-by-provider'));
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
CREATE DOMAIN compliance_result AS text CHECK (VALUE IN ('all-passed', 'soft-stop', 'hard-stop', 'hard-stop-accepted', 'hard-stop-rejected'));


-- ==== Callers and their changes ====

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
  revoked_at timestamptz,
  -- What identifies the key, set by a trigger. A public key is registered once: with one key under two machine users, one person could
  -- act as two.
  key_material text
);
CREATE INDEX machine_user_keys_by_user ON machine_user_keys (machine_user_id);
COMMENT ON INDEX machine_user_keys_by_user IS 'GET /machine-users and its keys.';
CREATE UNIQUE INDEX machine_user_keys_one_registration ON machine_user_keys (key_material);
COMMENT ON INDEX machine_user_keys_one_registration IS 'One key belongs to one machine user.';

-- What was changed, by whom, and by which request: only the fields that changed, before and after.
CREATE TABLE audit_entries (
  id uuid PRIMARY KEY,
  occurred_at timestamptz NOT NULL,
  actor text NOT NULL,
  action text NOT NULL,
  resource text NOT NULL,
  resource_id text NOT NULL,
  request_id text,
  before jsonb,
  after jsonb
);
CREATE INDEX audit_entries_by_time ON audit_entries (occurred_at, id);
COMMENT ON INDEX audit_entries_by_time IS 'GET /audit-entries and its export: the log in its order, and of a period.';
CREATE INDEX audit_entries_by_resource_id ON audit_entries (resource_id, occurred_at, id);
COMMENT ON INDEX audit_entries_by_resource_id IS 'GET /audit-entries and its export by resourceId.';
CREATE INDEX audit_entries_by_resource ON audit_entries (resource, occurred_at, id);
COMMENT ON INDEX audit_entries_by_resource IS 'GET /audit-entries and its export by resource.';
CREATE INDEX audit_entries_by_actor ON audit_entries (actor, occurred_at, id);
COMMENT ON INDEX audit_entries_by_actor IS 'GET /audit-entries and its export by actor.';
CREATE INDEX audit_entries_by_action ON audit_entries (action, occurred_at, id);
COMMENT ON INDEX audit_entries_by_action IS 'GET /audit-entries and its export by action.';

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
COMMENT ON INDEX idempotency_keys_by_age IS 'The deletion of old keys.';


-- ==== Clients ====

CREATE SEQUENCE client_numbers;

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
COMMENT ON INDEX clients_by_email IS 'GET /clients by email.';

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
COMMENT ON INDEX client_relations_by_client IS 'GET /clients/{id} and its relations.';

-- The client at a provider: created with the first account there.
CREATE TABLE client_connections (
  id uuid PRIMARY KEY,
  client_id uuid NOT NULL REFERENCES clients (id),
  provider text NOT NULL,
  reference text,
  state text NOT NULL CHECK (state IN ('creation-in-progress', 'creation-failed', 'completed-up-to-date')),
  error jsonb,
  created_at timestamptz NOT NULL,
  -- The id by which a client that was migrated from its provider (workflow.code migration) was requested there; null if the
  -- service itself made the connection.
  source_id text,
  UNIQUE (client_id, provider),
  CONSTRAINT client_connections_taken_over
    CHECK (source_id IS NULL OR (reference IS NOT NULL AND state = 'completed-up-to-date'))
);
CREATE UNIQUE INDEX client_connections_by_source_id ON client_connections (provider, source_id) WHERE source_id IS NOT NULL;
COMMENT ON INDEX client_connections_by_source_id IS 'A client of a provider is migrated once.';
CREATE INDEX client_connections_by_reference ON client_connections (provider, reference) WHERE reference IS NOT NULL;
COMMENT ON INDEX client_connections_by_reference IS 'A client to migrate that the provider knows by another id.';


-- ==== Beneficiaries ====

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
  created_at timestamptz NOT NULL,
  -- The type is repeated for the filter of the list. A beneficiary known only by its full name has neither.
  CONSTRAINT beneficiaries_identity CHECK (identity_type IS NOT DISTINCT FROM (identity ->> 'type')),
  CONSTRAINT beneficiaries_full_name CHECK (char_length(full_name) > 0)
);
CREATE INDEX beneficiaries_by_client ON beneficiaries (client_id, id);
COMMENT ON INDEX beneficiaries_by_client IS 'GET /beneficiaries by clientId.';
CREATE INDEX beneficiaries_by_client_and_name ON beneficiaries (client_id, full_name);
COMMENT ON INDEX beneficiaries_by_client_and_name IS 'POST /open-banking/{countryCode}/payments: the client''s beneficiary for the creditor.';

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
  created_at timestamptz NOT NULL,
  CONSTRAINT beneficiary_bank_accounts_named CHECK (account_number IS NOT NULL OR iban IS NOT NULL)
);
CREATE INDEX beneficiary_bank_accounts_by_beneficiary ON beneficiary_bank_accounts (beneficiary_id, id);
COMMENT ON INDEX beneficiary_bank_accounts_by_beneficiary IS 'GET /beneficiaries/{id} and its bank accounts.';

-- A beneficiary's bank account as it is checked for and stored with a transfer to it: with the present state of its beneficiary.
CREATE VIEW destination_bank_accounts AS
  SELECT bank_account.id, json_build_object('id', bank_account.id, 'beneficiaryId', beneficiary.id,
      'clientId', beneficiary.client_id, 'status', bank_account.status, 'country', bank_account.country,
      'currency', bank_account.currency, 'accountHolderName', bank_account.account_holder_name, 'alias', bank_account.alias,
      'accountNumber', bank_account.account_number, 'iban', bank_account.iban, 'routingCodes', bank_account.routing_codes,
      'fullName', beneficiary.full_name, 'identity', beneficiary.identity, 'title', beneficiary.title,
      'address', beneficiary.contact -> 'address') AS shown
  FROM beneficiary_bank_accounts bank_account JOIN beneficiaries beneficiary ON beneficiary.id = bank_account.beneficiary_id;

-- Beneficiaries migrated from a provider (workflow.code migration); source_id is the id by which one was requested there.
CREATE TABLE beneficiary_connections (
  id uuid PRIMARY KEY,
  beneficiary_id uuid NOT NULL REFERENCES beneficiaries (id),
  provider text NOT NULL,
  reference text NOT NULL,
  state text NOT NULL CHECK (state = 'completed-up-to-date'),
  source_id text NOT NULL,
  created_at timestamptz NOT NULL,
  UNIQUE (beneficiary_id, provider),
  CONSTRAINT beneficiary_connections_by_source_id UNIQUE (provider, source_id)
);
COMMENT ON INDEX beneficiary_connections_by_source_id IS 'A beneficiary of a provider is migrated once.';

-- The questions to name directories and their answers, kept for audit: a row is one answer, and one request charged to the client.
-- A name is kept only if the directory returned it, at a close match.
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


-- ==== Accounts ====

CREATE SEQUENCE ledger_numbers;

-- posted_minor is the sum of the account's postings; reserved_minor the sum of open reservations; receivable_minor the
-- sum of incoming transfers pending or on hold. version counts the account's ledger entries and has no gaps.
-- fillfactor leaves free space so that a balance update stays on its page and touches no index.
-- A sub-account names its main account, and repeats its status, so that no payment reads a second account. Triggers keep both
-- (db/functions/accounts.sql): as a foreign key, each second update of a sub-account in one transaction would lock the main account
-- after it, against the lock order. No account is ever deleted.
CREATE TABLE accounts (
  id uuid PRIMARY KEY,
  client_id uuid NOT NULL REFERENCES clients (id),
  main_account_id uuid,
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
  -- The change in progress at the provider ('open', 'close'), its attempt, and when the sweep checks it.
  requested_change requested_change,
  change_attempt integer NOT NULL DEFAULT 0,
  change_submitted_at timestamptz,
  next_check_at timestamptz,
  posted_minor bigint NOT NULL DEFAULT 0,
  reserved_minor amount_or_zero NOT NULL DEFAULT 0,
  receivable_minor amount_or_zero NOT NULL DEFAULT 0,
  version bigint NOT NULL DEFAULT 0,
  last_entry_at timestamptz NOT NULL DEFAULT '-infinity',
  -- Transfers wait for money here; a credit then marks the account for the admission transaction.
  has_waiters boolean NOT NULL DEFAULT false,
  admission_due boolean NOT NULL DEFAULT false,
  revision bigint NOT NULL DEFAULT 1,
  event_sequence bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  -- The newest row of its party_accounts.
  party_account_id bigint,
  -- The status that the provider of a built-in account last reported on its own, and the number of that report: late reports change
  -- nothing, and one that arrives before the opening applies from the opening on.
  provider_status text CHECK (provider_status IN ('active', 'inactive', 'suspended', 'closed')),
  provider_status_number bigint CHECK (provider_status_number > 0),
  main_account_status account_status,
  -- When to look up the change at the provider. Not next_check_at, which the sweep of overdue rows postpones.
  next_look_up_at timestamptz,
  CONSTRAINT accounts_available_not_negative CHECK (posted_minor >= reserved_minor),
  CONSTRAINT accounts_closed_is_empty CHECK (status NOT IN ('closed', 'declined') OR (posted_minor = 0 AND reserved_minor = 0)),
  CHECK ((provider_status IS NULL) = (provider_status_number IS NULL)),
  CONSTRAINT accounts_main_account_first CHECK (main_account_id < id),
  CONSTRAINT accounts_main_account_status_known CHECK ((main_account_id IS NULL) = (main_account_status IS NULL))
) WITH (fillfactor = 60);
CREATE INDEX accounts_by_client ON accounts (client_id, id);
COMMENT ON INDEX accounts_by_client IS 'GET /accounts by clientId; open accounts of a client that closes.';
CREATE INDEX accounts_by_main_account ON accounts (main_account_id) WHERE main_account_id IS NOT NULL;
COMMENT ON INDEX accounts_by_main_account IS 'Sub-accounts of an account whose status changes or that closes; GET /accounts by mainAccountId.';
CREATE UNIQUE INDEX accounts_by_iban ON accounts (iban, currency) WHERE iban IS NOT NULL AND main_account_id IS NULL AND status NOT IN ('closed', 'declined');
COMMENT ON INDEX accounts_by_iban IS 'A payment in, matched by IBAN; one open account of a currency has an IBAN.';
CREATE INDEX accounts_by_account_number ON accounts (account_number) WHERE account_number IS NOT NULL;
COMMENT ON INDEX accounts_by_account_number IS 'A payment in, matched by account number; GET /accounts by accountNumber.';
CREATE INDEX accounts_admission_due ON accounts (id) WHERE admission_due;
COMMENT ON INDEX accounts_admission_due IS 'The loop that admits waiting transfers: accounts where money became available.';
CREATE INDEX accounts_next_check ON accounts (next_check_at) WHERE next_check_at IS NOT NULL;
COMMENT ON INDEX accounts_next_check IS 'The sweep: changes at the provider that are due to be looked up.';
CREATE INDEX accounts_with_iban ON accounts (iban) WHERE iban IS NOT NULL;
COMMENT ON INDEX accounts_with_iban IS 'A payment in, matched by IBAN, to a closed account too; GET /accounts by iban, of sub-accounts and closed accounts as well.';

-- How an account appears to others, from one change of it to the next. Rows never change: a transfer between accounts of the service
-- refers to the rows that were current when it was made, and shows both accounts by them.
CREATE TABLE party_accounts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account_id uuid NOT NULL,
  account_holder_name text NOT NULL,
  -- The only facts that a payer gets about the holder: type and names.
  holder_identity jsonb NOT NULL,
  alias text NOT NULL,
  ledger_number text NOT NULL,
  account_number text,
  iban text,
  country text NOT NULL,
  currency text NOT NULL,
  routing_codes jsonb
);
CREATE INDEX party_accounts_by_account ON party_accounts (account_id, id);
COMMENT ON INDEX party_accounts_by_account IS 'The row by which a transfer shows an account of ours.';

-- Accounts migrated from a provider (workflow.code client.migration), each with at most one opening balance. source_id is the id by
-- which the account was requested there. One account of a provider is one account here, however many requests name it at the same time.
CREATE TABLE account_migrations (
  account_id uuid PRIMARY KEY REFERENCES accounts (id),
  provider text NOT NULL,
  source_id text NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT account_migrations_by_source_id UNIQUE (provider, source_id)
);

-- Each balance adjustment with the one posting that moved its money. `transaction_number` is on the account's statement.
CREATE TABLE balance_adjustments (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id),
  posting_id bigint NOT NULL UNIQUE,
  transaction_number text NOT NULL UNIQUE,
  workflow_code text NOT NULL CHECK (workflow_code IN ('correction', 'synchronization')),
  workflow_type text NOT NULL CHECK (workflow_type IN ('fee', 'unknown', 'unconnected-service-provider', 'opening-balance')),
  workflow_transaction_type text CHECK (workflow_transaction_type IN ('incoming-transfer', 'unconnected-service-provider')),
  direction text NOT NULL CHECK (direction IN ('debit', 'credit')),
  currency text NOT NULL,
  amount_minor bigint NOT NULL CHECK (amount_minor > 0),
  description text,
  unconnected_service_provider text,
  created_at timestamptz NOT NULL,
  CONSTRAINT balance_adjustments_unconnected_service_provider CHECK ((unconnected_service_provider IS NOT NULL)
    = ('unconnected-service-provider' IN (workflow_type, coalesce(workflow_transaction_type, workflow_type)))),
  CONSTRAINT balance_adjustments_workflow CHECK (CASE workflow_code
    WHEN 'correction' THEN workflow_type IN ('fee', 'unknown') AND workflow_transaction_type IS NOT NULL
    ELSE workflow_type IN ('unconnected-service-provider', 'opening-balance') AND workflow_transaction_type IS NULL END),
  CONSTRAINT balance_adjustments_opening_balance CHECK (workflow_type <> 'opening-balance' OR direction = 'credit')
);
CREATE INDEX balance_adjustments_by_time ON balance_adjustments (created_at);
COMMENT ON INDEX balance_adjustments_by_time IS 'The incremental ledger check: adjustments since the last check.';
CREATE UNIQUE INDEX balance_adjustments_opening_balances ON balance_adjustments (account_id) WHERE workflow_type = 'opening-balance';
COMMENT ON INDEX balance_adjustments_opening_balances IS 'An account has one opening balance; the comparison of opening balances with the provider''s statement.';


-- ==== Ledger ====

-- The other side of client money, per provider and currency. They have neither balance nor version, so that priced transfers do not
-- queue for one row. The balance is the last checkpoint plus the postings after it.
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
COMMENT ON INDEX postings_by_debit_account IS 'Statements: debits of an account by time; versions without gaps.';
CREATE UNIQUE INDEX postings_by_credit_account ON postings (credit_account_id, posted_at, credit_version) WHERE credit_version IS NOT NULL;
COMMENT ON INDEX postings_by_credit_account IS 'Statements: credits of an account by time; versions without gaps.';
CREATE INDEX postings_by_system_debit ON postings (debit_account_id, id) WHERE debit_version IS NULL;
COMMENT ON INDEX postings_by_system_debit IS 'Reconciliation, fee sweep and checks: debits of a system account since a posting.';
CREATE INDEX postings_by_system_credit ON postings (credit_account_id, id) WHERE credit_version IS NULL;
COMMENT ON INDEX postings_by_system_credit IS 'Reconciliation, fee sweep and checks: credits of a system account since a posting.';
-- So that a page of a statement is read from where it begins, and not past all earlier entries.
CREATE UNIQUE INDEX postings_by_debit_version ON postings (debit_account_id, debit_version) WHERE debit_version IS NOT NULL;
COMMENT ON INDEX postings_by_debit_version IS 'Statements and their files: a page of an account''s debits by version.';
CREATE UNIQUE INDEX postings_by_credit_version ON postings (credit_account_id, credit_version) WHERE credit_version IS NOT NULL;
COMMENT ON INDEX postings_by_credit_version IS 'Statements and their files: a page of an account''s credits by version.';

-- Amounts moved from a provider's fee revenue to its settlement, each by one posting. Negative: corrections exceeded fees. `day` is the
-- day to which the sweep belongs.
CREATE TABLE fee_sweeps (
  posting_id bigint PRIMARY KEY,
  transaction_number text NOT NULL UNIQUE,
  day date NOT NULL,
  provider text NOT NULL,
  currency text NOT NULL,
  amount_minor bigint NOT NULL CHECK (amount_minor <> 0),
  swept_at timestamptz NOT NULL
);

-- The days that the schedule has swept, with or without fees: once each.
CREATE TABLE fee_sweep_days (
  day date PRIMARY KEY,
  swept_at timestamptz NOT NULL
);

-- How far the books have been checked: each account's entries up to a version, and events up to a position. The next check
-- reads everything since (db/ledger/invariants-since.sql).
CREATE TABLE ledger_checked_accounts (
  account_id uuid PRIMARY KEY,
  version bigint NOT NULL,
  balance_minor bigint NOT NULL,
  last_entry_at timestamptz NOT NULL
);

CREATE TABLE ledger_checks (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  checked_at timestamptz NOT NULL,
  event_position bigint NOT NULL,
  -- The result of the last ledger check, for metrics: any worker may have made it. A check without violations moves checked_at
  -- instead, so violations count while violated_at is the later one.
  violated_at timestamptz,
  violation_count integer CHECK (violation_count > 0),
  CONSTRAINT ledger_checks_violation CHECK ((violated_at IS NULL) = (violation_count IS NULL))
);
INSERT INTO ledger_checks (checked_at, event_position) VALUES ('-infinity', 0);


-- ==== Transfers ====

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
  -- The transfer's part of the account's reserved_minor: amount and fee while `processing`, else 0.
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
  -- The current submission: its number, and whether its outcome is known.
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
  -- How the destination appeared when the transfer was made (party_accounts); internal transfers only.
  destination_party_account_id bigint,
  -- The compliance check: the latest result and, once the check is final, when and by whom it was decided. compliance_check_status is its
  -- state: not-required (no check), not-checked (in review), fulfilled (approved) or not-fulfilled (rejected).
  compliance_result compliance_result,
  compliance_decided_at timestamptz,
  compliance_decided_by text,
  -- The rule of the service's own review that stopped the transfer: {"name", "kind"}. It stays after a person's decision.
  compliance_rule jsonb,
  retry_count integer NOT NULL DEFAULT 0,
  retry_at timestamptz,
  rejection_code text,
  -- The sum of its returns, which refer to it by return_of.
  returned_minor bigint NOT NULL DEFAULT 0,
  -- The latest recall; 0 and null if there was none.
  recall_number integer NOT NULL DEFAULT 0,
  recall_status text,
  -- The request that created the transfer, for the audit log's derived entry. Null for a straight-through transfer, whose one
  -- statement does not store it.
  request_id text,
  CONSTRAINT outgoing_transfers_reservation CHECK (reserved_minor = CASE WHEN status = 'processing' THEN amount_minor + fee_minor ELSE 0 END),
  CONSTRAINT outgoing_transfers_destination CHECK (
    CASE scope WHEN 'internal' THEN destination_account_id IS NOT NULL AND scheme IS NULL AND beneficiary_bank_account_id IS NULL
    ELSE scheme IS NOT NULL AND beneficiary_bank_account_id IS NOT NULL AND destination_account_id IS NULL END),
  CONSTRAINT outgoing_transfers_other_account CHECK (destination_account_id <> account_id),
  CONSTRAINT outgoing_transfers_returned CHECK (NOT returned OR (status = 'completed' AND incoming_transfer_id IS NOT NULL)),
  -- No money moves before a review has approved it.
  CONSTRAINT outgoing_transfers_reviewed CHECK (status NOT IN ('processing', 'released', 'completed')
  OR compliance_check_status IN ('fulfilled', 'not-required')),
  CONSTRAINT outgoing_transfers_returned_sum
    CHECK (returned_minor >= 0 AND returned_minor <= amount_minor AND (returned OR returned_minor = 0)),
  CONSTRAINT outgoing_transfers_retry CHECK (submission_status <> 'rejected' OR (retry_at IS NOT NULL AND retry_count > 0)),
  CONSTRAINT outgoing_transfers_recall
    CHECK ((recall_status IS NULL) = (recall_number = 0) AND recall_number >= 0),
  CONSTRAINT outgoing_transfers_recall_status CHECK (recall_status IN ('due', 'asked', 'rejected', 'ended')),
  -- Only a released payment can be recalled.
  CONSTRAINT outgoing_transfers_recalled
    CHECK (recall_status IS NULL OR recall_status NOT IN ('due', 'asked') OR status IN ('released', 'completed', 'failed'))
) WITH (fillfactor = 85);
-- With the columns by which lists of one account or client are filtered, so that a page and its total are found without the rows.
CREATE INDEX outgoing_transfers_by_account ON outgoing_transfers (account_id, id) INCLUDE (transfer_date, status);
COMMENT ON INDEX outgoing_transfers_by_account IS 'GET /outgoing-transfers by accountId, with date and status, and its total.';
CREATE INDEX outgoing_transfers_by_client ON outgoing_transfers (client_id, id) INCLUDE (transfer_date, status);
COMMENT ON INDEX outgoing_transfers_by_client IS 'GET /outgoing-transfers by clientId, with date and status, and its total.';
CREATE INDEX outgoing_transfers_not_completed ON outgoing_transfers (status, id) WHERE status <> 'completed';
COMMENT ON INDEX outgoing_transfers_not_completed IS 'GET /outgoing-transfers by status, metrics and the check of open work: all but completed.';
CREATE INDEX outgoing_transfers_next_check ON outgoing_transfers (next_check_at) WHERE next_check_at IS NOT NULL;
COMMENT ON INDEX outgoing_transfers_next_check IS 'The sweep: open transfers that are due.';
CREATE INDEX outgoing_transfers_by_provider_reference ON outgoing_transfers (service_provider_reference) WHERE service_provider_reference IS NOT NULL;
COMMENT ON INDEX outgoing_transfers_by_provider_reference IS 'GET /outgoing-transfers by serviceProviderReference.';
CREATE INDEX outgoing_transfers_waiting_by_total ON outgoing_transfers (account_id, (amount_minor + fee_minor), id) WHERE waiting_for = 'balance';
COMMENT ON INDEX outgoing_transfers_waiting_by_total IS 'Admission: transfers that wait for money in an account and fit what is available.';
CREATE INDEX outgoing_transfers_by_time ON outgoing_transfers (created_at, id) INCLUDE (created_by);
COMMENT ON INDEX outgoing_transfers_by_time IS 'GET /audit-entries and its export: the creations of transfers in their order, of a period, with their actor, and the total.';
CREATE INDEX outgoing_transfers_by_account_and_time ON outgoing_transfers (account_id, created_at) INCLUDE (id, amount_minor, status);
COMMENT ON INDEX outgoing_transfers_by_account_and_time IS 'Velocity rules of built-in reviews: number and sum of an account''s payments in a window.';
-- Rejected payments that wait for a retry wait for a date, as pending transfers do, so a change of a calendar moves them too.
CREATE INDEX outgoing_transfers_awaited_schedules ON outgoing_transfers
  (scheme, currency, transfer_date, coalesce(cut_off_at, '-infinity'), id)
  WHERE scheme IS NOT NULL AND (status = 'pending' OR (status = 'processing' AND submission_status = 'rejected'));
COMMENT ON INDEX outgoing_transfers_awaited_schedules IS 'The calendars loop: the dates and cut-offs for which transfers wait, and the transfers of each.';
-- Transfers that are released at the same instant, in the order of their creation: the position of each depends on those before it.
CREATE INDEX outgoing_transfers_releases ON outgoing_transfers (waiting_until, id) WHERE waiting_for IN ('date', 'retry');
COMMENT ON INDEX outgoing_transfers_releases IS 'A workflow that begins to wait for an instant: how many transfers are released before it.';
-- Metrics that show a silent bank at once: each figure is one index look-up, however many transfers wait.
CREATE INDEX outgoing_transfers_waits ON outgoing_transfers
  (coalesce(waiting_for, 'provider'), status, coalesce(waiting_since, updated_at)) WHERE waiting_for IS NOT NULL OR next_check_at IS NOT NULL;
COMMENT ON INDEX outgoing_transfers_waits IS 'Metrics: the number of transfers per wait, and the age of the oldest.';

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
  -- The transfer's part of the account's receivable_minor.
  receivable_minor bigint NOT NULL DEFAULT 0 CHECK (receivable_minor IN (0, amount_minor)),
  -- Whether the money is in the provider's suspense account (it has arrived, but is not yet the client's).
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
  -- For a returned payment: the provider's id of the return, by which the same return is recognized and distinguished from
  -- others. Null in every other incoming transfer.
  return_reference text,
  -- How both accounts appeared when the transfer was made (party_accounts); internal transfers only.
  sender_party_account_id bigint,
  receiver_party_account_id bigint,
  -- As in outgoing_transfers.
  compliance_result compliance_result,
  compliance_decided_at timestamptz,
  compliance_decided_by text,
  compliance_rule jsonb,
  -- The payment that is returned. A payment may be returned in parts, so its own incoming_transfer_id refers only to the latest.
  return_of uuid,
  CONSTRAINT incoming_transfers_final_is_settled CHECK (status IN ('pending', 'on-hold') OR receivable_minor = 0),
  CONSTRAINT incoming_transfers_completed CHECK (status <> 'completed' OR (account_id IS NOT NULL AND transfer_date IS NOT NULL)),
  CONSTRAINT incoming_transfers_reviewed CHECK (status <> 'completed'
  OR compliance_check_status IN ('fulfilled', 'not-required'))
) WITH (fillfactor = 90);
CREATE INDEX incoming_transfers_by_account ON incoming_transfers (account_id, id) INCLUDE (transfer_date, status);
COMMENT ON INDEX incoming_transfers_by_account IS 'GET /incoming-transfers by accountId, with date and status, and its total.';
CREATE INDEX incoming_transfers_by_client ON incoming_transfers (client_id, id) INCLUDE (transfer_date, status);
COMMENT ON INDEX incoming_transfers_by_client IS 'GET /incoming-transfers by clientId, with date and status, and its total.';
CREATE INDEX incoming_transfers_not_completed ON incoming_transfers (status, id) WHERE status <> 'completed';
COMMENT ON INDEX incoming_transfers_not_completed IS 'GET /incoming-transfers by status, metrics and the check of open work: all but completed.';
-- A returned payment's incoming transfer refers to no outgoing one here (it is not an internal transfer), so each has at most one.
CREATE UNIQUE INDEX incoming_transfers_by_outgoing_transfer ON incoming_transfers (outgoing_transfer_id) WHERE outgoing_transfer_id IS NOT NULL;
COMMENT ON INDEX incoming_transfers_by_outgoing_transfer IS 'The incoming side of an internal transfer, for its GET, its changes and the check of the ledger.';
CREATE UNIQUE INDEX incoming_transfers_by_provider_id ON incoming_transfers (provider, service_provider_id) WHERE service_provider_id IS NOT NULL;
COMMENT ON INDEX incoming_transfers_by_provider_id IS 'A payment that a provider reports is recorded once.';
CREATE INDEX incoming_transfers_next_check ON incoming_transfers (next_check_at) WHERE next_check_at IS NOT NULL;
COMMENT ON INDEX incoming_transfers_next_check IS 'The sweep: open transfers in that are due.';
CREATE INDEX incoming_transfers_by_account_and_time ON incoming_transfers (account_id, created_at) INCLUDE (id, amount_minor, status);
COMMENT ON INDEX incoming_transfers_by_account_and_time IS 'Velocity rules of built-in reviews: number and sum of an account''s receipts in a window.';
CREATE UNIQUE INDEX incoming_transfers_by_return ON incoming_transfers (return_of, return_reference) WHERE return_of IS NOT NULL;
COMMENT ON INDEX incoming_transfers_by_return IS 'The returns of a payment, and that each is booked once.';
CREATE INDEX incoming_transfers_by_provider_reference ON incoming_transfers (service_provider_reference)
  WHERE service_provider_reference IS NOT NULL;
COMMENT ON INDEX incoming_transfers_by_provider_reference IS 'Incoming transfers by the bank''s reference, which its files use.';
CREATE INDEX incoming_transfers_waits ON incoming_transfers
  (coalesce(waiting_for, 'provider'), status, coalesce(waiting_since, updated_at)) WHERE waiting_for IS NOT NULL OR next_check_at IS NOT NULL;
COMMENT ON INDEX incoming_transfers_waits IS 'Metrics: the number of incoming transfers per wait, and the age of the oldest.';

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
COMMENT ON INDEX provisioned_account_credits_by_provider_id IS 'A credit that a caller reports is recorded once.';
CREATE INDEX provisioned_account_credits_by_account ON provisioned_account_credits (account_id, id);
COMMENT ON INDEX provisioned_account_credits_by_account IS 'GET /provisioned-account-credits by accountId.';

-- The ids of the decisions that arrived by Temporal's signal: a signal may be delivered again, after later decisions.
CREATE TABLE compliance_decisions (
  transfer_id uuid NOT NULL,
  decision_id text NOT NULL,
  received_at timestamptz NOT NULL,
  PRIMARY KEY (transfer_id, decision_id)
);

-- The audit log as it is read. An outgoing transfer is the record of its own creation, which therefore writes no entry: the log
-- derives one, with the transfer's id, from fields that never change. `transfer_id` is null in every other entry.
-- Neither side has a WHERE: with one, Postgres would sort all of it for every page.
CREATE VIEW audit_log AS
  SELECT id, occurred_at, actor, action, resource, resource_id, request_id, before, after, NULL::uuid AS transfer_id, NULL::bigint AS amount_minor, NULL::text AS currency
  FROM audit_entries
  UNION ALL
  SELECT id, created_at, coalesce(created_by::text, 'unknown'), 'created'::text, 'outgoing-transfer'::text, id::text, request_id, NULL::jsonb,
    jsonb_strip_nulls(jsonb_build_object('transactionNumber', transaction_number, 'clientId', client_id, 'currency', currency,
      'scope', scope, 'scheme', scheme, 'transferDate', original_transfer_date, 'sourceAccountId', account_id,
      'destinationAccountId', destination_account_id, 'beneficiaryBankAccountId', beneficiary_bank_account_id)),
    id, amount_minor::bigint, currency
  FROM outgoing_transfers;


-- ==== Arguments of the functions of transfers ====

-- A straight-through internal transfer as the API passes it. The caller sets everything in it except the balances; transfer_date
-- must be the day of the service's clock.
CREATE TYPE internal_transfer AS (
  machine_user_id uuid, path text, key text, request_hash bytea, response_body text,
  outgoing_id uuid, incoming_id uuid, outgoing_number text, incoming_number text,
  outgoing_event_id uuid, incoming_event_id uuid,
  client_id uuid, source_id uuid, destination_id uuid, currency text, amount_minor bigint, fee_minor bigint,
  transfer_date date, description text, transfer_reason_id uuid, transfer_custom_reason text
);

-- An account while the transfers of one call are settled: first as it was locked, then as each transfer leaves it.
CREATE TYPE straight_through_account AS (
  id uuid, client_id uuid, is_usable boolean, currency text, method text, provider text, party_account_id bigint,
  available_minor bigint, posted_minor bigint, version bigint, first_version bigint, last_entry_at timestamptz, is_credited boolean
);

-- The result of settling a transfer; all null if it is not settled.
CREATE TYPE straight_through_settlement AS (
  settled_at timestamptz, debit_version bigint, debit_balance_minor bigint, credit_version bigint, credit_balance_minor bigint,
  receiver_id uuid, method text, provider text, receiver_method text, receiver_provider text,
  sender_party_account_id bigint, receiver_party_account_id bigint
);

-- A change of a transfer, as apply_transfer_changes applies it (db/functions/transfer-changes.sql): the rows that it makes or moves, and what must still hold. `*_from` is the revision that a row was moved from, and
-- null for a row that is made; a row that is moved carries only the columns that change.
CREATE TYPE transfer_change AS (
  at timestamptz,
  machine_user_id uuid, path text, key text, request_hash bytea, response_status integer, response_body text,
  account_ids uuid[], guards json, moves json,
  outgoing_id uuid, outgoing_from bigint, outgoing json, outgoing_event_id uuid, outgoing_entries json,
  incoming_id uuid, incoming_from bigint, incoming json, incoming_event_id uuid, incoming_entries json,
  postings json, wakes text[],
  credit json, audit_entry json, callback json,
  wake_priority smallint
);


-- ==== Counts of transfers ====

-- How many final transfers there are, and where they are among the others, so that a list over a million returns its total and finds
-- its page without reading a million rows, and without an index to which every transfer would have to be added. The columns by which a
-- final transfer is counted never change. Rows up to last_id are either counted here or listed in transfers_not_counted; the reader
-- counts later rows. `direction` is 'outgoing' or 'incoming'.
CREATE TABLE transfer_counting (
  direction text PRIMARY KEY,
  last_id uuid NOT NULL,
  -- The range (transfer_ranges) that the next row goes to, while it has less than 128.
  last_range uuid NOT NULL,
  last_range_rows integer NOT NULL
);
INSERT INTO transfer_counting (direction, last_id, last_range, last_range_rows) VALUES
  ('outgoing', '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000', 0),
  ('incoming', '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000', 0);

-- Transfers that were not final yet when the counting passed them.
CREATE TABLE transfers_not_counted (
  direction text NOT NULL,
  id uuid NOT NULL,
  PRIMARY KEY (direction, id)
);

-- Per account and status. An account whose digits are all 0 means all accounts, and a client likewise; if all digits are f, the
-- transfer has none.
CREATE TABLE transfer_counts (
  direction text NOT NULL,
  account_id uuid NOT NULL,
  client_id uuid NOT NULL,
  provider text NOT NULL,
  currency text NOT NULL,
  status text NOT NULL,
  transfer_count bigint NOT NULL,
  PRIMARY KEY (direction, account_id, client_id, provider, currency, status)
);
CREATE INDEX transfer_counts_by_client ON transfer_counts (direction, client_id);
COMMENT ON INDEX transfer_counts_by_client IS 'Totals of a client''s transfers.';

-- Per transfer date (null while there is none), of all accounts; first_range is the earliest range with such a row.
CREATE TABLE transfer_day_counts (
  direction text NOT NULL,
  transfer_date date,
  provider text NOT NULL,
  currency text NOT NULL,
  status text NOT NULL,
  transfer_count bigint NOT NULL,
  first_range uuid NOT NULL,
  UNIQUE NULLS NOT DISTINCT (direction, transfer_date, provider, currency, status)
);

-- A range of 128 transfers in the order of their creation: all from its first id up to the next range's. Lists use it to find
-- the parts of the table that hold matching rows.
CREATE TABLE transfer_ranges (
  direction text NOT NULL,
  first_id uuid NOT NULL,
  PRIMARY KEY (direction, first_id)
);
INSERT INTO transfer_ranges (direction, first_id) SELECT direction, last_range FROM transfer_counting;

CREATE TABLE transfer_range_counts (
  direction text NOT NULL,
  first_id uuid NOT NULL,
  transfer_date date,
  provider text NOT NULL,
  currency text NOT NULL,
  status text NOT NULL,
  transfer_count integer NOT NULL,
  UNIQUE NULLS NOT DISTINCT (direction, first_id, transfer_date, provider, currency, status)
);
-- Written only by the counting in the background.
CREATE INDEX transfer_range_counts_by_currency ON transfer_range_counts (direction, currency, first_id)
  INCLUDE (provider, status);
COMMENT ON INDEX transfer_range_counts_by_currency IS 'A page of transfers by currency: the ranges of ids that hold any.';
CREATE INDEX transfer_range_counts_by_provider ON transfer_range_counts (direction, provider, first_id)
  INCLUDE (currency, status);
COMMENT ON INDEX transfer_range_counts_by_provider IS 'A page of transfers by provider: the ranges of ids that hold any.';


-- ==== Counts of other lists ====

-- How many rows a list has, by the values of its filters, and where they are among the others. With this, a list of a million rows
-- returns its total and finds any page without reading the rows before it, and without an index that every write would have to
-- update. Rows up to last_id are counted here; the reader counts the rest. A row that changes after it was counted, and one whose id
-- is not new, notes its change in list_changes, in its own transaction (db/functions/list-counts.sql).
-- `list` is the name of the table. Level 0 counts all of its rows; levels 1 to 3 count ranges of ids, each from its first id
-- to the next one's. `key` holds the values of the filters, as count_key returns them; null means every key.
CREATE TABLE list_counts (
  list text NOT NULL,
  level smallint NOT NULL,
  key jsonb NOT NULL,
  first_id uuid NOT NULL,
  row_count bigint NOT NULL,
  PRIMARY KEY (list, level, key, first_id)
);
-- The first, empty range of each level.
INSERT INTO list_counts (list, level, key, first_id, row_count)
  SELECT list, level, 'null', '00000000-0000-0000-0000-000000000000', 0
  FROM unnest(ARRAY['clients', 'accounts', 'beneficiaries', 'users']) AS list, generate_series(0, 3) AS level;

CREATE TABLE list_counting (
  list text PRIMARY KEY,
  last_id uuid NOT NULL,
  -- The number of rows that have been counted into the ranges.
  counted_rows bigint NOT NULL
);
INSERT INTO list_counting (list, last_id, counted_rows)
  SELECT list, '00000000-0000-0000-0000-000000000000', 0
  FROM unnest(ARRAY['clients', 'accounts', 'beneficiaries', 'users']) AS list;

-- Changes that list_counts does not contain yet.
CREATE TABLE list_changes (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  list text NOT NULL,
  id uuid NOT NULL,
  key jsonb NOT NULL,
  change integer NOT NULL
);


-- ==== Events and webhooks ====

-- The event log. One row holds the events of one transition of one resource, in order: entries = [{"type", "data"}, ...],
-- at most 16. Event k of a row has the id `id + k` (the last hexadecimal digit of id is 0), the sequence
-- first_sequence + k and, once numbered by the sequencer, the position first_position + k. data holds the fields that the event
-- shows with values of their own; the unchanging ones are read from the resource's row.
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
COMMENT ON INDEX events_not_numbered IS 'The sequencer: committed events without a position.';
CREATE UNIQUE INDEX events_by_position ON events (first_position) WHERE first_position IS NOT NULL;
COMMENT ON INDEX events_by_position IS 'GET /events and deliveries: events from a position on.';
CREATE INDEX events_by_time ON events USING brin (occurred_at);
COMMENT ON INDEX events_by_time IS 'A replay: the first event at or after a time.';

-- The last position given out. A row of its own, so that a restored database can jump ahead by a gap.
CREATE TABLE event_sequencer (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  last_position bigint NOT NULL
);
INSERT INTO event_sequencer (last_position) VALUES (0);

-- Where the event log begins: events before this position were deleted after the configured time. A row of its own, so
-- that housekeeping and the sequencer never wait for each other.
CREATE TABLE event_log_start (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  first_position bigint NOT NULL
);
INSERT INTO event_log_start (first_position) VALUES (1);

-- Who gets events by webhook. modules and types both null = every event of the four modules of the specification; others go only to
-- subscriptions that name them (subscribes in db/functions/events.sql). failing_since is the first failure since the last success. A
-- deleted subscription keeps its row, so that its deliveries stay readable.
CREATE TABLE webhook_subscriptions (
  id uuid PRIMARY KEY,
  url text NOT NULL,
  modules text[] CHECK (cardinality(modules) > 0),
  types text[] CHECK (cardinality(types) > 0),
  status text NOT NULL CHECK (status IN ('active', 'paused', 'disabled')),
  status_reason text CHECK (status_reason IN ('gone', 'failing')),
  description text,
  shard smallint NOT NULL CHECK (shard BETWEEN 0 AND 3),
  failing_since timestamptz,
  revision bigint NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  deleted_at timestamptz,
  CONSTRAINT webhook_subscriptions_reason CHECK (status_reason IS NULL OR status = 'disabled')
);
CREATE INDEX webhook_subscriptions_by_shard ON webhook_subscriptions (shard) WHERE deleted_at IS NULL AND status = 'active';
COMMENT ON INDEX webhook_subscriptions_by_shard IS 'The subscriptions that a shard''s workflow serves.';

-- Several while a secret rotates: the newest signs first, an older one also signs until it expires.
CREATE TABLE webhook_secrets (
  id uuid PRIMARY KEY,
  subscription_id uuid NOT NULL REFERENCES webhook_subscriptions (id),
  secret text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz
);
CREATE INDEX webhook_secrets_by_subscription ON webhook_secrets (subscription_id, id);
COMMENT ON INDEX webhook_secrets_by_subscription IS 'The secrets that sign a subscription''s deliveries.';

-- One event for one subscription. A resource's line is its deliveries with attempt_count 0, by position; only the first of a line may
-- be claimed, so first attempts keep their order. A delivery that was attempted holds nothing up. body is a ping's text; an event's is
-- rendered when it is sent. The schedule of attempts starts again, at round_start, when a retry of the delivery is requested.
CREATE TABLE webhook_deliveries (
  id uuid PRIMARY KEY,
  subscription_id uuid NOT NULL REFERENCES webhook_subscriptions (id),
  event_id uuid NOT NULL,
  position bigint NOT NULL,
  resource_id uuid NOT NULL,
  module text NOT NULL,
  type text NOT NULL,
  body text,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'succeeded', 'failed')),
  attempt_count integer NOT NULL DEFAULT 0,
  round_start integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz NOT NULL,
  claim_token uuid,
  claimed_until timestamptz,
  created_at timestamptz NOT NULL,
  completed_at timestamptz,
  CONSTRAINT webhook_deliveries_once UNIQUE (subscription_id, event_id)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
COMMENT ON INDEX webhook_deliveries_once IS 'An event is delivered to a subscription once.';
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (subscription_id, next_attempt_at, position) WHERE status = 'pending';
COMMENT ON INDEX webhook_deliveries_due IS 'Deliveries of a subscription that are due, in order.';
CREATE INDEX webhook_deliveries_line ON webhook_deliveries (subscription_id, resource_id, position) WHERE status = 'pending' AND attempt_count = 0;
COMMENT ON INDEX webhook_deliveries_line IS 'First attempts of a resource''s events, in their order.';
CREATE INDEX webhook_deliveries_undelivered ON webhook_deliveries (subscription_id, created_at) WHERE status = 'pending';
COMMENT ON INDEX webhook_deliveries_undelivered IS 'Metrics: deliveries that are not made yet, whenever their next attempt is, and the oldest of a subscription.';

-- An attempt is written once, with its result. response_body is the first 1 KiB of the answer.
CREATE TABLE webhook_attempts (
  delivery_id uuid NOT NULL REFERENCES webhook_deliveries (id) ON DELETE CASCADE,
  number integer NOT NULL,
  attempted_at timestamptz NOT NULL,
  duration_ms integer NOT NULL,
  response_code smallint,
  response_body text,
  error text,
  PRIMARY KEY (delivery_id, number)
);

-- Whether a shard's workflow is running, so that a busy shard is not signalled for every batch. The sequencer, which creates
-- deliveries, and a workflow that goes idle both lock the row before they check.
CREATE TABLE webhook_shards (
  shard smallint PRIMARY KEY,
  busy_until timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO webhook_shards (shard) SELECT generate_series(0, 3);


-- ==== Providers ====

-- Reports of providers: stored once by the provider's own event id, applied in the same transaction.
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
COMMENT ON INDEX provider_callbacks_waiting IS 'Callbacks that arrived before the payment that they report.';

-- While closed_at is set nothing is submitted to any provider: after a restore their statements are read first, and an operator may
-- have closed submissions.
CREATE TABLE provider_submissions (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  closed_at timestamptz GENERATED ALWAYS AS (least(restore_began_at, operator_closed_at)) STORED,
  -- Submissions are closed by a restore, an operator, or both.
  restore_began_at timestamptz,
  operator_closed_at timestamptz,
  operator_reason text,
  CONSTRAINT provider_submissions_operator_reason CHECK ((operator_closed_at IS NULL) = (operator_reason IS NULL))
);
INSERT INTO provider_submissions DEFAULT VALUES;

-- Digests of the settings by which the most recently started process decides about transfers, so that an operator's command with
-- other settings changes none. The settings themselves are files of the configuration.
CREATE TABLE transfer_rule_settings (
  setting text PRIMARY KEY,
  digest text NOT NULL,
  in_force_since timestamptz NOT NULL
);

-- The calendar that the processes have in force, so that one of them records a change, and one with an older file moves no
-- transfer. The calendars themselves are files of the configuration.
CREATE TABLE calendar_editions (
  calendar text PRIMARY KEY,
  digest text NOT NULL,
  source text NOT NULL,
  published_until date NOT NULL,
  until date NOT NULL,
  closed_dates text[] NOT NULL,
  in_force_since timestamptz NOT NULL
);


-- ==== Reconciliation ====

-- The daily reconciliation: a row per provider, currency and day.
CREATE TABLE reconciliations (
  id uuid PRIMARY KEY,
  provider text NOT NULL,
  currency text NOT NULL,
  -- In UTC.
  day date NOT NULL,
  provider_credit_count bigint NOT NULL,
  provider_credit_minor bigint NOT NULL,
  provider_debit_count bigint NOT NULL,
  provider_debit_minor bigint NOT NULL,
  ledger_credit_count bigint NOT NULL,
  ledger_credit_minor bigint NOT NULL,
  ledger_debit_count bigint NOT NULL,
  ledger_debit_minor bigint NOT NULL,
  -- Every posting of an earlier day has a smaller id than those after this one: later days begin to read here.
  posting_id bigint NOT NULL,
  created_at timestamptz NOT NULL,
  compared_at timestamptz NOT NULL,
  -- What a day was last compared with: the provider's own statement, or a bank's file that an operator provided. The schedule does not
  -- compare the latter again, as the provider's own statement would remove the breaks that the file has shown.
  source text NOT NULL DEFAULT 'statement' CHECK (source IN ('statement', 'camt.053')),
  CONSTRAINT reconciliations_of_day UNIQUE (provider, currency, day)
);

-- Where a provider's report and our rows disagree: nothing is posted, and a person investigates. A payment's breaks of one kind have a
-- row for each day and movement.
CREATE TABLE reconciliation_breaks (
  id uuid PRIMARY KEY,
  provider text NOT NULL,
  kind text NOT NULL,
  our_reference text,
  details jsonb NOT NULL,
  status text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'resolved')),
  found_at timestamptz NOT NULL,
  resolved_at timestamptz,
  -- The resource of the break: an outgoing or incoming transfer, or an account. Null if none of ours has the reference.
  resource_id uuid,
  currency text,
  -- The day whose comparison found it; null if it was not found by a daily comparison.
  day date,
  -- {"amountMinor": text, "currency", "account", "date"} of our books and of the provider's; null if a side has nothing.
  expected jsonb,
  actual jsonb,
  -- The last daily comparison that found it.
  run_id uuid,
  note text,
  -- Null while it is open, and if it has disappeared by itself.
  resolved_by text,
  -- Distinguishes breaks of one payment, kind and day.
  part integer NOT NULL DEFAULT 1 CHECK (part > 0),
  -- The effect of the break on the sums of its day: the provider's movements less ours, as far as the break accounts for them. Those of a
  -- day, with resolved and explained ones, add up to the difference of its two sides. They are 0 for a break that is no longer found.
  credit_count bigint NOT NULL DEFAULT 0,
  credit_minor bigint NOT NULL DEFAULT 0,
  debit_count bigint NOT NULL DEFAULT 0,
  debit_minor bigint NOT NULL DEFAULT 0,
  -- The day whose movements explain the difference. If they no longer do, the break is open.
  explained_by date
);
CREATE INDEX reconciliation_breaks_open ON reconciliation_breaks (provider, id) WHERE status = 'open';
COMMENT ON INDEX reconciliation_breaks_open IS 'Open differences of a provider, and their count.';
CREATE INDEX reconciliation_breaks_of_day ON reconciliation_breaks (provider, currency, day, status) WHERE day IS NOT NULL;
COMMENT ON INDEX reconciliation_breaks_of_day IS 'The breaks of a day, its status, and those that its next comparison no longer finds.';
CREATE UNIQUE INDEX reconciliation_breaks_of_statements
  ON reconciliation_breaks (provider, currency, kind, our_reference, day, part) NULLS NOT DISTINCT WHERE kind LIKE 'statement-%';
COMMENT ON INDEX reconciliation_breaks_of_statements IS 'The known breaks of a payment; each is recorded once, however often it is found.';
CREATE INDEX reconciliation_breaks_explained ON reconciliation_breaks (provider, currency, explained_by) WHERE explained_by IS NOT NULL;
COMMENT ON INDEX reconciliation_breaks_explained IS 'Breaks of other days that a day explains, once it has been compared.';

-- As the interface shows them: a day has breaks while one of them is open.
CREATE VIEW reconciliation_days AS
  SELECT reconciliations.*, counted.break_count, counted.open_break_count,
    CASE WHEN counted.open_break_count > 0 THEN 'breaks' ELSE 'balanced' END AS status
  FROM reconciliations, LATERAL (
    SELECT count(*) AS break_count, count(*) FILTER (WHERE found.status = 'open') AS open_break_count
    FROM reconciliation_breaks found
    WHERE found.provider = reconciliations.provider AND found.currency = reconciliations.currency AND found.day = reconciliations.day
  ) AS counted;

-- Both sides' movements of one comparison, sorted by payment while it runs, and deleted at its end. A crash loses them, and the
-- comparison starts again.
CREATE UNLOGGED TABLE reconciliation_movements (
  run_id uuid NOT NULL,
  direction text COLLATE "C" NOT NULL,
  reference text COLLATE "C" NOT NULL,
  side text COLLATE "C" NOT NULL CHECK (side IN ('provider', 'ours')),
  entry_id text COLLATE "C" NOT NULL,
  movement text NOT NULL,
  amount_minor bigint NOT NULL,
  booked_at timestamptz NOT NULL,
  -- Whether it is booked on the compared day; the others explain apparent omissions at its ends.
  of_day boolean NOT NULL,
  accounts text[] NOT NULL,
  resource_id uuid,
  PRIMARY KEY (run_id, direction, reference, side, entry_id)
);

-- Movements of a compared day that only one side had, for the days on which the other side has them.
CREATE TABLE reconciliation_carry_overs (
  provider text NOT NULL,
  currency text NOT NULL,
  direction text NOT NULL,
  reference text NOT NULL,
  movement text NOT NULL,
  side text NOT NULL CHECK (side IN ('provider', 'ours')),
  day date NOT NULL,
  booked_at timestamptz NOT NULL,
  amount_minor bigint NOT NULL,
  accounts text[] NOT NULL,
  resource_id uuid,
  run_id uuid NOT NULL,
  -- If a payment was returned in parts, one side may have several on a day.
  part integer NOT NULL DEFAULT 1 CHECK (part > 0),
  -- The other side is just beyond midnight, so no third day has to explain it.
  is_paired boolean NOT NULL DEFAULT false,
  PRIMARY KEY (provider, currency, direction, reference, movement, side, day, part)
);
CREATE INDEX reconciliation_carry_overs_of_day ON reconciliation_carry_overs (provider, currency, day);
COMMENT ON INDEX reconciliation_carry_overs_of_day IS 'Movements of a day that is compared again, and those to delete.';

-- Up to where the statement of a provider's pooled position has been compared: entries booked before compared_until, and
-- our own postings up to posting_id.
CREATE TABLE statement_comparisons (
  provider text NOT NULL,
  currency text NOT NULL,
  compared_until timestamptz NOT NULL,
  posting_id bigint NOT NULL,
  PRIMARY KEY (provider, currency)
);


-- ==== Users ====

-- External human users; the tables below hold the clients that they may act for, and the invitations by which they become users.
-- email_key is the same for equal addresses. password_hash is argon2id's own text; a user who was created without an
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
COMMENT ON INDEX user_client_relations_by_client IS 'GET /users by clientId: the users of a client.';

-- The answer that one e-mail asks of one person: to accept or reject all invitations of one request together. Its id, and its
-- workflow's, is that of the first of them. mailed_at: when a mail server accepted the e-mail.
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
  -- A password reset is a sign-up of another kind: one e-mail, one link, one answer, the same workflow. It belongs to a user
  -- who has a password, and covers no invitations.
  kind text NOT NULL DEFAULT 'invitation' CHECK (kind IN ('invitation', 'password-reset')),
  user_id uuid REFERENCES users (id),
  CONSTRAINT user_sign_ups_checked CHECK ((next_check_at IS NULL) = (status <> 'pending')),
  CONSTRAINT user_sign_ups_of_user CHECK ((kind = 'password-reset') = (user_id IS NOT NULL))
);
CREATE INDEX user_sign_ups_due ON user_sign_ups (next_check_at) WHERE next_check_at IS NOT NULL;
COMMENT ON INDEX user_sign_ups_due IS 'The sweep: sign-ups that are due.';
-- A new reset replaces the previous one: at most one link of a user works.
CREATE UNIQUE INDEX user_sign_ups_one_reset ON user_sign_ups (user_id)
  WHERE kind = 'password-reset' AND status = 'pending';
COMMENT ON INDEX user_sign_ups_one_reset IS 'The open reset of a user, and that there is only one.';

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
COMMENT ON INDEX user_invitations_by_email IS 'GET /users/{userEmail}/invitations.';
CREATE INDEX user_invitations_by_sign_up ON user_invitations (sign_up_id, id);
COMMENT ON INDEX user_invitations_by_sign_up IS 'The clients that a sign-up page names.';
CREATE UNIQUE INDEX user_invitations_pending_once ON user_invitations (email_key, client_id) WHERE status = 'pending';
COMMENT ON INDEX user_invitations_pending_once IS 'A person has one pending invitation to a client.';

-- One-time links, by the SHA-256 of their token. Every attempt to send the e-mail creates one: an e-mail with an unknown outcome may
-- have arrived, so its link stays valid.
CREATE TABLE user_sign_up_links (
  token_hash bytea PRIMARY KEY,
  sign_up_id uuid NOT NULL REFERENCES user_sign_ups (id),
  created_at timestamptz NOT NULL
);

-- When sign-ins have failed, or are still being checked, in the last minutes: by address and source, by source over all addresses, and
-- by address over all sources. Addresses without a user have rows like all others, so that the limit does not reveal them. No address
-- is kept: address_hash is the SHA-256 of what is limited.
CREATE TABLE user_authentication_failures (
  address_hash bytea PRIMARY KEY,
  failed_at timestamptz[] NOT NULL,
  forget_at timestamptz NOT NULL,
  -- The SHA-256 of the address that the row belongs to; a new password clears its failures. Null for a source, which belongs to all.
  of_address_hash bytea
);
CREATE INDEX user_authentication_failures_by_age ON user_authentication_failures (forget_at);
COMMENT ON INDEX user_authentication_failures_by_age IS 'Housekeeping: failures to delete.';
CREATE INDEX user_authentication_failures_by_address ON user_authentication_failures (of_address_hash);
COMMENT ON INDEX user_authentication_failures_by_address IS 'A new password: the failures of its address, from every source.';

-- Devices on which a user has signed in. A token is kept only as its SHA-256.
CREATE TABLE user_known_devices (
  token_hash bytea PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id),
  expires_at timestamptz NOT NULL
);
CREATE INDEX user_known_devices_by_user ON user_known_devices (user_id, expires_at);
COMMENT ON INDEX user_known_devices_by_user IS 'The oldest devices of a user, and all of them when the password changes.';
CREATE INDEX user_known_devices_by_age ON user_known_devices (expires_at);
COMMENT ON INDEX user_known_devices_by_age IS 'Housekeeping: devices to delete.';


-- ==== Third-party providers and open banking ====

-- The companies that ask users for consents (specification 2.12).
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
  updated_at timestamptz NOT NULL,
  -- Access tokens and codes from before a third party became inactive stay invalid when it becomes active again.
  active_since timestamptz NOT NULL,
  -- Whether the third party gets, and may use, only access tokens that are bound to a key (DPoP).
  dpop_bound_access_tokens boolean NOT NULL DEFAULT false
);
CREATE INDEX third_party_providers_by_status ON third_party_providers (status, id);
COMMENT ON INDEX third_party_providers_by_status IS 'GET /third-party-providers by status.';

-- Tokens that third-party providers have signed and used, until those would be rejected as expired; two parties may draw the same jti.
CREATE TABLE third_party_assertions (
  third_party_provider_id uuid NOT NULL REFERENCES third_party_providers (id),
  jti_hash bytea NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (third_party_provider_id, jti_hash)
);
CREATE INDEX third_party_assertions_by_age ON third_party_assertions (expires_at);
COMMENT ON INDEX third_party_assertions_by_age IS 'Housekeeping: assertions that have expired.';

-- Consents of users. An open consent ends by itself at the deadline of its status: request_expires_at, code_expires_at or expires_at.
-- Approval sets user_id and account_ids; an account that closes is removed from account_ids, unless it is the last. state, nonce and
-- redirect_uri belong to the third party and are never shown.
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
  -- Four eyes: the person who approved the consent to a payment is one of its makers and may not authorize it. The consent has both.
  approved_by text,
  outgoing_transfer_id uuid,
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
COMMENT ON INDEX open_banking_consents_due IS 'The sweep: consents that are due.';
CREATE INDEX open_banking_consents_by_user ON open_banking_consents (user_id, id) WHERE user_id IS NOT NULL;
COMMENT ON INDEX open_banking_consents_by_user IS 'GET /open-banking/{countryCode}/consents by userId; consents of a user that becomes inactive or whose relation is revoked.';
CREATE INDEX open_banking_consents_by_account ON open_banking_consents USING gin (account_ids) WHERE status IN ('awaiting-exchange', 'authorised');
COMMENT ON INDEX open_banking_consents_by_account IS 'Consents to an account that closes.';
CREATE INDEX open_banking_consents_by_payment ON open_banking_consents (outgoing_transfer_id) WHERE outgoing_transfer_id IS NOT NULL;
COMMENT ON INDEX open_banking_consents_by_payment IS 'PATCH /outgoing-transfers/{id}, the authorization: who approved the consent to this payment.';

-- One approval creates one code, of which the SHA-256 is kept. It can be exchanged once, until the code_expires_at of its consent.
CREATE TABLE open_banking_codes (
  code_hash bytea PRIMARY KEY,
  consent_id uuid NOT NULL UNIQUE REFERENCES open_banking_consents (id),
  used_at timestamptz,
  created_at timestamptz NOT NULL
);
CREATE INDEX open_banking_codes_by_age ON open_banking_codes (created_at);
COMMENT ON INDEX open_banking_codes_by_age IS 'Housekeeping: codes without a valid token, which a repetition would revoke.';

-- Access tokens, by their SHA-256. Unless revoked, a token is valid until expires_at, while its consent is authorised or consumed.
CREATE TABLE open_banking_access_tokens (
  token_hash bytea PRIMARY KEY,
  consent_id uuid NOT NULL REFERENCES open_banking_consents (id),
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz,
  created_at timestamptz NOT NULL,
  -- The key to which an access token is bound (DPoP, RFC 9449): the token is accepted only with a proof by that key, whose RFC 7638
  -- thumbprint this is. The jti of such proofs are kept with those of the third party's other tokens, in third_party_assertions.
  key_thumbprint text CHECK (length(key_thumbprint) = 43)
);
CREATE INDEX open_banking_access_tokens_by_consent ON open_banking_access_tokens (consent_id);
COMMENT ON INDEX open_banking_access_tokens_by_consent IS 'A code that is sent again revokes the tokens issued for it.';
CREATE INDEX open_banking_access_tokens_by_age ON open_banking_access_tokens (expires_at);
COMMENT ON INDEX open_banking_access_tokens_by_age IS 'Housekeeping: access tokens that have expired.';

-- Keys that sign for this service; the id is the kid. The newest key whose signs_from has passed signs; it is published before that, and
-- for a while after its successor began. private_key is PKCS #8 in PEM, encrypted (docs/runbook/keys.md).
CREATE TABLE signing_keys (
  id uuid PRIMARY KEY,
  public_jwk jsonb NOT NULL,
  private_key text NOT NULL,
  signs_from timestamptz NOT NULL UNIQUE,
  created_at timestamptz NOT NULL
);


-- ==== Workflows and the clock ====

-- One row per workflow that must be woken; deleted once Temporal has received the signal of the generation that was read.
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
  created_at timestamptz NOT NULL,
  -- As Temporal counts it: 1 comes first, 3 is usual, 5 comes last. Thousands of transfers for a later date, or of a batch, must not delay
  -- work that a person waits for.
  priority smallint NOT NULL DEFAULT 3
);
CREATE INDEX workflow_wakeups_due ON workflow_wakeups (priority, next_attempt_at) WHERE parked_at IS NULL;
COMMENT ON INDEX workflow_wakeups_due IS 'The relay: wake-ups that are due, by priority.';

-- How far the sandbox's test clock is ahead of the real one: 0, except in the database of a sandbox whose clock was moved. Processes
-- outside a sandbox do not start on any other value.
CREATE TABLE sandbox_clock (
  is_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
  ahead_ms bigint NOT NULL CHECK (ahead_ms >= 0)
);
INSERT INTO sandbox_clock (ahead_ms) VALUES (0);
