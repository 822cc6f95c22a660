-- What ends a write before it has any effect. The codes of the errors are those of db/postgres/failures.ts.

-- Every write carries the instant by which its caller has an answer. A statement can stay in the buffers of a network or of a
-- stopped Postgres for longer than that; its caller has received a 503 by then, so a late write must not be done. By the real clock of
-- the database, which tests do not move.
CREATE OR REPLACE FUNCTION before_deadline(p_deadline timestamptz) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF clock_timestamp() > p_deadline THEN
    RAISE EXCEPTION 'the deadline of this write has passed' USING ERRCODE = 'ZD001';
  END IF;
  RETURN true;
END $$;

-- As an argument of a function or the source of a statement: Postgres evaluates it before the rest begins.
CREATE OR REPLACE FUNCTION before_deadline(p_deadline timestamptz, p_argument json) RETURNS json LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF clock_timestamp() > p_deadline THEN
    RAISE EXCEPTION 'the deadline of this write has passed' USING ERRCODE = 'ZD001';
  END IF;
  RETURN p_argument;
END $$;

-- A write sends the claim of its idempotency key and its first statements together. If the key is taken, this ends the
-- transaction before the others have any effect.
CREATE OR REPLACE FUNCTION reject_taken_key() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the idempotency key is taken' USING ERRCODE = 'ZD002';
END $$;
