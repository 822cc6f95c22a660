-- Each build holds back writes of its table until the end, and no reads. That of audit entries comes last: every command writes them.
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (subscription_id, event_id) WHERE status = 'failed';
COMMENT ON INDEX webhook_deliveries_failed IS 'The console: what a receiver never took, newest first.';
CREATE INDEX audit_entries_of_people ON audit_entries (occurred_at, id) WHERE role IS NOT NULL OR request_id IS NULL;
COMMENT ON INDEX audit_entries_of_people IS 'The console: what people and commands did last, among all that callers of the interface do.';
