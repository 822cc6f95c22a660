-- Postings: written here, and by record_straight_through_transfers (straight-through.sql). Callers hold the locks of the client
-- accounts that they name, taken in the order of ids.

-- The provider's account of a kind in a currency, created at its first use.
CREATE OR REPLACE FUNCTION system_account(p_provider text, p_currency text, p_kind text) RETURNS uuid LANGUAGE plpgsql AS $$
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
CREATE OR REPLACE FUNCTION ledger_post(
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
