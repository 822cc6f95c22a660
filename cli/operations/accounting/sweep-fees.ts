import { parseArgs } from 'node:util';
import { readClock } from '../../../db/common/clock.ts';
import { sweepFeesByHand } from '../../../db/ledger/sweeps/fee-sweeps.ts';
import { formatAmount } from '../../../domain/common/money.ts';
import { dateInUtc, isDate } from '../../../domain/common/time/dates.ts';
import { ActionableError } from '../../common/actionable-error.ts';
import { type OperationContext, printRejection } from '../operation.ts';

/**
 * `sweep-fees [DATE]`: moves the fee revenue to settlement now, independent of the schedule, dated DATE (default:
 * today, UTC).
 */
export async function sweepFeesNow({
  database,
  initiator,
  arguments: given,
  print,
  reject,
}: OperationContext): Promise<0 | 1> {
  const { values, positionals } = parseArgs({
    args: [...given],
    options: { json: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const today = dateInUtc(await readClock(database.reader));
  const [day = today, ...more] = positionals;
  if (!isDate(day) || more.length > 0) throw new ActionableError('Give DATE as YYYY-MM-DD, or none for today.');
  if (day > today) {
    const message = `${day} has not begun: nothing is swept.`;
    return printRejection({ print, reject }, { message, isJson: values.json, subject: { day } });
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
