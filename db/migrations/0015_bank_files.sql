-- Payments by files (provider iso20022): the instructions that wait for a file, the files themselves, and what the bank's files have told.

CREATE TABLE bank_files (
  id uuid PRIMARY KEY,
  provider text NOT NULL,
  direction text NOT NULL CHECK (direction IN ('out', 'in')),
  -- Such as pain.001; of a file that came in, null until it has been read.
  message text,
  name text NOT NULL,
  message_id text,
  digest bytea NOT NULL CHECK (length(digest) = 32),
  -- The bytes, kept for good: a name is only ever sent with these.
  content bytea NOT NULL,
  size integer NOT NULL CHECK (size = length(content)),
  state text NOT NULL CHECK (state IN ('built', 'delivering', 'delivered', 'fetched', 'taken', 'set-aside')),
  -- Why it is set aside, or why its delivery is not proven. It quotes nothing personal.
  reason text,
  -- When its upload was about to get its name: from then on the file may have arrived.
  rename_began_at timestamptz,
  -- The upload that gets the name, and no other.
  temporary_name text,
  -- How often applying it has failed.
  tries integer NOT NULL DEFAULT 0,
  -- What a file that came in has told: statements and entries, and how many of them are about nothing that we know.
  items integer NOT NULL DEFAULT 0,
  unknown_items integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  delivered_at timestamptz,
  taken_at timestamptz,
  archived_at timestamptz,
  -- When a person has seen to a file that is set aside: it raises no alarm any more.
  settled_at timestamptz,
  CONSTRAINT bank_files_states CHECK (CASE direction WHEN 'out' THEN state NOT IN ('fetched', 'taken') ELSE state NOT IN ('built', 'delivering', 'delivered') END),
  CONSTRAINT bank_files_reasons CHECK (state <> 'set-aside' OR reason IS NOT NULL),
  CONSTRAINT bank_files_renamed CHECK ((rename_began_at IS NULL) = (temporary_name IS NULL)),
  CONSTRAINT bank_files_delivered CHECK (state <> 'delivered' OR delivered_at IS NOT NULL)
);
CREATE UNIQUE INDEX bank_files_sent_once ON bank_files (provider, name) WHERE direction = 'out';
COMMENT ON INDEX bank_files_sent_once IS 'No two files of ours have one name.';
CREATE UNIQUE INDEX bank_files_by_message ON bank_files (provider, message_id) WHERE direction = 'out';
COMMENT ON INDEX bank_files_by_message IS 'The file that a bank''s answer names.';
CREATE UNIQUE INDEX bank_files_taken_once ON bank_files (provider, digest) WHERE direction = 'in';
COMMENT ON INDEX bank_files_taken_once IS 'Each file of the bank is taken once, whatever its name. Its message id is among the bytes.';
CREATE INDEX bank_files_open ON bank_files (provider, id) WHERE state IN ('built', 'delivering', 'fetched');
COMMENT ON INDEX bank_files_open IS 'The files that are to be delivered or taken.';
CREATE INDEX bank_files_set_aside ON bank_files (provider, id) WHERE state = 'set-aside' AND settled_at IS NULL;
COMMENT ON INDEX bank_files_set_aside IS 'The files that wait for a person, for the alarm.';

CREATE TABLE bank_instructions (
  -- The outgoing transfer, and the number of its submission.
  transfer_id uuid NOT NULL,
  attempt integer NOT NULL CHECK (attempt BETWEEN 1 AND 999),
  provider text NOT NULL,
  instruction_id text NOT NULL CHECK (length(instruction_id) <= 35),
  payment_reference text NOT NULL CHECK (length(payment_reference) <= 35),
  -- The account that is debited: its numbers.
  account jsonb NOT NULL,
  scheme text NOT NULL,
  currency text NOT NULL,
  amount_minor bigint NOT NULL CHECK (amount_minor > 0),
  -- The payee, and the texts of the payment.
  details jsonb NOT NULL,
  state text NOT NULL CHECK (state IN ('queued', 'assigned', 'delivered', 'received', 'confirmation', 'released', 'completed', 'rejected', 'failed')),
  file_id uuid REFERENCES bank_files (id),
  batch_id text,
  execution_date date,
  -- Why no file takes it until a person has decided.
  held_reason text,
  -- The bank's latest words: its status, its reasons, and the answer of its payee check.
  status_code text,
  reasons text[] NOT NULL DEFAULT '{}',
  payee_check text,
  -- The name that the payee's bank holds. Personal data.
  matched_name text,
  bank_reference text,
  queued_at timestamptz NOT NULL,
  delivered_at timestamptz,
  heard_at timestamptz,
  -- When the bank's silence becomes an alarm; null once it has nothing more to say.
  expected_by timestamptz,
  PRIMARY KEY (transfer_id, attempt),
  CONSTRAINT bank_instructions_once UNIQUE (provider, instruction_id),
  CONSTRAINT bank_instructions_assigned CHECK (state = 'queued' OR (file_id IS NULL) = (batch_id IS NULL)),
  CONSTRAINT bank_instructions_queued CHECK (state NOT IN ('assigned', 'delivered') OR file_id IS NOT NULL)
);
CREATE UNIQUE INDEX bank_instructions_live ON bank_instructions (transfer_id) WHERE state <> 'rejected';
COMMENT ON INDEX bank_instructions_live IS 'Of the submissions of a payment, one at most can pay.';
CREATE INDEX bank_instructions_queued ON bank_instructions (provider, queued_at, transfer_id) WHERE state = 'queued';
COMMENT ON INDEX bank_instructions_queued IS 'The payments that the next file carries.';
CREATE INDEX bank_instructions_by_file ON bank_instructions (file_id, transfer_id) WHERE file_id IS NOT NULL;
COMMENT ON INDEX bank_instructions_by_file IS 'The payments of a file.';
CREATE INDEX bank_instructions_held ON bank_instructions (provider) WHERE held_reason IS NOT NULL;
COMMENT ON INDEX bank_instructions_held IS 'The payments that no file takes, for the alarm.';
CREATE INDEX bank_instructions_of_batch ON bank_instructions (batch_id) WHERE batch_id IS NOT NULL;
COMMENT ON INDEX bank_instructions_of_batch IS 'The payments of a batch that the bank books as one sum.';
CREATE INDEX bank_instructions_expected ON bank_instructions (expected_by) WHERE expected_by IS NOT NULL;
COMMENT ON INDEX bank_instructions_expected IS 'The payments of which the bank has more to say, for the alarm of its silence.';
CREATE INDEX bank_instructions_confirmation ON bank_instructions (provider) WHERE state = 'confirmation';
COMMENT ON INDEX bank_instructions_confirmation IS 'The payments that a person confirms at the bank, for the alarm.';

CREATE TABLE bank_cancellations (
  transfer_id uuid NOT NULL,
  number integer NOT NULL CHECK (number > 0),
  attempt integer NOT NULL,
  provider text NOT NULL,
  cancellation_id text NOT NULL CHECK (length(cancellation_id) <= 35),
  state text NOT NULL CHECK (state IN ('queued', 'assigned', 'accepted', 'rejected')),
  file_id uuid REFERENCES bank_files (id),
  reasons text[] NOT NULL DEFAULT '{}',
  queued_at timestamptz NOT NULL,
  PRIMARY KEY (transfer_id, number),
  CONSTRAINT bank_cancellations_once UNIQUE (provider, cancellation_id),
  CONSTRAINT bank_cancellations_assigned CHECK ((state = 'queued') = (file_id IS NULL)),
  FOREIGN KEY (transfer_id, attempt) REFERENCES bank_instructions (transfer_id, attempt)
);
CREATE INDEX bank_cancellations_queued ON bank_cancellations (provider, queued_at, transfer_id) WHERE state = 'queued';
COMMENT ON INDEX bank_cancellations_queued IS 'The requests that the next file carries.';
CREATE INDEX bank_cancellations_by_file ON bank_cancellations (file_id) WHERE file_id IS NOT NULL;
COMMENT ON INDEX bank_cancellations_by_file IS 'The requests of a file.';

-- What the bank's reports say of its accounts, each movement of money once, whichever message tells it first.
CREATE TABLE bank_entries (
  provider text NOT NULL,
  key text NOT NULL,
  file_id uuid NOT NULL REFERENCES bank_files (id),
  direction text NOT NULL CHECK (direction IN ('debit', 'credit')),
  amount_minor bigint NOT NULL,
  currency text NOT NULL,
  booked_on date NOT NULL,
  -- What it turned out to be. `batch`: one sum of a batch whose details come later. `unknown`: nothing that we know.
  kind text NOT NULL CHECK (kind IN ('payment', 'return', 'received', 'batch', 'unknown')),
  transfer_id uuid,
  code text,
  -- The bank's reference of the entry, and of the entry that holds this one of its details: a sum and its details are the same money.
  reference text,
  entry_reference text,
  outcome text NOT NULL CHECK (outcome IN ('applied', 'no-effect', 'waiting', 'break')),
  PRIMARY KEY (provider, key)
);
CREATE INDEX bank_entries_by_file ON bank_entries (file_id, key);
COMMENT ON INDEX bank_entries_by_file IS 'What a file told first.';
CREATE INDEX bank_entries_of_transfer ON bank_entries (transfer_id, key) WHERE transfer_id IS NOT NULL;
COMMENT ON INDEX bank_entries_of_transfer IS 'The debits and returns of a payment.';
CREATE INDEX bank_entries_by_day ON bank_entries (provider, currency, booked_on, key);
COMMENT ON INDEX bank_entries_by_day IS 'The statement of a day.';
CREATE INDEX bank_entries_waiting ON bank_entries (booked_on) WHERE kind = 'batch' AND outcome = 'waiting';
COMMENT ON INDEX bank_entries_waiting IS 'The sums whose details have not come, for the alarm.';
CREATE INDEX bank_entries_by_reference ON bank_entries (provider, reference) WHERE reference IS NOT NULL;
COMMENT ON INDEX bank_entries_by_reference IS 'The sum of which details have come.';
CREATE INDEX bank_entries_by_entry_reference ON bank_entries (provider, entry_reference) WHERE entry_reference IS NOT NULL;
COMMENT ON INDEX bank_entries_by_entry_reference IS 'The details of which the sum has come.';

-- One process at a time exchanges files with a bank. A process that was killed loses its lease.
CREATE TABLE bank_file_leases (
  provider text PRIMARY KEY,
  holder uuid NOT NULL,
  held_until timestamptz NOT NULL
);
