-- Rows that never change. The rights of the service's role follow from these triggers (db/service-role.sql): it gets none that they reject.
CREATE OR REPLACE FUNCTION reject_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

CREATE OR REPLACE TRIGGER postings_append_only BEFORE UPDATE OR DELETE ON postings FOR EACH ROW EXECUTE FUNCTION reject_change();
CREATE OR REPLACE TRIGGER postings_never_truncated BEFORE TRUNCATE ON postings FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE OR REPLACE TRIGGER balance_adjustments_append_only BEFORE UPDATE OR DELETE ON balance_adjustments FOR EACH ROW EXECUTE FUNCTION reject_change();
CREATE OR REPLACE TRIGGER balance_adjustments_never_truncated BEFORE TRUNCATE ON balance_adjustments FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE OR REPLACE TRIGGER fee_sweeps_append_only BEFORE UPDATE OR DELETE ON fee_sweeps FOR EACH ROW EXECUTE FUNCTION reject_change();
CREATE OR REPLACE TRIGGER fee_sweeps_never_truncated BEFORE TRUNCATE ON fee_sweeps FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE OR REPLACE TRIGGER party_accounts_append_only BEFORE UPDATE OR DELETE ON party_accounts FOR EACH ROW EXECUTE FUNCTION reject_change();
CREATE OR REPLACE TRIGGER party_accounts_never_truncated BEFORE TRUNCATE ON party_accounts FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE OR REPLACE TRIGGER audit_entries_append_only BEFORE UPDATE OR DELETE ON audit_entries FOR EACH ROW EXECUTE FUNCTION reject_change();
CREATE OR REPLACE TRIGGER audit_entries_never_truncated BEFORE TRUNCATE ON audit_entries FOR EACH STATEMENT EXECUTE FUNCTION reject_change();

-- What an event says never changes; its position is set once it is numbered, and retention deletes it.
CREATE OR REPLACE TRIGGER events_unchanged BEFORE UPDATE OF id, entry_count, module, resource_id, first_sequence, occurred_at, entries, traceparent ON events
  FOR EACH ROW EXECUTE FUNCTION reject_change();
