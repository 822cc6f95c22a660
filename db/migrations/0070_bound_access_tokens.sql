-- Access tokens that are bound to a key (DPoP, RFC 9449): worth something only together with a proof by that key, whose RFC 7638
-- thumbprint this is. The jti of such proofs are kept among those of the third party's other tokens, third_party_assertions.
ALTER TABLE open_banking_access_tokens ADD COLUMN key_thumbprint text CHECK (length(key_thumbprint) = 43);
-- Whether the third party gets, and may use, no other access tokens.
ALTER TABLE third_party_providers ADD COLUMN dpop_bound_access_tokens boolean NOT NULL DEFAULT false;
