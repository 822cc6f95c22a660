import { describe, expect, test } from 'vitest';
import {
  type AttemptOutcome,
  type AttemptSchedule,
  decideAfterAttempt,
  parseRetryAfter,
  receiverHealth,
} from './deliveries.ts';

const SCHEDULE: AttemptSchedule = {
  attemptDelaysSeconds: [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400],
  jitterRatio: 0.1,
};

function decide(outcome: AttemptOutcome, attempt: number, random: number) {
  return decideAfterAttempt(outcome, attempt, SCHEDULE, random);
}

function answered(responseCode: number, rest: Partial<AttemptOutcome> = {}): AttemptOutcome {
  return { durationMs: 5, responseCode, responseBody: '', error: null, retryAfterMs: null, ...rest };
}

const NO_ANSWER: AttemptOutcome = {
  durationMs: 15_000,
  responseCode: null,
  responseBody: null,
  error: 'timeout',
  retryAfterMs: null,
};

describe('an attempt', () => {
  test.each([200, 201, 204, 299])('succeeds with %i', (code) => {
    expect(decide(answered(code), 1, 0)).toEqual({ result: 'succeeded' });
  });

  test.each([301, 302, 307, 308, 400, 401, 404, 500])('is made again after %i', (code) => {
    expect(decide(answered(code), 1, 0)).toEqual({ result: 'retry', delayMs: 5_000 });
  });

  test('with 200 whose answer was not read whole is no success', () => {
    expect(decide(answered(200, { error: 'answer_too_large' }), 1, 0).result).toBe('retry');
  });

  test('with 410 ends the subscription at any attempt', () => {
    expect(decide(answered(410), 1, 0)).toEqual({ result: 'gone' });
    expect(decide(answered(410), 10, 0)).toEqual({ result: 'gone' });
  });

  test('is made ten times, the last 75 h 35 min 5 s after the first', () => {
    let totalMs = 0;
    for (let attempt = 1; attempt < SCHEDULE.attemptDelaysSeconds.length; attempt += 1) {
      const verdict = decide(NO_ANSWER, attempt, 0);
      if (verdict.result !== 'retry') throw new Error(`attempt ${attempt} is the last`);
      totalMs += verdict.delayMs;
    }
    expect(totalMs).toBe(((75 * 60 + 35) * 60 + 5) * 1_000);
    expect(decide(NO_ANSWER, 10, 0)).toEqual({ result: 'exhausted' });
  });

  test('is spread by up to a tenth of its wait', () => {
    expect(decide(NO_ANSWER, 2, 0.999)).toMatchObject({ delayMs: expect.closeTo(329_970, -1) });
  });

  test('waits as long as Retry-After asks, when that is longer than the schedule and within a day', () => {
    expect(decide(answered(429, { retryAfterMs: 60_000 }), 1, 0)).toMatchObject({ delayMs: 60_000 });
    expect(decide(answered(429, { retryAfterMs: 1_000 }), 1, 0)).toMatchObject({ delayMs: 5_000 });
    expect(decide(answered(429, { retryAfterMs: 10 ** 12 }), 1, 0)).toMatchObject({ delayMs: 86_400_000 });
  });
});

describe('a receiver', () => {
  test.each([429, 502, 503, 504])('is unwell when it answers %i', (code) => {
    expect(decide(answered(code), 1, 0).result).toBe('retry');
    expect(receiverHealth(answered(code))).toBe('unwell');
  });

  test('is unwell when it gives no whole answer, well when it accepts, and neither when it rejects an event', () => {
    expect(receiverHealth(NO_ANSWER)).toBe('unwell');
    expect(receiverHealth(answered(200, { error: 'answer_too_large' }))).toBe('unwell');
    expect(receiverHealth(answered(204))).toBe('well');
    for (const code of [302, 400, 404, 500]) expect(receiverHealth(answered(code))).toBe('unknown');
  });
});

describe('Retry-After', () => {
  const now = new Date('2026-05-01T10:00:00Z');

  test('is read as seconds or as a date', () => {
    expect(parseRetryAfter('120', now)).toBe(120_000);
    expect(parseRetryAfter('Fri, 01 May 2026 10:01:00 GMT', now)).toBe(60_000);
    expect(parseRetryAfter('Fri, 01 May 2026 09:00:00 GMT', now)).toBe(0);
  });

  test.each([undefined, '', 'soon', '-5', '1.5', '2026-05-01'])('%s is nothing', (header) => {
    expect(parseRetryAfter(header, now)).toBeNull();
  });
});
