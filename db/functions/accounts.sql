-- Main accounts and their sub-accounts. While its main account is not active, a sub-account neither sends nor receives. Its row
-- repeats the main account's status, so that no payment reads a second account. Only the triggers below write the column, in the
-- transaction that changes the main account.

-- The status by which payments to and from an account are decided; inlined by Postgres.
CREATE OR REPLACE FUNCTION status_for_payments(p_status text, p_main_account_status text) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN CASE WHEN p_status = 'active' THEN coalesce(p_main_account_status, 'active') ELSE p_status END;

-- What a payment has to know of an account. Read in a statement after the one that locks the account itself, so that it is what the
-- lock waited for. A further column goes last.
CREATE OR REPLACE VIEW payment_accounts AS
  SELECT account.id, account.client_id, client.status AS client_status,
    status_for_payments(account.status, account.main_account_status) AS status, account.currency, account.country, account.provider,
    account.method, coalesce(account.requested_change = 'close', false) AS closing, account.posted_minor, account.reserved_minor,
    account.posted_minor - account.reserved_minor AS available_minor, account.version, account.last_entry_at, account.party_account_id,
    account.account_holder_name, account.alias, account.ledger_number, account.account_number, account.iban, account.routing_codes
  FROM accounts AS account JOIN clients AS client ON client.id = account.client_id;

-- Waits for a transaction that is changing the main account, and keeps its status until this transaction ends.
CREATE OR REPLACE FUNCTION take_main_account_status() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE OR REPLACE TRIGGER accounts_take_main_account_status BEFORE INSERT OR UPDATE OF main_account_id, main_account_status ON accounts
  FOR EACH ROW EXECUTE FUNCTION take_main_account_status();

-- In the order of all locks: a main account's id is lower than those of its sub-accounts.
CREATE OR REPLACE FUNCTION pass_status_to_sub_accounts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM accounts WHERE main_account_id = NEW.id ORDER BY id FOR UPDATE;
  UPDATE accounts SET main_account_status = NEW.status WHERE main_account_id = NEW.id;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER accounts_pass_status_to_sub_accounts AFTER UPDATE OF status ON accounts
  FOR EACH ROW WHEN (NEW.main_account_id IS NULL AND NEW.status IS DISTINCT FROM OLD.status)
  EXECUTE FUNCTION pass_status_to_sub_accounts();

-- How an account appears to others (party_accounts), from one change of it to the next.

-- Type and names of a client, if the account is held in the client's name.
CREATE OR REPLACE FUNCTION holder_identity(p_client uuid, p_holder_name text, p_type text) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT coalesce(
    (SELECT jsonb_object_agg(key, value) FROM clients, jsonb_each(identity)
      WHERE id = p_client AND full_name = p_holder_name AND key IN ('type', 'givenName', 'familyName', 'legalName')),
    jsonb_build_object('type', p_type))
$$;

CREATE OR REPLACE FUNCTION keep_party_account() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_holder jsonb;
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF (NEW.account_holder_name, NEW.alias, NEW.ledger_number, NEW.account_number, NEW.iban, NEW.country, NEW.currency, NEW.routing_codes)
        IS NOT DISTINCT FROM (OLD.account_holder_name, OLD.alias, OLD.ledger_number, OLD.account_number, OLD.iban, OLD.country, OLD.currency, OLD.routing_codes) THEN
      RETURN NEW;
    END IF;
    SELECT holder_identity INTO v_holder FROM party_accounts
      WHERE account_id = NEW.id AND account_holder_name = NEW.account_holder_name ORDER BY id DESC LIMIT 1;
  END IF;
  INSERT INTO party_accounts (account_id, account_holder_name, alias, ledger_number, account_number, iban, country, currency, routing_codes, holder_identity)
    VALUES (NEW.id, NEW.account_holder_name, NEW.alias, NEW.ledger_number, NEW.account_number, NEW.iban, NEW.country, NEW.currency, NEW.routing_codes,
      coalesce(v_holder, holder_identity(NEW.client_id, NEW.account_holder_name, NEW.account_holder_identity_type)))
    RETURNING id INTO NEW.party_account_id;
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER accounts_keep_party_account
  BEFORE INSERT OR UPDATE OF account_holder_name, alias, ledger_number, account_number, iban, country, currency, routing_codes ON accounts
  FOR EACH ROW EXECUTE FUNCTION keep_party_account();
