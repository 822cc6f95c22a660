-- The writer of changes also records money that arrives: the credit that reports it, the audit entry of who reported it, and the
-- provider's callback. So that arrivals decided without locks share a statement.

ALTER TYPE transfer_change ADD ATTRIBUTE credit json, ADD ATTRIBUTE audit_entry json, ADD ATTRIBUTE callback json;

COMMENT ON INDEX accounts_with_iban IS 'A payment in, matched by IBAN, to a closed account too; GET /accounts by iban, of sub-accounts and closed accounts as well.';

-- Whether nobody has recorded this money before, nor is doing so at this moment: for a payment with its provider's id, this takes the
-- lock under which its callbacks follow one another (db/providers/callbacks.ts).
CREATE FUNCTION arrives_first(p_change transfer_change) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_provider text := p_change.credit ->> 'provider';
  v_payment text := p_change.credit ->> 'service_provider_id';
BEGIN
  IF v_payment IS NULL THEN
    RETURN true;
  END IF;
  IF NOT pg_try_advisory_xact_lock(hashtextextended(v_provider || ' ' || v_payment, 7423021)) THEN
    RETURN false;
  END IF;
  -- A statement of its own, which sees what the last holder of the lock committed.
  RETURN NOT EXISTS (SELECT FROM provisioned_account_credits WHERE provider = v_provider AND service_provider_id = v_payment)
    AND NOT EXISTS (SELECT FROM provider_callbacks
      WHERE provider = p_change.callback ->> 'provider' AND provider_event_id = p_change.callback ->> 'provider_event_id');
END $$;

-- Writes what money that arrives leaves beside its transfer. A migration that adds a column to one of these tables makes this anew.
CREATE FUNCTION write_arrivals(p_changes transfer_change[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO provisioned_account_credits (id, client_id, account_id, amount_minor, currency, scope, scheme, sender_bank_account, sender_name,
      sender_address, sender_to_receiver_information, receiver_account, service_provider_id, provider, created_at)
    SELECT credit.id, client_id, account_id, amount_minor, currency, scope, scheme, sender_bank_account, sender_name,
      sender_address, sender_to_receiver_information, receiver_account, service_provider_id, provider, created_at
    FROM unnest(p_changes) AS change, json_populate_record(NULL::provisioned_account_credits, change.credit) AS credit
    WHERE change.credit IS NOT NULL;
  INSERT INTO audit_entries (id, occurred_at, actor, action, subject, resource, resource_id, request_id, before, after)
    SELECT entry.id, service_now(), actor, action, entry.resource_id, resource, entry.resource_id, request_id, before, after
    FROM unnest(p_changes) AS change, json_populate_record(NULL::audit_entries, change.audit_entry) AS entry
    WHERE change.audit_entry IS NOT NULL;
  INSERT INTO provider_callbacks (provider, provider_event_id, kind, our_reference, payload, outcome, received_at)
    SELECT provider, provider_event_id, kind, our_reference, payload, 'applied', service_now()
    FROM unnest(p_changes) AS change, json_populate_record(NULL::provider_callbacks, change.callback) AS callback
    WHERE change.callback IS NOT NULL;
END $$;

-- As before; and money is new, and a guard may leave the balance open.
CREATE OR REPLACE FUNCTION changes_that_hold(p_changes transfer_change[], p_outcomes text[], p_locked uuid[], p_moves boolean) RETURNS boolean[]
LANGUAGE plpgsql AS $$
DECLARE
  v_holds boolean[] := array_fill(false, ARRAY[cardinality(p_changes)]);
  v_change transfer_change;
  v_revised uuid[];
  v_touched uuid[] := '{}';
  v_arrived text[] := '{}';
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
    CONTINUE WHEN v_change.credit IS NOT NULL AND (v_change.credit ->> 'service_provider_id' = ANY (v_arrived)
      OR v_change.callback ->> 'provider_event_id' = ANY (v_arrived) OR NOT arrives_first(v_change));
    -- LIMIT, so that an account is looked up however few there are.
    FOR v_guard IN SELECT guard.account_id, coalesce(guard.available_minor, 0) AS available_minor,
          present.status = guard.status AND present.client_status = guard.client_status AND present.closing = guard.closing
          AND (guard.any_balance
            OR present.available_minor - coalesce((v_spent ->> guard.account_id::text)::bigint, 0) >= guard.available_minor) AS holds
        FROM json_to_recordset(v_change.guards)
            AS guard (account_id uuid, status text, client_status text, closing boolean, available_minor bigint, any_balance boolean)
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
    v_arrived := v_arrived || (v_change.credit ->> 'service_provider_id') || (v_change.callback ->> 'provider_event_id');
    v_holds[v_index] := true;
  END LOOP;
  RETURN v_holds;
END $$;

-- As before; and what money that arrives leaves beside its transfer.
CREATE OR REPLACE FUNCTION write_changes(p_changes transfer_change[]) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_outgoing bigint;
  v_incoming bigint;
  v_moves bigint;
  v_postings bigint;
  v_wakes bigint;
  v_arrivals bigint;
  v_posting record;
BEGIN
  SELECT count(outgoing_id), count(incoming_id), sum(json_array_length(moves)), sum(json_array_length(postings)), sum(cardinality(wakes)),
      count(credit)
    INTO v_outgoing, v_incoming, v_moves, v_postings, v_wakes, v_arrivals FROM unnest(p_changes);
  IF v_moves > 0 THEN
    -- What a change frees is for those who wait there. By a list of ids, which no plan takes for so many that it reads all accounts.
    WITH moved AS MATERIALIZED (
      SELECT account_id, coalesce(sum(reserved_minor), 0)::bigint AS reserved_minor, coalesce(sum(receivable_minor), 0)::bigint AS receivable_minor,
        coalesce(bool_or(waits), false) AS waits, coalesce(bool_or(reserved_minor < 0), false) AS frees
      FROM unnest(p_changes) AS change,
        json_to_recordset(change.moves) AS move (account_id uuid, reserved_minor bigint, receivable_minor bigint, waits boolean)
      GROUP BY account_id)
    UPDATE accounts SET reserved_minor = accounts.reserved_minor + moved.reserved_minor,
        receivable_minor = accounts.receivable_minor + moved.receivable_minor, has_waiters = has_waiters OR moved.waits,
        admission_due = admission_due OR (has_waiters AND moved.frees)
      FROM moved
      WHERE accounts.id = moved.account_id AND accounts.id = ANY (ARRAY(SELECT account_id FROM moved))
        AND (moved.reserved_minor <> 0 OR moved.receivable_minor <> 0 OR moved.frees OR (moved.waits AND NOT has_waiters));
  END IF;
  IF v_arrivals > 0 THEN
    PERFORM write_arrivals(p_changes);
  END IF;
  IF v_outgoing > 0 THEN
    PERFORM outgoing_transfers_write(p_changes, v_outgoing);
  END IF;
  IF v_incoming > 0 THEN
    PERFORM incoming_transfers_write(p_changes, v_incoming);
  END IF;
  IF v_postings > 0 THEN
    FOR v_posting IN SELECT posting.* FROM unnest(p_changes) WITH ORDINALITY AS change,
        ROWS FROM (json_to_recordset(change.postings) AS (at timestamptz, debit uuid, debit_provider text, debit_kind text, credit uuid,
          credit_provider text, credit_kind text, amount_minor bigint, currency text, debit_number text, credit_number text, debit_type text,
          credit_type text, entry_type text, outgoing_transfer_id uuid, incoming_transfer_id uuid, narrative text, release_minor bigint))
        WITH ORDINALITY AS posting ORDER BY change.ordinality, posting.ordinality LOOP
      PERFORM ledger_post(v_posting.at, coalesce(v_posting.debit, system_account(v_posting.debit_provider, v_posting.currency, v_posting.debit_kind)),
        coalesce(v_posting.credit, system_account(v_posting.credit_provider, v_posting.currency, v_posting.credit_kind)),
        v_posting.amount_minor, v_posting.currency, v_posting.debit_number, v_posting.credit_number, v_posting.debit_type,
        v_posting.credit_type, v_posting.entry_type, v_posting.outgoing_transfer_id, v_posting.incoming_transfer_id,
        v_posting.narrative, v_posting.release_minor);
    END LOOP;
  END IF;
  IF v_wakes > 0 THEN
    INSERT INTO workflow_wakeups (workflow_id, workflow_type, next_attempt_at, created_at)
      SELECT wake, split_part(wake, '/', 1), service_now(), service_now()
      FROM (SELECT DISTINCT unnest(wakes) AS wake FROM unnest(p_changes)) AS woken ORDER BY wake
      ON CONFLICT (workflow_id) DO UPDATE SET generation = workflow_wakeups.generation + 1,
        next_attempt_at = least(workflow_wakeups.next_attempt_at, excluded.next_attempt_at), parked_at = NULL;
  END IF;
END $$;
