import { expect, test } from 'vitest';
import type { Reader } from '../../db/query/database.ts';
import type { HourlySum } from '../../db/transfers/hourly-sums.ts';
import { HOUR_MS, Hours } from './hours.ts';

const NOW = new Date('2026-11-26T10:30:00Z');
const LAST = Date.parse('2026-11-26T10:00:00Z');
const hoursBack = (count: number) => Array.from({ length: count }, (_, index) => LAST - index * HOUR_MS);

/** A database in which each hour has so many payments; notes what it was asked for. */
function database(perHour: number) {
  const asked: [from: string, to: string][] = [];
  const statement = async (_: string, [from, to]: readonly unknown[]) => {
    if (!(from instanceof Date && to instanceof Date)) throw new Error('two instants');
    asked.push([from.toISOString().slice(11, 16), to.toISOString().slice(11, 16)]);
    const sums: HourlySum[] = [];
    for (let hour = from.getTime(); hour < to.getTime(); hour += HOUR_MS)
      sums.push({ hour: new Date(hour), direction: 'outgoing', currency: 'GBP', count: perHour, sumMinor: 100n });
    return sums;
  };
  // Only statements are asked for here.
  return { reader: { statement } as unknown as Reader, asked };
}

test('past hours are read once, the present one and one that may still change each time', async () => {
  const { reader, asked } = database(1);
  const hours = new Hours();
  expect((await hours.read(reader, NOW, hoursBack(8))).size).toBe(8);
  expect(asked).toEqual([
    ['05:00', '11:00'],
    ['03:00', '05:00'],
  ]);
  asked.length = 0;
  expect((await hours.read(reader, NOW, hoursBack(8))).size).toBe(8);
  expect(asked).toEqual([['10:00', '11:00']]);
  asked.length = 0;
  await hours.read(reader, new Date('2026-11-26T11:05:00Z'), [LAST + HOUR_MS, ...hoursBack(8)]);
  expect(asked).toEqual([['10:00', '12:00']]);
});

test('of a busy service a page reads the newest hours, and the next page goes on', async () => {
  const { reader } = database(20_000);
  const hours = new Hours();
  expect((await hours.read(reader, NOW, hoursBack(24))).size).toBe(6);
  expect((await hours.read(reader, NOW, hoursBack(24))).size).toBeGreaterThan(6);
  for (let page = 0; page < 4; page += 1) await hours.read(reader, NOW, hoursBack(24));
  expect((await hours.read(reader, NOW, hoursBack(24))).size).toBe(24);
});
