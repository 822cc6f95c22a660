-- The one clock of the service: read after locks, so that order in time follows order of locks. The setting
-- service.clock_offset is unset in production. In sessions of a sandbox's database it is `sandbox`, in tests an interval. A plain
-- expression, which Postgres inlines: only a sandbox pays for reading the table.
CREATE OR REPLACE FUNCTION service_now() RETURNS timestamptz LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
  SELECT clock_timestamp() + CASE coalesce(current_setting('service.clock_offset', true), '')
    WHEN '' THEN interval '0' WHEN 'sandbox' THEN sandbox_clock_ahead()
    ELSE current_setting('service.clock_offset', true)::interval END
$$;

-- Volatile, so that each call sees the newest committed value.
CREATE OR REPLACE FUNCTION sandbox_clock_ahead() RETURNS interval LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS $$
BEGIN
  RETURN (SELECT ahead_ms * interval '1 millisecond' FROM sandbox_clock);
END $$;

-- The least UUIDv7 of an instant.
CREATE OR REPLACE FUNCTION uuidv7_floor(p_at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT (lpad(to_hex((extract(epoch FROM p_at) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid
$$;
