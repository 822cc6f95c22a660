import type { MachineUserId } from '../../domain/ids.ts';
import { HttpRefusal } from './errors.ts';

/** A token bucket: `burst` requests at once, refilled with `perSecond`. */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

export type CountRequest = (machineUserId: MachineUserId) => void;

/** Makes the limit per machine user and process; null = no limit (the default configuration). */
export function createRateLimiter(limit: RateLimit | null, now: () => Date): CountRequest {
  if (limit === null) return () => {};
  const buckets = new Map<MachineUserId, { tokens: number; filledAtMs: number }>();
  return (machineUserId) => {
    const nowMs = now().getTime();
    const bucket = buckets.get(machineUserId) ?? { tokens: limit.burst, filledAtMs: nowMs };
    const elapsedMs = Math.max(0, nowMs - bucket.filledAtMs);
    bucket.tokens = Math.min(limit.burst, bucket.tokens + (elapsedMs / 1000) * limit.perSecond);
    bucket.filledAtMs = nowMs;
    buckets.set(machineUserId, bucket);
    if (bucket.tokens < 1) throw limited(Math.ceil((1 - bucket.tokens) / limit.perSecond));
    bucket.tokens -= 1;
  };
}

function limited(retryAfterSeconds: number): HttpRefusal {
  const problem = {
    code: 'common.rate.limited',
    message: `Too many requests: ask again in ${retryAfterSeconds} s.`,
    messageParameters: ['machineUser', 'requests', ''],
  } as const;
  return new HttpRefusal(429, problem, { 'retry-after': String(retryAfterSeconds) });
}
