-- Rules of beneficiaries and their bank accounts that domain/ has, once more.

-- The type stands beside the identity for the filter of the list; one that is known by its full name alone has neither.
ALTER TABLE beneficiaries
  ADD CONSTRAINT beneficiaries_identity CHECK (identity_type IS NOT DISTINCT FROM (identity ->> 'type')),
  ADD CONSTRAINT beneficiaries_full_name CHECK (char_length(full_name) > 0);

ALTER TABLE beneficiary_bank_accounts
  ADD CONSTRAINT beneficiary_bank_accounts_named CHECK (account_number IS NOT NULL OR iban IS NOT NULL);
