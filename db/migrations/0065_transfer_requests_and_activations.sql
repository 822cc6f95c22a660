-- The request that created a transfer, for the log's derived entry. Null where one statement does the whole transfer, which writes
-- nothing for it, and in transfers of an earlier release.
ALTER TABLE outgoing_transfers ADD COLUMN request_id text;
SELECT make_row_writer('outgoing_transfers');

CREATE OR REPLACE VIEW audit_log AS
  SELECT id, occurred_at, actor, action, coalesce(resource, split_part(action, '.', 1)) AS resource, subject AS resource_id,
    request_id, before, after, NULL::uuid AS transfer_id, NULL::bigint AS amount_minor, NULL::text AS currency
  FROM audit_entries
  UNION ALL
  SELECT id, created_at, coalesce(created_by::text, 'unknown'), 'created'::text, 'outgoing-transfer'::text, id::text, request_id, NULL::jsonb,
    jsonb_strip_nulls(jsonb_build_object('transactionNumber', transaction_number, 'clientId', client_id, 'currency', currency,
      'scope', scope, 'scheme', scheme, 'transferDate', original_transfer_date, 'sourceAccountId', account_id,
      'destinationAccountId', destination_account_id, 'beneficiaryBankAccountId', beneficiary_bank_account_id)),
    id, amount_minor::bigint, currency
  FROM outgoing_transfers;

-- Access tokens and codes from before a third party became inactive stay dead when it becomes active again.
ALTER TABLE third_party_providers ADD COLUMN active_since timestamptz;
UPDATE third_party_providers SET active_since = created_at;
-- For the release before, which does not write it.
ALTER TABLE third_party_providers ALTER COLUMN active_since SET DEFAULT service_now();
ALTER TABLE third_party_providers ALTER COLUMN active_since SET NOT NULL;
