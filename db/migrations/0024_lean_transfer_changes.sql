-- The writer of changes of transfers leaves out what a call has no use for.
-- The functions that it called before stay for the calls that run while this commits; a later release drops them.

-- Makes the function that writes one side of the changes, for a table named `<side>_transfers`: the rows that they make or move,
-- and their events. Its p_count is how many changes have that side. It lists the table's columns by itself: a migration that adds
-- a column calls this again. The release before, which does not know the column, says nothing of it: a new row gets its default,
-- and a moved one keeps what it has.
CREATE OR REPLACE FUNCTION make_row_writer(p_table regclass) RETURNS void LANGUAGE plpgsql AS $make$
DECLARE
  v_columns text;
  v_made text;
  v_moved text;
BEGIN
  SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum),
      string_agg(CASE WHEN adbin IS NULL THEN format('made.%I', attname)
        ELSE format('coalesce(made.%I, %s)', attname, pg_get_expr(adbin, adrelid)) END, ', ' ORDER BY attnum),
      string_agg(quote_ident(attname), ', ' ORDER BY attnum) FILTER (WHERE attname NOT IN ('id', 'revision', 'event_sequence'))
    INTO v_columns, v_made, v_moved
    FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attrelid = p_table AND attnum > 0 AND NOT attisdropped;
  EXECUTE format($writer$
    CREATE OR REPLACE FUNCTION %1$I(p_changes transfer_change[], p_count bigint) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
      v_made bigint;
    BEGIN
      INSERT INTO %2$s (%3$s) SELECT %4$s FROM unnest(p_changes) AS change, json_populate_record(NULL::%2$s, change.%6$s) AS made
        WHERE change.%6$s_from IS NULL AND change.%6$s IS NOT NULL;
      GET DIAGNOSTICS v_made = ROW_COUNT;
      -- Those that are not made are moved.
      IF v_made < p_count THEN
        UPDATE %2$s AS moved SET revision = moved.revision + 1,
            event_sequence = moved.event_sequence + coalesce(json_array_length(change.%6$s_entries), 0),
            (%5$s) = (SELECT %5$s FROM json_populate_record(moved, change.%6$s))
          FROM unnest(p_changes) AS change
          WHERE moved.id = change.%6$s_id AND moved.revision = change.%6$s_from;
      END IF;
      -- By sub-select, which looks each row up by its id: a join read the whole table when its statistics were old.
      INSERT INTO events (id, entry_count, module, resource_id, first_sequence, occurred_at, entries)
        SELECT %6$s_event_id, json_array_length(%6$s_entries), '%6$s-transfers', %6$s_id,
          (SELECT event_sequence FROM %2$s WHERE id = %6$s_id) - json_array_length(%6$s_entries) + 1, at, %6$s_entries
        FROM unnest(p_changes) WHERE %6$s_event_id IS NOT NULL;
    END $$ $writer$, p_table || '_write', p_table, v_columns, v_made, v_moved, split_part(p_table::text, '_', 1));
END $make$;
SELECT make_row_writer('outgoing_transfers'), make_row_writer('incoming_transfers');

-- For each change, what its key says, called when some were used before: null, the key is its own or it has none; `replayed`, it
-- was used before by the same request, and this is the first answer; `not-applied`, anything else.
CREATE FUNCTION find_used_keys(p_changes transfer_change[], OUT outcomes text[], OUT response_bodies text[]) LANGUAGE sql AS $$
  -- A key that another change of this very call has just claimed is no earlier one: that change may come to nothing.
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

-- Locks accounts, then the transfers that are moved, if any, each in the order of their ids; unless p_waits, only those that no
-- other session holds. Answers the ids of what is locked now, of all three tables together; with p_waits, of the transfers asked for.
CREATE FUNCTION lock_rows_of_changes(p_changes transfer_change[], p_waits boolean, p_moves boolean) RETURNS uuid[] LANGUAGE plpgsql AS $$
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

-- Which of the changes still hold, one after the other, under the locks: all that they touch is locked, their rows, if any are
-- moved, have the revision that they were decided from, and their guards hold after those before them.
CREATE FUNCTION changes_that_hold(p_changes transfer_change[], p_outcomes text[], p_locked uuid[], p_moves boolean) RETURNS boolean[]
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
            SELECT account.status, client.status AS client_status, account.requested_change IS NOT DISTINCT FROM 'close' AS closing,
              account.posted_minor - account.reserved_minor AS available_minor
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

-- Writes changes that hold, in their order, on rows that are locked: what they reserve, the transfers on both sides, postings,
-- events and wake-ups.
CREATE OR REPLACE FUNCTION write_changes(p_changes transfer_change[]) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_outgoing bigint;
  v_incoming bigint;
  v_moves bigint;
  v_postings bigint;
  v_wakes bigint;
  v_posting record;
BEGIN
  SELECT count(outgoing_id), count(incoming_id), sum(json_array_length(moves)), sum(json_array_length(postings)), sum(cardinality(wakes))
    INTO v_outgoing, v_incoming, v_moves, v_postings, v_wakes FROM unnest(p_changes);
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

-- Applies those of the changes that still hold, in their order, in one commit. Claims keys first, in their order, so that two calls
-- with the same keys cannot wait for each other. Answers one row for each change, in order:
--   applied       it is written, and its answer is stored under its key
--   replayed      its key was used before by the same request: response_body is the first answer
--   not-applied   something does not hold, or, with p_waits false, somebody else holds one of its rows; nothing of it is written
-- With p_waits, all must be applied: what was decided under locks that this transaction holds cannot fail to hold.
-- Generic plans: Postgres otherwise plans each statement anew for the few changes that it sees.
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
