-- A public key is registered once: with one key under two machine users, one person would be two pairs of eyes. What names
-- the key is the modulus of an RSA key, the x coordinate of any other. Null where a key was registered a second time before.
ALTER TABLE machine_user_keys ADD COLUMN key_material text;

UPDATE machine_user_keys SET key_material = coalesce(public_key ->> 'n', public_key ->> 'x')
WHERE id IN (
  SELECT DISTINCT ON (coalesce(public_key ->> 'n', public_key ->> 'x')) id FROM machine_user_keys
  ORDER BY coalesce(public_key ->> 'n', public_key ->> 'x'), created_at, id);

CREATE UNIQUE INDEX machine_user_keys_one_registration ON machine_user_keys (key_material);

-- Here and not in the statement that inserts, so that the rule holds for the previous release too.
CREATE FUNCTION name_key_material() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.key_material := coalesce(NEW.public_key ->> 'n', NEW.public_key ->> 'x');
  RETURN NEW;
END $$;
CREATE TRIGGER machine_user_keys_named BEFORE INSERT ON machine_user_keys FOR EACH ROW EXECUTE FUNCTION name_key_material();
