-- A beneficiary's bank account as a transfer to it is judged and kept: with its beneficiary as of now.
CREATE VIEW destination_bank_accounts AS
  SELECT bank_account.id, json_build_object('id', bank_account.id, 'beneficiaryId', beneficiary.id,
      'clientId', beneficiary.client_id, 'status', bank_account.status, 'country', bank_account.country,
      'currency', bank_account.currency, 'accountHolderName', bank_account.account_holder_name, 'alias', bank_account.alias,
      'accountNumber', bank_account.account_number, 'iban', bank_account.iban, 'routingCodes', bank_account.routing_codes,
      'fullName', beneficiary.full_name, 'identity', beneficiary.identity, 'title', beneficiary.title,
      'address', beneficiary.contact -> 'address') AS shown
  FROM beneficiary_bank_accounts bank_account JOIN beneficiaries beneficiary ON beneficiary.id = bank_account.beneficiary_id;

-- All that a transfer which waits or goes outside needs before it can be judged, in one round trip: the idempotency key
-- is claimed, the accounts are locked in the order of their ids, and then, in statements that see what those locks
-- waited for, accounts, the beneficiary's bank account and the clock are read. A key that is taken ends it before any
-- account is locked. Amounts are text, because JSON numbers lose digits in its readers.
CREATE FUNCTION open_outgoing_transfer(
  p_machine_user uuid, p_method text, p_path text, p_key text, p_request_hash bytea,
  p_source uuid, p_destination uuid, p_bank_account uuid,
  OUT claimed boolean, OUT opened_at timestamptz, OUT locked_accounts json, OUT destination_bank_account json
) LANGUAGE plpgsql AS $$
BEGIN
  claimed := true;
  IF p_key IS NOT NULL THEN
    INSERT INTO idempotency_keys (machine_user_id, method, path, key, request_hash, created_at)
      VALUES (p_machine_user, p_method, p_path, p_key, p_request_hash, service_now()) ON CONFLICT DO NOTHING;
    claimed := FOUND;
    IF NOT claimed THEN
      RETURN;
    END IF;
  END IF;

  PERFORM FROM accounts WHERE id IN (p_source, p_destination) ORDER BY id FOR UPDATE;
  SELECT json_agg(json_build_object('id', a.id, 'clientId', a.client_id, 'clientStatus', c.status, 'status', a.status,
      'currency', a.currency, 'country', a.country, 'provider', a.provider, 'method', a.method,
      'closing', coalesce(a.requested_change = 'close', false),
      'postedMinor', a.posted_minor::text, 'reservedMinor', a.reserved_minor::text))
    INTO locked_accounts
    FROM accounts a JOIN clients c ON c.id = a.client_id WHERE a.id IN (p_source, p_destination);
  IF p_bank_account IS NOT NULL THEN
    SELECT shown INTO destination_bank_account FROM destination_bank_accounts WHERE id = p_bank_account;
  END IF;
  opened_at := service_now();
END $$;

-- What belongs to a transfer to the outside that was judged without locks, beside its row: the answer to its request, its
-- events, the workflow to wake, and what must still hold of its account.
CREATE TYPE judged_transfer AS (
  id uuid,
  machine_user_id uuid,
  path text,
  key text,
  request_hash bytea,
  response_status integer,
  response_body text,
  event_id uuid,
  entries json,
  workflow_id text,
  account_id uuid,
  account_status text,
  reserved_minor bigint,
  created_at timestamptz
);

-- Creates those for which still holds, under the lock, what they were judged by: their key is free, their account has the
-- same status and is not being closed, and it has the money that they reserve. Answers the ids of those; of the others
-- nothing is left. p_rows are the rows as they are to be inserted. Waits for nobody: who meets another's lock is not created.
CREATE FUNCTION create_judged_transfers(p_judged json, p_rows json) RETURNS SETOF uuid LANGUAGE plpgsql AS $$
DECLARE
  v_judged judged_transfer[];
  v_one judged_transfer;
  v_claimed uuid[];
  v_created uuid[] := '{}';
  v_ids uuid[];
  v_statuses text[];
  v_available bigint[];
  v_reserved bigint[];
  v_at integer;
BEGIN
  PERFORM set_config('lock_timeout', '100ms', true);
  SELECT array_agg(one) INTO v_judged FROM json_populate_recordset(NULL::judged_transfer, p_judged) one;

  -- In the order of their keys, so that two calls with the same keys cannot wait for each other; of a key that comes twice
  -- one has it.
  WITH wanted AS (
    SELECT DISTINCT ON (machine_user_id, path, key) * FROM unnest(v_judged) WHERE key IS NOT NULL ORDER BY machine_user_id, path, key
  ), claimed AS (
    INSERT INTO idempotency_keys (machine_user_id, method, path, key, request_hash, response_status, response_body, created_at)
    SELECT machine_user_id, 'POST', path, key, request_hash, response_status, response_body, service_now() FROM wanted
    ON CONFLICT DO NOTHING RETURNING machine_user_id, path, key
  )
  SELECT array_agg(id) INTO v_claimed FROM (
    SELECT id FROM wanted JOIN claimed USING (machine_user_id, path, key)
    UNION ALL SELECT id FROM unnest(v_judged) WHERE key IS NULL) AS free;

  SELECT array_agg(id), array_agg(CASE WHEN requested_change = 'close' THEN 'closing' ELSE status END),
      array_agg(posted_minor - reserved_minor), array_agg(0)
    INTO v_ids, v_statuses, v_available, v_reserved
    FROM (
      SELECT id, status, requested_change, posted_minor, reserved_minor FROM accounts
      WHERE id = ANY (ARRAY(SELECT account_id FROM unnest(v_judged))) ORDER BY id FOR UPDATE SKIP LOCKED) AS locked;

  FOREACH v_one IN ARRAY v_judged LOOP
    v_at := array_position(v_ids, v_one.account_id);
    IF v_one.id = ANY (v_claimed) AND v_statuses[v_at] = v_one.account_status AND v_available[v_at] >= v_one.reserved_minor THEN
      v_available[v_at] := v_available[v_at] - v_one.reserved_minor;
      v_reserved[v_at] := v_reserved[v_at] + v_one.reserved_minor;
      v_created := v_created || v_one.id;
    END IF;
  END LOOP;

  UPDATE accounts SET reserved_minor = reserved_minor + moved.by_minor
    FROM unnest(v_ids, v_reserved) AS moved (id, by_minor) WHERE accounts.id = moved.id AND moved.by_minor > 0;
  INSERT INTO outgoing_transfers
    SELECT * FROM json_populate_recordset(NULL::outgoing_transfers, p_rows) WHERE id = ANY (v_created);
  INSERT INTO events (id, entry_count, module, resource_id, first_sequence, occurred_at, entries)
    SELECT event_id, json_array_length(entries), 'outgoing-transfers', id, 1, created_at, entries
    FROM unnest(v_judged) WHERE id = ANY (v_created);
  INSERT INTO workflow_wakeups (workflow_id, workflow_type, next_attempt_at, created_at)
    SELECT workflow_id, 'outgoing-transfer', service_now(), service_now()
    FROM unnest(v_judged) WHERE id = ANY (v_created) AND workflow_id IS NOT NULL;
  IF cardinality(v_created) < cardinality(v_claimed) THEN
    DELETE FROM idempotency_keys kept USING unnest(v_judged) AS refused
      WHERE refused.id = ANY (v_claimed) AND refused.id <> ALL (v_created) AND kept.machine_user_id = refused.machine_user_id
        AND kept.method = 'POST' AND kept.path = refused.path AND kept.key = refused.key;
  END IF;
  RETURN QUERY SELECT unnest(v_created);
END $$;
