-- Webhooks: who is told of events, what is to be delivered to whom, and every attempt; and the sequencer that numbers
-- committed events and makes the deliveries.

-- modules and types both null = every event of the four modules of the specification; other modules are told to those
-- who name them. failing_since is the first failure since the last success. A deleted subscription keeps its row, so
-- that its deliveries stay readable.
CREATE TABLE webhook_subscriptions (
  id uuid PRIMARY KEY,
  url text NOT NULL,
  modules text[] CHECK (cardinality(modules) > 0),
  types text[] CHECK (cardinality(types) > 0),
  status text NOT NULL CHECK (status IN ('active', 'paused', 'disabled')),
  status_reason text CHECK (status_reason IN ('gone', 'failing')),
  description text,
  shard smallint NOT NULL CHECK (shard BETWEEN 0 AND 3),
  failing_since timestamptz,
  revision bigint NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  deleted_at timestamptz,
  CONSTRAINT webhook_subscriptions_reason CHECK (status_reason IS NULL OR status = 'disabled')
);
CREATE INDEX webhook_subscriptions_by_shard ON webhook_subscriptions (shard) WHERE deleted_at IS NULL AND status = 'active';

-- Several while a secret rotates: the newest signs first, an older one also signs until it expires.
CREATE TABLE webhook_secrets (
  id uuid PRIMARY KEY,
  subscription_id uuid NOT NULL REFERENCES webhook_subscriptions (id),
  secret text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz
);
CREATE INDEX webhook_secrets_by_subscription ON webhook_secrets (subscription_id, id);

-- One event for one subscription. The line of a resource = its deliveries with attempt_count 0, by position; only the
-- head of a line may be claimed, so first attempts keep their order. One attempted delivery holds nothing up. body is a
-- ping's text; an event's is rendered when it is sent. The schedule's round begins anew,
-- at round_start, when a delivery is asked for again.
CREATE TABLE webhook_deliveries (
  id uuid PRIMARY KEY,
  subscription_id uuid NOT NULL REFERENCES webhook_subscriptions (id),
  event_id uuid NOT NULL,
  position bigint NOT NULL,
  resource_id uuid NOT NULL,
  module text NOT NULL,
  type text NOT NULL,
  body text,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'succeeded', 'failed')),
  attempt_count integer NOT NULL DEFAULT 0,
  round_start integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz NOT NULL,
  claim_token uuid,
  claimed_until timestamptz,
  created_at timestamptz NOT NULL,
  completed_at timestamptz,
  CONSTRAINT webhook_deliveries_once UNIQUE (subscription_id, event_id)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (subscription_id, next_attempt_at, position) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_line ON webhook_deliveries (subscription_id, resource_id, position) WHERE status = 'pending' AND attempt_count = 0;

-- One attempt is a value, saved whole. response_body is the first 1 KiB of the answer.
CREATE TABLE webhook_attempts (
  delivery_id uuid NOT NULL REFERENCES webhook_deliveries (id) ON DELETE CASCADE,
  number integer NOT NULL,
  attempted_at timestamptz NOT NULL,
  duration_ms integer NOT NULL,
  response_code smallint,
  response_body text,
  error text,
  PRIMARY KEY (delivery_id, number)
);

-- Whether a shard's workflow is at work, so that a busy shard is not signalled for every batch. Who makes deliveries and
-- who goes idle both lock the row before they look.
CREATE TABLE webhook_shards (
  shard smallint PRIMARY KEY,
  busy_until timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO webhook_shards (shard) SELECT generate_series(0, 3);

-- For replays by time; costs next to nothing where events are written.
CREATE INDEX events_by_time ON events USING brin (occurred_at);

-- The id of entry k of an event row.
CREATE FUNCTION event_id(p_row uuid, p_entry bigint) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (left(p_row::text, 35) || to_hex(p_entry))::uuid
$$;

-- Whether a subscription is told of an event.
CREATE FUNCTION subscribes(p_modules text[], p_types text[], p_module text, p_type text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (p_modules IS NULL OR p_module = ANY (p_modules)) AND (p_types IS NULL OR p_type = ANY (p_types))
    AND (p_modules IS NOT NULL OR p_types IS NOT NULL
      OR p_module IN ('incoming-transfers', 'outgoing-transfers', 'accounts', 'clients'))
$$;

-- Numbers committed events, at most p_limit rows of those with an id from p_floor on, and makes the deliveries of those
-- who subscribe, all in one transaction. Order: by time of the event, and one resource's rows always by sequence, also
-- where a later row has the smaller id because the clocks of two processes differ (p_skew bounds by how much: where the
-- batch is full, a resource's rows just beyond it come along). Positions have no gaps and no duplicates: one transaction
-- at a time numbers. wake_shards are those whose workflow must be woken.
CREATE FUNCTION number_events(p_limit integer, p_floor uuid, p_skew interval, OUT row_count integer, OUT delivery_count integer, OUT wake_shards integer[])
LANGUAGE plpgsql AS $$
DECLARE
  v_from bigint;
  v_to bigint;
  v_ids uuid[];
  v_last uuid;
  v_later uuid[];
  v_shards integer[];
BEGIN
  row_count := 0;
  delivery_count := 0;
  wake_shards := '{}';
  IF NOT EXISTS (SELECT FROM events WHERE first_position IS NULL AND id >= p_floor) OR NOT pg_try_advisory_xact_lock(7423002) THEN
    RETURN;
  END IF;
  SELECT last_position INTO v_from FROM event_sequencer FOR UPDATE;

  v_ids := ARRAY(SELECT id FROM events WHERE first_position IS NULL AND id >= p_floor ORDER BY id LIMIT p_limit);
  IF cardinality(v_ids) = p_limit THEN
    v_last := v_ids[p_limit];
    v_later := ARRAY(SELECT DISTINCT resource_id FROM events WHERE id = ANY (v_ids) AND first_sequence > 1);
    IF cardinality(v_later) > 0 THEN
      v_ids := v_ids || ARRAY(
        SELECT id FROM events
        WHERE first_position IS NULL AND id > v_last AND id < uuidv7_floor(uuid_extract_timestamp(v_last) + p_skew)
          AND resource_id = ANY (v_later));
    END IF;
  END IF;

  WITH batch AS MATERIALIZED (
    SELECT id, entry_count, resource_id, first_sequence,
      max(occurred_at) OVER (PARTITION BY resource_id ORDER BY first_sequence) AS at
    FROM events WHERE id = ANY (v_ids)
  ), numbered AS (
    SELECT id, v_from + sum(entry_count) OVER (ORDER BY at, resource_id, first_sequence) - entry_count + 1 AS first_position FROM batch
  ), updated AS (
    UPDATE events SET first_position = numbered.first_position FROM numbered WHERE events.id = numbered.id
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
    WHERE event.first_position > v_from AND event.first_position <= v_to
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

-- Of these shards, those whose workflow must be woken. Each counts as busy for some seconds from then on: its workflow
-- is on its way. The lock is held to the end of the transaction; whoever goes idle meanwhile then sees what it made.
CREATE FUNCTION claim_idle_webhook_shards(p_shards integer[]) RETURNS integer[] LANGUAGE plpgsql AS $$
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

-- The least UUIDv7 of an instant.
CREATE FUNCTION uuidv7_floor(p_at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT (lpad(to_hex((extract(epoch FROM p_at) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid
$$;
