import { findBookedUpTo } from '../../db/accounts/statements.ts';
import type { Account } from '../../domain/accounts/accounts.ts';
import { LineChart } from '../charts/line-chart.tsx';
import { amountText } from '../look/values.tsx';
import type { PageContext } from '../page/page.ts';

const DAYS = 30;
const DAY_MS = 24 * 3_600_000;

/** The balance at the end of each of the last days in UTC, and now. */
export async function BalanceChart({
  context: { services, now },
  account,
}: {
  readonly context: PageContext;
  readonly account: Account;
}) {
  const midnight = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const instants = [
    ...Array.from({ length: DAYS }, (_, index) => new Date(midnight - (DAYS - 1 - index) * DAY_MS - 1)),
    now,
  ];
  const balances = await Promise.all(instants.map((at) => findBookedUpTo(services.database, account.id, at)));
  return (
    <LineChart
      title={`Balance at the end of each day, ${account.currency}`}
      labels={instants.map((at) => at.toISOString().slice(5, 10))}
      series={[
        {
          name: 'balance',
          // For the height of the line only.
          values: balances.map(({ balanceMinor }) => Number(balanceMinor)),
          texts: balances.map(({ balanceMinor }) => amountText(balanceMinor, account.currency)),
        },
      ]}
    />
  );
}
