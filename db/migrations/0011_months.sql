-- Tables that only grow are partitioned by month, by ids that have the real time in them: events and audit entries by their own, deliveries by
-- those of their events, attempts by those of their deliveries. So each key that promises something lies in one month: an event's and an
-- entry's id, one delivery of an event to a subscription, the number of an attempt. Positions have a unique index in each month; from month to
-- month they are unique because the sequencer's only grow. Months are made ahead (db/functions/events.sql), and none is a default: an insertion
-- without a month fails. What is there becomes the first month. Foreign keys would lock other tables when a month is removed.

-- What reads rows comes first, while readers go on.
CREATE UNIQUE INDEX webhook_deliveries_by_id ON webhook_deliveries (id, event_id);
CREATE INDEX webhook_deliveries_ended ON webhook_deliveries USING brin (completed_at);
COMMENT ON INDEX webhook_deliveries_ended IS 'Retention: whether a delivery of a month has ended lately.';
DO $$
DECLARE
  v_bound record;
BEGIN
  FOR v_bound IN SELECT conrelid::regclass AS name, conname FROM pg_constraint
      WHERE connamespace = current_schema()::regnamespace AND contype = 'c' AND NOT convalidated AND conname ~ '_[0-9]{4}_[0-9]{2}$' LOOP
    EXECUTE format('ALTER TABLE %s VALIDATE CONSTRAINT %I', v_bound.name, v_bound.conname);
  END LOOP;
END $$;

-- Nothing from here on reads a row.
DO $$
DECLARE
  v_bound record;
  v_part record;
BEGIN
  EXECUTE 'ALTER TABLE webhook_attempts DROP CONSTRAINT webhook_attempts_delivery_id_fkey';
  EXECUTE 'ALTER TABLE webhook_deliveries DROP CONSTRAINT webhook_deliveries_subscription_id_fkey, DROP CONSTRAINT webhook_deliveries_pkey,
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY USING INDEX webhook_deliveries_by_id';
  FOR v_bound IN SELECT conrelid::regclass::text AS name, conname AS month FROM pg_constraint
      WHERE connamespace = current_schema()::regnamespace AND contype = 'c' AND conname ~ '_[0-9]{4}_[0-9]{2}$' LOOP
    FOR v_part IN SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indrelid = v_bound.name::regclass LOOP
      EXECUTE format('ALTER INDEX %s RENAME TO %I', v_part.name, replace(v_part.name, v_bound.name, v_bound.month));
    END LOOP;
    FOR v_part IN SELECT tgname AS name FROM pg_trigger WHERE tgrelid = v_bound.name::regclass AND NOT tgisinternal LOOP
      EXECUTE format('DROP TRIGGER %I ON %I', v_part.name, v_bound.name);
    END LOOP;
    EXECUTE format('ALTER TABLE %I RENAME TO %I', v_bound.name, v_bound.month);
  END LOOP;
END $$;

-- One row holds the events of one transition of one resource, in order: entries = [{"type", "data"}, ...],
-- at most 16. Event k of a row has the id `id + k` (the last hexadecimal digit of id is 0), the sequence
-- first_sequence + k and, once numbered by the sequencer, the position first_position + k. data holds the fields that the event
-- shows with values of their own; the unchanging ones are read from the resource's row.
CREATE TABLE events (
  id uuid PRIMARY KEY,
  first_position bigint,
  entry_count event_entry_count NOT NULL,
  module text NOT NULL,
  resource_id uuid NOT NULL,
  first_sequence bigint NOT NULL,
  occurred_at timestamptz NOT NULL,
  entries json NOT NULL,
  traceparent text
) PARTITION BY RANGE (id);
CREATE INDEX events_not_numbered ON events (id) WHERE first_position IS NULL;
COMMENT ON INDEX events_not_numbered IS 'The sequencer: committed events without a position.';
CREATE INDEX events_by_time ON events USING brin (occurred_at);
COMMENT ON INDEX events_by_time IS 'A replay: the first event at or after a time.';
CREATE INDEX events_by_resource ON events (resource_id, first_sequence);
COMMENT ON INDEX events_by_resource IS 'Timelines: the events of a resource in their sequence.';

-- What was changed, by whom, and by which request: only the fields that changed, before and after. Acts of people carry the role that
-- allowed them, and the reason that the person gave.
CREATE TABLE audit_entries (
  id uuid PRIMARY KEY,
  occurred_at timestamptz NOT NULL,
  actor text NOT NULL,
  action text NOT NULL,
  resource text NOT NULL,
  resource_id text NOT NULL,
  request_id text,
  before jsonb,
  after jsonb,
  role text,
  reason text
) PARTITION BY RANGE (id);
CREATE INDEX audit_entries_by_time ON audit_entries (occurred_at, id);
COMMENT ON INDEX audit_entries_by_time IS 'GET /audit-entries and its export: the log in its order, and of a period.';
CREATE INDEX audit_entries_by_resource_id ON audit_entries (resource_id, occurred_at, id);
COMMENT ON INDEX audit_entries_by_resource_id IS 'GET /audit-entries and its export by resourceId.';
CREATE INDEX audit_entries_by_resource ON audit_entries (resource, occurred_at, id);
COMMENT ON INDEX audit_entries_by_resource IS 'GET /audit-entries and its export by resource.';
CREATE INDEX audit_entries_by_actor ON audit_entries (actor, occurred_at, id);
COMMENT ON INDEX audit_entries_by_actor IS 'GET /audit-entries and its export by actor.';
CREATE INDEX audit_entries_by_action ON audit_entries (action, occurred_at, id);
COMMENT ON INDEX audit_entries_by_action IS 'GET /audit-entries and its export by action.';
CREATE INDEX audit_entries_of_people ON audit_entries (occurred_at, id) WHERE role IS NOT NULL OR request_id IS NULL;
COMMENT ON INDEX audit_entries_of_people IS 'The console: what people and commands did last, among all that callers of the interface do.';

CREATE OR REPLACE VIEW audit_log AS
  SELECT id, occurred_at, actor, action, resource, resource_id, request_id, before, after, NULL::uuid AS transfer_id, NULL::bigint AS amount_minor, NULL::text AS currency,
    role, reason
  FROM audit_entries
  UNION ALL
  SELECT id, created_at, coalesce(created_by::text, 'unknown'), 'created'::text, 'outgoing-transfer'::text, id::text, request_id, NULL::jsonb,
    jsonb_strip_nulls(jsonb_build_object('transactionNumber', transaction_number, 'clientId', client_id, 'currency', currency,
      'scope', scope, 'scheme', scheme, 'transferDate', original_transfer_date, 'sourceAccountId', account_id,
      'destinationAccountId', destination_account_id, 'beneficiaryBankAccountId', beneficiary_bank_account_id)),
    id, amount_minor::bigint, currency, NULL, NULL
  FROM outgoing_transfers;

-- One event for one subscription. A resource's line is its deliveries with attempt_count 0, by position; only the first of a line may
-- be claimed, so first attempts keep their order. A delivery that was attempted holds nothing up. body is a ping's text; an event's is
-- rendered when it is sent. The schedule of attempts starts again, at round_start, when a retry of the delivery is requested.
CREATE TABLE webhook_deliveries (
  id uuid NOT NULL,
  subscription_id uuid NOT NULL,
  event_id uuid NOT NULL,
  position bigint NOT NULL,
  resource_id uuid NOT NULL,
  module text NOT NULL,
  type text NOT NULL,
  body text,
  status text NOT NULL DEFAULT 'pending' CONSTRAINT webhook_deliveries_status_check CHECK (status IN ('pending', 'succeeded', 'failed')),
  attempt_count integer NOT NULL DEFAULT 0,
  round_start integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz NOT NULL,
  claim_token uuid,
  claimed_until timestamptz,
  created_at timestamptz NOT NULL,
  completed_at timestamptz,
  PRIMARY KEY (id, event_id),
  CONSTRAINT webhook_deliveries_once UNIQUE (subscription_id, event_id)
) PARTITION BY RANGE (event_id);
COMMENT ON INDEX webhook_deliveries_once IS 'An event is delivered to a subscription once.';
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (subscription_id, next_attempt_at, position) WHERE status = 'pending';
COMMENT ON INDEX webhook_deliveries_due IS 'Deliveries of a subscription that are due, in order.';
CREATE INDEX webhook_deliveries_line ON webhook_deliveries (subscription_id, resource_id, position) WHERE status = 'pending' AND attempt_count = 0;
COMMENT ON INDEX webhook_deliveries_line IS 'First attempts of a resource''s events, in their order.';
CREATE INDEX webhook_deliveries_undelivered ON webhook_deliveries (subscription_id, created_at) WHERE status = 'pending';
COMMENT ON INDEX webhook_deliveries_undelivered IS 'Metrics: deliveries that are not made yet, whenever their next attempt is, and the oldest of a subscription.';
CREATE INDEX webhook_deliveries_by_resource ON webhook_deliveries (resource_id, id);
COMMENT ON INDEX webhook_deliveries_by_resource IS 'Timelines, and GET /webhook-deliveries by resourceId.';
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (subscription_id, event_id) WHERE status = 'failed';
COMMENT ON INDEX webhook_deliveries_failed IS 'The console: what a receiver never took, newest first.';
CREATE INDEX webhook_deliveries_ended ON webhook_deliveries USING brin (completed_at);
COMMENT ON INDEX webhook_deliveries_ended IS 'Retention: whether a delivery of a month has ended lately.';

-- An attempt is written once, with its result, in the statement that changes its delivery. response_body is the first 1 KiB of the answer.
CREATE TABLE webhook_attempts (
  delivery_id uuid NOT NULL,
  number integer NOT NULL,
  attempted_at timestamptz NOT NULL,
  duration_ms integer NOT NULL,
  response_code smallint,
  response_body text,
  error text,
  PRIMARY KEY (delivery_id, number)
) PARTITION BY RANGE (delivery_id);

-- Months whose rows have all been kept for as long as `retention` says. Housekeeping finds them; only the tables' owner can remove them.
CREATE TABLE months_over (
  month text PRIMARY KEY,
  from_id uuid NOT NULL,
  to_id uuid NOT NULL,
  found_at timestamptz NOT NULL
);

DO $$
DECLARE
  v_bound record;
BEGIN
  FOR v_bound IN SELECT conrelid::regclass::text AS month, left(conname, -8) AS name, substring(pg_get_constraintdef(oid) FROM '[0-9a-f-]{36}') AS to_id
      FROM pg_constraint
      WHERE connamespace = current_schema()::regnamespace AND contype = 'c' AND conname ~ '_[0-9]{4}_[0-9]{2}$' LOOP
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%L)', v_bound.name, v_bound.month, v_bound.to_id);
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', v_bound.month, v_bound.month);
  END LOOP;
  -- Without these triggers, the service would have rights to change rows that never change. In a new database they follow with the functions.
  IF to_regproc('reject_change') IS NOT NULL THEN
    CREATE TRIGGER audit_entries_append_only BEFORE UPDATE OR DELETE ON audit_entries FOR EACH ROW EXECUTE FUNCTION reject_change();
    CREATE TRIGGER audit_entries_never_truncated BEFORE TRUNCATE ON audit_entries FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
    CREATE TRIGGER events_unchanged BEFORE UPDATE OF id, entry_count, module, resource_id, first_sequence, occurred_at, entries, traceparent ON events
      FOR EACH ROW EXECUTE FUNCTION reject_change();
  END IF;
END $$;
