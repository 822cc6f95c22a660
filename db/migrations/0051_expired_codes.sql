-- Codes and access tokens of consents (0042) are deleted once nothing depends on them.
CREATE INDEX open_banking_codes_by_age ON open_banking_codes (created_at);
CREATE INDEX open_banking_access_tokens_by_age ON open_banking_access_tokens (expires_at);
COMMENT ON INDEX open_banking_codes_by_age IS 'Housekeeping: codes whose repetition has nothing left to revoke.';
COMMENT ON INDEX open_banking_access_tokens_by_age IS 'Housekeeping: access tokens that have expired.';
