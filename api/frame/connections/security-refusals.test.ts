import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LINES_PER_SECOND, SecurityLog } from './security-refusals.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('a flood of one reason has ten lines a second and one with how many it left out; other reasons keep theirs', () => {
  const lines: { event: string; reason: string; count?: number }[] = [];
  const log = new SecurityLog(pino({}, { write: (line) => lines.push(JSON.parse(line)) }));
  const flood = (count: number) => {
    for (let at = 0; at < count; at += 1) log.connectionRefused('connections-of-address', '192.0.2.1');
  };
  const seen = () => lines.splice(0).map(({ event, reason, count }) => [event, reason, count].join(' ').trim());
  const line = 'security-refusal connections-of-address';
  flood(1_000);
  log.connectionRefused('connections-of-server', '192.0.2.2');
  expect(seen()).toEqual([...Array(LINES_PER_SECOND).fill(line), 'security-refusal connections-of-server']);
  vi.advanceTimersByTime(1_000);
  expect(seen()).toEqual([`security-refusals-left-out connections-of-address ${1_000 - LINES_PER_SECOND}`]);
  flood(LINES_PER_SECOND);
  expect(seen()).toEqual(Array(LINES_PER_SECOND).fill(line));
  vi.advanceTimersByTime(5_000);
  expect(seen()).toEqual([]);
});

test('an address that is none is not written', () => {
  const lines: string[] = [];
  const log = new SecurityLog(pino({}, { write: (line) => lines.push(line) }));
  for (const address of ['::ffff:192.0.2.1', '2001:db8::1', 'nonsense', '', null])
    log.connectionRefused('connections-of-server', address);
  expect(lines.map((line) => JSON.parse(line).sourceAddress)).toEqual(['192.0.2.1', '2001:db8::1', null, null, null]);
});
