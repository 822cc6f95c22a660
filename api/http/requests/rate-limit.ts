import { HttpRejection } from '../errors.ts';

/** `callerId`: a machine user or a third party. */
export type CountRequest = (callerId: string) => void;

/**
 * Limits requests per caller and process by a token bucket of one second's requests; null = no limit (default).
 */
export function createRateLimiter(requestsPerSecond: number | null, now: () => Date): CountRequest {
  if (requestsPerSecond === null) return () => {};
  const perSecond = requestsPerSecond;
  const burst = Math.max(1, Math.ceil(requestsPerSecond));
  const buckets = new Map<string, { tokens: number; filledAtMs: number }>();
  return (callerId) => {
    const nowMs = now().getTime();
    const bucket = buckets.get(callerId) ?? { tokens: burst, filledAtMs: nowMs };
    const elapsedMs = Math.max(0, nowMs - bucket.filledAtMs);
    bucket.tokens = Math.min(burst, bucket.tokens + (elapsedMs / 1000) * perSecond);
    bucket.filledAtMs = nowMs;
    buckets.set(callerId, bucket);
    if (bucket.tokens < 1) throw limited(Math.ceil((1 - bucket.tokens) / perSecond));
    bucket.tokens -= 1;
  };
}

function limited(retryAfterSeconds: number): HttpRejection {
  const problem = {
    code: 'common.rate.limited',
    message: `Too many requests: retry in ${retryAfterSeconds} s.`,
    messageParameters: ['machineUser', 'requests', ''],
  } as const;
  return new HttpRejection(429, problem, { 'retry-after': String(retryAfterSeconds) });
}
