import { parseArgs } from 'node:util';
import { readClock } from '../../../db/frame/clock.ts';
import { sweepFeesByHand } from '../../../db/ledger/sweeps/fee-sweeps.ts';
import { formatAmount } from '../../../domain/frame/money.ts';
import { dateInUtc, isDate } from '../../../domain/frame/time/dates.ts';
import { RemedyError } from '../../frame/remedy.ts';
import type { OperationContext } from '../operations.ts';

/**
 * `sweep-fees [DATE]`: moves the fee revenue to settlement now, independent of the schedule, dated DATE (default:
 * today, UTC).
 */
export async function sweepFeesNow({ database, initiator, arguments: given, print }: OperationContext): Promise<0 | 1> {
  const { values, positionals } = parseArgs({
    args: [...given],
    options: { json: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const today = dateInUtc(await readClock(database.reader));
  const [day = today, ...more] = positionals;
  if (!isDate(day) || more.length > 0) throw new RemedyError('Give DATE as YYYY-MM-DD, or none for today.');
  if (day > today) {
    print(
      values.json
        ? JSON.stringify({ day, refused: 'the day has not begun' })
        : `${day} has not begun: nothing is swept.`,
    );
    return 1;
  }
  const swept = await database.transaction((tx) => sweepFeesByHand(tx, day, initiator));
  const moved = swept.map(({ provider, currency, amountMinor, transactionNumber }) => ({
    serviceProvider: provider,
    currency,
    amount: formatAmount(amountMinor, currency),
    transactionNumber,
  }));
  if (values.json) {
    print(JSON.stringify({ day, moved }));
    return 0;
  }
  for (const { serviceProvider, currency, amount, transactionNumber } of moved) {
    print(`${serviceProvider}  ${currency}  ${amount}  ${transactionNumber}`);
  }
  print(moved.length === 0 ? `${day}: no fees to sweep.` : `${day}: swept to settlement.`);
  return 0;
}
