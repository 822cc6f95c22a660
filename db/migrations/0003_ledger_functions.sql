-- The only writers of postings. Callers hold the locks of the client accounts they name, taken in the order of ids.

-- The provider's account of a kind in a currency, made at its first use.
CREATE FUNCTION system_account(p_provider text, p_currency text, p_kind text) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
  v_id uuid;
BEGIN
  SELECT id INTO v_id FROM system_accounts WHERE provider = p_provider AND currency = p_currency AND kind = p_kind;
  IF v_id IS NULL THEN
    INSERT INTO system_accounts (id, provider, currency, kind) VALUES (uuidv7(), p_provider, p_currency, p_kind) ON CONFLICT DO NOTHING;
    SELECT id INTO v_id FROM system_accounts WHERE provider = p_provider AND currency = p_currency AND kind = p_kind;
  END IF;
  RETURN v_id;
END $$;

-- Writes one posting and moves the balances of those sides that are client accounts. p_debit_release is the part of the
-- debited account's reservation that this posting consumes. An account's entries never go back in time, even when the
-- clock does. A credit to an account where transfers wait for money marks it for admission.
CREATE FUNCTION ledger_post(
  p_now timestamptz, p_debit_account uuid, p_credit_account uuid, p_amount_minor bigint, p_currency text,
  p_debit_number text, p_credit_number text, p_debit_type text, p_credit_type text, p_entry_type text,
  p_outgoing_transfer uuid, p_incoming_transfer uuid, p_narrative text, p_debit_release bigint DEFAULT 0
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_at timestamptz := p_now;
  v_debit_at timestamptz;
  v_debit_version bigint;
  v_debit_balance bigint;
  v_credit_version bigint;
  v_credit_balance bigint;
BEGIN
  UPDATE accounts SET posted_minor = posted_minor - p_amount_minor, reserved_minor = reserved_minor - p_debit_release,
      version = version + 1, last_entry_at = greatest(last_entry_at, p_now)
    WHERE id = p_debit_account AND currency = p_currency
    RETURNING version, posted_minor, last_entry_at INTO v_debit_version, v_debit_balance, v_debit_at;
  IF FOUND THEN
    v_at := v_debit_at;
  ELSIF NOT EXISTS (SELECT FROM system_accounts WHERE id = p_debit_account AND currency = p_currency) THEN
    RAISE EXCEPTION 'debit account % has no ledger in %', p_debit_account, p_currency USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  UPDATE accounts SET posted_minor = posted_minor + p_amount_minor, version = version + 1,
      last_entry_at = greatest(last_entry_at, v_at), admission_due = admission_due OR has_waiters
    WHERE id = p_credit_account AND currency = p_currency
    RETURNING version, posted_minor, last_entry_at INTO v_credit_version, v_credit_balance, v_at;
  IF NOT FOUND THEN
    v_at := coalesce(v_debit_at, p_now);
    IF NOT EXISTS (SELECT FROM system_accounts WHERE id = p_credit_account AND currency = p_currency) THEN
      RAISE EXCEPTION 'credit account % has no ledger in %', p_credit_account, p_currency USING ERRCODE = 'integrity_constraint_violation';
    END IF;
  ELSIF v_at > v_debit_at THEN
    UPDATE accounts SET last_entry_at = v_at WHERE id = p_debit_account;
  END IF;
  INSERT INTO postings (posted_at, debit_account_id, credit_account_id, amount_minor, debit_version,
      debit_balance_after_minor, credit_version, credit_balance_after_minor, outgoing_transfer_id, incoming_transfer_id,
      currency, debit_transaction_number, credit_transaction_number, debit_transaction_type, credit_transaction_type,
      entry_type, narrative)
    VALUES (v_at, p_debit_account, p_credit_account, p_amount_minor, v_debit_version, v_debit_balance, v_credit_version,
      v_credit_balance, p_outgoing_transfer, p_incoming_transfer, p_currency, p_debit_number, p_credit_number,
      p_debit_type, p_credit_type, p_entry_type, p_narrative);
END $$;

-- A straight-through internal transfer as the API hands it over. Everything in it was made by the caller except the
-- balances; transfer_date must be the day of the service's clock.
CREATE TYPE internal_transfer AS (
  machine_user_id uuid, path text, key text, request_hash bytea, response_body text,
  outgoing_id uuid, incoming_id uuid, outgoing_number text, incoming_number text,
  outgoing_event_id uuid, incoming_event_id uuid,
  client_id uuid, source_id uuid, destination_id uuid, currency text, amount_minor bigint, fee_minor bigint,
  transfer_date date, description text, transfer_reason_id uuid, transfer_custom_reason text
);

-- What settling needs of an account, and what it makes of a transfer.
CREATE TYPE settling_account AS (
  id uuid, client_id uuid, client_status text, status text, requested_change text, currency text, method text, provider text
);
CREATE TYPE settled_transfer AS (
  settled_at timestamptz, debit_version bigint, debit_balance_minor bigint, credit_version bigint, credit_balance_minor bigint,
  receiver_id uuid, method text, provider text, receiver_method text, receiver_provider text
);

-- Settles straight-through internal transfers, in their order, all in one round trip and one commit: idempotency keys,
-- accounts, transfers on both sides, postings and events. Locks come first and are decided upon in later statements, which
-- see what the lock waited for. Answers one row for each, in order:
--   settled                 its response_body is stored under its key
--   replayed                its key was used before: response_body is the first answer
--   refused                 with the error code and the three message parameters
--   other-day               the day of the service's clock is the parameter: ask again with it
--   alone                   only with p_waits false: somebody else holds its key or an account: call again with it alone
-- With p_waits false nobody's transfer waits for a lock that somebody else's needs. Otherwise nobody waits longer than a
-- second request with the same key may wait for the first's answer: well below the statement's own deadline.
CREATE FUNCTION settle_internal_transfers(p_transfers json, p_waits boolean, p_outgoing_entries json, p_incoming_entries json)
RETURNS TABLE (outcome text, parameters text[], response_body text) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  v_transfers internal_transfer[];
  v_transfer internal_transfer;
  v_outcomes text[];
  v_parameters json[];
  v_bodies text[];
  v_settled settled_transfer[];
  v_refusal text[];
  v_claims integer;
  v_now timestamptz;
  v_at timestamptz;
  v_accounts settling_account[];
  v_source settling_account;
  v_destination settling_account;
  v_ids uuid[];
  v_available bigint[];
  v_posted bigint[];
  v_versions bigint[];
  v_first_versions bigint[];
  v_entry_ats timestamptz[];
  v_credited boolean[];
  v_from integer;
  v_to integer;
  v_any_fee boolean := false;
  v_any_unsettled boolean := false;
BEGIN
  PERFORM set_config('lock_timeout', CASE WHEN p_waits THEN '5s' ELSE '100ms' END, true);
  SELECT array_agg(transfer) INTO v_transfers FROM json_populate_recordset(NULL::internal_transfer, p_transfers) transfer;
  v_outcomes := array_fill(NULL::text, ARRAY[cardinality(v_transfers)]);
  v_parameters := array_fill(NULL::json, ARRAY[cardinality(v_transfers)]);
  v_bodies := array_fill(NULL::text, ARRAY[cardinality(v_transfers)]);
  v_settled := array_fill(NULL::settled_transfer, ARRAY[cardinality(v_transfers)]);

  -- In the order of their keys, so that two calls with the same keys cannot wait for each other.
  INSERT INTO idempotency_keys (machine_user_id, method, path, key, request_hash, response_status, response_body, created_at)
    SELECT machine_user_id, 'POST', path, key, request_hash, 201, response_body, service_now() FROM unnest(v_transfers)
    WHERE key IS NOT NULL ORDER BY machine_user_id, path, key
    ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS v_claims = ROW_COUNT;
  IF v_claims < (SELECT count(key) FROM unnest(v_transfers)) THEN
    -- A key that another transfer of this very call has just claimed is no earlier one: that transfer may be refused yet.
    SELECT array_agg(CASE WHEN present.is_new THEN 'alone' WHEN present.request_hash <> transfer.request_hash THEN 'refused'
          WHEN present.key IS NOT NULL THEN 'replayed' END ORDER BY ordinality),
        array_agg(CASE WHEN present.request_hash <> transfer.request_hash
          THEN json_build_array('common.idempotency.key_reused', 'header', 'Idempotency-Key', left(transfer.key, 100)) END ORDER BY ordinality),
        array_agg(present.response_body ORDER BY ordinality)
      INTO v_outcomes, v_parameters, v_bodies
      FROM unnest(v_transfers) WITH ORDINALITY AS transfer
        LEFT JOIN LATERAL (SELECT kept.key, kept.request_hash, kept.response_body, kept.xmin = pg_current_xact_id()::xid AS is_new
          FROM idempotency_keys kept
          WHERE kept.machine_user_id = transfer.machine_user_id AND kept.method = 'POST' AND kept.path = transfer.path
            AND kept.key = transfer.key AND kept.response_body <> transfer.response_body) AS present ON true;
  END IF;

  SELECT array_agg(DISTINCT id) INTO v_ids FROM unnest(v_transfers) transfer, unnest(ARRAY[transfer.source_id, transfer.destination_id]) AS id;
  IF p_waits THEN
    PERFORM FROM accounts WHERE id = ANY (v_ids) ORDER BY id FOR UPDATE;
  ELSE
    v_ids := ARRAY(SELECT id FROM accounts WHERE id = ANY (v_ids) ORDER BY id FOR UPDATE SKIP LOCKED);
  END IF;
  SELECT array_agg(accounts.id), array_agg((accounts.id, client_id, clients.status, accounts.status, requested_change, currency,
        method, provider)::settling_account),
      array_agg(posted_minor - reserved_minor), array_agg(posted_minor), array_agg(version), array_agg(last_entry_at), array_agg(false)
    INTO v_ids, v_accounts, v_available, v_posted, v_versions, v_entry_ats, v_credited
    FROM accounts JOIN clients ON clients.id = client_id WHERE accounts.id = ANY (v_ids);
  v_first_versions := v_versions;
  v_now := service_now();

  FOR v_index IN 1 .. cardinality(v_transfers) LOOP
    CONTINUE WHEN v_outcomes[v_index] IS NOT NULL;
    v_transfer := v_transfers[v_index];
    v_from := array_position(v_ids, v_transfer.source_id);
    v_to := array_position(v_ids, v_transfer.destination_id);
    IF (v_from IS NULL OR v_to IS NULL) AND NOT p_waits THEN
      v_outcomes[v_index] := 'alone';
      v_any_unsettled := true;
      CONTINUE;
    END IF;
    v_source := v_accounts[v_from];
    v_destination := v_accounts[v_to];
    v_refusal := CASE
      WHEN v_from IS NULL THEN ARRAY['common.coding.internal.record_not_found', 'source.accountId', v_transfer.source_id::text]
      WHEN v_to IS NULL OR v_to = v_from
        THEN ARRAY['common.coding.internal.record_not_found', 'destination.accountId', v_transfer.destination_id::text]
      WHEN v_source.client_id <> v_transfer.client_id THEN ARRAY['account.client.mismatch', 'clientId', v_transfer.client_id::text]
      WHEN v_source.currency <> v_transfer.currency THEN ARRAY['account.currency.mismatch', 'currency', v_transfer.currency]
      WHEN v_destination.currency <> v_transfer.currency
        THEN ARRAY['account.currency.mismatch', 'destination.accountId', v_transfer.destination_id::text]
      WHEN v_source.status <> 'active' OR v_source.requested_change = 'close'
        THEN ARRAY['account.status.not_active', 'source.accountId', v_transfer.source_id::text]
      WHEN v_destination.status <> 'active' OR v_destination.requested_change = 'close'
        THEN ARRAY['account.status.not_active', 'destination.accountId', v_transfer.destination_id::text]
      WHEN v_source.client_status <> 'active'
        THEN ARRAY['account.status.not_active', 'clientId', v_source.client_id::text]
      WHEN v_destination.client_status <> 'active'
        THEN ARRAY['account.status.not_active', 'clientId', v_destination.client_id::text]
      WHEN v_available[v_from] < v_transfer.amount_minor + v_transfer.fee_minor
        THEN ARRAY['account.balance.insufficient', 'source.accountId', v_transfer.source_id::text]
    END;
    IF v_refusal IS NOT NULL THEN
      IF v_refusal[1] = 'account.client.mismatch' AND NOT EXISTS (SELECT FROM clients WHERE id = v_transfer.client_id) THEN
        v_refusal[1] := 'common.coding.internal.record_not_found';
      END IF;
      v_outcomes[v_index] := 'refused';
      v_parameters[v_index] := json_build_array(v_refusal[1], 'outgoingTransfer', v_refusal[2], v_refusal[3]);
      v_any_unsettled := true;
    ELSIF (v_now AT TIME ZONE 'UTC')::date <> v_transfer.transfer_date THEN
      v_outcomes[v_index] := 'other-day';
      v_parameters[v_index] := json_build_array((v_now AT TIME ZONE 'UTC')::date);
      v_any_unsettled := true;
    ELSE
      -- An account's entries never go back in time, even when the clock does.
      v_at := greatest(v_now, v_entry_ats[v_from], v_entry_ats[v_to]);
      v_posted[v_from] := v_posted[v_from] - v_transfer.amount_minor;
      v_posted[v_to] := v_posted[v_to] + v_transfer.amount_minor;
      v_versions[v_from] := v_versions[v_from] + 1;
      v_versions[v_to] := v_versions[v_to] + 1;
      v_settled[v_index] := (v_at, v_versions[v_from], v_posted[v_from], v_versions[v_to], v_posted[v_to],
        v_destination.client_id, v_source.method, v_source.provider, v_destination.method, v_destination.provider)::settled_transfer;
      v_outcomes[v_index] := 'settled';
      -- The fee is the entry after it.
      IF v_transfer.fee_minor > 0 THEN
        v_any_fee := true;
        v_posted[v_from] := v_posted[v_from] - v_transfer.fee_minor;
        v_versions[v_from] := v_versions[v_from] + 1;
      END IF;
      v_available[v_from] := v_available[v_from] - v_transfer.amount_minor - v_transfer.fee_minor;
      v_available[v_to] := v_available[v_to] + v_transfer.amount_minor;
      v_entry_ats[v_from] := v_at;
      v_entry_ats[v_to] := v_at;
      v_credited[v_to] := true;
    END IF;
  END LOOP;

  -- A credit to an account where transfers wait for money marks it for admission.
  UPDATE accounts SET posted_minor = moved.posted_minor, version = moved.version, last_entry_at = moved.last_entry_at,
      admission_due = admission_due OR (has_waiters AND moved.credited)
    FROM unnest(v_ids, v_posted, v_versions, v_first_versions, v_entry_ats, v_credited)
      AS moved (id, posted_minor, version, first_version, last_entry_at, credited)
    WHERE accounts.id = moved.id AND moved.version > moved.first_version;
  INSERT INTO outgoing_transfers (id, transaction_number, client_id, account_id, status, scope, currency, amount_minor,
      fee_minor, transfer_date, original_transfer_date, description, transfer_reason_id, transfer_custom_reason,
      destination_account_id, incoming_transfer_id, authorization_status, compliance_check_status, transfer_date_status,
      balance_check_status, method, provider, created_by, event_sequence, created_at, updated_at)
    SELECT outgoing_id, outgoing_number, client_id, source_id, 'completed', 'internal', currency, amount_minor, fee_minor,
      transfer_date, transfer_date, description, transfer_reason_id, transfer_custom_reason, destination_id, incoming_id,
      'not-required', 'not-required', 'fulfilled', 'fulfilled', method, provider, machine_user_id,
      json_array_length(p_outgoing_entries), v_now, v_now
    FROM unnest(v_transfers, v_settled) WHERE settled_at IS NOT NULL;
  INSERT INTO incoming_transfers (id, transaction_number, client_id, account_id, status, scope, currency, amount_minor,
      transfer_date, outgoing_transfer_id, sender_account_id, provider, method, sender_information, event_sequence,
      created_at, updated_at)
    SELECT incoming_id, incoming_number, receiver_id, destination_id, 'completed', 'internal', currency, amount_minor,
      transfer_date, outgoing_id, source_id, receiver_provider, receiver_method, description,
      json_array_length(p_incoming_entries), v_now, v_now
    FROM unnest(v_transfers, v_settled) WHERE settled_at IS NOT NULL;
  INSERT INTO postings (posted_at, debit_account_id, credit_account_id, amount_minor, debit_version,
      debit_balance_after_minor, credit_version, credit_balance_after_minor, outgoing_transfer_id, incoming_transfer_id,
      currency, debit_transaction_number, credit_transaction_number, debit_transaction_type, credit_transaction_type,
      entry_type, narrative)
    SELECT settled_at, source_id, destination_id, amount_minor, debit_version, debit_balance_minor, credit_version,
      credit_balance_minor, outgoing_id, incoming_id, currency, outgoing_number, incoming_number, 'outgoing-transfer',
      'incoming-transfer', 'principal', description
    FROM unnest(v_transfers, v_settled) WHERE settled_at IS NOT NULL;
  IF v_any_fee THEN
    INSERT INTO postings (posted_at, debit_account_id, credit_account_id, amount_minor, debit_version,
        debit_balance_after_minor, outgoing_transfer_id, currency, debit_transaction_number, credit_transaction_number,
        debit_transaction_type, credit_transaction_type, entry_type)
      SELECT settled_at, source_id, system_account(provider, currency, 'fee-revenue'), fee_minor, debit_version + 1,
        debit_balance_minor - fee_minor, outgoing_id, currency, outgoing_number, outgoing_number, 'outgoing-transfer',
        'outgoing-transfer', 'fee'
      FROM unnest(v_transfers, v_settled) WHERE settled_at IS NOT NULL AND fee_minor > 0;
  END IF;
  INSERT INTO events (id, entry_count, module, resource_id, first_sequence, occurred_at, entries)
    SELECT told.id, json_array_length(told.entries), told.module, told.resource_id, 1, v_now, told.entries
    FROM unnest(v_transfers, v_settled), LATERAL (VALUES
      (outgoing_event_id, 'outgoing-transfers', outgoing_id, p_outgoing_entries),
      (incoming_event_id, 'incoming-transfers', incoming_id, p_incoming_entries)) AS told (id, module, resource_id, entries)
    WHERE settled_at IS NOT NULL;
  IF v_any_unsettled THEN
    DELETE FROM idempotency_keys kept USING unnest(v_transfers, v_settled) AS refused
      WHERE refused.settled_at IS NULL AND kept.machine_user_id = refused.machine_user_id AND kept.method = 'POST'
        AND kept.path = refused.path AND kept.key = refused.key AND kept.response_body = refused.response_body;
  END IF;
  RETURN QUERY SELECT told.outcome, ARRAY(SELECT json_array_elements_text(told.parameters)), told.response_body
    FROM unnest(v_outcomes, v_parameters, v_bodies) AS told (outcome, parameters, response_body);
END $$;
