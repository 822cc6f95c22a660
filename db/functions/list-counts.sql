-- Counts of lists, for totals and pages of clients, accounts, beneficiaries and users: see list_counts in the baseline. A counted list
-- has a count_key, triggers that note its late changes, and a first, empty range of each level (list_counting, list_counts). Of tables
-- with months (audit entries, deliveries) only the totals are counted, at level 0: what is removed with a month is then known by its key.

-- Every range of a level is a whole number of ranges of the next.
CREATE OR REPLACE FUNCTION list_levels(OUT level smallint, OUT range_rows bigint) RETURNS SETOF record LANGUAGE sql IMMUTABLE AS $$
  VALUES (0::smallint, 1::bigint << 62), (1, 131072), (2, 4096), (3, 128)
$$;

-- The levels of a list. Of a table with months only the total is kept.
CREATE OR REPLACE FUNCTION list_levels(p_list text, OUT level smallint, OUT range_rows bigint) RETURNS SETOF record LANGUAGE sql IMMUTABLE AS $$
  SELECT level, range_rows FROM list_levels() WHERE level = 0 OR p_list NOT IN ('audit_entries', 'webhook_deliveries')
$$;

-- The values by which the rows of a list are counted, under the names of the filters.
CREATE OR REPLACE FUNCTION count_key(p_row clients) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('status', p_row.status, 'country', p_row.country, 'identityType', p_row.identity_type)
$$;
CREATE OR REPLACE FUNCTION count_key(p_row accounts) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('status', p_row.status, 'currency', p_row.currency, 'serviceProvider', p_row.provider)
$$;
CREATE OR REPLACE FUNCTION count_key(p_row beneficiaries) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('type', p_row.identity_type, 'country', p_row.identity ->> 'country',
    'addressCountry', p_row.contact -> 'address' ->> 'country')
$$;
CREATE OR REPLACE FUNCTION count_key(p_row users) RETURNS jsonb LANGUAGE sql STABLE AS $$ SELECT jsonb_build_object() $$;
CREATE OR REPLACE FUNCTION count_key(p_row audit_entries) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('resource', p_row.resource, 'actor', p_row.actor, 'action', p_row.action)
$$;
CREATE OR REPLACE FUNCTION count_key(p_row webhook_deliveries) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('month', to_char(uuid_extract_timestamp(p_row.event_id) AT TIME ZONE 'UTC', 'YYYY_MM'),
    'subscriptionId', p_row.subscription_id, 'status', p_row.status, 'type', p_row.type)
$$;

-- Whether count_list cannot have reached a row yet, however long the writing transaction takes: then nothing is noted.
CREATE OR REPLACE FUNCTION is_new_in_list(p_id uuid) RETURNS boolean LANGUAGE sql VOLATILE AS $$
  SELECT (uuid_extract_timestamp(p_id) > clock_timestamp() - interval '15 seconds') IS TRUE
$$;

-- A table with months gives its own name, as its triggers fire at those of its months.
CREATE OR REPLACE FUNCTION note_list_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_list text := coalesce(TG_ARGV[0], TG_TABLE_NAME);
BEGIN
  IF TG_OP = 'UPDATE' THEN
    INSERT INTO list_changes (list, id, key, change) VALUES (v_list, OLD.id, count_key(OLD), -1), (v_list, NEW.id, count_key(NEW), 1);
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO list_changes (list, id, key, change) VALUES (v_list, OLD.id, count_key(OLD), -1);
  ELSE
    INSERT INTO list_changes (list, id, key, change) VALUES (v_list, NEW.id, count_key(NEW), 1);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER clients_added_late AFTER INSERT ON clients FOR EACH ROW
  WHEN (NOT is_new_in_list(NEW.id)) EXECUTE FUNCTION note_list_change();
CREATE OR REPLACE TRIGGER clients_removed AFTER DELETE ON clients FOR EACH ROW
  WHEN (NOT is_new_in_list(OLD.id)) EXECUTE FUNCTION note_list_change();
CREATE OR REPLACE TRIGGER clients_counted_otherwise AFTER UPDATE OF status, country, identity_type ON clients FOR EACH ROW
  WHEN ((OLD.status, OLD.country, OLD.identity_type) IS DISTINCT FROM (NEW.status, NEW.country, NEW.identity_type) AND NOT is_new_in_list(NEW.id))
  EXECUTE FUNCTION note_list_change();

CREATE OR REPLACE TRIGGER accounts_added_late AFTER INSERT ON accounts FOR EACH ROW
  WHEN (NOT is_new_in_list(NEW.id)) EXECUTE FUNCTION note_list_change();
CREATE OR REPLACE TRIGGER accounts_removed AFTER DELETE ON accounts FOR EACH ROW
  WHEN (NOT is_new_in_list(OLD.id)) EXECUTE FUNCTION note_list_change();
CREATE OR REPLACE TRIGGER accounts_counted_otherwise AFTER UPDATE OF status, currency, provider ON accounts FOR EACH ROW
  WHEN ((OLD.status, OLD.currency, OLD.provider) IS DISTINCT FROM (NEW.status, NEW.currency, NEW.provider) AND NOT is_new_in_list(NEW.id))
  EXECUTE FUNCTION note_list_change();

CREATE OR REPLACE TRIGGER beneficiaries_added_late AFTER INSERT ON beneficiaries FOR EACH ROW
  WHEN (NOT is_new_in_list(NEW.id)) EXECUTE FUNCTION note_list_change();
CREATE OR REPLACE TRIGGER beneficiaries_removed AFTER DELETE ON beneficiaries FOR EACH ROW
  WHEN (NOT is_new_in_list(OLD.id)) EXECUTE FUNCTION note_list_change();
CREATE OR REPLACE TRIGGER beneficiaries_counted_otherwise AFTER UPDATE OF identity_type, identity, contact ON beneficiaries FOR EACH ROW
  WHEN ((OLD.identity_type, OLD.identity, OLD.contact) IS DISTINCT FROM (NEW.identity_type, NEW.identity, NEW.contact) AND NOT is_new_in_list(NEW.id))
  EXECUTE FUNCTION note_list_change();

CREATE OR REPLACE TRIGGER users_added_late AFTER INSERT ON users FOR EACH ROW
  WHEN (NOT is_new_in_list(NEW.id)) EXECUTE FUNCTION note_list_change();
CREATE OR REPLACE TRIGGER users_removed AFTER DELETE ON users FOR EACH ROW
  WHEN (NOT is_new_in_list(OLD.id)) EXECUTE FUNCTION note_list_change();

-- No audit entry is ever changed or deleted, and deliveries are only removed with their month.
CREATE OR REPLACE TRIGGER audit_entries_added_late AFTER INSERT ON audit_entries FOR EACH ROW
  WHEN (NOT is_new_in_list(NEW.id)) EXECUTE FUNCTION note_list_change('audit_entries');
CREATE OR REPLACE TRIGGER webhook_deliveries_added_late AFTER INSERT ON webhook_deliveries FOR EACH ROW
  WHEN (NOT is_new_in_list(NEW.id)) EXECUTE FUNCTION note_list_change('webhook_deliveries');
CREATE OR REPLACE TRIGGER webhook_deliveries_counted_otherwise AFTER UPDATE OF status ON webhook_deliveries FOR EACH ROW
  WHEN (OLD.status <> NEW.status AND NOT is_new_in_list(NEW.id)) EXECUTE FUNCTION note_list_change('webhook_deliveries');

-- The range of a level that an id is in. A set, so that Postgres puts it into the queries that call it.
CREATE OR REPLACE FUNCTION list_range_of(p_list text, p_level smallint, p_id uuid) RETURNS SETOF uuid LANGUAGE sql STABLE AS $$
  SELECT first_id FROM list_counts WHERE list = p_list AND level = p_level AND key = 'null' AND first_id <= p_id
  ORDER BY first_id DESC LIMIT 1
$$;

-- The counts with the changes that they do not include yet. Rows after last_id are not counted, whatever happened to them.
CREATE OR REPLACE VIEW present_list_counts AS
  SELECT list, level, key, first_id, row_count FROM list_counts
  UNION ALL
  SELECT noted.list, levels.level, keys.key, id_range, noted.change
  FROM list_changes AS noted
    JOIN list_counting AS counting ON counting.list = noted.list AND noted.id <= counting.last_id
    CROSS JOIN list_levels() AS levels
    CROSS JOIN LATERAL (VALUES (noted.key), ('null')) AS keys (key)
    CROSS JOIN LATERAL list_range_of(noted.list, levels.level, noted.id) AS id_range;

-- Counts at most p_limit rows and as many changes of counted rows; returns how many. Does nothing while another process is
-- counting. No row can appear without a note among ids that are older than 75 seconds: its transaction would have to last a
-- minute. Ids are compared with the plain clock, which made them. A row of the batch is counted as this statement sees it, so the
-- notes about it that the statement sees are deleted. They are found by conditions: for a list of their numbers, Postgres chose a
-- nested loop over the whole table if the statistics had last seen it empty.
CREATE OR REPLACE FUNCTION count_list(p_list text, p_limit integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  c_first CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
  v_done list_counting%ROWTYPE;
  v_before uuid := uuidv7_floor(clock_timestamp() - interval '75 seconds');
  v_to uuid;
  v_rows integer;
  v_changes integer;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7423035, hashtext(p_list)) THEN
    RETURN 0;
  END IF;
  IF NOT EXISTS (SELECT FROM list_counting WHERE list = p_list) THEN
    INSERT INTO list_counting (list, last_id, counted_rows) VALUES (p_list, c_first, 0);
    INSERT INTO list_counts (list, level, key, first_id, row_count) SELECT p_list, level, 'null', c_first, 0 FROM list_levels(p_list);
  END IF;
  SELECT * INTO STRICT v_done FROM list_counting WHERE list = p_list;
  EXECUTE format('SELECT id FROM (SELECT id FROM %I WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3) AS batch ORDER BY id DESC LIMIT 1',
    p_list) INTO v_to USING v_done.last_id, v_before, p_limit;

  EXECUTE format($statement$
    WITH noted AS (
      DELETE FROM list_changes WHERE list = $1 AND (id > $2 AND id <= $3 OR id <= $2 AND number <= (
        SELECT max(number) FROM (SELECT number FROM list_changes WHERE list = $1 AND id <= $2 ORDER BY number LIMIT $4) AS first))
      RETURNING id, key, change
    ), batch AS MATERIALIZED (
      SELECT id, count_key(counted) AS key, $5 + row_number() OVER (ORDER BY id) - 1 AS place
      FROM %1$I AS counted WHERE id > $2 AND id <= $3
    ), levels AS MATERIALIZED (
      SELECT level, range_rows, last_range FROM list_levels($1) CROSS JOIN LATERAL list_range_of($1, level, $2) AS last_range
    ), placed AS (
      SELECT level, key, 1 AS change, CASE place / range_rows WHEN greatest($5 - 1, 0) / range_rows THEN last_range
        ELSE first_value(id) OVER (PARTITION BY level, place / range_rows ORDER BY id) END AS first_id
      FROM batch CROSS JOIN levels
      UNION ALL
      SELECT level, key, change, id_range
      FROM noted CROSS JOIN list_levels($1) CROSS JOIN LATERAL list_range_of($1, level, id) AS id_range WHERE id <= $2
    ), counted AS (
      INSERT INTO list_counts AS present (list, level, key, first_id, row_count)
      SELECT $1, level, coalesce(key, 'null'), first_id, sum(change)
      FROM placed GROUP BY GROUPING SETS ((level, first_id, key), (level, first_id))
      ON CONFLICT (list, level, key, first_id) DO UPDATE SET row_count = present.row_count + excluded.row_count
    )
    SELECT (SELECT count(*) FROM batch), (SELECT count(*) FROM noted)
    $statement$, p_list)
    INTO v_rows, v_changes USING p_list, v_done.last_id, v_to, p_limit, v_done.counted_rows;

  UPDATE list_counting SET last_id = v_to, counted_rows = counted_rows + v_rows WHERE list = p_list AND v_to IS NOT NULL;
  RETURN v_rows + v_changes;
END $$;

-- Of a table with months, how many of the rows up to last_id have these values of the key. Rows of a month that is being removed are out of
-- sight before its counts are deleted with it. The first month has what is older, too.
CREATE OR REPLACE FUNCTION counted_total(p_list text, p_key jsonb, OUT total bigint, OUT last_id uuid) LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_months text[] := ARRAY(SELECT right(inhrelid::regclass::text, 7) FROM pg_inherits
    WHERE p_list = 'webhook_deliveries' AND inhparent = 'webhook_deliveries'::regclass AND NOT inhdetachpending ORDER BY 1);
BEGIN
  last_id := coalesce((SELECT counting.last_id FROM list_counting AS counting WHERE list = p_list), '00000000-0000-0000-0000-000000000000');
  total := (SELECT coalesce(sum(row_count), 0) FROM (
      SELECT key, row_count FROM list_counts WHERE list = p_list AND level = 0 AND key <> 'null'
      UNION ALL
      SELECT key, change FROM list_changes WHERE list = p_list AND id <= counted_total.last_id) AS counted
    WHERE key @> p_key AND (NOT key ? 'month' OR key ->> 'month' = ANY (v_months) OR key ->> 'month' < v_months[1]));
END $$;

-- Deletes the counts of a month that is being removed, in the transaction that drops it.
CREATE OR REPLACE FUNCTION forget_counts(p_list text, p_from uuid, p_to uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_from text := coalesce(to_char(uuid_extract_timestamp(p_from) AT TIME ZONE 'UTC', 'YYYY_MM'), '');
  v_to text := to_char(uuid_extract_timestamp(p_to) AT TIME ZONE 'UTC', 'YYYY_MM');
BEGIN
  PERFORM pg_advisory_xact_lock(7423035, hashtext(p_list));
  DELETE FROM list_changes WHERE list = p_list AND key ->> 'month' >= v_from AND key ->> 'month' < v_to;
  DELETE FROM list_counts WHERE list = p_list AND key ->> 'month' >= v_from AND key ->> 'month' < v_to;
END $$;

-- Locates a page: `total` of the counted rows with one of the keys; the ranges of ids (first_ids, each up to before
-- next_ids) that hold the page's counted rows, after `skipped` other matches; and whether rows after last_id belong to it.
CREATE OR REPLACE FUNCTION counted_page(p_list text, p_keys jsonb[], p_size bigint, p_offset bigint, OUT total bigint, OUT last_id uuid,
  OUT skipped bigint, OUT first_ids uuid[], OUT next_ids uuid[], OUT reaches_end boolean) LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  c_after_all CONSTANT uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  v_from uuid := '00000000-0000-0000-0000-000000000000';
  v_to uuid := c_after_all;
  v_before bigint;
  v_changes bigint;
BEGIN
  SELECT counting.last_id INTO STRICT last_id FROM list_counting AS counting WHERE list = p_list;
  total := (SELECT coalesce(sum(row_count), 0) FROM list_counts WHERE list = p_list AND level = 0 AND key = ANY (p_keys))
    + (SELECT coalesce(sum(change), 0) FROM list_changes
      WHERE list = p_list AND id <= counted_page.last_id AND ('null' = ANY (p_keys) OR key = ANY (p_keys)));
  reaches_end := total < p_offset + p_size;
  skipped := p_offset - least(p_offset, total);
  IF p_offset >= total THEN
    RETURN;
  END IF;
  skipped := p_offset;
  IF p_offset > 0 THEN
    FOR v_level IN 1..3 LOOP
      SELECT first_id, before INTO STRICT v_from, v_before FROM (
          SELECT first_id, matches, sum(matches) OVER (ORDER BY first_id) - matches AS before FROM (
              SELECT first_id, sum(row_count) AS matches FROM present_list_counts
              WHERE list = p_list AND level = v_level AND key = ANY (p_keys) AND first_id >= v_from AND first_id < v_to
              GROUP BY first_id) AS of_range) AS in_order
        WHERE before + matches > skipped ORDER BY first_id LIMIT 1;
      skipped := skipped - v_before;
      v_to := coalesce((SELECT first_id FROM list_counts
        WHERE list = p_list AND level = v_level AND key = 'null' AND first_id > v_from ORDER BY first_id LIMIT 1), c_after_all);
    END LOOP;
  END IF;
  IF p_keys = ARRAY['null'::jsonb] THEN
    first_ids := ARRAY[v_from];
    next_ids := ARRAY[c_after_all];
    RETURN;
  END IF;
  -- Each range holds a match, unless a change has emptied it, so the page needs no more ranges than rows.
  SELECT count(*) INTO v_changes FROM list_changes WHERE list = p_list AND id <= counted_page.last_id;
  SELECT array_agg(first_id ORDER BY first_id), array_agg(coalesce((SELECT next.first_id FROM list_counts AS next
        WHERE list = p_list AND level = 3 AND key = 'null' AND next.first_id > in_order.first_id ORDER BY next.first_id LIMIT 1),
        c_after_all) ORDER BY first_id)
    INTO first_ids, next_ids FROM (
      SELECT first_id, sum(matches) OVER (ORDER BY first_id) - matches AS before FROM (
          SELECT first_id, sum(row_count) AS matches FROM (
              SELECT near.first_id, near.row_count FROM unnest(p_keys) AS wanted CROSS JOIN LATERAL (
                SELECT first_id, row_count FROM list_counts
                WHERE list = p_list AND level = 3 AND key = wanted AND first_id >= v_from
                ORDER BY first_id LIMIT p_size + v_changes) AS near
              UNION ALL
              SELECT id_range, change FROM list_changes CROSS JOIN LATERAL list_range_of(p_list, 3::smallint, id) AS id_range
              WHERE v_changes > 0 AND list = p_list AND id >= v_from AND id <= counted_page.last_id
                AND ('null' = ANY (p_keys) OR key = ANY (p_keys))) AS counts
          GROUP BY first_id HAVING sum(row_count) > 0) AS of_range) AS in_order
    WHERE before < skipped + p_size;
END $$;
