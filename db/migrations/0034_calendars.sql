-- The calendar that the processes have in force, so that one of them records a change, and one that has an older file moves
-- no transfer. The calendars themselves are files of the configuration.
CREATE TABLE calendar_editions (
  calendar text PRIMARY KEY,
  digest text NOT NULL,
  source text NOT NULL,
  published_until date NOT NULL,
  until date NOT NULL,
  closed_dates text[] NOT NULL,
  in_force_since timestamptz NOT NULL
);

-- While the index is built, no transfer can be written: with millions of transfers, build it beforehand under the same name
-- with CREATE INDEX CONCURRENTLY.
CREATE INDEX IF NOT EXISTS outgoing_transfers_pending_schedules ON outgoing_transfers
  (scheme, currency, transfer_date, coalesce(cut_off_at, '-infinity'), id) WHERE status = 'pending' AND scheme IS NOT NULL;
COMMENT ON INDEX outgoing_transfers_pending_schedules IS 'The calendars loop: the dates and cut-offs for which transfers wait, and the transfers of each.';
