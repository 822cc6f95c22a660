-- Reads and locks all that a transfer which waits or leaves the service needs before it can be decided, in one round trip: claims the
-- idempotency key, locks the accounts in the order of their ids, and then, in statements that see what those locks waited for, reads the
-- accounts, the beneficiary's bank account and the clock. A taken key ends it before any account is locked. Amounts are text, because
-- JSON numbers lose digits in its readers.
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
  SELECT json_agg(json_build_object('id', id, 'clientId', client_id, 'clientStatus', client_status, 'status', status,
      'currency', currency, 'country', country, 'accountHolderName', account_holder_name, 'provider', provider, 'method', method, 'closing', closing,
      'partyAccountId', party_account_id::text, 'postedMinor', posted_minor::text, 'reservedMinor', reserved_minor::text))
    INTO locked_accounts
    FROM payment_accounts WHERE id IN (p_source, p_destination);
  IF p_bank_account IS NOT NULL THEN
    SELECT shown INTO destination_bank_account FROM destination_bank_accounts WHERE id = p_bank_account;
  END IF;
  opened_at := service_now();
END $$;
