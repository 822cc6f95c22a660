import { describe, expect, it } from 'vitest';
import { jitterMsMax } from './waits.ts';

const until = new Date('2026-11-02T06:00:00Z');

describe('jitter of a mass release', () => {
  it('is up to 30 seconds where nothing closes soon', () => {
    expect(jitterMsMax(until, null)).toBe(30_000);
    expect(jitterMsMax(until, new Date('2026-11-02T17:00:00Z'))).toBe(30_000);
    expect(jitterMsMax(until, new Date('2026-11-02T06:10:00Z'))).toBe(30_000);
  });

  it('is none within ten minutes of the cut-off', () => {
    expect(jitterMsMax(until, new Date('2026-11-02T06:09:59Z'))).toBe(0);
    expect(jitterMsMax(until, new Date('2026-11-02T06:00:01Z'))).toBe(0);
  });

  it('is allowed on the wait for the cut-off itself, after which only a roll is left', () => {
    expect(jitterMsMax(until, until)).toBe(30_000);
  });
});
