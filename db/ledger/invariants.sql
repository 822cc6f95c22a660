-- The invariants of the ledger at any committed moment. Each breach is one row: rule, subject, expected, actual. No rows means
-- that the ledger is consistent. Tests run this after every scenario, as does `npm run ledger:check`, all statements on one
-- snapshot. Each statement reads its tables once: it lists expected and actual values under opposite signs and returns
-- whatever does not cancel out.

-- All entries of each account. Client balances are the stored ones, because the two sides of a posting always cancel out.
WITH sums AS (
  SELECT account_id, currency, version IS NOT NULL AS has_versions, sum(signed_minor) AS balance_minor, count(*) AS entry_count,
    max(version) AS last_version, min(id) AS first_posting_id
  FROM (
    SELECT id, debit_account_id AS account_id, -amount_minor AS signed_minor, debit_version AS version, currency FROM postings
    UNION ALL
    SELECT id, credit_account_id, amount_minor::bigint, credit_version, currency FROM postings
  ) AS entries
  GROUP BY account_id, currency, version IS NOT NULL
),
sums_of_account AS (
  SELECT account_id, sum(balance_minor) AS balance_minor, sum(entry_count) AS entry_count, max(last_version) AS last_version
  FROM sums GROUP BY account_id
)
SELECT 'a currency sums to zero' AS rule, currency AS subject, '0' AS expected, sum(balance_minor)::text AS actual
  FROM (SELECT currency, posted_minor AS balance_minor FROM accounts
    UNION ALL SELECT currency, balance_minor FROM sums WHERE NOT has_versions) AS books
  GROUP BY currency HAVING sum(balance_minor) <> 0
UNION ALL
SELECT 'both sides of a posting are accounts in its currency', account_id::text || ', first by posting ' || first_posting_id,
    sums.currency, coalesce(account.currency, system_account.currency, 'no account')
  FROM sums
  LEFT JOIN accounts AS account ON account.id = account_id
  LEFT JOIN system_accounts AS system_account ON system_account.id = account_id
  WHERE coalesce(account.currency, system_account.currency) IS DISTINCT FROM sums.currency
UNION ALL
SELECT 'client sides have versions, system sides have none', account_id::text || ', first by posting ' || first_posting_id,
    (account.id IS NOT NULL)::text, has_versions::text
  FROM sums LEFT JOIN accounts AS account ON account.id = account_id
  WHERE (account.id IS NOT NULL) <> has_versions
UNION ALL
SELECT 'a balance is the sum of its entries', account.id::text, coalesce(sums.balance_minor, 0)::text, account.posted_minor::text
  FROM accounts AS account LEFT JOIN sums_of_account AS sums ON sums.account_id = account.id
  WHERE account.posted_minor <> coalesce(sums.balance_minor, 0)
UNION ALL
SELECT 'versions have no gaps', account.id::text, account.version::text,
    coalesce(sums.entry_count, 0) || ' entries up to version ' || coalesce(sums.last_version, 0)
  FROM accounts AS account LEFT JOIN sums_of_account AS sums ON sums.account_id = account.id
  WHERE account.version <> coalesce(sums.entry_count, 0) OR account.version <> coalesce(sums.last_version, 0)
UNION ALL
SELECT 'suspense holds what has arrived and is not yet a client''s', system_account.provider || ' ' || system_account.currency,
    coalesce(held.amount_minor, 0)::text, coalesce(sums.balance_minor, 0)::text
  FROM system_accounts AS system_account
  LEFT JOIN sums_of_account AS sums ON sums.account_id = system_account.id
  LEFT JOIN (SELECT provider, currency, sum(amount_minor) AS amount_minor FROM incoming_transfers WHERE in_suspense GROUP BY provider, currency)
    AS held ON held.provider = system_account.provider AND held.currency = system_account.currency
  WHERE system_account.kind = 'suspense' AND coalesce(sums.balance_minor, 0) <> coalesce(held.amount_minor, 0);

SELECT 'an entry follows from the one before it' AS rule, account_id::text || ' version ' || version AS subject,
    (coalesce(version_before, 0) + 1) || ': ' || (coalesce(balance_before_minor, 0) + signed_minor) AS expected,
    version || ': ' || balance_after_minor AS actual
  FROM (
    SELECT account_id, signed_minor, version, balance_after_minor, posted_at, lag(version) OVER previous AS version_before,
      lag(balance_after_minor) OVER previous AS balance_before_minor, lag(posted_at) OVER previous AS posted_before
    FROM (
      SELECT debit_account_id AS account_id, -amount_minor AS signed_minor, debit_version AS version,
        debit_balance_after_minor AS balance_after_minor, posted_at FROM postings WHERE debit_version IS NOT NULL
      UNION ALL
      SELECT credit_account_id, amount_minor::bigint, credit_version, credit_balance_after_minor, posted_at FROM postings WHERE credit_version IS NOT NULL
    ) AS entries
    WINDOW previous AS (PARTITION BY account_id ORDER BY version)
  ) AS client_entries
  WHERE version <> coalesce(version_before, 0) + 1 OR balance_after_minor <> coalesce(balance_before_minor, 0) + signed_minor
    OR posted_at < posted_before;

SELECT 'no available balance is negative' AS rule, id::text AS subject, 'at least 0' AS expected, (posted_minor - reserved_minor)::text AS actual
  FROM accounts WHERE posted_minor < reserved_minor
UNION ALL
SELECT 'reserved is the sum of open reservations', account.id::text, coalesce(reservations.reserved_minor, 0)::text, account.reserved_minor::text
  FROM accounts AS account LEFT JOIN (
    SELECT account_id, sum(reserved_minor) AS reserved_minor FROM outgoing_transfers WHERE reserved_minor <> 0 GROUP BY account_id
  ) AS reservations ON reservations.account_id = account.id
  WHERE account.reserved_minor <> coalesce(reservations.reserved_minor, 0)
UNION ALL
SELECT 'receivable is the sum of what is on its way', account.id::text, coalesce(receivables.receivable_minor, 0)::text, account.receivable_minor::text
  FROM accounts AS account LEFT JOIN (
    SELECT account_id, sum(receivable_minor) AS receivable_minor FROM incoming_transfers WHERE receivable_minor <> 0 GROUP BY account_id
  ) AS receivables ON receivables.account_id = account.id
  WHERE account.receivable_minor <> coalesce(receivables.receivable_minor, 0);

-- A release debits the transfer's account. A reversal credits it from a system account.
SELECT 'an outgoing transfer is posted exactly as its status says' AS rule,
    transfer_id || ' ' || coalesce((SELECT status FROM outgoing_transfers WHERE id = transfer_id), 'no transfer') || ', ' || entry_type || ' of ' || account_id AS subject,
    max(due_minor)::text AS expected, (max(due_minor) - sum(due_minor - posted_minor))::text AS actual
  FROM (
    SELECT id AS transfer_id, account_id, 'principal' AS entry_type, amount_minor AS due_minor, 0::bigint AS posted_minor
      FROM outgoing_transfers WHERE status IN ('released', 'completed')
    UNION ALL
    SELECT id, account_id, 'fee', fee_minor, 0 FROM outgoing_transfers WHERE status IN ('released', 'completed') AND fee_minor > 0
    UNION ALL
    SELECT outgoing_transfer_id, debit_account_id, entry_type, 0, amount_minor FROM postings
      WHERE outgoing_transfer_id IS NOT NULL AND debit_version IS NOT NULL
    UNION ALL
    SELECT outgoing_transfer_id, credit_account_id, entry_type, 0, -amount_minor FROM postings
      WHERE outgoing_transfer_id IS NOT NULL AND debit_version IS NULL
  ) AS sides
  GROUP BY transfer_id, account_id, entry_type HAVING sum(due_minor - posted_minor) <> 0;

-- A CHECK of the table keeps the sum at or below the principal.
SELECT 'a payment has come back by the sum of its returns' AS rule, transfer_id::text AS subject, sum(due_minor)::text AS expected,
    sum(returned_minor)::text AS actual
  FROM (
    SELECT id AS transfer_id, returned_minor AS due_minor, 0::bigint AS returned_minor FROM outgoing_transfers WHERE returned_minor <> 0
    UNION ALL
    SELECT return_of, 0, amount_minor FROM incoming_transfers WHERE return_of IS NOT NULL
  ) AS sides
  GROUP BY transfer_id HAVING sum(due_minor) <> sum(returned_minor);

-- Likewise.
SELECT 'a payment in is being returned by the sum of its returns' AS rule, transfer_id::text AS subject, sum(due_minor)::text AS expected,
    sum(returning_minor)::text AS actual
  FROM (
    SELECT id AS transfer_id, returning_minor AS due_minor, 0::bigint AS returning_minor FROM incoming_transfers WHERE returning_minor <> 0
    UNION ALL
    SELECT return_of, 0, amount_minor FROM outgoing_transfers WHERE return_of IS NOT NULL AND status NOT IN ('failed', 'cancelled')
  ) AS sides
  GROUP BY transfer_id HAVING sum(due_minor) <> sum(returning_minor);

SELECT 'an incoming transfer is credited exactly when it is completed' AS rule,
    transfer_id || ' ' || coalesce((SELECT status FROM incoming_transfers WHERE id = transfer_id), 'no transfer') || ', to ' || account_id AS subject,
    max(due_minor)::text AS expected, (max(due_minor) - sum(due_minor - posted_minor))::text AS actual
  FROM (
    SELECT id AS transfer_id, account_id, amount_minor AS due_minor, 0::bigint AS posted_minor FROM incoming_transfers WHERE status = 'completed'
    UNION ALL
    SELECT incoming_transfer_id, credit_account_id, 0, amount_minor FROM postings
      WHERE incoming_transfer_id IS NOT NULL AND credit_version IS NOT NULL AND entry_type = 'principal'
  ) AS sides
  GROUP BY transfer_id, account_id HAVING sum(due_minor - posted_minor) <> 0;

WITH pairs AS (
  SELECT outgoing_id, amount_minor, sum(outgoing) AS outgoing, sum(incoming) AS incoming
  FROM (
    SELECT id AS outgoing_id, destination_account_id AS account_id, amount_minor, 1 AS outgoing, 0 AS incoming
      FROM outgoing_transfers WHERE scope = 'internal' AND status = 'completed'
    UNION ALL
    SELECT outgoing_transfer_id, account_id, amount_minor, 0, 1 FROM incoming_transfers
      WHERE scope = 'internal' AND status = 'completed' AND outgoing_transfer_id IS NOT NULL
  ) AS sides
  GROUP BY outgoing_id, account_id, amount_minor HAVING sum(outgoing) <> sum(incoming)
)
SELECT 'a completed internal transfer has exactly one incoming one' AS rule, outgoing_id::text AS subject,
    '1 completed of ' || amount_minor AS expected, incoming || ' completed' AS actual
  FROM pairs WHERE outgoing > 0
UNION ALL
SELECT 'an incoming internal transfer is completed only with its outgoing one', 'of ' || outgoing_id, 'completed',
    coalesce((SELECT status FROM outgoing_transfers WHERE id = outgoing_id), 'no transfer')
  FROM pairs WHERE outgoing = 0;

-- A checkpoint includes the entry of its own posting, so it sorts after that entry.
SELECT 'a checkpoint is the sum of the postings up to it' AS rule, account_id || ' at ' || id AS subject, sum_minor::text AS expected,
    balance_minor::text AS actual
  FROM (
    SELECT account_id, id, balance_minor, coalesce(sum(signed_minor) OVER (PARTITION BY account_id ORDER BY id, balance_minor IS NOT NULL), 0) AS sum_minor
    FROM (
      SELECT debit_account_id AS account_id, id, -amount_minor AS signed_minor, NULL::bigint AS balance_minor FROM postings WHERE debit_version IS NULL
      UNION ALL
      SELECT credit_account_id, id, amount_minor, NULL FROM postings WHERE credit_version IS NULL
      UNION ALL
      SELECT system_account_id, posting_id, NULL, balance_minor FROM system_account_checkpoints
    ) AS entries
  ) AS checkpoints
  WHERE balance_minor <> sum_minor;

-- Postings that belong to a record of their own instead of a transfer.
WITH recorded AS MATERIALIZED (
  SELECT posting.*, debited.kind AS debited_kind, debited.provider AS debited_provider, credited.kind AS credited_kind, credited.provider AS credited_provider
  FROM postings AS posting
  LEFT JOIN system_accounts AS debited ON debited.id = posting.debit_account_id
  LEFT JOIN system_accounts AS credited ON credited.id = posting.credit_account_id
  WHERE posting.debit_transaction_type IN ('fee-sweep', 'balance-adjustment') OR posting.credit_transaction_type IN ('fee-sweep', 'balance-adjustment')
)
SELECT 'a fee sweep is posted as it is recorded' AS rule, 'posting ' || coalesce(sweep.posting_id, posting.id) AS subject,
    coalesce(sweep.provider || ' ' || sweep.currency || ' ' || sweep.amount_minor, 'no sweep') AS expected,
    coalesce(posting.provider || ' ' || posting.currency || ' ' || posting.amount_minor, 'no such posting') AS actual
  FROM fee_sweeps AS sweep
  FULL JOIN (
    SELECT id, debit_transaction_number, currency,
      CASE WHEN debited_kind = 'fee-revenue' AND credited_kind = 'settlement' AND debited_provider = credited_provider THEN amount_minor
        WHEN debited_kind = 'settlement' AND credited_kind = 'fee-revenue' AND debited_provider = credited_provider THEN -amount_minor END AS amount_minor,
      debited_provider AS provider
    FROM recorded WHERE debit_transaction_type = 'fee-sweep' OR credit_transaction_type = 'fee-sweep'
  ) AS posting ON posting.id = sweep.posting_id
  WHERE (sweep.provider, sweep.currency, sweep.amount_minor, sweep.transaction_number)
    IS DISTINCT FROM (posting.provider, posting.currency, posting.amount_minor, posting.debit_transaction_number)
UNION ALL
SELECT 'a balance adjustment is posted as it is recorded', 'posting ' || coalesce(adjustment.posting_id, posting.id),
    coalesce(adjustment.words, 'no adjustment'), coalesce(posting.words, 'no such posting')
  FROM (
    SELECT posting_id, concat_ws(' ', direction, account_id, amount_minor, adjusted.currency, transaction_number, 'against',
        CASE WHEN workflow_code = 'synchronization' THEN 'settlement' WHEN workflow_type = 'fee' THEN 'fee-revenue' ELSE 'correction' END,
        'of', account.provider) AS words
    FROM balance_adjustments AS adjusted LEFT JOIN accounts AS account ON account.id = account_id
  ) AS adjustment
  FULL JOIN (
    SELECT id, CASE WHEN debit_transaction_type = credit_transaction_type AND debit_transaction_number = credit_transaction_number AND entry_type = 'principal'
      THEN concat_ws(' ', CASE WHEN debit_version IS NULL THEN 'credit' ELSE 'debit' END, CASE WHEN debit_version IS NULL THEN credit_account_id ELSE debit_account_id END,
        amount_minor, currency, debit_transaction_number, 'against', coalesce(debited_kind, credited_kind), 'of', coalesce(debited_provider, credited_provider)) ELSE 'two different sides' END AS words
    FROM recorded WHERE debit_transaction_type = 'balance-adjustment' OR credit_transaction_type = 'balance-adjustment'
  ) AS posting ON posting.id = adjustment.posting_id
  WHERE adjustment.words IS DISTINCT FROM posting.words;

SELECT 'a sub-account repeats the status of its main account' AS rule, sub.id::text AS subject, main.status::text AS expected,
    coalesce(sub.main_account_status, 'none') AS actual
  FROM accounts AS sub LEFT JOIN accounts AS main ON main.id = sub.main_account_id
  WHERE sub.main_account_id IS NOT NULL AND sub.main_account_status IS DISTINCT FROM main.status;

-- Events before the beginning of the log are forgotten, even while their month still has them: the others of each resource have no gap.
-- One statement per large module, because all at once would exceed the memory; the last one covers all other modules.
SELECT 'a resource has recorded every event once' AS rule, 'outgoing-transfers ' || resource_id AS subject, max(event_sequence)::text AS expected,
    concat(sum(entry_count), ' events up to ', coalesce(max(last_sequence), 0)) AS actual
  FROM (
    SELECT resource_id, entry_count::integer AS entry_count, first_sequence, first_sequence + entry_count - 1 AS last_sequence, 0::bigint AS event_sequence
      FROM events WHERE module = 'outgoing-transfers' AND (first_position IS NULL OR first_position >= (SELECT first_position FROM event_log_start))
    UNION ALL SELECT id, 0, NULL::bigint, NULL::bigint, event_sequence FROM outgoing_transfers
  ) AS counted
  GROUP BY resource_id
  HAVING CASE WHEN sum(entry_count) = 0 THEN max(event_sequence) <> 0 AND NOT (SELECT first_position > 1 FROM event_log_start)
    ELSE max(event_sequence) <> max(last_sequence) OR sum(entry_count) <> max(last_sequence) - min(first_sequence) + 1
      OR min(first_sequence) <> 1 AND NOT (SELECT first_position > 1 FROM event_log_start) END;

SELECT 'a resource has recorded every event once' AS rule, 'incoming-transfers ' || resource_id AS subject, max(event_sequence)::text AS expected,
    concat(sum(entry_count), ' events up to ', coalesce(max(last_sequence), 0)) AS actual
  FROM (
    SELECT resource_id, entry_count::integer AS entry_count, first_sequence, first_sequence + entry_count - 1 AS last_sequence, 0::bigint AS event_sequence
      FROM events WHERE module = 'incoming-transfers' AND (first_position IS NULL OR first_position >= (SELECT first_position FROM event_log_start))
    UNION ALL SELECT id, 0, NULL::bigint, NULL::bigint, event_sequence FROM incoming_transfers
  ) AS counted
  GROUP BY resource_id
  HAVING CASE WHEN sum(entry_count) = 0 THEN max(event_sequence) <> 0 AND NOT (SELECT first_position > 1 FROM event_log_start)
    ELSE max(event_sequence) <> max(last_sequence) OR sum(entry_count) <> max(last_sequence) - min(first_sequence) + 1
      OR min(first_sequence) <> 1 AND NOT (SELECT first_position > 1 FROM event_log_start) END;

SELECT 'a resource has recorded every event once' AS rule, module || ' ' || resource_id AS subject, max(event_sequence)::text AS expected,
    concat(sum(entry_count), ' events up to ', coalesce(max(last_sequence), 0)) AS actual
  FROM (
    SELECT module, resource_id, entry_count::integer AS entry_count, first_sequence, first_sequence + entry_count - 1 AS last_sequence, 0::bigint AS event_sequence
      FROM events WHERE module IN ('accounts', 'clients') AND (first_position IS NULL OR first_position >= (SELECT first_position FROM event_log_start))
    UNION ALL SELECT 'accounts', id, 0, NULL::bigint, NULL::bigint, event_sequence FROM accounts
    UNION ALL SELECT 'clients', id, 0, NULL::bigint, NULL::bigint, event_sequence FROM clients
  ) AS counted
  GROUP BY module, resource_id
  HAVING CASE WHEN sum(entry_count) = 0 THEN max(event_sequence) <> 0 AND NOT (SELECT first_position > 1 FROM event_log_start)
    ELSE max(event_sequence) <> max(last_sequence) OR sum(entry_count) <> max(last_sequence) - min(first_sequence) + 1
      OR min(first_sequence) <> 1 AND NOT (SELECT first_position > 1 FROM event_log_start) END;
