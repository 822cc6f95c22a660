-- How many final transfers there are, so that a list over a million tells its total without counting a million rows.
-- A final transfer never changes again what it is counted by. Rows up to last_id are either counted here or stand in
-- outgoing_transfers_not_counted; what came later is counted by whoever asks.

-- Per account and status; the account whose digits are all 0 stands for all accounts.
CREATE TABLE outgoing_transfer_counts (
  account_id uuid NOT NULL,
  client_id uuid NOT NULL,
  provider text NOT NULL,
  currency text NOT NULL,
  status text NOT NULL,
  transfer_count bigint NOT NULL,
  PRIMARY KEY (account_id, provider, currency, status)
);
CREATE INDEX outgoing_transfer_counts_by_client ON outgoing_transfer_counts (client_id);

CREATE TABLE outgoing_transfer_counting (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  last_id uuid NOT NULL
);
INSERT INTO outgoing_transfer_counting (last_id) VALUES ('00000000-0000-0000-0000-000000000000');

-- Transfers that were not final yet when their turn came.
CREATE TABLE outgoing_transfers_not_counted (
  id uuid PRIMARY KEY
);

-- Goes on counting, by at most p_limit new rows, and answers how many rows it moved. Ids are made in the order of time,
-- by clocks that differ by less than a minute, and a transaction ends within seconds of making its id: so no row can
-- appear behind the ids that are older than 75 seconds. Ids are compared with the plain clock, which made them.
CREATE FUNCTION count_outgoing_transfers(p_limit integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_from uuid;
  v_to uuid;
  v_before uuid := uuidv7_floor(clock_timestamp() - interval '75 seconds');
  v_moved integer;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7423008) THEN
    RETURN 0;
  END IF;
  SELECT last_id INTO v_from FROM outgoing_transfer_counting;
  SELECT id INTO v_to FROM (
    SELECT id FROM outgoing_transfers WHERE id > v_from AND id < v_before ORDER BY id LIMIT p_limit) AS batch
    ORDER BY id DESC LIMIT 1;

  WITH settled AS (
    DELETE FROM outgoing_transfers_not_counted waiting USING outgoing_transfers transfer
    WHERE transfer.id = waiting.id AND transfer.status IN ('completed', 'cancelled', 'failed')
    RETURNING transfer.account_id, transfer.client_id, transfer.provider, transfer.currency, transfer.status
  ), batch AS MATERIALIZED (
    SELECT id, account_id, client_id, provider, currency, status FROM outgoing_transfers WHERE id > v_from AND id <= v_to
  ), open AS (
    INSERT INTO outgoing_transfers_not_counted (id)
    SELECT id FROM batch WHERE status NOT IN ('completed', 'cancelled', 'failed') RETURNING id
  ), final AS (
    SELECT account_id, client_id, provider, currency, status FROM settled
    UNION ALL
    SELECT account_id, client_id, provider, currency, status FROM batch WHERE status IN ('completed', 'cancelled', 'failed')
  ), added AS (
    INSERT INTO outgoing_transfer_counts AS present (account_id, client_id, provider, currency, status, transfer_count)
    SELECT coalesce(account_id, '00000000-0000-0000-0000-000000000000'),
      coalesce(client_id, '00000000-0000-0000-0000-000000000000'), provider, currency, status, count(*)
    FROM final GROUP BY GROUPING SETS ((account_id, client_id, provider, currency, status), (provider, currency, status))
    ON CONFLICT (account_id, provider, currency, status)
      DO UPDATE SET transfer_count = present.transfer_count + excluded.transfer_count
  )
  SELECT (SELECT count(*) FROM settled) + (SELECT count(*) FROM batch) INTO v_moved;
  UPDATE outgoing_transfer_counting SET last_id = v_to WHERE v_to IS NOT NULL;
  RETURN v_moved;
END $$;
