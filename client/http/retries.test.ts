import { describe, expect, test } from 'vitest';
import {
  hasKey,
  isSafeToResendWithNewToken,
  isSafeToRetry,
  isUnknownAfter,
  type Outcome,
  RetryBudget,
  retryAfterMs,
  waitBeforeRetry,
} from './retries.ts';

const answered = (status: number, code: string | null = null): Outcome => ({ status, code, retryAfterMs: null });
const request = (method: string, path = '/accounts') => ({ operation: 'any', method, path });

describe('a request', () => {
  const outcomes: [string, Outcome][] = [
    ['not sent', 'not-sent'],
    ['lost', 'lost'],
    ['in progress', answered(409, 'common.idempotency.in_progress')],
    ['key reused', answered(409, 'common.idempotency.key_reused')],
    ['illegal transition', answered(409, 'common.state.illegal_transition')],
    ...[200, 400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504].map((status): [string, Outcome] => [
      `${status}`,
      answered(status),
    ]),
  ];
  const retried = (method: string, path?: string) =>
    outcomes.flatMap(([name, outcome]) => (isSafeToRetry(request(method, path), outcome) ? [name] : []));
  const KEYED = ['not sent', 'lost', 'in progress', '408', '429', '502', '503', '504'];

  test('that reads, or has a key, follows a lost one, a busy service and its own first attempt', () => {
    expect(retried('GET')).toEqual(KEYED);
    expect(retried('POST')).toEqual(KEYED);
    expect(isSafeToResendWithNewToken(request('POST'))).toBe(true);
  });

  test.each(['PATCH', 'DELETE'])('that changes without a key (%s) follows only one that did nothing', (method) => {
    expect(retried(method)).toEqual(['not sent', '429']);
    expect(isSafeToResendWithNewToken(request(method))).toBe(false);
  });

  test.each([
    '/sign-up/{token}',
    '/sign-up/3f9c?lang=en',
    '/open-banking/GB/token',
    '/v1/provider-callbacks/sandbox-bank',
  ])('that has no key, as that of an open route (%s), follows only one that did nothing', (path) => {
    expect(retried('POST', path)).toEqual(['not sent', '429']);
    expect(isSafeToResendWithNewToken(request('POST', path))).toBe(false);
    expect(hasKey(request('POST', path))).toBe(false);
  });

  test.each(['/user-authentications', '/v1/user-authentications', '/user-authentications?a=b'])(
    'that authenticates a user never follows',
    (path) => {
      expect(retried('POST', path)).toEqual([]);
      expect(isSafeToResendWithNewToken(request('POST', path))).toBe(false);
    },
  );
});

describe('whether a write took effect is unknown', () => {
  const rejected = (status: number) => answered(status, 'common.any');
  const post = request('POST');

  test.each<[name: string, outcome: Outcome]>([
    ['no answer', 'lost'],
    ['408', rejected(408)],
    ...[500, 502, 503, 504].map((status): [string, Outcome] => [`${status}`, rejected(status)]),
    ['a request in progress', answered(409, 'common.idempotency.in_progress')],
    ['a redirection', answered(302)],
    ['a rejection that is a proxy’s', answered(404)],
  ])('after %s', (_, outcome) => {
    expect(isUnknownAfter(post, outcome, false)).toBe(true);
    expect(isUnknownAfter(request('DELETE'), outcome, false)).toBe(true);
    expect(isUnknownAfter(request('GET'), outcome, false)).toBe(false);
  });

  test.each<[name: string, outcome: Outcome]>([
    ['no connection', 'not-sent'],
    ...[401, 403, 429].map((status): [string, Outcome] => [`${status}`, rejected(status)]),
  ])('after %s if it was unknown before', (_, outcome) => {
    expect([true, false].map((before) => isUnknownAfter(post, outcome, before))).toEqual([true, false]);
  });

  test('no more once the service has answered under the key', () => {
    for (const status of [201, 400, 404, 409, 422]) expect(isUnknownAfter(post, rejected(status), true)).toBe(false);
  });
});

test('waits double up to a limit, and differ by caller; what the service asks for is never shortened', () => {
  const longest = [1, 2, 3, 4, 5, 6, 7].map((attempt) => waitBeforeRetry(attempt, null, () => 1));
  expect(longest).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 8_000]);
  expect(waitBeforeRetry(1, null, () => 0)).toBe(125);
  expect([0, 1].map((random) => waitBeforeRetry(9, 2_000, () => random))).toEqual([2_000, 2_500]);
});

test('Retry-After is seconds or a date', () => {
  const now = new Date('2026-03-02T09:30:00Z');
  const headers = ['2', 'Mon, 02 Mar 2026 09:30:05 GMT', 'Mon, 02 Mar 2026 09:00:00 GMT', 'soon', null];
  expect(headers.map((header) => retryAfterMs(header, now))).toEqual([2_000, 5_000, 0, null, null]);
});

test('retries stop while the service fails, and come back with its successes', () => {
  const budget = new RetryBudget();
  const taken = () => Array.from({ length: 30 }, () => budget.take()).filter(Boolean).length;
  expect(taken()).toBe(20);
  for (let success = 0; success < 51; success += 1) budget.succeeded();
  expect(taken()).toBe(5);
  for (let success = 0; success < 1_000; success += 1) budget.succeeded();
  expect(taken()).toBe(20);
});
