-- How many final transfers there are, and where among the others they are, so that a list over a million tells its total
-- and finds its page without looking at a million rows, and without an index that every transfer would have to be entered
-- in. A final transfer never changes again what it is counted by. Rows up to last_id are either counted here or stand in
-- transfers_not_counted; what came later is counted by whoever asks. `direction` is 'outgoing' or 'incoming'.

-- Per account and status. The account whose digits are all 0 stands for all accounts, and the client likewise; where all
-- digits are f, the transfer has none.
CREATE TABLE transfer_counts (
  direction text NOT NULL,
  account_id uuid NOT NULL,
  client_id uuid NOT NULL,
  provider text NOT NULL,
  currency text NOT NULL,
  status text NOT NULL,
  transfer_count bigint NOT NULL,
  PRIMARY KEY (direction, account_id, client_id, provider, currency, status)
);
CREATE INDEX transfer_counts_by_client ON transfer_counts (direction, client_id);

-- Per transfer date (null while there is none), of all accounts; first_stretch is the earliest stretch with such a row.
CREATE TABLE transfer_day_counts (
  direction text NOT NULL,
  transfer_date date,
  provider text NOT NULL,
  currency text NOT NULL,
  status text NOT NULL,
  transfer_count bigint NOT NULL,
  first_stretch uuid NOT NULL,
  UNIQUE NULLS NOT DISTINCT (direction, transfer_date, provider, currency, status)
);

-- A stretch is 128 transfers in the order of their creation: all from its first id up to the next one's. It tells a list
-- which parts of the table hold rows that it shows.
CREATE TABLE transfer_stretches (
  direction text NOT NULL,
  first_id uuid NOT NULL,
  PRIMARY KEY (direction, first_id)
);

CREATE TABLE transfer_stretch_counts (
  direction text NOT NULL,
  first_id uuid NOT NULL,
  transfer_date date,
  provider text NOT NULL,
  currency text NOT NULL,
  status text NOT NULL,
  transfer_count integer NOT NULL,
  UNIQUE NULLS NOT DISTINCT (direction, first_id, transfer_date, provider, currency, status)
);

CREATE TABLE transfer_counting (
  direction text PRIMARY KEY,
  last_id uuid NOT NULL,
  -- The stretch that the next row goes to, while it has less than 128.
  last_stretch uuid NOT NULL,
  last_stretch_rows integer NOT NULL
);
INSERT INTO transfer_counting (direction, last_id, last_stretch, last_stretch_rows)
  SELECT direction, '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000', 0
  FROM unnest(ARRAY['outgoing', 'incoming']) AS direction;
INSERT INTO transfer_stretches (direction, first_id) SELECT direction, last_stretch FROM transfer_counting;

-- Transfers that were not final yet when their turn came.
CREATE TABLE transfers_not_counted (
  direction text NOT NULL,
  id uuid NOT NULL,
  PRIMARY KEY (direction, id)
);

-- Goes on counting, by at most p_limit new rows, and answers how many rows it moved. Ids are made in the order of time,
-- by clocks that differ by less than a minute, and a transaction ends within seconds of making its id: so no row can
-- appear behind the ids that are older than 75 seconds. Ids are compared with the plain clock, which made them.
CREATE FUNCTION count_transfers(p_direction text, p_limit integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  c_stretch_rows CONSTANT integer := 128;
  v_done transfer_counting%ROWTYPE;
  v_to uuid;
  v_before uuid := uuidv7_floor(clock_timestamp() - interval '75 seconds');
  v_settled integer;
  v_batch integer;
  v_last_stretch uuid;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7423008, hashtext(p_direction)) THEN
    RETURN 0;
  END IF;
  SELECT * INTO STRICT v_done FROM transfer_counting WHERE direction = p_direction;
  EXECUTE format('SELECT id FROM (SELECT id FROM %I WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3) AS batch ORDER BY id DESC LIMIT 1',
    p_direction || '_transfers') INTO v_to USING v_done.last_id, v_before, p_limit;

  EXECUTE format($statement$
    WITH settled AS (
      DELETE FROM transfers_not_counted waiting USING %1$I transfer
      WHERE waiting.direction = $1 AND transfer.id = waiting.id AND transfer.status IN ('completed', 'cancelled', 'failed')
      RETURNING transfer.id, transfer.account_id, transfer.client_id, transfer.provider, transfer.currency, transfer.status,
        transfer.transfer_date
    ), numbered AS MATERIALIZED (
      SELECT id, account_id, client_id, provider, currency, status, transfer_date,
        ($5 + row_number() OVER (ORDER BY id) - 1) / $6 AS stretch
      FROM %1$I WHERE id > $2 AND id <= $3
    ), batch AS MATERIALIZED (
      SELECT *, CASE stretch WHEN 0 THEN $4 ELSE first_value(id) OVER (PARTITION BY stretch ORDER BY id) END AS first_id
      FROM numbered
    ), begun AS (
      INSERT INTO transfer_stretches (direction, first_id) SELECT DISTINCT $1, first_id FROM batch WHERE stretch > 0
    ), open AS (
      INSERT INTO transfers_not_counted (direction, id)
      SELECT $1, id FROM batch WHERE status NOT IN ('completed', 'cancelled', 'failed')
    ), final AS MATERIALIZED (
      SELECT coalesce(account_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AS account_id,
        coalesce(client_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AS client_id,
        provider, currency, status::text AS status, transfer_date, first_id
      FROM (
        SELECT account_id, client_id, provider, currency, status, transfer_date, (
            SELECT first_id FROM transfer_stretches WHERE direction = $1 AND first_id <= settled.id ORDER BY first_id DESC LIMIT 1
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
        (direction, transfer_date, provider, currency, status, transfer_count, first_stretch)
      SELECT $1, transfer_date, provider, currency, status, count(*), (array_agg(first_id ORDER BY first_id))[1]
      FROM final GROUP BY transfer_date, provider, currency, status
      ON CONFLICT (direction, transfer_date, provider, currency, status)
        DO UPDATE SET transfer_count = present.transfer_count + excluded.transfer_count,
          first_stretch = least(present.first_stretch, excluded.first_stretch)
    ), of_stretches AS (
      INSERT INTO transfer_stretch_counts AS present
        (direction, first_id, transfer_date, provider, currency, status, transfer_count)
      SELECT $1, first_id, transfer_date, provider, currency, status, count(*)
      FROM final GROUP BY first_id, transfer_date, provider, currency, status
      ON CONFLICT (direction, first_id, transfer_date, provider, currency, status)
        DO UPDATE SET transfer_count = present.transfer_count + excluded.transfer_count
    )
    SELECT (SELECT count(*) FROM settled), (SELECT count(*) FROM batch),
      (SELECT first_id FROM batch ORDER BY id DESC LIMIT 1)
    $statement$, p_direction || '_transfers')
    INTO v_settled, v_batch, v_last_stretch
    USING p_direction, v_done.last_id, v_to, v_done.last_stretch, v_done.last_stretch_rows, c_stretch_rows;

  UPDATE transfer_counting SET last_id = v_to, last_stretch = v_last_stretch,
      last_stretch_rows = (last_stretch_rows + v_batch - 1) % c_stretch_rows + 1
    WHERE direction = p_direction AND v_to IS NOT NULL;
  RETURN v_settled + v_batch;
END $$;
