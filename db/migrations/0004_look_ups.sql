-- What people look up by a number that a bank gave them.

CREATE INDEX outgoing_transfers_by_provider_id ON outgoing_transfers (service_provider_id) WHERE service_provider_id IS NOT NULL;
COMMENT ON INDEX outgoing_transfers_by_provider_id IS 'Search: a payment by the id that its provider gave it.';
CREATE INDEX beneficiary_bank_accounts_by_iban ON beneficiary_bank_accounts (iban) WHERE iban IS NOT NULL;
COMMENT ON INDEX beneficiary_bank_accounts_by_iban IS 'Search: the beneficiaries with an IBAN.';
CREATE INDEX beneficiary_bank_accounts_by_account_number ON beneficiary_bank_accounts (account_number) WHERE account_number IS NOT NULL;
COMMENT ON INDEX beneficiary_bank_accounts_by_account_number IS 'Search: the beneficiaries with an account number.';
-- BRIN: some pages however many rows, and nothing to write for most insertions.
CREATE INDEX incoming_transfers_by_time ON incoming_transfers USING brin (created_at);
COMMENT ON INDEX incoming_transfers_by_time IS 'Search: incoming transfers of some days, by amount.';
