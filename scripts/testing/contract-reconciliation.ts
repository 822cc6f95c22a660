import type { Reader } from '../../db/driver/client.ts';
import { newId } from '../../db/frame/ids.ts';
import { listBreaks, recordBreaks } from '../../db/ledger/reconciliation/breaks.ts';
import { saveReconciliation } from '../../db/ledger/reconciliation/days.ts';

const POSITION = { provider: 'sandbox-bank', currency: 'GBP' };
const DAY = '2026-11-20';

/** A compared day and its open break, which no request can make: a provider's statement has to lie. */
export async function seedReconciliation(
  reader: Reader,
  reference = 'unknown to us',
): Promise<{ readonly reconciliations: string; readonly 'reconciliation-breaks': string }> {
  const actual = { amountMinor: 4_000n, account: null, date: DAY };
  const found = { kind: 'statement-unknown-payment', direction: 'in', reference } as const;
  await recordBreaks(reader, POSITION, DAY, newId(), [{ ...found, expected: null, actual, resourceId: null }]);
  const sums = [{ side: 'provider', isCredit: true, count: 1n, amountMinor: 4_000n }] as const;
  const reconciliations = await saveReconciliation(reader, POSITION, DAY, { sums, postingId: 0n, source: 'statement' });
  const { rows } = await listBreaks(reader, { reference }, { size: 1, offset: 0 });
  return { reconciliations, 'reconciliation-breaks': rows[0]?.id ?? '' };
}
