import { newId } from '../../db/common/ids.ts';
import type { Database } from '../../db/query/database.ts';
import { listBreaks } from '../../db/reconciliation/breaks.ts';
import { saveReconciliation } from '../../db/reconciliation/days.ts';
import { recordBreaks } from '../../db/reconciliation/found-breaks.ts';
import { NOTHING, totalsOf } from '../../domain/reconciliation/day-balance.ts';

const POSITION = { provider: 'sandbox-bank', currency: 'GBP' };
const DAY = '2026-11-20';

/** A compared day and its open break, which no request can create: it needs a fault in a provider's statement. */
export async function seedReconciliation(
  database: Database,
  reference = 'unknown to us',
): Promise<{ readonly reconciliations: string; readonly 'reconciliation-breaks': string }> {
  const actual = { amountMinor: 4_000n, account: null, date: DAY };
  const found = { kind: 'statement-unknown-payment', direction: 'in', movement: 'payment-in', reference } as const;
  const provider = totalsOf(true, 1n, actual.amountMinor);
  const { reader } = database;
  const run = { runId: newId(), day: DAY, recorded: new Set<string>() };
  await database.transaction((tx) =>
    recordBreaks(tx, POSITION, run, [
      { ...found, expected: null, actual, resourceId: null, effect: provider, explanation: null },
    ]),
  );
  const sums = { provider, ours: NOTHING };
  const reconciliations = await saveReconciliation(reader, POSITION, DAY, { sums, postingId: 0n, source: 'statement' });
  const { rows } = await listBreaks(reader, { reference }, { size: 1, offset: 0 });
  return { reconciliations, 'reconciliation-breaks': rows[0]?.id ?? '' };
}
