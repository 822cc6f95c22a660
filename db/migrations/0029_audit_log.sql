-- The audit log as it is read. An outgoing transfer is the record of its own creation, which therefore writes no entry: the log
-- derives one, with the transfer's id, from fields that never change. `transfer_id` is null in every other entry.
-- No side has a WHERE: with one, Postgres would sort all of it for every page.
CREATE VIEW audit_log AS
  -- `subject` is the resource's id in the entries of every release; some of an earlier one have no `resource`.
  SELECT id, occurred_at, actor, action, coalesce(resource, split_part(action, '.', 1)) AS resource, subject AS resource_id,
    request_id, before, after, NULL::uuid AS transfer_id, NULL::bigint AS amount_minor, NULL::text AS currency
  FROM audit_entries
  UNION ALL
  SELECT id, created_at, coalesce(created_by::text, 'unknown'), 'created'::text, 'outgoing-transfer'::text, id::text, NULL::text, NULL::jsonb,
    jsonb_strip_nulls(jsonb_build_object('transactionNumber', transaction_number, 'clientId', client_id, 'currency', currency,
      'scope', scope, 'scheme', scheme, 'transferDate', original_transfer_date, 'sourceAccountId', account_id,
      'destinationAccountId', destination_account_id, 'beneficiaryBankAccountId', beneficiary_bank_account_id)),
    id, amount_minor::bigint, currency
  FROM outgoing_transfers;

-- While the first is built, no transfer is created or changed: on a large ledger, build it beforehand under the same name with
-- CREATE INDEX CONCURRENTLY.
CREATE INDEX IF NOT EXISTS outgoing_transfers_by_time ON outgoing_transfers (created_at, id) INCLUDE (created_by);
CREATE INDEX IF NOT EXISTS audit_entries_by_time ON audit_entries (occurred_at, id);
CREATE INDEX IF NOT EXISTS audit_entries_by_resource_id ON audit_entries (subject, occurred_at, id);
CREATE INDEX IF NOT EXISTS audit_entries_by_resource ON audit_entries (coalesce(resource, split_part(action, '.', 1)), occurred_at, id);
CREATE INDEX IF NOT EXISTS audit_entries_by_actor ON audit_entries (actor, occurred_at, id);
CREATE INDEX IF NOT EXISTS audit_entries_by_action ON audit_entries (action, occurred_at, id);
-- audit_entries_by_resource_id takes its place.
DROP INDEX audit_entries_by_subject;

COMMENT ON INDEX outgoing_transfers_by_time IS 'GET /audit-entries and its export: the creations of transfers in their order, of a period, with their actor, and the total.';
COMMENT ON INDEX audit_entries_by_time IS 'GET /audit-entries and its export: the log in its order, and of a period.';
COMMENT ON INDEX audit_entries_by_resource_id IS 'GET /audit-entries and its export by resourceId.';
COMMENT ON INDEX audit_entries_by_resource IS 'GET /audit-entries and its export by resource.';
COMMENT ON INDEX audit_entries_by_actor IS 'GET /audit-entries and its export by actor.';
COMMENT ON INDEX audit_entries_by_action IS 'GET /audit-entries and its export by action.';
