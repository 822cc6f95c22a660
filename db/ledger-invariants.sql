-- Everything that must hold of the books at any committed moment. One row for each thing that does not: which rule, of
-- what, what it should be, what it is. No rows = the books hold. Run by tests after every scenario, by
-- `npm run ledger:check`, and on a schedule. One statement, so that all of it is judged on one snapshot.
WITH
entries AS (
  SELECT debit_account_id AS account_id, id, -amount_minor AS signed_minor, debit_version AS version,
    debit_balance_after_minor AS balance_after_minor, posted_at, currency FROM postings
  UNION ALL
  SELECT credit_account_id, id, amount_minor, credit_version, credit_balance_after_minor, posted_at, currency FROM postings
),
client_entries AS (
  SELECT entry.*, lag(version) OVER previous AS version_before, lag(balance_after_minor) OVER previous AS balance_before_minor,
    lag(posted_at) OVER previous AS posted_before
  FROM entries AS entry WHERE version IS NOT NULL
  WINDOW previous AS (PARTITION BY account_id ORDER BY version)
),
account_sums AS (
  SELECT account_id, sum(signed_minor) AS balance_minor, count(*) AS entry_count, max(version) AS last_version
  FROM entries GROUP BY account_id
),
reservations AS (
  SELECT account_id, sum(reserved_minor) AS reserved_minor FROM outgoing_transfers WHERE reserved_minor <> 0 GROUP BY account_id
),
receivables AS (
  SELECT account_id, sum(receivable_minor) AS receivable_minor FROM incoming_transfers WHERE receivable_minor <> 0 GROUP BY account_id
),
outgoing_postings AS (
  SELECT transfer.id AS transfer_id,
    sum(CASE WHEN posting.debit_account_id = transfer.account_id THEN posting.amount_minor
      WHEN posting.credit_account_id = transfer.account_id THEN -posting.amount_minor ELSE 0 END)
      FILTER (WHERE posting.entry_type = 'principal') AS principal_minor,
    sum(CASE WHEN posting.debit_account_id = transfer.account_id THEN posting.amount_minor
      WHEN posting.credit_account_id = transfer.account_id THEN -posting.amount_minor ELSE 0 END)
      FILTER (WHERE posting.entry_type = 'fee') AS fee_minor
  FROM postings AS posting JOIN outgoing_transfers AS transfer ON transfer.id = posting.outgoing_transfer_id
  GROUP BY transfer.id
),
incoming_principals AS (
  SELECT transfer.id AS transfer_id,
    sum(CASE WHEN posting.credit_account_id = transfer.account_id THEN posting.amount_minor ELSE 0 END) AS credited_minor
  FROM postings AS posting JOIN incoming_transfers AS transfer ON transfer.id = posting.incoming_transfer_id
  WHERE posting.entry_type = 'principal' GROUP BY transfer.id
),
event_counts AS (
  SELECT module, resource_id, sum(entry_count) AS entry_count, max(first_sequence + entry_count - 1) AS last_sequence,
    min(first_sequence) AS first_sequence
  FROM events GROUP BY module, resource_id
),
resources AS (
  SELECT 'outgoing-transfers' AS module, id, event_sequence FROM outgoing_transfers
  UNION ALL SELECT 'incoming-transfers', id, event_sequence FROM incoming_transfers
  UNION ALL SELECT 'accounts', id, event_sequence FROM accounts
  UNION ALL SELECT 'clients', id, event_sequence FROM clients
)
-- Clients' balances as they are stored: the two sides of one posting cannot but cancel out.
SELECT 'a currency sums to zero' AS rule, currency AS subject, '0' AS expected, sum(balance_minor)::text AS actual
  FROM (SELECT currency, posted_minor AS balance_minor FROM accounts
    UNION ALL SELECT currency, signed_minor FROM entries WHERE version IS NULL) AS books
  GROUP BY currency HAVING sum(balance_minor) <> 0
UNION ALL
SELECT 'both sides of a posting are accounts in its currency', entry.id::text, entry.currency, coalesce(account.currency, system_account.currency, 'no account')
  FROM entries AS entry
  LEFT JOIN accounts AS account ON account.id = entry.account_id
  LEFT JOIN system_accounts AS system_account ON system_account.id = entry.account_id
  WHERE coalesce(account.currency, system_account.currency) IS DISTINCT FROM entry.currency
UNION ALL
SELECT 'client sides have versions, system sides have none', entry.id::text, (account.id IS NOT NULL)::text, (entry.version IS NOT NULL)::text
  FROM entries AS entry LEFT JOIN accounts AS account ON account.id = entry.account_id
  WHERE (account.id IS NOT NULL) <> (entry.version IS NOT NULL)
UNION ALL
SELECT 'a balance is the sum of its entries', account.id::text, coalesce(sums.balance_minor, 0)::text, account.posted_minor::text
  FROM accounts AS account LEFT JOIN account_sums AS sums ON sums.account_id = account.id
  WHERE account.posted_minor <> coalesce(sums.balance_minor, 0)
UNION ALL
SELECT 'versions have no gaps', account.id::text, account.version::text,
    coalesce(sums.entry_count, 0) || ' entries up to version ' || coalesce(sums.last_version, 0)
  FROM accounts AS account LEFT JOIN account_sums AS sums ON sums.account_id = account.id
  WHERE account.version <> coalesce(sums.entry_count, 0) OR account.version <> coalesce(sums.last_version, 0)
UNION ALL
SELECT 'an entry follows from the one before it', account_id::text || ' version ' || version,
    (coalesce(version_before, 0) + 1) || ': ' || (coalesce(balance_before_minor, 0) + signed_minor), version || ': ' || balance_after_minor
  FROM client_entries
  WHERE version <> coalesce(version_before, 0) + 1 OR balance_after_minor <> coalesce(balance_before_minor, 0) + signed_minor
    OR posted_at < posted_before
UNION ALL
SELECT 'no available balance is negative', id::text, 'at least 0', (posted_minor - reserved_minor)::text
  FROM accounts WHERE posted_minor < reserved_minor
UNION ALL
SELECT 'reserved is the sum of open reservations', account.id::text, coalesce(reservations.reserved_minor, 0)::text, account.reserved_minor::text
  FROM accounts AS account LEFT JOIN reservations ON reservations.account_id = account.id
  WHERE account.reserved_minor <> coalesce(reservations.reserved_minor, 0)
UNION ALL
SELECT 'receivable is the sum of what is on its way', account.id::text, coalesce(receivables.receivable_minor, 0)::text, account.receivable_minor::text
  FROM accounts AS account LEFT JOIN receivables ON receivables.account_id = account.id
  WHERE account.receivable_minor <> coalesce(receivables.receivable_minor, 0)
UNION ALL
SELECT 'an outgoing transfer is posted exactly as its status says', transfer.id::text || ' ' || transfer.status,
    CASE WHEN transfer.status IN ('released', 'completed') THEN transfer.amount_minor || ' + ' || transfer.fee_minor ELSE '0 + 0' END,
    coalesce(posted.principal_minor, 0) || ' + ' || coalesce(posted.fee_minor, 0)
  FROM outgoing_transfers AS transfer LEFT JOIN outgoing_postings AS posted ON posted.transfer_id = transfer.id
  WHERE coalesce(posted.principal_minor, 0) <> CASE WHEN transfer.status IN ('released', 'completed') THEN transfer.amount_minor ELSE 0 END
    OR coalesce(posted.fee_minor, 0) <> CASE WHEN transfer.status IN ('released', 'completed') THEN transfer.fee_minor ELSE 0 END
UNION ALL
SELECT 'a completed internal transfer has exactly one incoming one', outgoing.id::text, '1 completed of ' || outgoing.amount_minor,
    count(incoming.id) || ' completed'
  FROM outgoing_transfers AS outgoing
  LEFT JOIN incoming_transfers AS incoming ON incoming.outgoing_transfer_id = outgoing.id AND incoming.status = 'completed'
    AND incoming.amount_minor = outgoing.amount_minor AND incoming.account_id = outgoing.destination_account_id
  WHERE outgoing.scope = 'internal' AND outgoing.status = 'completed'
  GROUP BY outgoing.id HAVING count(incoming.id) <> 1
UNION ALL
SELECT 'an incoming internal transfer is completed only with its outgoing one', incoming.id::text, 'completed', coalesce(outgoing.status, 'no transfer')
  FROM incoming_transfers AS incoming LEFT JOIN outgoing_transfers AS outgoing ON outgoing.id = incoming.outgoing_transfer_id
  WHERE incoming.scope = 'internal' AND incoming.outgoing_transfer_id IS NOT NULL AND incoming.status = 'completed'
    AND outgoing.status IS DISTINCT FROM 'completed'
UNION ALL
SELECT 'an incoming transfer is credited exactly when it is completed', transfer.id::text || ' ' || transfer.status,
    CASE WHEN transfer.status = 'completed' THEN transfer.amount_minor ELSE 0 END::text, coalesce(principal.credited_minor, 0)::text
  FROM incoming_transfers AS transfer LEFT JOIN incoming_principals AS principal ON principal.transfer_id = transfer.id
  WHERE coalesce(principal.credited_minor, 0) <> CASE WHEN transfer.status = 'completed' THEN transfer.amount_minor ELSE 0 END
UNION ALL
SELECT 'suspense holds what has arrived and is not yet a client''s', system_account.provider || ' ' || system_account.currency,
    coalesce(held.amount_minor, 0)::text, coalesce(sums.balance_minor, 0)::text
  FROM system_accounts AS system_account
  LEFT JOIN account_sums AS sums ON sums.account_id = system_account.id
  LEFT JOIN (SELECT provider, currency, sum(amount_minor) AS amount_minor FROM incoming_transfers WHERE in_suspense GROUP BY provider, currency)
    AS held ON held.provider = system_account.provider AND held.currency = system_account.currency
  WHERE system_account.kind = 'suspense' AND coalesce(sums.balance_minor, 0) <> coalesce(held.amount_minor, 0)
UNION ALL
SELECT 'a checkpoint is the sum of the postings up to it', checkpoint.system_account_id::text || ' at ' || checkpoint.posting_id,
    coalesce(sum(entry.signed_minor), 0)::text, checkpoint.balance_minor::text
  FROM system_account_checkpoints AS checkpoint
  LEFT JOIN entries AS entry ON entry.account_id = checkpoint.system_account_id AND entry.id <= checkpoint.posting_id
  GROUP BY checkpoint.system_account_id, checkpoint.posting_id, checkpoint.balance_minor
  HAVING coalesce(sum(entry.signed_minor), 0) <> checkpoint.balance_minor
UNION ALL
SELECT 'a resource has told every event once', resources.module || ' ' || resources.id::text, resources.event_sequence::text,
    coalesce(counted.entry_count, 0) || ' events up to ' || coalesce(counted.last_sequence, 0)
  FROM resources LEFT JOIN event_counts AS counted ON counted.module = resources.module AND counted.resource_id = resources.id
  WHERE resources.event_sequence <> coalesce(counted.entry_count, 0) OR resources.event_sequence <> coalesce(counted.last_sequence, 0)
    OR coalesce(counted.first_sequence, 1) <> 1
