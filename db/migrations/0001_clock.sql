-- The one clock of the service: read after locks, so that order in time follows order of locks. Tests move it with the
-- session setting service.clock_offset, an interval that is unset in production.
CREATE FUNCTION service_now() RETURNS timestamptz LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
  SELECT clock_timestamp() + coalesce(nullif(current_setting('service.clock_offset', true), '')::interval, interval '0')
$$;
