-- The notes to delete are found by conditions alone. 0035 looked them up by their numbers, for which Postgres chose a nested loop
-- over the whole table if the statistics had last seen it empty.

-- Counts at most p_limit rows and as many changes of counted rows; returns how many. Does nothing while another process is
-- counting. No row can appear without a note before the ids that are older than 75 seconds: such a row would have to be in a
-- transaction of a minute. Ids are compared with the plain clock, which made them. A row of the batch is counted as this
-- statement sees it, so the notes that the statement sees about it go.
CREATE OR REPLACE FUNCTION count_list(p_list text, p_limit integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_done list_counting%ROWTYPE;
  v_before uuid := uuidv7_floor(clock_timestamp() - interval '75 seconds');
  v_to uuid;
  v_rows integer;
  v_changes integer;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7423035, hashtext(p_list)) THEN
    RETURN 0;
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
      SELECT level, range_rows, last_range FROM list_levels() CROSS JOIN LATERAL list_range_of($1, level, $2) AS last_range
    ), placed AS (
      SELECT level, key, 1 AS change, CASE place / range_rows WHEN greatest($5 - 1, 0) / range_rows THEN last_range
        ELSE first_value(id) OVER (PARTITION BY level, place / range_rows ORDER BY id) END AS first_id
      FROM batch CROSS JOIN levels
      UNION ALL
      SELECT level, key, change, id_range
      FROM noted CROSS JOIN list_levels() CROSS JOIN LATERAL list_range_of($1, level, id) AS id_range WHERE id <= $2
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
