import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import type { Keyring } from '../../db/common/keyring.ts';
import type { Database } from '../../db/query/database.ts';
import {
  type AttemptRecord,
  type ClaimedDelivery,
  claimDeliveries,
  type DeliveryClaim,
  goIdle,
  markShardBusy,
  readTargets,
  releaseDeliveries,
} from '../../db/webhooks/delivery-claims.ts';
import {
  type AttemptOutcome,
  type AttemptSchedule,
  decideAfterAttempt,
  receiverHealth,
} from '../../domain/webhooks/deliveries.ts';
import { AttemptRecorder } from './attempts.ts';
import { type Health, SubscriptionConcurrency } from './concurrency.ts';
import type { Receivers } from './receivers.ts';
import { signedHeaders } from './signatures.ts';
import { type Claimed, queuesByResource, readableTargets, renderBodies } from './targets.ts';
import { inTrace, tracesOf } from './traces.ts';

export interface DrainOptions {
  readonly database: Database;
  readonly receivers: Receivers;
  readonly keyring: Keyring;
  readonly schedule: AttemptSchedule;
  /** Time limit of one attempt, as the receivers enforce it. */
  readonly timeoutMs: number;
  readonly disableAfterHours: number;
  readonly logger: Logger;
  readonly now: () => Date;
  readonly random: () => number;
  /** How long an idle drain keeps polling; default LINGER_MS. */
  readonly lingerMs?: number;
}

/** How long one activity drains before its workflow starts the next, so that the history shows progress. */
const RUN_MS = 60_000;
/** Polling is cheaper than a wake-up, so a drain that was busy keeps polling for a while. */
const LINGER_MS = 2_000;
const POLL_INTERVAL_MS = 50;
/** Between two claims while deliveries flow. */
const CLAIM_INTERVAL_MS = 10;
/** Longer than any pause between two updates; after a crash the sequencer wakes the shard when it expires. */
const BUSY_MS = 15_000;
const BUSY_INTERVAL_MS = 5_000;
/**
 * A claim outlasts an attempt by this much. Deliveries that have not started within most of it are released and
 * claimed later.
 */
const CLAIM_SLACK_MS = 15_000;
/** Time left in a claim after an attempt, to record it. */
const RECORD_MS = 5_000;
/** Deliveries claimed per free attempt: the four events of one transfer form one queue. */
const ROWS_PER_ATTEMPT = 4;

/**
 * Sends the due deliveries of one shard. It lives as long as its process, so that a slow attempt outlives the
 * activity that started it and delays no other subscription.
 */
export class ShardDrain {
  readonly #options: DrainOptions;
  readonly #shard: number;
  readonly #recorder: AttemptRecorder;
  /** Limits concurrent attempts per subscription. */
  readonly #concurrency = new SubscriptionConcurrency<readonly Claimed[]>((queue) => this.#deliver(queue));
  /** Subscriptions that answered 410, and when: deliveries claimed before then are not sent. */
  readonly #goneAt = new Map<string, number>();
  #stop = stopSwitch();
  #busyWrittenAt = Number.NEGATIVE_INFINITY;
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: DrainOptions, shard: number) {
    this.#options = options;
    this.#shard = shard;
    this.#recorder = new AttemptRecorder(options);
  }

  /**
   * Drains until the shard is idle, and returns the wait until the next delivery, or until the run's time is up. A
   * run that Temporal believes lost may still be ending here: the next one waits for it.
   */
  run(signal: AbortSignal): Promise<{ waitMs: number | null }> {
    const running = this.#running.then(() => this.#run(signal));
    this.#running = running.catch(() => {});
    return running;
  }

  async #run(signal: AbortSignal): Promise<{ waitMs: number | null }> {
    signal.throwIfAborted();
    if (this.#stop.signal.aborted) this.#stop = stopSwitch();
    const abort = () => this.#stop.abort();
    signal.addEventListener('abort', abort);
    try {
      return await this.#drain(signal);
    } finally {
      signal.removeEventListener('abort', abort);
      if (signal.aborted) await this.close();
    }
  }

  /** Aborts attempts and releases claims. Aborted deliveries are repeated under the same id. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#concurrency.idle();
    await this.#recorder.flush();
  }

  async #drain(signal: AbortSignal): Promise<{ waitMs: number | null }> {
    const endsAt = performance.now() + RUN_MS;
    const lingerMs = this.#options.lingerMs ?? LINGER_MS;
    let lastWorkAt = performance.now();
    while (!signal.aborted && performance.now() < endsAt) {
      await this.#keepBusy();
      const found = await this.#begin(
        await this.#claim((claim) => claimDeliveries(this.#options.database.reader, claim)),
      );
      if (found || !this.#concurrency.isIdle || this.#recorder.isPending) lastWorkAt = performance.now();
      if (performance.now() - lastWorkAt > lingerMs) {
        const waitMs = await this.#tryToRest();
        if (waitMs !== undefined) return { waitMs };
        lastWorkAt = performance.now();
      }
      await this.#concurrency.settledOr(found ? CLAIM_INTERVAL_MS : POLL_INTERVAL_MS);
    }
    signal.throwIfAborted();
    return { waitMs: 0 };
  }

  /** The wait until the next delivery, or undefined if there was work after all. */
  async #tryToRest(): Promise<number | null | undefined> {
    let waitMs: number | null | undefined;
    const claimed = await this.#claim(async (claim) => {
      const shard = await goIdle(this.#options.database, claim);
      if (!shard.idle) return shard.claimed;
      waitMs = shard.waitMs;
      return [];
    });
    if (waitMs === undefined) await this.#begin(claimed);
    else this.#busyWrittenAt = Number.NEGATIVE_INFINITY;
    return waitMs;
  }

  async #keepBusy(): Promise<void> {
    if (performance.now() - this.#busyWrittenAt < BUSY_INTERVAL_MS) return;
    await markShardBusy(this.#options.database.reader, this.#shard, BUSY_MS);
    this.#busyWrittenAt = performance.now();
  }

  async #claim(
    ask: (claim: DeliveryClaim) => Promise<readonly ClaimedDelivery[]>,
  ): Promise<{ deliveries: readonly ClaimedDelivery[]; token: string; claimEndsAt: number }> {
    const token = randomUUID();
    const claimMs = this.#options.timeoutMs + CLAIM_SLACK_MS;
    const claimEndsAt = performance.now() + claimMs;
    const { perSubscription, limits } = this.#concurrency.rowLimits(ROWS_PER_ATTEMPT);
    const deliveries = await ask({ shard: this.#shard, token, claimMs, perSubscription, limits });
    return { deliveries, token, claimEndsAt };
  }

  /** Renders and queues claimed deliveries. False if there were none. */
  async #begin(claim: {
    deliveries: readonly ClaimedDelivery[];
    token: string;
    claimEndsAt: number;
  }): Promise<boolean> {
    const { deliveries, token, claimEndsAt } = claim;
    if (deliveries.length === 0) return false;
    try {
      const { reader } = this.#options.database;
      const targets = await readTargets(reader, [...new Set(deliveries.map((one) => one.subscriptionId))]);
      const bySubscription = new Map(
        readableTargets(this.#options, targets).map((target) => [target.subscriptionId, target]),
      );
      const bodies = await renderBodies(this.#options, deliveries);
      const traces = await tracesOf(this.#options.database, deliveries);
      const claimed = deliveries.flatMap((delivery) => {
        const target = bySubscription.get(delivery.subscriptionId);
        const body = delivery.body ?? bodies.get(delivery.eventId) ?? null;
        return target === undefined
          ? []
          : [{ delivery, target, token, claimEndsAt, body, traceparent: traces.get(delivery.eventId) }];
      });
      for (const queue of queuesByResource(claimed))
        this.#concurrency.add(queue[0]?.target.subscriptionId ?? '', queue, queue.length);
    } catch (error) {
      const ids = deliveries.map((delivery) => delivery.id);
      await releaseDeliveries(this.#options.database.reader, [token], ids).catch(() => {});
      throw error;
    }
    return true;
  }

  /** Sends the first attempts for one resource one after the other, whatever their results. */
  async #deliver(queue: readonly Claimed[]): Promise<Health> {
    let health: Health = 'unknown';
    for (const [index, claimed] of queue.entries()) {
      const outcome = this.#mayAttempt(claimed) ? await this.#attempt(claimed) : null;
      if (outcome === null) {
        const rest = queue.slice(index);
        await releaseDeliveries(
          this.#options.database.reader,
          rest.map(({ token }) => token),
          rest.map(({ delivery }) => delivery.id),
        ).catch(() => {});
        return health;
      }
      const record = this.#decide(claimed, outcome, performance.now() - outcome.durationMs);
      health = worse(health, receiverHealth(outcome));
      await this.#recorder.add(record, index === queue.length - 1);
    }
    return health;
  }

  #mayAttempt({ target, claimEndsAt }: Claimed): boolean {
    if (this.#stop.signal.aborted) return false;
    const { timeoutMs } = this.#options;
    if (performance.now() + timeoutMs + RECORD_MS > claimEndsAt) return false;
    const claimedAt = claimEndsAt - timeoutMs - CLAIM_SLACK_MS;
    return claimedAt > (this.#goneAt.get(target.subscriptionId) ?? Number.NEGATIVE_INFINITY);
  }

  /** Null if it was aborted: it is then unknown whether the receiver has it. */
  async #attempt({ delivery, target, body, traceparent }: Claimed): Promise<AttemptOutcome | null> {
    const unreadable: AttemptOutcome = {
      durationMs: 0,
      responseCode: null,
      responseBody: null,
      error: 'event_unreadable',
      retryAfterMs: null,
    };
    if (body === null) return unreadable;
    const { receivers, now } = this.#options;
    const headers = signedHeaders({ id: delivery.eventId, timestamp: now(), body, secrets: target.secrets });
    try {
      return await inTrace(delivery, traceparent, () => receivers.post(target.url, headers, body, this.#stop.signal));
    } catch (error) {
      if (this.#stop.signal.aborted) return null;
      throw error;
    }
  }

  #decide(
    { delivery, token }: Claimed,
    outcome: AttemptOutcome,
    startedAt: number,
  ): AttemptRecord & { startedAt: number } {
    const { schedule, random } = this.#options;
    const attempt = delivery.attemptCount - delivery.roundStart + 1;
    const verdict = decideAfterAttempt(outcome, attempt, schedule, random());
    const { id: deliveryId, eventId, subscriptionId } = delivery;
    const shared = { deliveryId, eventId, subscriptionId, token, outcome, ageMs: 0, startedAt };
    switch (verdict.result) {
      case 'succeeded':
        return { ...shared, status: 'succeeded', delayMs: null, gone: false };
      case 'retry':
        return { ...shared, status: 'pending', delayMs: verdict.delayMs, gone: false };
      case 'exhausted':
        return { ...shared, status: 'failed', delayMs: null, gone: false };
      case 'gone':
        this.#goneAt.set(subscriptionId, performance.now());
        return { ...shared, status: 'failed', delayMs: null, gone: true };
    }
  }
}

/** Hundreds of running attempts may listen to the signal. */
function stopSwitch(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/** One missing answer says more about a receiver's health than several received ones. */
function worse(one: Health, other: Health): Health {
  if (one === 'unwell' || other === 'unwell') return 'unwell';
  return one === 'well' || other === 'well' ? 'well' : 'unknown';
}
