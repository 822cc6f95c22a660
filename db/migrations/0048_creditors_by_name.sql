-- A payment by a consent looks for its creditor by name among all beneficiaries of the client, who may have a hundred thousand.
CREATE INDEX IF NOT EXISTS beneficiaries_by_client_and_name ON beneficiaries (client_id, full_name);
COMMENT ON INDEX beneficiaries_by_client_and_name IS 'POST /open-banking/{countryCode}/payments: the beneficiary that the client has for the creditor.';
