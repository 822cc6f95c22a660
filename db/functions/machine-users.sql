-- The part that identifies a public key: the modulus of an RSA key, the x coordinate of any other. Set by a trigger and not by the
-- inserting statement, so that no writer can omit it: it makes a key unique (machine_user_keys_one_registration).
CREATE OR REPLACE FUNCTION name_key_material() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.key_material := coalesce(NEW.public_key ->> 'n', NEW.public_key ->> 'x');
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER machine_user_keys_named BEFORE INSERT ON machine_user_keys FOR EACH ROW EXECUTE FUNCTION name_key_material();
