-- The rules of invariants.sql for everything recorded since the last check: each account's entries after the checked version,
-- and each transfer with such an entry or an event. Stored sums (balances, reservations, receivables, suspense) are compared as
-- a whole, from checkpoints and open transfers.
-- OFFSET 0 forces row-by-row look-ups. Postgres estimates a fifth of all rows as new and would scan whole tables.
WITH last AS MATERIALIZED (SELECT checked_at, event_position FROM ledger_checks),
changed AS MATERIALIZED (
  SELECT account.id, account.currency, account.version, account.posted_minor, coalesce(checked.version, 0) AS checked_version,
    coalesce(checked.balance_minor, 0) AS checked_minor, coalesce(checked.last_entry_at, '-infinity') AS checked_until
  FROM accounts AS account LEFT JOIN ledger_checked_accounts AS checked ON checked.account_id = account.id
  WHERE account.version <> coalesce(checked.version, 0) OR account.posted_minor <> coalesce(checked.balance_minor, 0)
),
entries AS MATERIALIZED (
  SELECT changed.id AS account_id, changed.currency AS account_currency, changed.checked_version, changed.checked_minor, changed.checked_until, entry.*
  FROM changed CROSS JOIN LATERAL (
    SELECT id, -amount_minor AS signed_minor, debit_version AS version, debit_balance_after_minor AS balance_after_minor, posted_at, currency,
      debit_transaction_type AS transaction_type, entry_type, outgoing_transfer_id, incoming_transfer_id, credit_account_id AS other_account_id, credit_version AS other_version
    FROM postings WHERE debit_account_id = changed.id AND debit_version IS NOT NULL
      AND debit_version > changed.checked_version AND posted_at >= changed.checked_until
    UNION ALL
    SELECT id, amount_minor, credit_version, credit_balance_after_minor, posted_at, currency,
      credit_transaction_type, entry_type, outgoing_transfer_id, incoming_transfer_id, debit_account_id, debit_version
    FROM postings WHERE credit_account_id = changed.id AND credit_version IS NOT NULL
      AND credit_version > changed.checked_version AND posted_at >= changed.checked_until
  ) AS entry
),
sums AS MATERIALIZED (
  SELECT account_id, sum(signed_minor) AS moved_minor, count(*) AS entry_count, max(version) AS last_version FROM entries GROUP BY account_id
),
system_balances AS MATERIALIZED (
  SELECT account.provider, account.currency, account.kind, coalesce(checkpoint.balance_minor, 0) + moved.moved_minor AS balance_minor
  FROM system_accounts AS account
  LEFT JOIN LATERAL (
    SELECT posting_id, balance_minor FROM system_account_checkpoints WHERE system_account_id = account.id ORDER BY posting_id DESC LIMIT 1
  ) AS checkpoint ON true
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(signed_minor), 0) AS moved_minor FROM (
      SELECT -amount_minor AS signed_minor FROM postings
        WHERE debit_account_id = account.id AND debit_version IS NULL AND id > coalesce(checkpoint.posting_id, 0)
      UNION ALL
      SELECT amount_minor FROM postings WHERE credit_account_id = account.id AND credit_version IS NULL AND id > coalesce(checkpoint.posting_id, 0)
    ) AS sides
  ) AS moved
),
-- Numbered since the last check, or not numbered yet.
new_events AS MATERIALIZED (
  SELECT module, resource_id, sum(entry_count) AS entry_count, min(first_sequence) AS first_sequence,
    max(first_sequence + entry_count - 1) AS last_sequence
  FROM (
    SELECT module, resource_id, entry_count::integer AS entry_count, first_sequence FROM events WHERE first_position > (SELECT event_position FROM last)
    UNION ALL
    SELECT module, resource_id, entry_count, first_sequence FROM events WHERE first_position IS NULL
  ) AS rows GROUP BY module, resource_id
),
outgoing AS MATERIALIZED (
  SELECT transfer.*, is_posted FROM (
    SELECT id, bool_or(is_posted) AS is_posted FROM (
      SELECT outgoing_transfer_id AS id, true AS is_posted FROM entries WHERE outgoing_transfer_id IS NOT NULL
      UNION ALL SELECT resource_id, false FROM new_events WHERE module = 'outgoing-transfers'
    ) AS seen GROUP BY id
  ) AS moved CROSS JOIN LATERAL (
    SELECT id, account_id, status, amount_minor, fee_minor, returned_minor, return_of, created_at, event_sequence
    FROM outgoing_transfers WHERE id = moved.id OFFSET 0
  ) AS transfer
),
incoming AS MATERIALIZED (
  SELECT transfer.*, is_posted FROM (
    SELECT id, bool_or(is_posted) AS is_posted FROM (
      SELECT incoming_transfer_id AS id, true AS is_posted FROM entries WHERE incoming_transfer_id IS NOT NULL
      UNION ALL SELECT resource_id, false FROM new_events WHERE module = 'incoming-transfers'
    ) AS seen GROUP BY id
  ) AS moved CROSS JOIN LATERAL (
    SELECT id, account_id, status, amount_minor, outgoing_transfer_id, provider, currency, in_suspense, returning_minor, created_at, event_sequence
    FROM incoming_transfers WHERE id = moved.id OFFSET 0
  ) AS transfer
),
-- Their postings from before the last check, assuming that the clock was not set back since the transfers were created.
outgoing_before AS MATERIALIZED (
  SELECT transfer.id AS transfer_id, transfer.account_id, posting.entry_type, posting.amount_minor
  FROM outgoing AS transfer JOIN ledger_checked_accounts AS checked ON checked.account_id = transfer.account_id AND checked.last_entry_at >= transfer.created_at
  CROSS JOIN LATERAL (
    SELECT entry_type, amount_minor FROM postings
      WHERE debit_account_id = transfer.account_id AND debit_version IS NOT NULL AND debit_version <= checked.version
        AND posted_at BETWEEN transfer.created_at AND checked.last_entry_at AND outgoing_transfer_id = transfer.id
    UNION ALL
    SELECT entry_type, -amount_minor FROM postings
      WHERE credit_account_id = transfer.account_id AND credit_version IS NOT NULL AND credit_version <= checked.version AND debit_version IS NULL
        AND posted_at BETWEEN transfer.created_at AND checked.last_entry_at AND outgoing_transfer_id = transfer.id
    OFFSET 0
  ) AS posting
),
incoming_before AS MATERIALIZED (
  SELECT transfer.id AS transfer_id, transfer.account_id, posting.amount_minor
  FROM incoming AS transfer JOIN ledger_checked_accounts AS checked ON checked.account_id = transfer.account_id AND checked.last_entry_at >= transfer.created_at
  CROSS JOIN LATERAL (
    SELECT amount_minor FROM postings
    WHERE credit_account_id = transfer.account_id AND credit_version IS NOT NULL AND credit_version <= checked.version
      AND posted_at BETWEEN transfer.created_at AND checked.last_entry_at AND incoming_transfer_id = transfer.id AND entry_type = 'principal'
    OFFSET 0
  ) AS posting
),
pairs AS MATERIALIZED (
  SELECT outgoing_id, amount_minor, sum(outgoing) AS outgoing, sum(incoming) AS incoming
  FROM (SELECT id FROM outgoing UNION SELECT outgoing_transfer_id FROM incoming WHERE outgoing_transfer_id IS NOT NULL) AS moved
  CROSS JOIN LATERAL (
    SELECT id AS outgoing_id, destination_account_id AS account_id, amount_minor::bigint AS amount_minor, 1 AS outgoing, 0 AS incoming
      FROM outgoing_transfers WHERE id = moved.id AND scope = 'internal' AND status = 'completed'
    UNION ALL
    SELECT outgoing_transfer_id, account_id, amount_minor, 0, 1
      FROM incoming_transfers WHERE outgoing_transfer_id = moved.id AND scope = 'internal' AND status = 'completed'
    OFFSET 0
  ) AS sides
  GROUP BY outgoing_id, account_id, amount_minor HAVING sum(outgoing) <> sum(incoming)
),
resources AS MATERIALIZED (
  SELECT 'outgoing-transfers' AS module, id, event_sequence, is_posted FROM outgoing
  UNION ALL
  SELECT 'incoming-transfers', id, event_sequence, is_posted FROM incoming
  UNION ALL
  SELECT 'accounts', id, event_sequence, false FROM new_events AS events
    CROSS JOIN LATERAL (SELECT id, event_sequence FROM accounts WHERE id = events.resource_id OFFSET 0) AS account
    WHERE module = 'accounts'
  UNION ALL
  SELECT 'clients', id, event_sequence, false FROM new_events AS events
    CROSS JOIN LATERAL (SELECT id, event_sequence FROM clients WHERE id = events.resource_id OFFSET 0) AS client
    WHERE module = 'clients'
)
SELECT 'a currency sums to zero' AS rule, currency AS subject, '0' AS expected, sum(balance_minor)::text AS actual
  FROM (SELECT currency, posted_minor AS balance_minor FROM accounts
    UNION ALL SELECT currency, balance_minor FROM system_balances) AS books
  GROUP BY currency HAVING sum(balance_minor) <> 0
UNION ALL
SELECT 'both sides of a posting are accounts in its currency', 'posting ' || entry.id, entry.currency,
    entry.account_currency || ', ' || coalesce(account.currency, system_account.currency, 'no account')
  FROM entries AS entry
  LEFT JOIN accounts AS account ON account.id = entry.other_account_id
  LEFT JOIN system_accounts AS system_account ON system_account.id = entry.other_account_id
  WHERE entry.account_currency <> entry.currency OR coalesce(account.currency, system_account.currency) IS DISTINCT FROM entry.currency
UNION ALL
SELECT 'a balance is the sum of its entries', changed.id::text, (checked_minor + coalesce(moved_minor, 0))::text, posted_minor::text
  FROM changed LEFT JOIN sums ON sums.account_id = changed.id
  WHERE posted_minor <> checked_minor + coalesce(moved_minor, 0)
UNION ALL
SELECT 'versions have no gaps', changed.id::text, version::text,
    checked_version + coalesce(entry_count, 0) || ' entries up to version ' || coalesce(last_version, checked_version)
  FROM changed LEFT JOIN sums ON sums.account_id = changed.id
  WHERE version <> checked_version + coalesce(entry_count, 0) OR version <> coalesce(last_version, checked_version)
UNION ALL
SELECT 'an entry follows from the one before it', account_id::text || ' version ' || version,
    (version_before + 1) || ': ' || (balance_before_minor + signed_minor), version || ': ' || balance_after_minor
  FROM (
    SELECT account_id, signed_minor, version, balance_after_minor, posted_at,
      lag(version, 1, checked_version) OVER previous AS version_before,
      lag(balance_after_minor::bigint, 1, checked_minor) OVER previous AS balance_before_minor,
      lag(posted_at, 1, checked_until) OVER previous AS posted_before
    FROM entries WINDOW previous AS (PARTITION BY account_id ORDER BY version)
  ) AS chained
  WHERE version <> version_before + 1 OR balance_after_minor <> balance_before_minor + signed_minor OR posted_at < posted_before
UNION ALL
SELECT 'no available balance is negative', id::text, 'at least 0', (posted_minor - reserved_minor)::text
  FROM accounts WHERE posted_minor < reserved_minor
UNION ALL
SELECT 'reserved is the sum of open reservations', account.id::text, coalesce(reservations.reserved_minor, 0)::text, account.reserved_minor::text
  FROM accounts AS account LEFT JOIN (
    SELECT account_id, sum(reserved_minor) AS reserved_minor FROM outgoing_transfers WHERE status <> 'completed' AND status = 'processing' GROUP BY account_id
  ) AS reservations ON reservations.account_id = account.id
  WHERE account.reserved_minor <> coalesce(reservations.reserved_minor, 0)
UNION ALL
SELECT 'receivable is the sum of what is on its way', account.id::text, coalesce(receivables.receivable_minor, 0)::text, account.receivable_minor::text
  FROM accounts AS account LEFT JOIN (
    SELECT account_id, sum(receivable_minor) AS receivable_minor FROM incoming_transfers
    WHERE status <> 'completed' AND status IN ('pending', 'on-hold') GROUP BY account_id
  ) AS receivables ON receivables.account_id = account.id
  WHERE account.receivable_minor <> coalesce(receivables.receivable_minor, 0)
UNION ALL
-- For transfers that seem to differ, reads all entries of the account, whatever their time.
SELECT 'an outgoing transfer is posted exactly as its status says',
    suspect.transfer_id || ' ' || coalesce((SELECT status FROM outgoing_transfers WHERE id = suspect.transfer_id), 'no transfer') || ', '
      || suspect.entry_type || ' of ' || suspect.account_id, due_minor::text, posted.sum_minor::text
  FROM (
    SELECT transfer_id, account_id, entry_type, max(due_minor) AS due_minor
    FROM (
      SELECT id AS transfer_id, account_id, 'principal' AS entry_type, amount_minor AS due_minor, 0::bigint AS posted_minor
        FROM outgoing WHERE status IN ('released', 'completed')
      UNION ALL
      SELECT id, account_id, 'fee', fee_minor, 0 FROM outgoing WHERE status IN ('released', 'completed') AND fee_minor > 0
      UNION ALL
      SELECT outgoing_transfer_id, account_id, entry_type, 0, -signed_minor FROM entries
        WHERE outgoing_transfer_id IS NOT NULL AND (signed_minor < 0 OR other_version IS NULL)
      UNION ALL
      SELECT transfer_id, account_id, entry_type, 0, amount_minor FROM outgoing_before
    ) AS sides
    GROUP BY transfer_id, account_id, entry_type HAVING sum(due_minor - posted_minor) <> 0
  ) AS suspect CROSS JOIN LATERAL (
    SELECT coalesce(sum(minor), 0) AS sum_minor FROM (
      SELECT amount_minor AS minor FROM postings WHERE debit_account_id = suspect.account_id AND debit_version IS NOT NULL
        AND outgoing_transfer_id = suspect.transfer_id AND entry_type = suspect.entry_type
      UNION ALL
      SELECT -amount_minor FROM postings WHERE credit_account_id = suspect.account_id AND credit_version IS NOT NULL AND debit_version IS NULL
        AND outgoing_transfer_id = suspect.transfer_id AND entry_type = suspect.entry_type
    ) AS all_sides
  ) AS posted
  WHERE due_minor <> posted.sum_minor
UNION ALL
SELECT 'an incoming transfer is credited exactly when it is completed',
    suspect.transfer_id || ' ' || coalesce((SELECT status FROM incoming_transfers WHERE id = suspect.transfer_id), 'no transfer')
      || ', to ' || suspect.account_id, due_minor::text, posted.sum_minor::text
  FROM (
    SELECT transfer_id, account_id, max(due_minor) AS due_minor
    FROM (
      SELECT id AS transfer_id, account_id, amount_minor AS due_minor, 0::bigint AS posted_minor FROM incoming WHERE status = 'completed'
      UNION ALL
      SELECT incoming_transfer_id, account_id, 0, signed_minor FROM entries
        WHERE incoming_transfer_id IS NOT NULL AND signed_minor > 0 AND entry_type = 'principal'
      UNION ALL
      SELECT transfer_id, account_id, 0, amount_minor FROM incoming_before
    ) AS sides
    GROUP BY transfer_id, account_id HAVING sum(due_minor - posted_minor) <> 0
  ) AS suspect CROSS JOIN LATERAL (
    SELECT coalesce(sum(amount_minor), 0) AS sum_minor FROM postings WHERE credit_account_id = suspect.account_id AND credit_version IS NOT NULL
      AND incoming_transfer_id = suspect.transfer_id AND entry_type = 'principal'
  ) AS posted
  WHERE due_minor <> posted.sum_minor
UNION ALL
SELECT 'a completed internal transfer has exactly one incoming one', outgoing_id::text, '1 completed of ' || amount_minor, incoming || ' completed'
  FROM pairs WHERE outgoing > 0
UNION ALL
SELECT 'an incoming internal transfer is completed only with its outgoing one', 'of ' || outgoing_id, 'completed',
    coalesce((SELECT status FROM outgoing_transfers WHERE id = outgoing_id), 'no transfer')
  FROM pairs WHERE outgoing = 0
UNION ALL
SELECT 'suspense holds what has arrived and is not yet a client''s', balance.provider || ' ' || balance.currency,
    coalesce(held.amount_minor, 0)::text, balance.balance_minor::text
  FROM system_balances AS balance
  LEFT JOIN (
    SELECT provider, currency, sum(amount_minor) AS amount_minor FROM (
      SELECT provider, currency, amount_minor FROM incoming_transfers WHERE status <> 'completed' AND in_suspense
      UNION ALL SELECT provider, currency, amount_minor FROM incoming WHERE status = 'completed' AND in_suspense
    ) AS arrived GROUP BY provider, currency
  ) AS held ON held.provider = balance.provider AND held.currency = balance.currency
  WHERE balance.kind = 'suspense' AND balance.balance_minor <> coalesce(held.amount_minor, 0)
UNION ALL
SELECT 'a fee sweep is posted as it is recorded', 'posting ' || moved.id,
    coalesce(sweep.provider || ' ' || sweep.currency || ' ' || sweep.amount_minor, 'no sweep'),
    coalesce(posting.provider || ' ' || posting.currency || ' ' || posting.amount_minor, 'no such posting')
  FROM (
    SELECT posting_id AS id FROM fee_sweeps WHERE swept_at >= (SELECT checked_at - interval '1 hour' FROM last)
    UNION
    SELECT posting.id FROM system_accounts AS account
      LEFT JOIN LATERAL (
        SELECT posting_id FROM system_account_checkpoints WHERE system_account_id = account.id ORDER BY posting_id DESC LIMIT 1
      ) AS checkpoint ON true
      CROSS JOIN LATERAL (
        SELECT id FROM postings WHERE debit_account_id = account.id AND debit_version IS NULL AND id > coalesce(checkpoint.posting_id, 0)
          AND (debit_transaction_type = 'fee-sweep' OR credit_transaction_type = 'fee-sweep') OFFSET 0
      ) AS posting
  ) AS moved
  LEFT JOIN fee_sweeps AS sweep ON sweep.posting_id = moved.id
  LEFT JOIN LATERAL (
    SELECT posting.debit_transaction_number, posting.currency, debited.provider,
      CASE WHEN debited.kind = 'fee-revenue' AND credited.kind = 'settlement' AND debited.provider = credited.provider THEN posting.amount_minor
        WHEN debited.kind = 'settlement' AND credited.kind = 'fee-revenue' AND debited.provider = credited.provider THEN -posting.amount_minor END AS amount_minor
    FROM postings AS posting
    LEFT JOIN system_accounts AS debited ON debited.id = posting.debit_account_id
    LEFT JOIN system_accounts AS credited ON credited.id = posting.credit_account_id
    WHERE posting.id = moved.id AND (posting.debit_transaction_type = 'fee-sweep' OR posting.credit_transaction_type = 'fee-sweep') OFFSET 0
  ) AS posting ON true
  WHERE (sweep.provider, sweep.currency, sweep.amount_minor, sweep.transaction_number)
    IS DISTINCT FROM (posting.provider, posting.currency, posting.amount_minor, posting.debit_transaction_number)
UNION ALL
SELECT 'a balance adjustment is posted as it is recorded', 'posting ' || moved.id,
    coalesce(adjustment.words, 'no adjustment'), coalesce(posting.words, 'no such posting')
  FROM (
    SELECT posting_id AS id FROM balance_adjustments WHERE created_at >= (SELECT checked_at - interval '1 hour' FROM last)
    UNION
    SELECT id FROM entries WHERE transaction_type = 'balance-adjustment'
  ) AS moved
  LEFT JOIN LATERAL (
    SELECT concat_ws(' ', direction, account_id, amount_minor, adjusted.currency, transaction_number, 'against',
        CASE WHEN workflow_code = 'synchronization' THEN 'settlement' WHEN workflow_type = 'fee' THEN 'fee-revenue' ELSE 'correction' END,
        'of', account.provider) AS words
    FROM balance_adjustments AS adjusted LEFT JOIN accounts AS account ON account.id = account_id WHERE posting_id = moved.id OFFSET 0
  ) AS adjustment ON true
  LEFT JOIN LATERAL (
    SELECT CASE WHEN debit_transaction_type = credit_transaction_type AND debit_transaction_number = credit_transaction_number AND entry_type = 'principal'
      THEN concat_ws(' ', CASE WHEN debit_version IS NULL THEN 'credit' ELSE 'debit' END, CASE WHEN debit_version IS NULL THEN credit_account_id ELSE debit_account_id END,
        amount_minor, posted.currency, debit_transaction_number, 'against', other.kind, 'of', other.provider) ELSE 'two different sides' END AS words
    FROM postings AS posted
    LEFT JOIN system_accounts AS other ON other.id = CASE WHEN debit_version IS NULL THEN debit_account_id ELSE credit_account_id END
    WHERE posted.id = moved.id AND (debit_transaction_type = 'balance-adjustment' OR credit_transaction_type = 'balance-adjustment') OFFSET 0
  ) AS posting ON true
  WHERE adjustment.words IS DISTINCT FROM posting.words
UNION ALL
SELECT 'a payment has come back by the sum of its returns', outgoing.id::text, outgoing.returned_minor::text, arrived.sum_minor::text
  FROM outgoing CROSS JOIN LATERAL (
    SELECT coalesce(sum(amount_minor), 0) AS sum_minor FROM incoming_transfers WHERE return_of = outgoing.id OFFSET 0
  ) AS arrived
  WHERE outgoing.returned_minor <> arrived.sum_minor
UNION ALL
SELECT 'a payment in is being returned by the sum of its returns', arrived.id::text, arrived.returning_minor::text, paid.sum_minor::text
  FROM (SELECT return_of FROM outgoing WHERE return_of IS NOT NULL UNION SELECT id FROM incoming WHERE returning_minor <> 0) AS moved
  CROSS JOIN LATERAL (SELECT id, returning_minor, return_ids FROM incoming_transfers WHERE id = moved.return_of OFFSET 0) AS arrived
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(amount_minor), 0) AS sum_minor FROM outgoing_transfers
    WHERE id = ANY (arrived.return_ids) AND return_of = arrived.id AND status NOT IN ('failed', 'cancelled') OFFSET 0
  ) AS paid
  WHERE arrived.returning_minor <> paid.sum_minor
UNION ALL
SELECT 'a sub-account repeats the status of its main account', sub.id::text, main.status::text,
    coalesce(sub.main_account_status, 'none')
  FROM accounts AS sub LEFT JOIN accounts AS main ON main.id = sub.main_account_id
  WHERE sub.main_account_id IS NOT NULL AND sub.main_account_status IS DISTINCT FROM main.status
UNION ALL
SELECT 'a resource has recorded every event once', resource.module || ' ' || resource.id, event_sequence::text,
    coalesce(entry_count, 0) || ' new events from ' || coalesce(first_sequence, 0) || ' to ' || coalesce(last_sequence, 0)
  FROM resources AS resource LEFT JOIN new_events AS events ON events.module = resource.module AND events.resource_id = resource.id
  WHERE CASE WHEN events.resource_id IS NULL THEN event_sequence <> 0 AND is_posted
    ELSE last_sequence <> event_sequence OR entry_count <> last_sequence - first_sequence + 1 END
