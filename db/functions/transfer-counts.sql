-- Counts of transfers: see transfer_counts in the baseline.

-- Continues counting, by at most p_limit new rows, and returns how many rows it counted. Ids are made in the order of time,
-- by clocks that differ by less than a minute, and a transaction ends within seconds of making its id: so no row can
-- appear behind the ids that are older than 75 seconds. Ids are compared with the plain clock, which made them.
CREATE OR REPLACE FUNCTION count_transfers(p_direction text, p_limit integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  c_range_rows CONSTANT integer := 128;
  v_done transfer_counting%ROWTYPE;
  v_to uuid;
  v_before uuid := uuidv7_floor(clock_timestamp() - interval '75 seconds');
  v_counted record;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7423008, hashtext(p_direction)) THEN
    RETURN 0;
  END IF;
  SELECT * INTO STRICT v_done FROM transfer_counting WHERE direction = p_direction;
  EXECUTE format('SELECT id FROM (SELECT id FROM %I WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3) AS batch ORDER BY id DESC LIMIT 1',
    p_direction || '_transfers') INTO v_to USING v_done.last_id, v_before, p_limit;

  SELECT * INTO v_counted FROM count_transfers_up_to(p_direction, v_done, v_to, c_range_rows);
  UPDATE transfer_counting SET last_id = v_to, last_range = v_counted.last_range,
      last_range_rows = (last_range_rows + v_counted.batch_rows - 1) % c_range_rows + 1
    WHERE direction = p_direction AND v_to IS NOT NULL;
  RETURN v_counted.settled_rows + v_counted.batch_rows;
END $$;

-- Counts the rows after p_done up to p_to, and the earlier ones that have become final since they were passed: how many of each, and
-- the range of ids (transfer_ranges) of the last row.
CREATE OR REPLACE FUNCTION count_transfers_up_to(
  p_direction text, p_done transfer_counting, p_to uuid, p_range_rows integer,
  OUT settled_rows integer, OUT batch_rows integer, OUT last_range uuid
) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format($statement$
    WITH settled AS (
      DELETE FROM transfers_not_counted waiting USING %1$I transfer
      WHERE waiting.direction = $1 AND transfer.id = waiting.id AND transfer.status IN ('completed', 'cancelled', 'failed')
      RETURNING transfer.id, transfer.account_id, transfer.client_id, transfer.provider, transfer.currency, transfer.status,
        transfer.transfer_date
    ), numbered AS MATERIALIZED (
      SELECT id, account_id, client_id, provider, currency, status, transfer_date,
        ($5 + row_number() OVER (ORDER BY id) - 1) / $6 AS id_range
      FROM %1$I WHERE id > $2 AND id <= $3
    ), batch AS MATERIALIZED (
      SELECT *, CASE id_range WHEN 0 THEN $4 ELSE first_value(id) OVER (PARTITION BY id_range ORDER BY id) END AS first_id
      FROM numbered
    ), begun AS (
      INSERT INTO transfer_ranges (direction, first_id) SELECT DISTINCT $1, first_id FROM batch WHERE id_range > 0
    ), open AS (
      INSERT INTO transfers_not_counted (direction, id)
      SELECT $1, id FROM batch WHERE status NOT IN ('completed', 'cancelled', 'failed')
    ), final AS MATERIALIZED (
      SELECT coalesce(account_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AS account_id,
        coalesce(client_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AS client_id,
        provider, currency, status::text AS status, transfer_date, first_id
      FROM (
        SELECT account_id, client_id, provider, currency, status, transfer_date, (
            SELECT first_id FROM transfer_ranges WHERE direction = $1 AND first_id <= settled.id ORDER BY first_id DESC LIMIT 1
          ) AS first_id FROM settled
        UNION ALL
        SELECT account_id, client_id, provider, currency, status, transfer_date, first_id FROM batch
        WHERE status IN ('completed', 'cancelled', 'failed')) AS counted
    ), of_accounts AS (
      INSERT INTO transfer_counts AS present (direction, account_id, client_id, provider, currency, status, transfer_count)
      SELECT $1, coalesce(account_id, '00000000-0000-0000-0000-000000000000'),
        coalesce(client_id, '00000000-0000-0000-0000-000000000000'), provider, currency, status, count(*)
      FROM final GROUP BY GROUPING SETS ((account_id, client_id, provider, currency, status), (provider, currency, status))
      ON CONFLICT (direction, account_id, client_id, provider, currency, status)
        DO UPDATE SET transfer_count = present.transfer_count + excluded.transfer_count
    ), of_days AS (
      INSERT INTO transfer_day_counts AS present
        (direction, transfer_date, provider, currency, status, transfer_count, first_range)
      SELECT $1, transfer_date, provider, currency, status, count(*), (array_agg(first_id ORDER BY first_id))[1]
      FROM final GROUP BY transfer_date, provider, currency, status
      ON CONFLICT (direction, transfer_date, provider, currency, status)
        DO UPDATE SET transfer_count = present.transfer_count + excluded.transfer_count,
          first_range = least(present.first_range, excluded.first_range)
    ), of_ranges AS (
      INSERT INTO transfer_range_counts AS present
        (direction, first_id, transfer_date, provider, currency, status, transfer_count)
      SELECT $1, first_id, transfer_date, provider, currency, status, count(*)
      FROM final GROUP BY first_id, transfer_date, provider, currency, status
      ON CONFLICT (direction, first_id, transfer_date, provider, currency, status)
        DO UPDATE SET transfer_count = present.transfer_count + excluded.transfer_count
    )
    SELECT (SELECT count(*) FROM settled), (SELECT count(*) FROM batch),
      (SELECT first_id FROM batch ORDER BY id DESC LIMIT 1)
    $statement$, p_direction || '_transfers')
    INTO settled_rows, batch_rows, last_range
    USING p_direction, p_done.last_id, p_to, p_done.last_range, p_done.last_range_rows, p_range_rows;
END $$;
