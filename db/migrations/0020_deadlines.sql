-- Every write carries the instant by which its caller has an answer. A statement can lie in the buffers of a network or of a
-- stopped Postgres for longer than that; the caller has its 503 by then, so what arrives late must not be done. By the
-- real clock of the database, which tests do not move.
CREATE FUNCTION before_deadline(p_deadline timestamptz) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF clock_timestamp() > p_deadline THEN
    RAISE EXCEPTION 'the deadline of this write has passed' USING ERRCODE = 'ZD001';
  END IF;
  RETURN true;
END $$;

-- The same as the argument of a function or the source of a statement: Postgres evaluates it before the rest begins.
CREATE FUNCTION before_deadline(p_deadline timestamptz, p_argument json) RETURNS json LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF clock_timestamp() > p_deadline THEN
    RAISE EXCEPTION 'the deadline of this write has passed' USING ERRCODE = 'ZD001';
  END IF;
  RETURN p_argument;
END $$;
