-- Who changed what, with the request that asked for it: only the fields that changed, before and after. Nullable, as the
-- previous release appends without them; of its entries the subject is the resource's id, the details what came after.
ALTER TABLE audit_entries
  ADD COLUMN resource text,
  ADD COLUMN resource_id text,
  ADD COLUMN request_id text,
  ADD COLUMN before jsonb,
  ADD COLUMN after jsonb;
UPDATE audit_entries SET resource_id = subject, after = nullif(details, '{}'),
  resource = CASE WHEN action LIKE 'machine-user-%' THEN 'machine-user' ELSE split_part(action, '.', 1) END;

CREATE TRIGGER audit_entries_append_only BEFORE UPDATE OR DELETE ON audit_entries FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_entries_never_truncated BEFORE TRUNCATE ON audit_entries FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
