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

-- Ends the call and the transaction with a refusal that the API turns into its answer: the message is the error code,
-- the detail the three message parameters.
CREATE FUNCTION refuse(p_code text, p_entity text, p_field text, p_value text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%', p_code USING ERRCODE = 'FA001', DETAIL = json_build_array(p_entity, p_field, coalesce(p_value, ''))::text;
END $$;

-- A straight-through internal transfer: idempotency key, both accounts, both transfers, postings and events in one
-- round trip. Locks come first and are decided upon in later statements, which see what the lock waited for. Returns
-- the answer to give: the one just stored, or the first one of a repeated key. Everything it stores was made by the
-- caller except the balances; p_transfer_date must be the day of the service's clock. Nobody waits for a lock longer than
-- a second request with the same key may wait for the first's answer: well below the statement's own deadline.
CREATE FUNCTION settle_internal_transfer(
  p_machine_user uuid, p_path text, p_key text, p_request_hash bytea, p_response_body text,
  p_outgoing uuid, p_incoming uuid, p_outgoing_number text, p_incoming_number text,
  p_outgoing_events uuid, p_incoming_events uuid, p_outgoing_entries json, p_incoming_entries json,
  p_client uuid, p_source uuid, p_destination uuid, p_currency text, p_amount_minor bigint, p_fee_minor bigint,
  p_transfer_date date, p_description text, p_reason uuid, p_custom_reason text,
  OUT replayed boolean, OUT response_body text
) LANGUAGE plpgsql SET lock_timeout = '5s' AS $$
DECLARE
  v_now timestamptz;
  v_source accounts%ROWTYPE;
  v_destination accounts%ROWTYPE;
  v_account accounts%ROWTYPE;
  v_key idempotency_keys%ROWTYPE;
  v_client uuid;
BEGIN
  IF p_key IS NOT NULL THEN
    INSERT INTO idempotency_keys (machine_user_id, method, path, key, request_hash, response_status, response_body, created_at)
      VALUES (p_machine_user, 'POST', p_path, p_key, p_request_hash, 201, p_response_body, service_now())
      ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      SELECT * INTO v_key FROM idempotency_keys
        WHERE machine_user_id = p_machine_user AND method = 'POST' AND path = p_path AND key = p_key;
      IF v_key.request_hash <> p_request_hash THEN
        PERFORM refuse('common.idempotency.key_reused', 'header', 'Idempotency-Key', left(p_key, 100));
      END IF;
      replayed := true;
      response_body := v_key.response_body;
      RETURN;
    END IF;
  END IF;

  FOR v_account IN SELECT * FROM accounts WHERE id IN (p_source, p_destination) ORDER BY id FOR UPDATE LOOP
    IF v_account.id = p_source THEN v_source := v_account; ELSE v_destination := v_account; END IF;
  END LOOP;
  v_now := service_now();

  IF v_source.id IS NULL THEN
    PERFORM refuse('common.coding.internal.record_not_found', 'outgoingTransfer', 'source.accountId', p_source::text);
  ELSIF v_destination.id IS NULL THEN
    PERFORM refuse('common.coding.internal.record_not_found', 'outgoingTransfer', 'destination.accountId', p_destination::text);
  ELSIF v_source.client_id <> p_client THEN
    PERFORM refuse('common.coding.internal.record_not_found', 'outgoingTransfer', 'clientId', p_client::text)
      WHERE NOT EXISTS (SELECT FROM clients WHERE id = p_client);
    PERFORM refuse('account.client.mismatch', 'outgoingTransfer', 'clientId', p_client::text);
  ELSIF v_source.currency <> p_currency THEN
    PERFORM refuse('account.currency.mismatch', 'outgoingTransfer', 'currency', p_currency);
  ELSIF v_destination.currency <> p_currency THEN
    PERFORM refuse('account.currency.mismatch', 'outgoingTransfer', 'destination.accountId', p_destination::text);
  ELSIF v_source.status <> 'active' OR v_source.requested_change = 'close' THEN
    PERFORM refuse('account.status.not_active', 'outgoingTransfer', 'source.accountId', p_source::text);
  ELSIF v_destination.status <> 'active' OR v_destination.requested_change = 'close' THEN
    PERFORM refuse('account.status.not_active', 'outgoingTransfer', 'destination.accountId', p_destination::text);
  END IF;
  SELECT id INTO v_client FROM clients WHERE id IN (v_source.client_id, v_destination.client_id) AND status <> 'active' LIMIT 1;
  IF FOUND THEN
    PERFORM refuse('account.status.not_active', 'outgoingTransfer', 'clientId', v_client::text);
  ELSIF v_source.posted_minor - v_source.reserved_minor < p_amount_minor + p_fee_minor THEN
    PERFORM refuse('account.balance.insufficient', 'outgoingTransfer', 'source.accountId', p_source::text);
  ELSIF (v_now AT TIME ZONE 'UTC')::date <> p_transfer_date THEN
    -- Not a refusal: the day has changed since the caller looked. It asks again with this one.
    RAISE EXCEPTION 'service date' USING ERRCODE = 'FA002', DETAIL = ((v_now AT TIME ZONE 'UTC')::date)::text;
  END IF;

  INSERT INTO outgoing_transfers (id, transaction_number, client_id, account_id, status, scope, currency, amount_minor,
      fee_minor, transfer_date, original_transfer_date, description, transfer_reason_id, transfer_custom_reason,
      destination_account_id, incoming_transfer_id, authorization_status, compliance_check_status, transfer_date_status,
      balance_check_status, method, provider, created_by, event_sequence, created_at, updated_at)
    VALUES (p_outgoing, p_outgoing_number, p_client, p_source, 'completed', 'internal', p_currency, p_amount_minor,
      p_fee_minor, p_transfer_date, p_transfer_date, p_description, p_reason, p_custom_reason, p_destination, p_incoming,
      'not-required', 'not-required', 'fulfilled', 'fulfilled', v_source.method, v_source.provider, p_machine_user,
      json_array_length(p_outgoing_entries), v_now, v_now);
  INSERT INTO incoming_transfers (id, transaction_number, client_id, account_id, status, scope, currency, amount_minor,
      transfer_date, outgoing_transfer_id, sender_account_id, provider, method, sender_information, event_sequence,
      created_at, updated_at)
    VALUES (p_incoming, p_incoming_number, v_destination.client_id, p_destination, 'completed', 'internal', p_currency,
      p_amount_minor, p_transfer_date, p_outgoing, p_source, v_destination.provider, v_destination.method, p_description,
      json_array_length(p_incoming_entries), v_now, v_now);
  PERFORM ledger_post(v_now, p_source, p_destination, p_amount_minor, p_currency, p_outgoing_number, p_incoming_number,
    'outgoing-transfer', 'incoming-transfer', 'principal', p_outgoing, p_incoming, p_description);
  IF p_fee_minor > 0 THEN
    PERFORM ledger_post(v_now, p_source, system_account(v_source.provider, p_currency, 'fee-revenue'), p_fee_minor,
      p_currency, p_outgoing_number, p_outgoing_number, 'outgoing-transfer', 'outgoing-transfer', 'fee', p_outgoing, NULL, NULL);
  END IF;
  INSERT INTO events (id, entry_count, module, resource_id, first_sequence, occurred_at, entries)
    VALUES (p_outgoing_events, json_array_length(p_outgoing_entries), 'outgoing-transfers', p_outgoing, 1, v_now, p_outgoing_entries),
      (p_incoming_events, json_array_length(p_incoming_entries), 'incoming-transfers', p_incoming, 1, v_now, p_incoming_entries);
  replayed := false;
  response_body := NULL;
END $$;
