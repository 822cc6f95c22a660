-- What people do about files while a bank's server is away. The rules allow more than those before, so no row needs to be looked at.
CREATE INDEX bank_files_handed_out ON bank_files (provider, id) WHERE state = 'handed-out';
COMMENT ON INDEX bank_files_handed_out IS 'The files that people carry, for the alarm.';
CREATE INDEX bank_files_by_name ON bank_files (name);
COMMENT ON INDEX bank_files_by_name IS 'The file that a person names.';
CREATE INDEX bank_files_by_bank ON bank_files (provider, id);
COMMENT ON INDEX bank_files_by_bank IS 'The files of a bank, the newest first.';
CREATE INDEX bank_files_by_state ON bank_files (state, id);
COMMENT ON INDEX bank_files_by_state IS 'The files of a state, the newest first.';
CREATE INDEX bank_files_by_direction ON bank_files (direction, id);
COMMENT ON INDEX bank_files_by_direction IS 'The files that went out or came in, the newest first.';

-- What may pay twice, or book money on the word of people: it is done when another person signs it.
CREATE TABLE bank_file_requests (
  id uuid PRIMARY KEY,
  -- `send-again`: a file goes to the bank once more. `take-carried`: a file of the bank that a person has brought is read. `release`: held
  -- payments go on, or end, as the bank says.
  kind text NOT NULL CHECK (kind IN ('send-again', 'take-carried', 'release')),
  provider text NOT NULL,
  file_id uuid REFERENCES bank_files (id),
  -- The file as it was when it was asked for: whatever has moved it since ends the request.
  file_state text,
  file_let_go_at timestamptz,
  bank_says text CHECK (bank_says IN ('not-received', 'received', 'rejected', 'withdrawn', 'paid')),
  -- The held payments, with their submissions and why they were held, as they were when it was asked for.
  transfer_ids uuid[] NOT NULL DEFAULT '{}',
  attempts integer[] NOT NULL DEFAULT '{}',
  held_reasons text[] NOT NULL DEFAULT '{}',
  -- Sums of the payments in minor units as text, by currency.
  sums jsonb NOT NULL DEFAULT '{}',
  reason text NOT NULL,
  status text NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'signed', 'rejected')),
  -- A person of the console has a role; a command is run by a user of the operating system.
  asked_by text NOT NULL,
  asked_role text,
  asked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL,
  decided_by text,
  decided_role text,
  decided_at timestamptz,
  decision_reason text,
  CONSTRAINT bank_file_requests_subject CHECK ((kind IN ('send-again', 'take-carried')) = (file_id IS NOT NULL)
    AND (file_id IS NULL) = (file_state IS NULL) AND (kind = 'release') = (bank_says IS NOT NULL) AND (kind = 'release') = (cardinality(transfer_ids) > 0)
    AND cardinality(transfer_ids) = cardinality(attempts) AND cardinality(transfer_ids) = cardinality(held_reasons)
    AND cardinality(transfer_ids) <= 10000),
  CONSTRAINT bank_file_requests_decided CHECK ((status = 'waiting') = (decided_by IS NULL) AND (decided_by IS NULL) = (decided_at IS NULL)),
  CONSTRAINT bank_file_requests_two_people CHECK (status <> 'signed' OR (decided_by <> asked_by AND (decided_role IS NULL) = (asked_role IS NULL)))
);
CREATE INDEX bank_file_requests_waiting ON bank_file_requests (expires_at) WHERE status = 'waiting';
COMMENT ON INDEX bank_file_requests_waiting IS 'What waits for a second signature.';
CREATE INDEX bank_file_requests_by_file ON bank_file_requests (file_id, id) WHERE file_id IS NOT NULL;
COMMENT ON INDEX bank_file_requests_by_file IS 'What was asked for of a file.';

ALTER TABLE bank_files
  -- Who carries it to the bank, and since when.
  ADD COLUMN handed_out_by text,
  ADD COLUMN handed_out_at timestamptz,
  -- When the exchange let go of it, in real time: a sandbox's clock says nothing of processes. Null for files from before.
  ADD COLUMN let_go_at timestamptz,
  -- When the bank has first spoken of it: it has arrived.
  ADD COLUMN heard_at timestamptz,
  -- The person who said that the bank has it.
  ADD COLUMN marked_by text,
  DROP CONSTRAINT bank_files_state_check,
  ADD CONSTRAINT bank_files_state_check CHECK (state IN (
    'built', 'delivering', 'handed-out', 'delivered', 'carried', 'fetched', 'taken', 'set-aside')) NOT VALID,
  DROP CONSTRAINT bank_files_states,
  ADD CONSTRAINT bank_files_states CHECK (CASE direction WHEN 'out' THEN state NOT IN ('carried', 'fetched', 'taken')
    ELSE state NOT IN ('built', 'delivering', 'handed-out', 'delivered') END) NOT VALID,
  ADD CONSTRAINT bank_files_handed_out CHECK (state <> 'handed-out' OR (handed_out_by IS NOT NULL AND handed_out_at IS NOT NULL)) NOT VALID;
ALTER TABLE bank_instructions
  -- What the bank says of a held payment, by the word of two people. The exchange carries it out.
  ADD COLUMN bank_says text,
  ADD CONSTRAINT bank_instructions_bank_says CHECK (bank_says IN ('rejected', 'paid')) NOT VALID,
  ADD CONSTRAINT bank_instructions_said CHECK (bank_says IS NULL OR held_reason IS NOT NULL) NOT VALID;
