-- Prepares 0011: what the tables hold up to the end of a month will be their first month. The bound is checked there, while writes go on.
DO $$
DECLARE
  v_table record;
  v_last uuid;
  v_month timestamptz;
  v_end timestamptz;
BEGIN
  FOR v_table IN SELECT * FROM (VALUES ('events', 'id'), ('audit_entries', 'id'), ('webhook_deliveries', 'event_id'),
      ('webhook_attempts', 'delivery_id')) AS named (name, key) LOOP
    EXECUTE format('SELECT %1$I FROM %2$I ORDER BY %1$I DESC LIMIT 1', v_table.key, v_table.name) INTO v_last;
    v_month := date_trunc('month', greatest(clock_timestamp(), uuid_extract_timestamp(v_last)) + interval '1 day', 'UTC');
    v_end := (v_month AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC';
    EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I CHECK (%I < %L::uuid) NOT VALID', v_table.name,
      v_table.name || to_char(v_month AT TIME ZONE 'UTC', '_YYYY_MM'), v_table.key,
      (lpad(to_hex((extract(epoch FROM v_end) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid);
  END LOOP;
END $$;
