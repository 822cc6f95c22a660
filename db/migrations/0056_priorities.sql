-- A workflow's priority, as Temporal counts it: 1 comes first, 3 is usual, 5 comes last. Thousands of transfers for a later date, or of a
-- batch, must not delay what somebody waits for. The release before says nothing of it, and its wake-ups get the usual one.
ALTER TABLE workflow_wakeups ADD COLUMN priority smallint NOT NULL DEFAULT 3;
DROP INDEX workflow_wakeups_due;
CREATE INDEX workflow_wakeups_due ON workflow_wakeups (priority, next_attempt_at) WHERE parked_at IS NULL;
COMMENT ON INDEX workflow_wakeups_due IS 'The relay: wake-ups that are due, by priority.';

ALTER TYPE transfer_change ADD ATTRIBUTE wake_priority smallint;

-- As before; and a wake-up has its change's priority.
CREATE OR REPLACE FUNCTION write_changes(p_changes transfer_change[]) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_outgoing bigint;
  v_incoming bigint;
  v_moves bigint;
  v_postings bigint;
  v_wakes bigint;
  v_arrivals bigint;
  v_posting record;
BEGIN
  SELECT count(outgoing_id), count(incoming_id), sum(json_array_length(moves)), sum(json_array_length(postings)), sum(cardinality(wakes)),
      count(credit)
    INTO v_outgoing, v_incoming, v_moves, v_postings, v_wakes, v_arrivals FROM unnest(p_changes);
  IF v_moves > 0 THEN
    -- What a change frees is for those who wait there. By a list of ids, which no plan takes for so many that it reads all accounts.
    WITH moved AS MATERIALIZED (
      SELECT account_id, coalesce(sum(reserved_minor), 0)::bigint AS reserved_minor, coalesce(sum(receivable_minor), 0)::bigint AS receivable_minor,
        coalesce(bool_or(waits), false) AS waits, coalesce(bool_or(reserved_minor < 0), false) AS frees
      FROM unnest(p_changes) AS change,
        json_to_recordset(change.moves) AS move (account_id uuid, reserved_minor bigint, receivable_minor bigint, waits boolean)
      GROUP BY account_id)
    UPDATE accounts SET reserved_minor = accounts.reserved_minor + moved.reserved_minor,
        receivable_minor = accounts.receivable_minor + moved.receivable_minor, has_waiters = has_waiters OR moved.waits,
        admission_due = admission_due OR (has_waiters AND moved.frees)
      FROM moved
      WHERE accounts.id = moved.account_id AND accounts.id = ANY (ARRAY(SELECT account_id FROM moved))
        AND (moved.reserved_minor <> 0 OR moved.receivable_minor <> 0 OR moved.frees OR (moved.waits AND NOT has_waiters));
  END IF;
  IF v_arrivals > 0 THEN
    PERFORM write_arrivals(p_changes);
  END IF;
  IF v_outgoing > 0 THEN
    PERFORM outgoing_transfers_write(p_changes, v_outgoing);
  END IF;
  IF v_incoming > 0 THEN
    PERFORM incoming_transfers_write(p_changes, v_incoming);
  END IF;
  IF v_postings > 0 THEN
    FOR v_posting IN SELECT posting.* FROM unnest(p_changes) WITH ORDINALITY AS change,
        ROWS FROM (json_to_recordset(change.postings) AS (at timestamptz, debit uuid, debit_provider text, debit_kind text, credit uuid,
          credit_provider text, credit_kind text, amount_minor bigint, currency text, debit_number text, credit_number text, debit_type text,
          credit_type text, entry_type text, outgoing_transfer_id uuid, incoming_transfer_id uuid, narrative text, release_minor bigint))
        WITH ORDINALITY AS posting ORDER BY change.ordinality, posting.ordinality LOOP
      PERFORM ledger_post(v_posting.at, coalesce(v_posting.debit, system_account(v_posting.debit_provider, v_posting.currency, v_posting.debit_kind)),
        coalesce(v_posting.credit, system_account(v_posting.credit_provider, v_posting.currency, v_posting.credit_kind)),
        v_posting.amount_minor, v_posting.currency, v_posting.debit_number, v_posting.credit_number, v_posting.debit_type,
        v_posting.credit_type, v_posting.entry_type, v_posting.outgoing_transfer_id, v_posting.incoming_transfer_id,
        v_posting.narrative, v_posting.release_minor);
    END LOOP;
  END IF;
  IF v_wakes > 0 THEN
    INSERT INTO workflow_wakeups (workflow_id, workflow_type, priority, next_attempt_at, created_at)
      SELECT wake, split_part(wake, '/', 1), min(coalesce(wake_priority, 3)), service_now(), service_now()
      FROM (SELECT unnest(wakes) AS wake, wake_priority FROM unnest(p_changes)) AS woken GROUP BY wake ORDER BY wake
      ON CONFLICT (workflow_id) DO UPDATE SET generation = workflow_wakeups.generation + 1,
        priority = least(workflow_wakeups.priority, excluded.priority),
        next_attempt_at = least(workflow_wakeups.next_attempt_at, excluded.next_attempt_at), parked_at = NULL;
  END IF;
END $$;
