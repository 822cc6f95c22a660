import { afterEach, expect, test, vi } from 'vitest';
import { asId, type Id, isUuid } from '../../domain/common/ids.ts';
import { newId, newIdAfter } from './ids.ts';
import { drawRandomBytes } from './random-bytes.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('ids are UUIDs of version 7, all different, and sort in the order in which they were made', () => {
  const ids = Array.from({ length: 50_000 }, () => newId());
  expect(ids.every((id) => isUuid(id) && /^.{14}7.{4}[89ab]/.test(id))).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
  expect([...ids].sort()).toEqual(ids);
});

test('an id begins with the instant of its creation', () => {
  const at = Date.now() + 3_600_000;
  vi.useFakeTimers({ now: at });
  expect(Number.parseInt(newId().replaceAll('-', '').slice(0, 12), 16)).toBe(at);
});

test('ids made after the clock stepped back sort after those before', () => {
  const at = Date.now() + 7_200_000;
  vi.useFakeTimers({ now: at });
  const before = newId();
  vi.setSystemTime(at - 3_600_000);
  const after = newId();
  expect(after > before).toBe(true);
});

test('an id made after one from a clock an hour ahead sorts after it', () => {
  const at = Date.now() + 10_800_000;
  vi.useFakeTimers({ now: at });
  const ahead = newId();
  expect(newIdAfter(ahead) > ahead).toBe(true);
  const ofAnother = ahead.replace(/^.{8}/, 'ffffff00');
  for (const earlier of [ahead, ofAnother].map((id) => asId<Id<'Any'>>(id))) {
    const id = newIdAfter(earlier);
    expect([id > earlier, isUuid(id)]).toEqual([true, true]);
  }
});

test('random bytes are handed out once, whatever the length of the request', () => {
  const drawn = [16, 8_000, 24, 20_000, 16].map((length) => Buffer.from(drawRandomBytes(length)));
  expect(drawn.map(({ length }) => length)).toEqual([16, 8_000, 24, 20_000, 16]);
  const parts = drawn.flatMap((bytes) =>
    Array.from({ length: Math.floor(bytes.length / 8) }, (_, index) =>
      bytes.subarray(index * 8, index * 8 + 8).toString('hex'),
    ),
  );
  expect(new Set(parts).size).toBe(parts.length);
});
