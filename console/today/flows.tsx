import type { HourlySum } from '../../db/transfers/hourly-sums.ts';
import { LineChart } from '../charts/line-chart.tsx';
import { amountText } from '../look/values.tsx';
import type { PageContext } from '../page/page.ts';
import { HOUR_MS, Hours, type Sums } from './hours.ts';

const HOURS_SHOWN = 24;
const WEEK_MS = 7 * 24 * HOUR_MS;

const hoursOf = new WeakMap<object, Hours>();

type Kind = Pick<HourlySum, 'direction' | 'currency'>;

/** Money in and out per hour of the last day, against the same hours of last week: one chart for each direction and currency. */
export async function flowCharts({ services, now }: PageContext) {
  const { database } = services;
  // The database as the page sees it is another for each request.
  const shared = database.shared();
  const known = hoursOf.get(shared) ?? new Hours();
  hoursOf.set(shared, known);
  const last = Math.floor(now.getTime() / HOUR_MS) * HOUR_MS;
  const present = Array.from({ length: HOURS_SHOWN }, (_, index) => last - index * HOUR_MS);
  const before = present.map((hour) => hour - WEEK_MS);
  const sums = await known.read(database.reader, now, [...present, ...before]);
  const kinds = new Map<string, Kind>();
  for (const { direction, currency } of [...sums.values()].flat()) {
    kinds.set(`${direction === 'incoming' ? 0 : 1} ${currency}`, { direction, currency });
  }
  const unread = [...present, ...before].filter((hour) => !sums.has(hour)).length;
  if (kinds.size === 0) return <p>No money has come in from outside or was to go out in the last 24 hours.</p>;
  const labels = [...present].reverse().map((hour) => new Date(hour).toISOString().slice(11, 16));
  return (
    <>
      {unread === 0 ? null : (
        <p class="notice unknown">
          Not counted yet: {unread} of {2 * HOURS_SHOWN} hours, the earliest. Load the page once more.
        </p>
      )}
      <div class="cards">
        {[...kinds.entries()].sort().map(([, kind]) => (
          <LineChart
            title={`${kind.direction === 'incoming' ? 'Money in' : 'Payments requested'}, ${kind.currency} per hour`}
            labels={labels}
            series={[
              seriesOf('last 24 hours', [...present].reverse(), sums, kind),
              seriesOf('a week before', [...before].reverse(), sums, kind),
            ]}
          />
        ))}
      </div>
    </>
  );
}

function seriesOf(name: string, hours: readonly number[], sums: ReadonlyMap<number, Sums>, kind: Kind) {
  const { direction, currency } = kind;
  const found = hours.map((hour) => {
    const ofHour = sums.get(hour);
    if (ofHour === undefined) return null;
    const sum = ofHour.find((one) => one.direction === direction && one.currency === currency);
    return sum ?? { sumMinor: 0n, count: 0 };
  });
  return {
    name,
    // For the height of the line only.
    values: found.map((sum) => (sum === null ? null : Number(sum.sumMinor))),
    texts: found.map((sum) => {
      if (sum === null) return 'not counted yet';
      const { sumMinor, count } = sum;
      return count === 0 ? amountText(0n, currency) : `${amountText(sumMinor, currency)} (${count})`;
    }),
  };
}
