-- How far the sandbox's test clock is ahead of the real one: 0, except in the database of a sandbox whose callers have moved
-- it. Processes outside a sandbox refuse to start on any other value.
CREATE TABLE sandbox_clock (
  is_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
  ahead_ms bigint NOT NULL CHECK (ahead_ms >= 0)
);
INSERT INTO sandbox_clock (ahead_ms) VALUES (0);

-- Volatile, so that each call sees the newest committed value.
CREATE FUNCTION sandbox_clock_ahead() RETURNS interval LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS $$
BEGIN
  RETURN (SELECT ahead_ms * interval '1 millisecond' FROM sandbox_clock);
END $$;

-- Sessions of a sandbox's database have the value `sandbox`, tests an interval, all others none. A plain expression, which
-- Postgres inlines: only a sandbox pays for reading the table.
CREATE OR REPLACE FUNCTION service_now() RETURNS timestamptz LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
  SELECT clock_timestamp() + CASE coalesce(current_setting('service.clock_offset', true), '')
    WHEN '' THEN interval '0' WHEN 'sandbox' THEN sandbox_clock_ahead()
    ELSE current_setting('service.clock_offset', true)::interval END
$$;
