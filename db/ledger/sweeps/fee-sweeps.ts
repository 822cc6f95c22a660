import { sql } from 'drizzle-orm';
import { formatAmount } from '../../../domain/common/money.ts';
import type { LocalDate } from '../../../domain/common/time/dates.ts';
import { appendAuditEntry, type Initiator } from '../../common/audit-entries.ts';
import { readClock } from '../../common/clock.ts';
import type { Transaction } from '../../query/database.ts';
import { drawTransactionNumber } from '../../transfers/transaction-numbers.ts';
import { post } from '../ledger.ts';

/** The amount that a sweep moved from a provider's fee revenue to its settlement; negative if corrections exceed fees. */
export interface FeeSweep {
  readonly provider: string;
  readonly currency: string;
  readonly amountMinor: bigint;
  readonly transactionNumber: string;
}

/** The scheduled sweep, once per day. Null if the day was already swept. */
export async function sweepFeesOnce(tx: Transaction, day: LocalDate): Promise<readonly FeeSweep[] | null> {
  // The second of two concurrent sweeps waits here for the first.
  const claimed = await tx.execute(sql`
    INSERT INTO fee_sweep_days (day, swept_at) VALUES (${day}, service_now()) ON CONFLICT DO NOTHING RETURNING day`);
  return claimed.length === 0 ? null : sweepFees(tx, day);
}

/** An operator's sweep: moves the revenue since the last sweep and assigns it to the day. */
export async function sweepFeesByHand(
  tx: Transaction,
  day: LocalDate,
  initiator: Initiator,
): Promise<readonly FeeSweep[]> {
  const swept = await sweepFees(tx, day);
  if (swept.length === 0) return swept;
  const moved = swept.map(({ provider, currency, amountMinor, transactionNumber }) => ({
    serviceProvider: provider,
    currency,
    amount: formatAmount(amountMinor, currency),
    transactionNumber,
  }));
  appendAuditEntry(tx, { initiator, resource: 'fee-sweep', resourceId: day, action: 'swept', after: { moved } });
  return swept;
}

// Only sweeps lock these rows; posting a fee does not wait for them.
const LOCK_FEE_REVENUE = `SELECT id FROM system_accounts WHERE kind = 'fee-revenue' ORDER BY id FOR NO KEY UPDATE`;

// A separate statement, so that it sees what the lock waited for.
const FEE_REVENUE = `
  SELECT account.provider, account.currency, (coalesce(checkpoint.balance_minor, 0) + moved.sum_minor)::bigint AS "amountMinor"
  FROM system_accounts account
  LEFT JOIN LATERAL (
    SELECT posting_id, balance_minor FROM system_account_checkpoints WHERE system_account_id = account.id ORDER BY posting_id DESC LIMIT 1
  ) AS checkpoint ON true
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(amount), 0) AS sum_minor FROM (
      SELECT amount_minor AS amount FROM postings
        WHERE credit_account_id = account.id AND credit_version IS NULL AND id > coalesce(checkpoint.posting_id, 0)
      UNION ALL
      SELECT -amount_minor FROM postings
        WHERE debit_account_id = account.id AND debit_version IS NULL AND id > coalesce(checkpoint.posting_id, 0)
    ) AS movements
  ) AS moved
  WHERE account.kind = 'fee-revenue' ORDER BY account.provider, account.currency`;

async function sweepFees(tx: Transaction, day: LocalDate): Promise<readonly FeeSweep[]> {
  await tx.statement(LOCK_FEE_REVENUE, []);
  const revenues = await tx.statement<Omit<FeeSweep, 'transactionNumber'>>(FEE_REVENUE, []);
  const now = await readClock(tx);
  const swept: FeeSweep[] = [];
  for (const { provider, currency, amountMinor } of revenues) {
    if (amountMinor === 0n) continue;
    const sweep = { provider, currency, amountMinor, transactionNumber: drawTransactionNumber('other', now) };
    await postSweep(tx, sweep, now);
    await tx.execute(sql`
      INSERT INTO fee_sweeps (posting_id, transaction_number, day, provider, currency, amount_minor, swept_at)
      VALUES (currval(pg_get_serial_sequence('postings', 'id')), ${sweep.transactionNumber}, ${day}, ${provider}, ${currency},
        ${amountMinor.toString()}::bigint, ${now})`);
    swept.push(sweep);
  }
  return swept;
}

async function postSweep(
  tx: Transaction,
  { provider, currency, amountMinor, transactionNumber }: FeeSweep,
  now: Date,
): Promise<void> {
  const [feeRevenue, settlement] = [
    { provider, kind: 'fee-revenue' } as const,
    { provider, kind: 'settlement' } as const,
  ];
  const [debit, credit] = amountMinor > 0n ? [feeRevenue, settlement] : [settlement, feeRevenue];
  await post(tx, {
    now,
    debit,
    credit,
    amountMinor: amountMinor > 0n ? amountMinor : -amountMinor,
    currency,
    debitNumber: transactionNumber,
    debitType: 'fee-sweep',
    entryType: 'principal',
  });
}
