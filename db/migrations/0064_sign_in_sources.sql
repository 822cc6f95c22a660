-- Sign-ins are limited by address and source, by source over all addresses, and by address over all sources: address_hash is the
-- SHA-256 of what is limited, and of_address_hash that of the address it is for, whose failures a new password forgets. Null for a
-- source, which is for all.
ALTER TABLE user_authentication_failures ADD COLUMN of_address_hash bytea;
CREATE INDEX user_authentication_failures_by_address ON user_authentication_failures (of_address_hash);

-- Devices on which a user has signed in. A token is kept as its SHA-256 alone.
CREATE TABLE user_known_devices (
  token_hash bytea PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id),
  expires_at timestamptz NOT NULL
);
CREATE INDEX user_known_devices_by_user ON user_known_devices (user_id, expires_at);
CREATE INDEX user_known_devices_by_age ON user_known_devices (expires_at);

COMMENT ON INDEX user_authentication_failures_by_address IS 'A new password: the failures of its address, from every source.';
COMMENT ON INDEX user_known_devices_by_user IS 'The oldest devices of a user, and all of them when the password changes.';
COMMENT ON INDEX user_known_devices_by_age IS 'Housekeeping: devices to forget.';
