import { hasUnstated, listStatedAccounts } from '../../db/bank-files/statements.ts';
import { readClock } from '../../db/common/clock.ts';
import type { Reader } from '../../db/query/database.ts';
import { readProgress, readStartOf } from '../../db/reconciliation/days.ts';
import type { Position } from '../../db/reconciliation/schema.ts';
import { listBooked, listCurrencies } from '../../db/reconciliation/statements.ts';
import { areAllNamed } from '../../domain/bank-files/exchange/receipts.ts';
import { addDays, dateInUtc } from '../../domain/common/time/dates.ts';
import type { Provider } from '../../domain/providers/providers.ts';
import { daysToCompare, windowOf } from '../../domain/reconciliation/movements.ts';

type Configured = Pick<Provider, 'code' | 'offers'>;

/** Where banks send the day's statement in the morning. */
const HOURS_USUAL = 24;
const HOUR_MS = 3_600_000;

/**
 * The currencies in which money has moved, by our books or the bank's own word, on a day whose statement has not come within `hours` of its
 * end. A bank may state no day without a movement: such a day is not missed.
 */
export async function missingStatements(
  reader: Reader,
  provider: Configured,
  hours: number = HOURS_USUAL,
): Promise<readonly string[]> {
  const until = new Date((await readClock(reader)).getTime() - hours * HOUR_MS);
  const missing: string[] = [];
  for (const currency of await listCurrencies(reader, provider.code)) {
    const position = { provider: provider.code, currency };
    const lastDay = addDays(dateInUtc(until), -1);
    const isMissing =
      (await hasUnstated(reader, provider.code, currency, lastDay)) ||
      (await waitsForStatement(reader, provider, position, until));
    if (isMissing) missing.push(currency);
  }
  return missing;
}

async function waitsForStatement(
  reader: Reader,
  provider: Configured,
  position: Position,
  until: Date,
): Promise<boolean> {
  const { lastDay, firstBooked } = await readProgress(reader, position);
  const [day] = daysToCompare(lastDay, firstBooked, until, 1);
  if (day === undefined || firstBooked === null) return false;
  const { currency } = position;
  if (areAllNamed(provider, currency, await listStatedAccounts(reader, provider.code, currency, day))) return false;
  const after = await readStartOf(reader, position, day);
  const ended = windowOf(dateInUtc(until)).from;
  const booked = await listBooked(reader, position, { after, from: windowOf(day).from, until: ended, limit: 1 });
  return booked.length > 0;
}
