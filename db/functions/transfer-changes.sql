-- The one writer of changes of transfers. A change was decided by the rules in TypeScript (domain/); it is applied completely here or
-- not at all.

-- Applies the changes that still hold, in their order, in one commit. Claims keys first, in their order, so that two calls
-- with the same keys cannot wait for each other. Answers one row for each change, in order:
--   applied       it is written, and its answer is stored under its key
--   replayed      its key was used before by the same request: response_body is the first answer
--   not-applied   something does not hold or, with p_waits false, another session has locked one of its rows; nothing of it is written
-- With p_waits, all must be applied: what was decided under this transaction's locks cannot fail to hold.
-- Generic plans: Postgres otherwise plans each statement again for the few changes that it sees.
CREATE OR REPLACE FUNCTION apply_transfer_changes(p_changes json, p_waits boolean) RETURNS TABLE (outcome text, response_body text)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  v_changes transfer_change[] := ARRAY(SELECT change FROM json_populate_recordset(NULL::transfer_change, p_changes) change);
  v_keys bigint;
  v_claims bigint;
  v_moved bigint;
  -- Null: no key was used before.
  v_outcomes text[];
  v_bodies text[];
  v_holds boolean[];
BEGIN
  IF NOT p_waits THEN
    PERFORM set_config('lock_timeout', '100ms', true);
  END IF;
  SELECT count(key), count(outgoing_from) + count(incoming_from) INTO v_keys, v_moved FROM unnest(v_changes);
  IF v_keys > 0 THEN
    INSERT INTO idempotency_keys (machine_user_id, method, path, key, request_hash, response_status, response_body, created_at)
      SELECT machine_user_id, 'POST', path, key, request_hash, response_status, response_body, service_now() FROM unnest(v_changes)
      WHERE key IS NOT NULL ORDER BY machine_user_id, path, key
      ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS v_claims = ROW_COUNT;
    IF v_claims < v_keys THEN
      SELECT outcomes, response_bodies INTO v_outcomes, v_bodies FROM find_used_keys(v_changes);
    END IF;
  END IF;
  v_holds := changes_that_hold(v_changes, v_outcomes, lock_rows_of_changes(v_changes, p_waits, v_moved > 0), v_moved > 0);
  IF p_waits AND false = ANY (v_holds) THEN
    RAISE EXCEPTION 'a change that was decided under locks does not hold';
  END IF;
  IF false = ANY (v_holds) THEN
    DELETE FROM idempotency_keys kept USING generate_subscripts(v_changes, 1) AS place
      WHERE NOT v_holds[place] AND v_outcomes[place] IS NULL AND kept.machine_user_id = (v_changes[place]).machine_user_id
        AND kept.method = 'POST' AND kept.path = (v_changes[place]).path AND kept.key = (v_changes[place]).key
        AND kept.response_body = (v_changes[place]).response_body;
    v_changes := ARRAY(SELECT v_changes[place] FROM generate_subscripts(v_changes, 1) AS place WHERE v_holds[place] ORDER BY place);
  END IF;
  PERFORM write_changes(v_changes);
  FOR v_place IN 1 .. cardinality(v_holds) LOOP
    outcome := CASE WHEN v_holds[v_place] THEN 'applied' ELSE coalesce(v_outcomes[v_place], 'not-applied') END;
    response_body := CASE WHEN v_outcomes[v_place] = 'replayed' THEN v_bodies[v_place] END;
    RETURN NEXT;
  END LOOP;
END $$;

-- For each change, the result of its key, called when some were used before: null, the key is its own or it has none; `replayed`, it
-- was used before by the same request, and this is the first answer; `not-applied`, anything else.
CREATE OR REPLACE FUNCTION find_used_keys(p_changes transfer_change[], OUT outcomes text[], OUT response_bodies text[]) LANGUAGE sql AS $$
  -- A key that another change of the same call has just claimed is not an earlier one: that change may not be applied.
  SELECT array_agg(CASE WHEN present.key IS NULL THEN NULL
        WHEN present.is_new OR present.request_hash <> change.request_hash OR present.response_body IS NULL THEN 'not-applied'
        ELSE 'replayed' END ORDER BY ordinality),
      array_agg(present.response_body ORDER BY ordinality)
    FROM unnest(p_changes) WITH ORDINALITY AS change
      LEFT JOIN LATERAL (SELECT kept.key, kept.request_hash, kept.response_body, kept.xmin = pg_current_xact_id()::xid AS is_new
        FROM idempotency_keys kept
        WHERE kept.machine_user_id = change.machine_user_id AND kept.method = 'POST' AND kept.path = change.path
          AND kept.key = change.key AND kept.response_body IS DISTINCT FROM change.response_body) AS present ON true
$$;

-- Locks accounts, then the transfers that are changed, if any, each in the order of their ids; unless p_waits, only those that no
-- other session has locked. Returns the ids of what is locked now, of all three tables together; with p_waits, of the requested transfers.
CREATE OR REPLACE FUNCTION lock_rows_of_changes(p_changes transfer_change[], p_waits boolean, p_moves boolean) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
  v_accounts uuid[];
  v_outgoing uuid[];
  v_incoming uuid[];
BEGIN
  IF p_waits THEN
    v_accounts := ARRAY(SELECT id FROM accounts WHERE id = ANY (ARRAY(SELECT unnest(account_ids) FROM unnest(p_changes))) ORDER BY id FOR UPDATE);
  ELSE
    v_accounts := ARRAY(SELECT id FROM accounts WHERE id = ANY (ARRAY(SELECT unnest(account_ids) FROM unnest(p_changes)))
      ORDER BY id FOR UPDATE SKIP LOCKED);
  END IF;
  IF NOT p_moves THEN
    RETURN v_accounts;
  END IF;
  v_outgoing := ARRAY(SELECT outgoing_id FROM unnest(p_changes) WHERE outgoing_from IS NOT NULL);
  v_incoming := ARRAY(SELECT incoming_id FROM unnest(p_changes) WHERE incoming_from IS NOT NULL);
  IF p_waits THEN
    PERFORM FROM outgoing_transfers WHERE id = ANY (v_outgoing) ORDER BY id FOR UPDATE;
    PERFORM FROM incoming_transfers WHERE id = ANY (v_incoming) ORDER BY id FOR UPDATE;
    RETURN v_accounts || v_outgoing || v_incoming;
  END IF;
  IF cardinality(v_outgoing) > 0 THEN
    v_outgoing := ARRAY(SELECT id FROM outgoing_transfers WHERE id = ANY (v_outgoing) ORDER BY id FOR UPDATE SKIP LOCKED);
  END IF;
  IF cardinality(v_incoming) > 0 THEN
    v_incoming := ARRAY(SELECT id FROM incoming_transfers WHERE id = ANY (v_incoming) ORDER BY id FOR UPDATE SKIP LOCKED);
  END IF;
  RETURN v_accounts || v_outgoing || v_incoming;
END $$;

-- Returns which of the changes still hold, one after the other, under the locks: all their rows are locked, the rows that they change
-- or rely on have the revision from which the change was decided, money that arrives is new, and their guards hold after the changes
-- before them. A guard may allow any balance (any_balance).
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
    -- LIMIT, so that an account is looked up by index however few there are.
    FOR v_guard IN SELECT guard.account_id, coalesce(guard.available_minor, 0) AS available_minor,
          present.status = guard.status AND present.client_status = guard.client_status AND present.closing = guard.closing
          AND (guard.any_balance
            OR present.available_minor - coalesce((v_spent ->> guard.account_id::text)::bigint, 0) >= guard.available_minor) AS holds
        FROM json_to_recordset(v_change.guards)
            AS guard (account_id uuid, status text, client_status text, closing boolean, available_minor bigint, any_balance boolean)
          LEFT JOIN LATERAL (
            SELECT status, client_status, closing, available_minor FROM payment_accounts WHERE id = guard.account_id LIMIT 1
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

-- Whether this money was never recorded before, and no other session is recording it now: for a payment with its provider's id, this
-- takes the lock that serializes its callbacks (db/providers/callbacks.ts).
CREATE OR REPLACE FUNCTION arrives_first(p_change transfer_change) RETURNS boolean LANGUAGE plpgsql AS $$
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

-- Writes changes that hold, in their order, on locked rows: what they reserve, the transfers on both sides, postings, events and
-- wake-ups, audit entries, and the records of money that arrives.
CREATE OR REPLACE FUNCTION write_changes(p_changes transfer_change[]) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_outgoing bigint;
  v_incoming bigint;
  v_moves bigint;
  v_postings bigint;
  v_wakes bigint;
  v_arrivals bigint;
  v_audited bigint;
  v_assigned bigint;
  v_posting record;
BEGIN
  SELECT count(outgoing_id), count(incoming_id), sum(json_array_length(moves)), sum(json_array_length(postings)), sum(cardinality(wakes)),
      count(credit), count(audit_entry), count(*) FILTER (WHERE incoming_from IS NOT NULL AND incoming ->> 'account_id' IS NOT NULL)
    INTO v_outgoing, v_incoming, v_moves, v_postings, v_wakes, v_arrivals, v_audited, v_assigned FROM unnest(p_changes);
  IF v_moves > 0 THEN
    -- What a change frees is for transfers that wait there. By a list of ids, which no plan takes for so many that it reads all accounts.
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
  IF v_assigned > 0 THEN
    PERFORM assign_credits(p_changes);
  END IF;
  IF v_audited > 0 THEN
    PERFORM write_audit_entries(p_changes);
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
    INSERT INTO workflow_wakeups (workflow_id, workflow_type, priority, next_attempt_at, created_at, traceparent)
      SELECT wake, split_part(wake, '/', 1), min(coalesce(wake_priority, 3)), service_now(), service_now(), min(traceparent)
      FROM (SELECT unnest(wakes) AS wake, wake_priority, traceparent FROM unnest(p_changes)) AS woken GROUP BY wake ORDER BY wake
      ON CONFLICT (workflow_id) DO UPDATE SET generation = workflow_wakeups.generation + 1,
        priority = least(workflow_wakeups.priority, excluded.priority),
        next_attempt_at = least(workflow_wakeups.next_attempt_at, excluded.next_attempt_at), parked_at = NULL,
        traceparent = coalesce(excluded.traceparent, workflow_wakeups.traceparent);
  END IF;
END $$;

-- The credit that reports money gets its account with the transfer.
CREATE OR REPLACE FUNCTION assign_credits(p_changes transfer_change[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  WITH assigned AS MATERIALIZED (
    SELECT provisioned_account_credit_id AS id, account_id, client_id FROM incoming_transfers
    WHERE id = ANY (ARRAY(
      SELECT incoming_id FROM unnest(p_changes) WHERE incoming_from IS NOT NULL AND incoming ->> 'account_id' IS NOT NULL))
  )
  UPDATE provisioned_account_credits AS credit SET account_id = assigned.account_id, client_id = assigned.client_id
    FROM assigned WHERE credit.id = assigned.id AND credit.id = ANY (ARRAY(SELECT id FROM assigned));
END $$;

-- Writes the audit entries of changes. Lists all columns of the table, as write_arrivals does: a column that is added is added here too.
CREATE OR REPLACE FUNCTION write_audit_entries(p_changes transfer_change[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit_entries (id, occurred_at, actor, action, resource, resource_id, request_id, before, after, role, reason)
    SELECT entry.id, service_now(), actor, action, resource, resource_id, request_id, before, after, role, reason
    FROM unnest(p_changes) AS change, json_populate_record(NULL::audit_entries, change.audit_entry) AS entry
    WHERE change.audit_entry IS NOT NULL;
END $$;

-- Writes the records of money that arrives: the credit that reports it, and the provider's callback. It lists the columns of their
-- tables: a column that is added to one of them is added here too.
CREATE OR REPLACE FUNCTION write_arrivals(p_changes transfer_change[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO provisioned_account_credits (id, client_id, account_id, amount_minor, currency, scope, scheme, sender_bank_account, sender_name,
      sender_address, sender_to_receiver_information, receiver_account, service_provider_id, provider, created_at)
    SELECT credit.id, client_id, account_id, amount_minor, currency, scope, scheme, sender_bank_account, sender_name,
      sender_address, sender_to_receiver_information, receiver_account, service_provider_id, provider, created_at
    FROM unnest(p_changes) AS change, json_populate_record(NULL::provisioned_account_credits, change.credit) AS credit
    WHERE change.credit IS NOT NULL;
  INSERT INTO provider_callbacks (provider, provider_event_id, kind, our_reference, payload, outcome, received_at)
    SELECT provider, provider_event_id, kind, our_reference, payload, 'applied', service_now()
    FROM unnest(p_changes) AS change, json_populate_record(NULL::provider_callbacks, change.callback) AS callback
    WHERE change.callback IS NOT NULL;
END $$;

-- Money that its provider holds becomes pending before it is credited: a decision that overlooks the hold credits nothing.
CREATE OR REPLACE FUNCTION reject_credit_of_held_money() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'incoming transfer % is held by its provider and cannot be credited', OLD.id;
END $$;
CREATE OR REPLACE TRIGGER incoming_transfers_held_by_provider BEFORE UPDATE OF status ON incoming_transfers FOR EACH ROW
  WHEN (OLD.status = 'on-hold' AND OLD.hold_reason = 'held-by-provider' AND NEW.status = 'completed')
  EXECUTE FUNCTION reject_credit_of_held_money();

-- The returns of a payment in are listed and summed up in its row, where a CHECK keeps the sum at or below what arrived. A return that fails
-- or is cancelled no longer counts. Only completed money from outside is returned so, from its own account. The revision goes up, so that
-- no return is decided from a sum that has changed.
CREATE OR REPLACE FUNCTION sum_up_returns() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_before bigint := 0;
  v_after bigint := CASE WHEN NEW.status IN ('failed', 'cancelled') THEN 0 ELSE NEW.amount_minor END;
BEGIN
  IF TG_OP = 'UPDATE' THEN
    v_before := CASE WHEN OLD.status IN ('failed', 'cancelled') THEN 0 ELSE OLD.amount_minor END;
  END IF;
  IF v_after = v_before THEN
    RETURN NULL;
  END IF;
  UPDATE incoming_transfers SET returning_minor = returning_minor + v_after - v_before, revision = revision + 1,
      return_ids = CASE TG_OP WHEN 'INSERT' THEN return_ids || NEW.id ELSE return_ids END
    WHERE id = NEW.return_of AND status = 'completed' AND scope = 'external' AND account_id = NEW.account_id AND currency = NEW.currency;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'outgoing transfer % is no return of incoming transfer %', NEW.id, NEW.return_of;
  END IF;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER outgoing_transfers_returning AFTER INSERT ON outgoing_transfers FOR EACH ROW
  WHEN (NEW.return_of IS NOT NULL) EXECUTE FUNCTION sum_up_returns();
CREATE OR REPLACE TRIGGER outgoing_transfers_no_longer_returning AFTER UPDATE OF status, amount_minor ON outgoing_transfers FOR EACH ROW
  WHEN (NEW.return_of IS NOT NULL AND (OLD.status <> NEW.status OR OLD.amount_minor <> NEW.amount_minor)) EXECUTE FUNCTION sum_up_returns();
