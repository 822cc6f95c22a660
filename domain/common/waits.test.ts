import { describe, expect, it } from 'vitest';
import { releaseDelayMs } from './waits.ts';

const until = new Date('2026-11-02T06:00:00Z');
const perSecond = 20;
const first = { ahead: 0, perSecond };

describe('the delay of a mass release', () => {
  it('is up to 30 seconds where nothing closes soon', () => {
    for (const cutOffAt of [null, new Date('2026-11-02T17:00:00Z'), new Date('2026-11-02T06:10:00Z')]) {
      expect(releaseDelayMs(until, cutOffAt, { ...first, random: 0 })).toBe(0);
      expect(releaseDelayMs(until, cutOffAt, { ...first, random: 1 })).toBe(30_000);
    }
  });

  it('grows with the number of those that go before, so many a second', () => {
    const place = { ahead: 50_000, perSecond, random: 0.5 };
    expect(releaseDelayMs(until, null, place)).toBe(2_500_000 + 15_000);
    expect(releaseDelayMs(until, new Date('2026-11-02T17:00:00Z'), place)).toBe(2_500_000 + 15_000);
  });

  it('ends ten minutes before the cut-off, however many there are', () => {
    const cutOffAt = new Date('2026-11-02T06:40:00Z');
    expect(releaseDelayMs(until, cutOffAt, { ahead: 50_000, perSecond, random: 1 })).toBe(30 * 60_000);
    expect(releaseDelayMs(until, cutOffAt, { ahead: 50_000, perSecond, random: 0.5 })).toBe(15 * 60_000);
  });

  it('is six hours at most', () => {
    expect(releaseDelayMs(until, null, { ahead: 10_000_000, perSecond, random: 1 })).toBe(6 * 3_600_000);
    expect(releaseDelayMs(until, null, { ahead: 10_000_000, perSecond, random: 0.5 })).toBe(3 * 3_600_000);
  });

  it('is none within ten minutes of the cut-off', () => {
    for (const cutOffAt of ['2026-11-02T06:09:59Z', '2026-11-02T06:00:01Z'])
      expect(releaseDelayMs(until, new Date(cutOffAt), { ahead: 50_000, perSecond, random: 1 })).toBe(0);
  });

  it('is allowed on the wait for the cut-off itself, after which only a roll is left', () => {
    expect(releaseDelayMs(until, until, { ...first, random: 1 })).toBe(30_000);
  });
});
