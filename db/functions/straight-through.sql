-- Straight-through internal transfers: settled where everything holds, and never rejected here. What does not hold is decided in a
-- transaction of its own by the rules that serve every other transfer, so that there is one order of rejections.

-- Settles transfers, in their order, all in one round trip and one commit. Locks come first and are decided upon in later
-- statements, which see what the lock waited for. Answers one row for each, in order:
--   settled     its response_body is stored under its key
--   replayed    its key was used before: response_body is the first answer
--   undecided   something does not hold, and nothing was done: to be decided under its locks in a transaction of its own
--   other-day   the day of the service's clock is transfer_date: ask again with it
--   alone       only with p_waits false: another session holds its key or an account: call again with only this transfer
-- With p_waits false no transfer waits for a lock that another one needs. Otherwise none waits longer than a second request
-- with the same key may wait for the first's answer: well below the statement's own deadline.
CREATE OR REPLACE FUNCTION settle_straight_through_transfers(
  p_transfers json, p_waits boolean, p_outgoing_entries json, p_incoming_entries json
) RETURNS TABLE (outcome text, transfer_date date, response_body text) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  v_transfers internal_transfer[] := ARRAY(SELECT transfer FROM json_populate_recordset(NULL::internal_transfer, p_transfers) transfer);
  v_transfer internal_transfer;
  v_outcomes text[];
  v_bodies text[];
  v_settled straight_through_settlement[] := array_fill(NULL::straight_through_settlement, ARRAY[cardinality(v_transfers)]);
  v_accounts straight_through_account[];
  v_source straight_through_account;
  v_destination straight_through_account;
  v_ids uuid[];
  v_from integer;
  v_to integer;
  v_total bigint;
  v_now timestamptz;
  v_at timestamptz;
BEGIN
  PERFORM set_config('lock_timeout', CASE WHEN p_waits THEN '5s' ELSE '100ms' END, true);
  SELECT outcomes, response_bodies INTO v_outcomes, v_bodies FROM claim_straight_through_keys(v_transfers);
  v_accounts := lock_straight_through_accounts(v_transfers, p_waits);
  v_ids := ARRAY(SELECT id FROM unnest(v_accounts));
  v_now := service_now();

  FOR v_index IN 1 .. cardinality(v_transfers) LOOP
    CONTINUE WHEN v_outcomes[v_index] IS NOT NULL;
    v_transfer := v_transfers[v_index];
    v_from := array_position(v_ids, v_transfer.source_id);
    v_to := array_position(v_ids, v_transfer.destination_id);
    v_source := v_accounts[v_from];
    v_destination := v_accounts[v_to];
    v_total := v_transfer.amount_minor + v_transfer.fee_minor;
    IF v_from IS NULL OR v_to IS NULL THEN
      v_outcomes[v_index] := CASE WHEN p_waits THEN 'undecided' ELSE 'alone' END;
    ELSIF v_from = v_to OR NOT v_source.is_usable OR NOT v_destination.is_usable OR v_source.client_id <> v_transfer.client_id
        OR v_source.currency <> v_transfer.currency OR v_destination.currency <> v_transfer.currency
        OR v_source.available_minor < v_total THEN
      v_outcomes[v_index] := 'undecided';
    ELSIF (v_now AT TIME ZONE 'UTC')::date <> v_transfer.transfer_date THEN
      v_outcomes[v_index] := 'other-day';
    ELSE
      -- An account's entries never go back in time, even when the clock does.
      v_at := greatest(v_now, v_source.last_entry_at, v_destination.last_entry_at);
      v_settled[v_index] := (v_at, v_source.version + 1, v_source.posted_minor - v_transfer.amount_minor, v_destination.version + 1,
        v_destination.posted_minor + v_transfer.amount_minor, v_destination.client_id, v_source.method, v_source.provider,
        v_destination.method, v_destination.provider, v_source.party_account_id, v_destination.party_account_id)::straight_through_settlement;
      v_outcomes[v_index] := 'settled';
      -- The fee is the entry after it.
      v_accounts[v_from] := (v_source.id, v_source.client_id, true, v_source.currency, v_source.method, v_source.provider,
        v_source.party_account_id, v_source.available_minor - v_total, v_source.posted_minor - v_total,
        v_source.version + CASE WHEN v_transfer.fee_minor > 0 THEN 2 ELSE 1 END, v_source.first_version, v_at, v_source.is_credited
        )::straight_through_account;
      v_accounts[v_to] := (v_destination.id, v_destination.client_id, true, v_destination.currency, v_destination.method,
        v_destination.provider, v_destination.party_account_id, v_destination.available_minor + v_transfer.amount_minor,
        v_destination.posted_minor + v_transfer.amount_minor, v_destination.version + 1, v_destination.first_version, v_at, true
        )::straight_through_account;
    END IF;
  END LOOP;

  -- A credit to an account where transfers wait for money marks it for admission.
  UPDATE accounts SET posted_minor = moved.posted_minor, version = moved.version, last_entry_at = moved.last_entry_at,
      admission_due = admission_due OR (has_waiters AND moved.is_credited)
    FROM unnest(v_accounts) AS moved WHERE accounts.id = moved.id AND moved.version > moved.first_version;
  PERFORM record_straight_through_transfers(v_now, v_transfers, v_settled, 'settled' = ALL (v_outcomes), p_outgoing_entries,
    p_incoming_entries);
  RETURN QUERY SELECT decided.outcome, (v_now AT TIME ZONE 'UTC')::date, decided.response_body
    FROM unnest(v_outcomes, v_bodies) AS decided (outcome, response_body);
END $$;

-- Claims the idempotency keys. Answers, in the order of the transfers, what is known of each already (null: its key is its
-- own), and the first answer of a key that was used before.
CREATE OR REPLACE FUNCTION claim_straight_through_keys(p_transfers internal_transfer[], OUT outcomes text[], OUT response_bodies text[])
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_claims integer;
BEGIN
  outcomes := array_fill(NULL::text, ARRAY[cardinality(p_transfers)]);
  response_bodies := outcomes;
  -- In the order of their keys, so that two calls with the same keys cannot wait for each other.
  INSERT INTO idempotency_keys (machine_user_id, method, path, key, request_hash, response_status, response_body, created_at)
    SELECT machine_user_id, 'POST', path, key, request_hash, 201, response_body, service_now() FROM unnest(p_transfers)
    WHERE key IS NOT NULL ORDER BY machine_user_id, path, key
    ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS v_claims = ROW_COUNT;
  IF v_claims = (SELECT count(key) FROM unnest(p_transfers)) THEN
    RETURN;
  END IF;
  -- A key that another transfer of this very call has just claimed is no earlier one: that transfer may come to nothing.
  SELECT array_agg(CASE WHEN present.is_new THEN 'alone' WHEN present.request_hash <> transfer.request_hash THEN 'undecided'
        WHEN present.key IS NOT NULL THEN 'replayed' END ORDER BY ordinality),
      array_agg(present.response_body ORDER BY ordinality)
    INTO outcomes, response_bodies
    FROM unnest(p_transfers) WITH ORDINALITY AS transfer
      LEFT JOIN LATERAL (SELECT kept.key, kept.request_hash, kept.response_body, kept.xmin = pg_current_xact_id()::xid AS is_new
        FROM idempotency_keys kept
        WHERE kept.machine_user_id = transfer.machine_user_id AND kept.method = 'POST' AND kept.path = transfer.path
          AND kept.key = transfer.key AND kept.response_body <> transfer.response_body) AS present ON true;
END $$;

-- Locks the accounts of the transfers in the order of their ids (without waiting, those that no other session holds), and reads
-- them in a later statement, which sees what the lock waited for.
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
    SELECT (id, client_id, client_status = 'active' AND status = 'active' AND NOT closing, currency, method, provider, party_account_id,
        available_minor, posted_minor, version, version, last_entry_at, false)::straight_through_account
    FROM payment_accounts WHERE id = ANY (v_ids));
END $$;

-- Writes the transfers that were settled (those with a settled_at), on both sides, with postings and events, and takes the
-- claimed keys of the others back.
CREATE OR REPLACE FUNCTION record_straight_through_transfers(
  p_now timestamptz, p_transfers internal_transfer[], p_settled straight_through_settlement[], p_all_settled boolean,
  p_outgoing_entries json, p_incoming_entries json
) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  INSERT INTO outgoing_transfers (id, transaction_number, client_id, account_id, status, scope, currency, amount_minor,
      fee_minor, transfer_date, original_transfer_date, description, transfer_reason_id, transfer_custom_reason,
      destination_account_id, destination_party_account_id, incoming_transfer_id, authorization_status,
      compliance_check_status, transfer_date_status, balance_check_status, method, provider, created_by, event_sequence, created_at, updated_at)
    SELECT outgoing_id, outgoing_number, client_id, source_id, 'completed', 'internal', currency, amount_minor, fee_minor,
      transfer_date, transfer_date, description, transfer_reason_id, transfer_custom_reason, destination_id,
      receiver_party_account_id, incoming_id, 'not-required', 'not-required', 'fulfilled', 'fulfilled', method, provider, machine_user_id,
      json_array_length(p_outgoing_entries), p_now, p_now
    FROM unnest(p_transfers, p_settled) WHERE settled_at IS NOT NULL;
  INSERT INTO incoming_transfers (id, transaction_number, client_id, account_id, status, scope, currency, amount_minor,
      transfer_date, outgoing_transfer_id, sender_account_id, sender_party_account_id, receiver_party_account_id, provider, method,
      sender_information, event_sequence, created_at, updated_at)
    SELECT incoming_id, incoming_number, receiver_id, destination_id, 'completed', 'internal', currency, amount_minor,
      transfer_date, outgoing_id, source_id, sender_party_account_id, receiver_party_account_id, receiver_provider,
      receiver_method, description, json_array_length(p_incoming_entries), p_now, p_now
    FROM unnest(p_transfers, p_settled) WHERE settled_at IS NOT NULL;
  INSERT INTO postings (posted_at, debit_account_id, credit_account_id, amount_minor, debit_version,
      debit_balance_after_minor, credit_version, credit_balance_after_minor, outgoing_transfer_id, incoming_transfer_id,
      currency, debit_transaction_number, credit_transaction_number, debit_transaction_type, credit_transaction_type,
      entry_type, narrative)
    SELECT settled_at, source_id, destination_id, amount_minor, debit_version, debit_balance_minor, credit_version,
      credit_balance_minor, outgoing_id, incoming_id, currency, outgoing_number, incoming_number, 'outgoing-transfer',
      'incoming-transfer', 'principal', description
    FROM unnest(p_transfers, p_settled) WHERE settled_at IS NOT NULL;
  IF EXISTS (SELECT FROM unnest(p_transfers, p_settled) WHERE settled_at IS NOT NULL AND fee_minor > 0) THEN
    INSERT INTO postings (posted_at, debit_account_id, credit_account_id, amount_minor, debit_version,
        debit_balance_after_minor, outgoing_transfer_id, currency, debit_transaction_number, credit_transaction_number,
        debit_transaction_type, credit_transaction_type, entry_type)
      SELECT settled_at, source_id, system_account(provider, currency, 'fee-revenue'), fee_minor, debit_version + 1,
        debit_balance_minor - fee_minor, outgoing_id, currency, outgoing_number, outgoing_number, 'outgoing-transfer',
        'outgoing-transfer', 'fee'
      FROM unnest(p_transfers, p_settled) WHERE settled_at IS NOT NULL AND fee_minor > 0;
  END IF;
  INSERT INTO events (id, entry_count, module, resource_id, first_sequence, occurred_at, entries, traceparent)
    SELECT event.id, json_array_length(event.entries), event.module, event.resource_id, 1, p_now, event.entries, traceparent
    FROM unnest(p_transfers, p_settled), LATERAL (VALUES
      (outgoing_event_id, 'outgoing-transfers', outgoing_id, p_outgoing_entries),
      (incoming_event_id, 'incoming-transfers', incoming_id, p_incoming_entries)) AS event (id, module, resource_id, entries)
    WHERE settled_at IS NOT NULL;
  IF NOT p_all_settled THEN
    DELETE FROM idempotency_keys kept USING unnest(p_transfers, p_settled) AS unsettled
      WHERE unsettled.settled_at IS NULL AND kept.machine_user_id = unsettled.machine_user_id AND kept.method = 'POST'
        AND kept.path = unsettled.path AND kept.key = unsettled.key AND kept.response_body = unsettled.response_body;
  END IF;
END $$;
