-- Applied after every migration: it lists the columns of the transfers' tables.

-- Creates outgoing_transfers_write and incoming_transfers_write, the part of write_changes that writes one side of the changes: the
-- rows that they create or update, and their events. p_count is how many changes have that side. A process does not send a column that it
-- does not know: then a new row gets the column's default, and an updated row keeps its value. The text has four placeholders:
--   SIDE      outgoing or incoming
--   COLUMNS   all columns of the table
--   MADE      their values in a new row: what the change says, or else the column's default
--   MOVED     the columns that a change may set in an existing row
DO $make$
DECLARE
  v_side text;
  v_columns text;
  v_made text;
  v_moved text;
  v_text text;
BEGIN
  FOREACH v_side IN ARRAY ARRAY['outgoing', 'incoming'] LOOP
    SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum),
        string_agg(CASE WHEN adbin IS NULL THEN format('made.%I', attname)
          ELSE format('coalesce(made.%I, %s)', attname, pg_get_expr(adbin, adrelid)) END, ', ' ORDER BY attnum),
        string_agg(quote_ident(attname), ', ' ORDER BY attnum) FILTER (WHERE attname NOT IN ('id', 'revision', 'event_sequence'))
      INTO v_columns, v_made, v_moved
      FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
      WHERE attrelid = (v_side || '_transfers')::regclass AND attnum > 0 AND NOT attisdropped;

    v_text := $text$
    CREATE OR REPLACE FUNCTION SIDE_transfers_write(p_changes transfer_change[], p_count bigint) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
      v_made bigint;
      v_moved bigint;
    BEGIN
      INSERT INTO SIDE_transfers (COLUMNS) SELECT MADE FROM unnest(p_changes) AS change, json_populate_record(NULL::SIDE_transfers, change.SIDE) AS made
        WHERE change.SIDE_from IS NULL AND change.SIDE IS NOT NULL;
      GET DIAGNOSTICS v_made = ROW_COUNT;
      -- Rows that are not new are updated, except those that a change only relies on.
      IF v_made < p_count THEN
        UPDATE SIDE_transfers AS moved SET revision = moved.revision + 1,
            event_sequence = moved.event_sequence + coalesce(json_array_length(change.SIDE_entries), 0),
            (MOVED) = (SELECT MOVED FROM json_populate_record(moved, change.SIDE))
          FROM unnest(p_changes) AS change
          WHERE moved.id = change.SIDE_id AND moved.revision = change.SIDE_from AND change.SIDE IS NOT NULL;
        GET DIAGNOSTICS v_moved = ROW_COUNT;
        -- What is decided holds as it was decided: nothing of it is written if a row has changed since it was read under its lock.
        IF v_moved <> (SELECT count(*) FROM unnest(p_changes) WHERE SIDE_from IS NOT NULL AND SIDE IS NOT NULL) THEN
          RAISE EXCEPTION 'a change of % SIDE transfers met % rows of its revision',
            (SELECT count(*) FROM unnest(p_changes) WHERE SIDE_from IS NOT NULL AND SIDE IS NOT NULL), v_moved;
        END IF;
      END IF;
      -- By sub-select, which looks each row up by its id: a join read the whole table when its statistics were old.
      INSERT INTO events (id, entry_count, module, resource_id, first_sequence, occurred_at, entries, traceparent)
        SELECT SIDE_event_id, json_array_length(SIDE_entries), 'SIDE-transfers', SIDE_id,
          (SELECT event_sequence FROM SIDE_transfers WHERE id = SIDE_id) - json_array_length(SIDE_entries) + 1, at, SIDE_entries, traceparent
        FROM unnest(p_changes) WHERE SIDE_event_id IS NOT NULL;
    END $$ $text$;
    EXECUTE replace(replace(replace(replace(v_text, 'COLUMNS', v_columns), 'MADE', v_made), 'MOVED', v_moved), 'SIDE', v_side);
  END LOOP;
END $make$;
