import { expect, test } from 'vitest';
import { asId, type SigningKeyId } from '../common/ids.ts';
import { type KeyPlan, planKeys, type SigningKeyTimes } from './signing-keys.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START = Date.parse('2026-01-01T00:00:00Z');

const key = (id: string, signsFrom: number): SigningKeyTimes => ({
  id: asId<SigningKeyId>(id),
  signsFrom: new Date(signsFrom),
});
const at = (ms: number) => new Date(START + ms);

function append(lists: Map<string, number[]>, name: string, hour: number): void {
  const list = lists.get(name) ?? [];
  list.push(hour);
  lists.set(name, list);
}

/** What the service would do if it looked at every hour of these, and at no other time. */
function lived(hours: Iterable<number>): { keys: SigningKeyTimes[]; days: { hour: number; plan: KeyPlan }[] } {
  let keys: SigningKeyTimes[] = [];
  const days: { hour: number; plan: KeyPlan }[] = [];
  for (const hour of hours) {
    const now = at(hour * HOUR_MS);
    const { next, over } = planKeys(keys, now);
    if (next !== null) keys.push(key(`key ${next.toISOString()}`, next.getTime()));
    keys = keys.filter(({ id }) => !over.includes(id));
    days.push({ hour, plan: planKeys(keys, now) });
  }
  return { keys, days };
}

test('the first key signs at once', () => {
  expect(planKeys([], at(0))).toEqual({ signing: null, published: [], next: at(0), over: [] });
  expect(planKeys([key('a', START)], at(0))).toEqual({ signing: 'a', published: ['a'], next: null, over: [] });
});

test('in two years a key signs for ninety days, is published a day before, and for a day after', () => {
  const hours = Array.from({ length: 2 * 365 * 24 }, (_, hour) => hour);
  const { days } = lived(hours);
  const signed = new Map<string, number[]>();
  const published = new Map<string, number[]>();
  const odd = days.filter(
    ({ plan: { signing, published: shown } }) => signing === null || !shown.includes(signing) || shown.length > 2,
  );
  expect(odd).toEqual([]);
  for (const { hour, plan } of days) {
    append(signed, String(plan.signing), hour);
    for (const id of plan.published) append(published, id, hour);
  }
  const whole = [...signed].slice(1, -1);
  expect(whole.length).toBeGreaterThan(5);
  for (const [id, of] of whole) {
    expect(of).toHaveLength(90 * 24);
    const shown = published.get(id) ?? [];
    expect((of[0] ?? 0) - (shown[0] ?? 0)).toBe(24);
    expect((shown.at(-1) ?? 0) - (of.at(-1) ?? 0)).toBe(24);
  }
});

test('after a year in which nothing ran the old key signs on until its successor has been published for a day', () => {
  const { days } = lived([0, 365 * 24, 365 * 24 + 23, 365 * 24 + 24, 365 * 24 + 48]);
  const [first, late, dayLater, successor, last] = days.map(({ plan }) => plan);
  expect(late?.signing).toBe(first?.signing);
  expect(late?.published).toHaveLength(2);
  expect(dayLater?.signing).toBe(first?.signing);
  expect(successor?.signing).toBe(late?.published[1]);
  expect(successor?.published).toHaveLength(2);
  expect(last?.published).toEqual([successor?.signing]);
});

test('nothing is deleted while a clock is stopped before the successor signs', () => {
  const keys = [key('a', START), key('b', START + 90 * DAY_MS)];
  expect(planKeys(keys, at(89 * DAY_MS))).toEqual({ signing: 'a', published: ['a', 'b'], next: null, over: [] });
  expect(planKeys(keys, at(91 * DAY_MS - 1)).over).toEqual([]);
  expect(planKeys(keys, at(91 * DAY_MS))).toEqual({ signing: 'b', published: ['b'], next: null, over: ['a'] });
});
