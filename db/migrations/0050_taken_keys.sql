-- A write sends the claim of its idempotency key and its first statements together. If the key is taken, this ends the
-- transaction before the others have any effect.
CREATE FUNCTION refuse_taken_key() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the idempotency key is taken' USING ERRCODE = 'ZD002';
END $$;
