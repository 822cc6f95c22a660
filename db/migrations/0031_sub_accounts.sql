-- While its main account is not active, a sub-account neither sends nor receives. Its row repeats the main account's status, so that
-- no payment reads a second account. Triggers alone write the column, in the transaction that changes the main account.

-- The triggers below promise that the main account exists; no account is ever deleted. As a foreign key, each second update of a
-- sub-account in one transaction would lock the main account after it, against the lock order.
ALTER TABLE accounts DROP CONSTRAINT accounts_main_account_id_fkey;
ALTER TABLE accounts
  ADD COLUMN main_account_status account_status,
  ADD CONSTRAINT accounts_main_account_first CHECK (main_account_id < id),
  ADD CONSTRAINT accounts_main_account_status_known CHECK ((main_account_id IS NULL) = (main_account_status IS NULL));

-- The status by which payments to and from an account are decided; inlined by Postgres.
CREATE FUNCTION status_for_payments(p_status text, p_main_account_status text) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN CASE WHEN p_status = 'active' THEN coalesce(p_main_account_status, 'active') ELSE p_status END;

-- Waits for whoever changes the main account at this moment, and keeps its status until this transaction ends.
CREATE FUNCTION take_main_account_status() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_main record;
BEGIN
  IF NEW.main_account_id IS NULL THEN
    NEW.main_account_status := NULL;
    RETURN NEW;
  END IF;
  SELECT status, main_account_id INTO v_main FROM accounts WHERE id = NEW.main_account_id FOR SHARE;
  IF NOT FOUND OR v_main.main_account_id IS NOT NULL THEN
    RAISE foreign_key_violation USING MESSAGE = 'a sub-account needs a main account, which is no sub-account itself';
  END IF;
  NEW.main_account_status := v_main.status;
  RETURN NEW;
END $$;
CREATE TRIGGER accounts_take_main_account_status BEFORE INSERT OR UPDATE OF main_account_id, main_account_status ON accounts
  FOR EACH ROW EXECUTE FUNCTION take_main_account_status();

-- In the order of all locks: a main account's id is lower than those of its sub-accounts.
CREATE FUNCTION pass_status_to_sub_accounts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM accounts WHERE main_account_id = NEW.id ORDER BY id FOR UPDATE;
  UPDATE accounts SET main_account_status = NEW.status WHERE main_account_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER accounts_pass_status_to_sub_accounts AFTER UPDATE OF status ON accounts
  FOR EACH ROW WHEN (NEW.main_account_id IS NULL AND NEW.status IS DISTINCT FROM OLD.status)
  EXECUTE FUNCTION pass_status_to_sub_accounts();

COMMENT ON INDEX accounts_by_main_account IS 'Sub-accounts of an account whose status changes or that closes; GET /accounts by mainAccountId.';

-- As before, but by the status for payments.
CREATE OR REPLACE FUNCTION open_outgoing_transfer(
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
  SELECT json_agg(json_build_object('id', a.id, 'clientId', a.client_id, 'clientStatus', c.status,
      'status', status_for_payments(a.status, a.main_account_status), 'currency', a.currency, 'country', a.country, 'provider', a.provider, 'method', a.method,
      'closing', coalesce(a.requested_change = 'close', false), 'partyAccountId', a.party_account_id::text,
      'postedMinor', a.posted_minor::text, 'reservedMinor', a.reserved_minor::text))
    INTO locked_accounts
    FROM accounts a JOIN clients c ON c.id = a.client_id WHERE a.id IN (p_source, p_destination);
  IF p_bank_account IS NOT NULL THEN
    SELECT shown INTO destination_bank_account FROM destination_bank_accounts WHERE id = p_bank_account;
  END IF;
  opened_at := service_now();
END $$;

CREATE OR REPLACE FUNCTION lock_straight_through_accounts(p_transfers internal_transfer[], p_waits boolean)
RETURNS straight_through_account[] LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_ids uuid[] := ARRAY(SELECT DISTINCT id FROM unnest(p_transfers) transfer, unnest(ARRAY[transfer.source_id, transfer.destination_id]) AS id);
BEGIN
  IF p_waits THEN
    PERFORM FROM accounts WHERE id = ANY (v_ids) ORDER BY id FOR UPDATE;
  ELSE
    v_ids := ARRAY(SELECT id FROM accounts WHERE id = ANY (v_ids) ORDER BY id FOR UPDATE SKIP LOCKED);
  END IF;
  RETURN ARRAY(
    SELECT (accounts.id, client_id, clients.status = 'active' AND status_for_payments(accounts.status, main_account_status) = 'active'
          AND requested_change IS DISTINCT FROM 'close',
        currency, method, provider, party_account_id, posted_minor - reserved_minor, posted_minor, version, version, last_entry_at,
        false)::straight_through_account
    FROM accounts JOIN clients ON clients.id = client_id WHERE accounts.id = ANY (v_ids));
END $$;

CREATE OR REPLACE FUNCTION changes_that_hold(p_changes transfer_change[], p_outcomes text[], p_locked uuid[], p_moves boolean) RETURNS boolean[]
LANGUAGE plpgsql AS $$
DECLARE
  v_holds boolean[] := array_fill(false, ARRAY[cardinality(p_changes)]);
  v_change transfer_change;
  v_revised uuid[];
  v_touched uuid[] := '{}';
  v_spent jsonb := '{}';
  v_guard record;
BEGIN
  IF p_moves THEN
    v_revised := ARRAY(
      SELECT row.id FROM unnest(p_changes) AS change JOIN outgoing_transfers AS row ON row.id = change.outgoing_id AND row.revision = change.outgoing_from
      UNION ALL
      SELECT row.id FROM unnest(p_changes) AS change JOIN incoming_transfers AS row ON row.id = change.incoming_id AND row.revision = change.incoming_from);
  END IF;
  <<changes>> FOR v_index IN 1 .. cardinality(p_changes) LOOP
    v_change := p_changes[v_index];
    CONTINUE WHEN p_outcomes[v_index] IS NOT NULL OR NOT v_change.account_ids <@ p_locked;
    CONTINUE WHEN v_change.outgoing_from IS NOT NULL
      AND (v_change.outgoing_id <> ALL (v_revised) OR v_change.outgoing_id <> ALL (p_locked) OR v_change.outgoing_id = ANY (v_touched));
    CONTINUE WHEN v_change.incoming_from IS NOT NULL
      AND (v_change.incoming_id <> ALL (v_revised) OR v_change.incoming_id <> ALL (p_locked) OR v_change.incoming_id = ANY (v_touched));
    -- LIMIT, so that an account is looked up however few there are.
    FOR v_guard IN SELECT guard.account_id, guard.available_minor, present.status = guard.status AND present.client_status = guard.client_status
          AND present.closing = guard.closing
          AND present.available_minor - coalesce((v_spent ->> guard.account_id::text)::bigint, 0) >= guard.available_minor AS holds
        FROM json_to_recordset(v_change.guards)
            AS guard (account_id uuid, status text, client_status text, closing boolean, available_minor bigint)
          LEFT JOIN LATERAL (
            SELECT status_for_payments(account.status, account.main_account_status) AS status, client.status AS client_status,
              account.requested_change IS NOT DISTINCT FROM 'close' AS closing, account.posted_minor - account.reserved_minor AS available_minor
            FROM accounts AS account JOIN clients AS client ON client.id = account.client_id WHERE account.id = guard.account_id LIMIT 1
          ) AS present ON true LOOP
      CONTINUE changes WHEN v_guard.holds IS NOT TRUE;
      v_spent := jsonb_set(v_spent, ARRAY[v_guard.account_id::text],
        to_jsonb(coalesce((v_spent ->> v_guard.account_id::text)::bigint, 0) + v_guard.available_minor));
    END LOOP;
    v_touched := v_touched || v_change.outgoing_id || v_change.incoming_id;
    v_holds[v_index] := true;
  END LOOP;
  RETURN v_holds;
END $$;
