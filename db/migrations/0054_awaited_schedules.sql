-- Refused payments that wait for another attempt wait for a date, as pending transfers do, so a calendar's change moves them too. The
-- release before finds the pending ones by this index as well.
-- While it is built, no transfer can be written: with millions of transfers, build it beforehand under the same name
-- with CREATE INDEX CONCURRENTLY.
CREATE INDEX IF NOT EXISTS outgoing_transfers_awaited_schedules ON outgoing_transfers
  (scheme, currency, transfer_date, coalesce(cut_off_at, '-infinity'), id)
  WHERE scheme IS NOT NULL AND (status = 'pending' OR (status = 'processing' AND submission_status = 'refused'));
COMMENT ON INDEX outgoing_transfers_awaited_schedules IS 'The calendars loop: the dates and cut-offs for which transfers wait, and the transfers of each.';
DROP INDEX outgoing_transfers_pending_schedules;
