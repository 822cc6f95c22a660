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
    SELECT json_build_object('id', bank_account.id, 'beneficiaryId', beneficiary.id, 'clientId', beneficiary.client_id,
        'status', bank_account.status, 'country', bank_account.country, 'currency', bank_account.currency,
        'accountHolderName', bank_account.account_holder_name, 'alias', bank_account.alias,
        'accountNumber', bank_account.account_number, 'iban', bank_account.iban, 'routingCodes', bank_account.routing_codes,
        'fullName', beneficiary.full_name, 'identity', beneficiary.identity, 'title', beneficiary.title,
        'address', beneficiary.contact -> 'address')
      INTO destination_bank_account
      FROM beneficiary_bank_accounts bank_account JOIN beneficiaries beneficiary ON beneficiary.id = bank_account.beneficiary_id
      WHERE bank_account.id = p_bank_account;
  END IF;
  opened_at := service_now();
END $$;
