-- The event log, its sequencer, and the deliveries that it makes; the months of these tables and of the audit log.

-- The id of entry k of an event row.
CREATE OR REPLACE FUNCTION event_id(p_row uuid, p_entry bigint) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (left(p_row::text, 35) || to_hex(p_entry))::uuid
$$;

-- The first events without a position, from an id on. Month after month by its index, whatever the statistics say: sorted, each batch would
-- read all that wait, and a month that was empty when the plan was made would be read whole.
CREATE OR REPLACE FUNCTION unnumbered_events(p_floor uuid, p_limit integer) RETURNS uuid[] LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_sort = off SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
  RETURN ARRAY(SELECT id FROM events WHERE first_position IS NULL AND id >= p_floor ORDER BY id LIMIT p_limit);
END $$;

-- An id from which on all events after a position are, so that who reads the newest looks into no month before. Events are numbered in the order
-- of their ids, but for those that are committed late, and no transaction lasts an hour.
CREATE OR REPLACE FUNCTION event_floor(p_after bigint) RETURNS uuid LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_month timestamptz := date_trunc('month', clock_timestamp(), 'UTC');
BEGIN
  FOR v_back IN 0..1 LOOP
    IF (SELECT first_position FROM events WHERE id >= uuidv7_floor(v_month) AND first_position IS NOT NULL ORDER BY id LIMIT 1) <= p_after THEN
      RETURN uuidv7_floor(v_month - interval '1 hour');
    END IF;
    v_month := date_trunc('month', v_month - interval '1 day', 'UTC');
  END LOOP;
  RETURN '00000000-0000-0000-0000-000000000000';
END $$;

-- The least id that an event about a resource can have, as leastIdAbout in db/common/ids.ts.
CREATE OR REPLACE FUNCTION least_id_about(p_resource uuid) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(uuidv7_floor(uuid_extract_timestamp(p_resource) - interval '1 hour'), '00000000-0000-0000-0000-000000000000')
$$;

-- The next rows to number, in order of their ids: at most p_limit and, if there are so many, the rows just beyond them (p_skew) of resources
-- of which a later row may have a smaller id, because the clocks of two processes differ.
CREATE OR REPLACE FUNCTION event_batch(p_limit integer, p_floor uuid, p_skew interval) RETURNS uuid[] LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_ids uuid[] := unnumbered_events(p_floor, p_limit);
  v_last uuid := v_ids[p_limit];
  v_later uuid[];
BEGIN
  IF v_last IS NULL THEN
    RETURN v_ids;
  END IF;
  v_later := ARRAY(SELECT DISTINCT resource_id FROM events WHERE id = ANY (v_ids) AND id BETWEEN v_ids[1] AND v_last AND first_sequence > 1);
  IF cardinality(v_later) = 0 THEN
    RETURN v_ids;
  END IF;
  RETURN v_ids || ARRAY(SELECT id FROM events
    WHERE first_position IS NULL AND id > v_last AND id < uuidv7_floor(uuid_extract_timestamp(v_last) + p_skew)
      AND resource_id = ANY (v_later) ORDER BY id);
END $$;

-- Numbers committed events, at most p_limit rows with an id from p_floor on, and creates their subscribers' deliveries, all in one
-- transaction. Order: by time of the event, and one resource's rows always by sequence.
-- Positions have no gaps and no duplicates: one transaction numbers at a time. wake_shards are the shards whose workflow must be woken.
CREATE OR REPLACE FUNCTION number_events(p_limit integer, p_floor uuid, p_skew interval, OUT row_count integer, OUT delivery_count integer, OUT wake_shards integer[])
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_from bigint;
  v_to bigint;
  v_ids uuid[];
  -- The ids of the batch lie between these, so that Postgres looks into no other month.
  v_first uuid;
  v_last uuid;
  v_shards integer[];
BEGIN
  row_count := 0;
  delivery_count := 0;
  wake_shards := '{}';
  IF cardinality(unnumbered_events(p_floor, 1)) = 0 OR NOT pg_try_advisory_xact_lock(7423002) THEN
    RETURN;
  END IF;
  SELECT last_position INTO v_from FROM event_sequencer FOR UPDATE;

  v_ids := event_batch(p_limit, p_floor, p_skew);
  v_first := v_ids[1];
  v_last := v_ids[cardinality(v_ids)];

  WITH batch AS MATERIALIZED (
    SELECT id, entry_count, resource_id, first_sequence,
      max(occurred_at) OVER (PARTITION BY resource_id ORDER BY first_sequence) AS at
    FROM events WHERE id = ANY (v_ids) AND id BETWEEN v_first AND v_last
  ), numbered AS (
    SELECT id, v_from + sum(entry_count) OVER (ORDER BY at, resource_id, first_sequence) - entry_count + 1 AS first_position FROM batch
  ), updated AS (
    UPDATE events SET first_position = numbered.first_position FROM numbered
    WHERE events.id = numbered.id AND events.id BETWEEN v_first AND v_last
    RETURNING events.first_position + events.entry_count - 1 AS last_position
  )
  SELECT count(*), max(last_position) INTO row_count, v_to FROM updated;
  IF row_count = 0 THEN
    RETURN;
  END IF;
  UPDATE event_sequencer SET last_position = v_to;

  IF NOT EXISTS (SELECT FROM webhook_subscriptions WHERE deleted_at IS NULL AND status <> 'disabled') THEN
    RETURN;
  END IF;
  WITH made AS (
    INSERT INTO webhook_deliveries (id, subscription_id, event_id, position, resource_id, module, type, next_attempt_at, created_at)
    SELECT uuidv7(), subscription.id, event_id(event.id, entry.number - 1), event.first_position + entry.number - 1,
      event.resource_id, event.module, entry.value ->> 'type', service_now(), service_now()
    FROM events event
      CROSS JOIN LATERAL json_array_elements(event.entries) WITH ORDINALITY AS entry (value, number)
      JOIN webhook_subscriptions subscription
        ON subscribes(subscription.modules, subscription.types, event.module, entry.value ->> 'type')
    WHERE event.first_position > v_from AND event.first_position <= v_to AND event.id BETWEEN v_first AND v_last
      AND subscription.deleted_at IS NULL AND subscription.status <> 'disabled'
    ORDER BY event.first_position + entry.number
    ON CONFLICT DO NOTHING
    RETURNING subscription_id
  )
  SELECT sum(of_one.count), array_agg(DISTINCT subscription.shard::integer) FILTER (WHERE subscription.status = 'active')
  INTO delivery_count, v_shards
  FROM (SELECT subscription_id, count(*) FROM made GROUP BY subscription_id) AS of_one
    JOIN webhook_subscriptions subscription ON subscription.id = of_one.subscription_id;
  delivery_count := coalesce(delivery_count, 0);
  wake_shards := claim_idle_webhook_shards(coalesce(v_shards, '{}'));
END $$;

-- Whether a subscription gets an event. Without types, a module of the specification means the specification's types of it; an event
-- beyond the specification goes to subscriptions that name its type, or its module if that is beyond the specification too.
CREATE OR REPLACE FUNCTION subscribes(p_modules text[], p_types text[], p_module text, p_type text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (p_modules IS NULL OR p_module = ANY (p_modules)) AND CASE
    WHEN p_types IS NOT NULL THEN p_type = ANY (p_types)
    WHEN p_module IN ('incoming-transfers', 'outgoing-transfers', 'accounts', 'clients') THEN p_type IN (
      'incoming-transfer-pending', 'incoming-transfer-compliance-in-review', 'incoming-transfer-completed', 'incoming-transfer-failed',
      'outgoing-transfer-created', 'outgoing-transfer-compliance-in-review', 'outgoing-transfer-processing', 'outgoing-transfer-released',
      'outgoing-transfer-completed', 'outgoing-transfer-cancelled', 'outgoing-transfer-failed', 'outgoing-transfer-returned',
      'account-activated', 'account-inactivated', 'account-suspended', 'account-closed', 'account-declined',
      'account-information-updated', 'connection-creation-instructed', 'connection-created', 'connection-creation-failed',
      'connection-update-instructed', 'connection-updated', 'connection-update-failed', 'created')
    ELSE p_modules IS NOT NULL END
$$;

-- Returns those of these shards whose workflow must be woken. Each counts as busy for some seconds from then on, as its workflow
-- is being started. The lock is held to the end of the transaction; a workflow that goes idle meanwhile then sees the new deliveries.
CREATE OR REPLACE FUNCTION claim_idle_webhook_shards(p_shards integer[]) RETURNS integer[] LANGUAGE plpgsql AS $$
DECLARE
  v_idle integer[];
BEGIN
  PERFORM FROM webhook_shards WHERE shard = ANY (p_shards) ORDER BY shard FOR UPDATE;
  WITH idle AS (
    UPDATE webhook_shards SET busy_until = service_now() + interval '5 seconds'
    WHERE shard = ANY (p_shards) AND busy_until <= service_now() RETURNING shard
  )
  SELECT coalesce(array_agg(shard::integer ORDER BY shard), '{}') INTO v_idle FROM idle;
  RETURN v_idle;
END $$;

-- The tables that are partitioned by month, and their months. to_id is the first id after the month.
CREATE OR REPLACE FUNCTION table_months(OUT name text, OUT month text, OUT from_id uuid, OUT to_id uuid, OUT is_being_detached boolean) RETURNS SETOF record
LANGUAGE sql STABLE AS $$
  SELECT partitioned.relname::text, part.relname::text,
    coalesce(substring(pg_get_expr(part.relpartbound, part.oid) FROM $re$FROM \('([0-9a-f-]{36})'\)$re$), '00000000-0000-0000-0000-000000000000')::uuid,
    substring(pg_get_expr(part.relpartbound, part.oid) FROM $re$TO \('([0-9a-f-]{36})'\)$re$)::uuid, inhdetachpending
  FROM pg_class partitioned JOIN pg_inherits ON inhparent = partitioned.oid JOIN pg_class part ON part.oid = inhrelid
  WHERE partitioned.relkind = 'p' AND partitioned.relnamespace = current_schema()::regnamespace
$$;

-- Makes one month of a table, with the indexes that each month has by itself. It is attached when it is made: only the table's owner can, and
-- neither readers nor writers wait.
CREATE OR REPLACE FUNCTION make_month(p_name text, p_month text, p_from text, p_to uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_index record;
BEGIN
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL) WITH (%s)', p_month, p_name, CASE p_name
    WHEN 'events' THEN 'fillfactor = 90' WHEN 'webhook_deliveries' THEN 'fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05' ELSE 'fillfactor = 100' END);
  IF p_name = 'events' THEN
    EXECUTE format('CREATE UNIQUE INDEX %1$I ON %2$I (first_position) WHERE first_position IS NOT NULL', p_month || '_by_position', p_month);
    EXECUTE format('COMMENT ON INDEX %I IS %L', p_month || '_by_position', 'GET /events and deliveries: events from a position on.');
  END IF;
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%L)', p_name, p_month, p_from, p_to);
  -- Named as those of the table.
  FOR v_index IN SELECT indexrelid::regclass::text AS name, replace(inhparent::regclass::text, p_name, p_month) AS wanted
      FROM pg_index JOIN pg_inherits ON inhrelid = indexrelid WHERE indrelid = p_month::regclass LOOP
    CONTINUE WHEN v_index.name = v_index.wanted;
    EXECUTE format('ALTER INDEX %I RENAME TO %I', v_index.name, v_index.wanted);
  END LOOP;
END $$;

-- Makes the months from the last one up to p_ahead months from now; returns their names.
CREATE OR REPLACE FUNCTION make_months(p_ahead integer) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  v_table record;
  v_from timestamptz;
  v_to timestamptz;
  v_made text[] := '{}';
BEGIN
  FOR v_table IN SELECT name, max(uuid_extract_timestamp(to_id)) AS until FROM table_months() GROUP BY name ORDER BY name LOOP
    v_from := v_table.until;
    WHILE v_from <= clock_timestamp() + make_interval(months => p_ahead) LOOP
      v_to := (v_from AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC';
      v_made := v_made || (v_table.name || to_char(v_from AT TIME ZONE 'UTC', '_YYYY_MM'));
      PERFORM make_month(v_table.name, v_made[cardinality(v_made)], quote_literal(uuidv7_floor(v_from)), uuidv7_floor(v_to));
      v_from := v_to;
    END LOOP;
  END LOOP;
  RETURN v_made;
END $$;

-- Notes in months_over those months of a table of which nothing must be kept that is younger than p_past: of events, all lie before the beginning
-- of the log; of deliveries, none is still to be made or has ended since; of attempts, no delivery is left. A month must be over by the real
-- clock, which makes ids. An empty month of deliveries takes replays of its events, so it stays as long as they do.
CREATE OR REPLACE FUNCTION find_months_over(p_name text, p_past timestamptz) RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_month record;
  v_start bigint := (SELECT first_position FROM event_log_start);
BEGIN
  FOR v_month IN SELECT * FROM table_months() AS one WHERE one.name = p_name AND NOT is_being_detached
      AND to_id < uuidv7_floor(least(p_past, clock_timestamp() - interval '1 day')) ORDER BY to_id LOOP
    CONTINUE WHEN EXISTS (SELECT FROM months_over WHERE month = v_month.month);
    CONTINUE WHEN p_name = 'events' AND (
      EXISTS (SELECT FROM events WHERE id >= v_month.from_id AND id < v_month.to_id AND first_position IS NULL)
      OR EXISTS (SELECT FROM events WHERE id >= v_month.from_id AND id < v_month.to_id AND first_position >= v_start));
    CONTINUE WHEN p_name = 'webhook_deliveries' AND (
      EXISTS (SELECT FROM webhook_deliveries delivery JOIN webhook_subscriptions subscription ON subscription.id = subscription_id
        WHERE event_id >= v_month.from_id AND event_id < v_month.to_id AND delivery.status = 'pending'
          AND (deleted_at IS NULL OR deleted_at >= p_past))
      OR EXISTS (SELECT FROM webhook_deliveries WHERE event_id >= v_month.from_id AND event_id < v_month.to_id AND completed_at >= p_past)
      OR NOT EXISTS (SELECT FROM webhook_deliveries WHERE event_id >= v_month.from_id AND event_id < v_month.to_id)
        AND EXISTS (SELECT FROM table_months() AS one WHERE one.name = 'events' AND one.from_id < v_month.to_id));
    CONTINUE WHEN p_name = 'webhook_attempts'
      AND EXISTS (SELECT FROM webhook_deliveries WHERE id >= v_month.from_id AND id < v_month.to_id);
    INSERT INTO months_over (month, from_id, to_id, found_at) VALUES (v_month.month, v_month.from_id, v_month.to_id, clock_timestamp());
  END LOOP;
END $$;
