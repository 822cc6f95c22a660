import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LINES_PER_SECOND, SECURITY_REJECTIONS, SecurityLog } from './security-rejections.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('a flood of one reason gets ten lines a second and one with the number left out; other reasons keep their lines', () => {
  const lines: { event: string; reason: string; count?: number }[] = [];
  const log = new SecurityLog(pino({}, { write: (line) => lines.push(JSON.parse(line)) }));
  const flood = (count: number) => {
    for (let at = 0; at < count; at += 1) log.connectionRejected('connections-of-address', '192.0.2.1');
  };
  const seen = () => lines.splice(0).map(({ event, reason, count }) => [event, reason, count].join(' ').trim());
  const line = 'security-rejection connections-of-address';
  flood(1_000);
  log.connectionRejected('connections-of-server', '192.0.2.2');
  expect(seen()).toEqual([...Array(LINES_PER_SECOND).fill(line), 'security-rejection connections-of-server']);
  vi.advanceTimersByTime(1_000);
  expect(seen()).toEqual([`security-rejections-left-out connections-of-address ${1_000 - LINES_PER_SECOND}`]);
  flood(LINES_PER_SECOND);
  expect(seen()).toEqual(Array(LINES_PER_SECOND).fill(line));
  vi.advanceTimersByTime(5_000);
  expect(seen()).toEqual([]);
});

test('an invalid address is not logged', () => {
  const lines: string[] = [];
  const log = new SecurityLog(pino({}, { write: (line) => lines.push(line) }));
  for (const address of ['::ffff:192.0.2.1', '2001:db8::1', 'nonsense', '', null])
    log.connectionRejected('connections-of-server', address);
  expect(lines.map((line) => JSON.parse(line).sourceAddress)).toEqual(['192.0.2.1', '2001:db8::1', null, null, null]);
});

test('the first rejection of a night counts in an increase: every reason has a series that began at 0', async () => {
  // As in a process that has only just started.
  vi.resetModules();
  const { registry } = await import('../metrics.ts');
  await import('./security-rejections.ts');
  const text = await registry.getSingleMetricAsString('security_rejections_total');
  for (const reason of SECURITY_REJECTIONS) expect(text).toContain(`security_rejections_total{reason="${reason}"} 0`);
});
