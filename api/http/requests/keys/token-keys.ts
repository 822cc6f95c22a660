import { setTimeout as sleep } from 'node:timers/promises';
import type { MachineUserId } from '../../../../domain/common/ids.ts';
import { HttpRejection } from '../../errors.ts';

/** A registered key and whether its tokens are valid. */
export interface RegisteredKey {
  readonly machineUserId: MachineUserId;
  readonly roles: readonly string[];
  readonly algorithm: string;
  readonly publicKey: unknown;
  /** False once the key or its user is revoked. */
  readonly active: boolean;
}

/** Reads several kids at once; unknown ones are missing from the result. */
export type FindKeys = (kids: readonly string[]) => Promise<ReadonlyMap<string, RegisteredKey>>;

/** Revocation takes effect within 5 s on every process; 1 s of it is for the read. */
const KEY_AGE_LIMIT_MS = 4_000;
/** Most cached kids, registered or not; the oldest are evicted first. Bounds the memory that made-up kids can use. */
const CACHE_SIZE_MAX = 10_000;
/**
 * Unknown kids are looked up in batches with this pause in between: made-up kids cost at most 20 reads a second, and
 * a newly registered key still works at once.
 */
const UNKNOWN_KEYS_PAUSE_MS = 50;
/** Most kids in a batch. Further unknown ones get 429; known keys are unaffected. */
const UNKNOWN_KEYS_MAX = 1_000;

export interface LoadedKey {
  readonly loadedAtMs: number;
  readonly reading: Promise<RegisteredKey | null>;
  /** Set once read, so that most requests need not await it. */
  key: RegisteredKey | null | undefined;
}

/** Caches token keys for a few seconds each. Known keys never wait for unknown ones. */
export function createTokenKeys(findKeys: FindKeys): (kid: string, nowMs: number) => LoadedKey {
  const known = new Map<string, LoadedKey>();
  const unknown = new Map<string, LoadedKey>();
  const findUnknownKey = batchUnknownKeys(findKeys);

  return (kid, nowMs) => {
    const before = known.get(kid) ?? unknown.get(kid);
    if (before !== undefined && nowMs - before.loadedAtMs < KEY_AGE_LIMIT_MS && nowMs >= before.loadedAtMs)
      return before;
    const earlier = known.get(kid);
    const reading =
      earlier === undefined ? findUnknownKey(kid) : findKeys([kid]).then((found) => found.get(kid) ?? null);
    const loaded: LoadedKey = { loadedAtMs: nowMs, reading, key: undefined };
    remember(earlier === undefined ? unknown : known, kid, loaded);
    reading.then(
      (key) => {
        loaded.key = key;
        if (unknown.get(kid) !== loaded || key === null) return;
        unknown.delete(kid);
        remember(known, kid, loaded);
      },
      () => {
        // The read failed: the next request retries it, and a known key remains cached.
        if (unknown.get(kid) === loaded) unknown.delete(kid);
        if (known.get(kid) === loaded && earlier !== undefined) known.set(kid, earlier);
      },
    );
    return loaded;
  };
}

export function remember<Value>(cache: Map<string, Value>, name: string, value: Value): void {
  cache.delete(name);
  if (cache.size >= CACHE_SIZE_MAX) {
    const oldest = cache.keys().next();
    if (!oldest.done) cache.delete(oldest.value);
  }
  cache.set(name, value);
}

type Waiting = Map<string, PromiseWithResolvers<RegisteredKey | null>>;

function batchUnknownKeys(findKeys: FindKeys): (kid: string) => Promise<RegisteredKey | null> {
  let waiting: Waiting = new Map();
  let isReading = false;

  async function readAll(): Promise<void> {
    isReading = true;
    while (waiting.size > 0) {
      const batch = waiting;
      waiting = new Map();
      await answer(batch, findKeys);
      await sleep(UNKNOWN_KEYS_PAUSE_MS);
    }
    isReading = false;
  }

  return (kid) => {
    const asked = waiting.get(kid);
    if (asked !== undefined) return asked.promise;
    if (waiting.size >= UNKNOWN_KEYS_MAX) return Promise.reject(tooManyUnknownKeys());
    const answered = withResolvers<RegisteredKey | null>();
    waiting.set(kid, answered);
    if (!isReading) void readAll();
    return answered.promise;
  };
}

async function answer(batch: Waiting, findKeys: FindKeys): Promise<void> {
  try {
    const found = await findKeys([...batch.keys()]);
    for (const [kid, { resolve }] of batch) resolve(found.get(kid) ?? null);
  } catch (error) {
    for (const { reject } of batch.values()) reject(error);
  }
}

interface PromiseWithResolvers<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (reason: unknown) => void;
}

function withResolvers<Value>(): PromiseWithResolvers<Value> {
  let resolve = (_: Value): void => {};
  let reject = (_: unknown): void => {};
  const promise = new Promise<Value>((resolvePromise, rejectPromise) => {
    resolve = resolvePromise;
    reject = rejectPromise;
  });
  return { promise, resolve, reject };
}

function tooManyUnknownKeys(): HttpRejection {
  const problem = {
    code: 'common.rate.limited',
    message: 'Too many tokens of unknown keys are being sent: retry in 1 s.',
    messageParameters: ['header', 'Authorization', ''],
  } as const;
  return new HttpRejection(429, problem, { 'retry-after': '1' });
}
