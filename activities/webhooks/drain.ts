import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import type { Database } from '../../db/driver/client.ts';
import type { Keyring } from '../../db/frame/keyring.ts';
import {
  type AttemptRecord,
  type ClaimedDelivery,
  claimDeliveries,
  type DeliveryClaim,
  goIdle,
  keepShardBusy,
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
import { type Claimed, inLines, readableTargets, renderBodies } from './lines.ts';
import { type Health, Pace } from './pace.ts';
import type { Receivers } from './receivers.ts';
import { signedHeaders } from './signatures.ts';

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
  /** How long an idle drain keeps looking; default LINGER_MS. */
  readonly lingerMs?: number;
}

/** How long one activity drains before its workflow starts the next, so that the history shows progress. */
const RUN_MS = 60_000;
/** Polling is cheaper than being woken, so a drain that was busy keeps looking for a while. */
const LINGER_MS = 2_000;
const LOOK_INTERVAL_MS = 50;
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
/** Deliveries claimed per free attempt: one transfer's four events form one line. */
const ROWS_PER_ATTEMPT = 4;

/**
 * Sends the due deliveries of one shard. It lives as long as its process, so that a slow attempt outlives the
 * activity that started it and delays no other subscription.
 */
export class ShardDrain {
  readonly #options: DrainOptions;
  readonly #shard: number;
  readonly #recorder: AttemptRecorder;
  /** Queues lines and limits concurrent attempts per subscription. */
  readonly #pace = new Pace<readonly Claimed[]>((line) => this.#walk(line));
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
    await this.#pace.idle();
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
      if (found || !this.#pace.isIdle || this.#recorder.isPending) lastWorkAt = performance.now();
      if (performance.now() - lastWorkAt > lingerMs) {
        const waitMs = await this.#tryToRest();
        if (waitMs !== undefined) return { waitMs };
        lastWorkAt = performance.now();
      }
      await this.#pace.settledOr(found ? CLAIM_INTERVAL_MS : LOOK_INTERVAL_MS);
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
    await keepShardBusy(this.#options.database.reader, this.#shard, BUSY_MS);
    this.#busyWrittenAt = performance.now();
  }

  async #claim(
    ask: (claim: DeliveryClaim) => Promise<readonly ClaimedDelivery[]>,
  ): Promise<{ deliveries: readonly ClaimedDelivery[]; token: string; claimEndsAt: number }> {
    const token = randomUUID();
    const claimMs = this.#options.timeoutMs + CLAIM_SLACK_MS;
    const claimEndsAt = performance.now() + claimMs;
    const { perSubscription, limits } = this.#pace.rowLimits(ROWS_PER_ATTEMPT);
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
      const claimed = deliveries.flatMap((delivery) => {
        const target = bySubscription.get(delivery.subscriptionId);
        const body = delivery.body ?? bodies.get(delivery.eventId) ?? null;
        return target === undefined ? [] : [{ delivery, target, token, claimEndsAt, body }];
      });
      for (const line of inLines(claimed)) this.#pace.add(line[0]?.target.subscriptionId ?? '', line, line.length);
    } catch (error) {
      const ids = deliveries.map((delivery) => delivery.id);
      await releaseDeliveries(this.#options.database.reader, [token], ids).catch(() => {});
      throw error;
    }
    return true;
  }

  /** First attempts for one resource go out one after the other, whatever their results. */
  async #walk(line: readonly Claimed[]): Promise<Health> {
    let health: Health = 'unknown';
    for (const [index, claimed] of line.entries()) {
      const outcome = this.#mayAttempt(claimed) ? await this.#attempt(claimed) : null;
      if (outcome === null) {
        const rest = line.slice(index);
        await releaseDeliveries(
          this.#options.database.reader,
          rest.map(({ token }) => token),
          rest.map(({ delivery }) => delivery.id),
        ).catch(() => {});
        return health;
      }
      const record = this.#decide(claimed, outcome, performance.now() - outcome.durationMs);
      health = worse(health, receiverHealth(outcome));
      await this.#recorder.add(record, index === line.length - 1);
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
  async #attempt({ delivery, target, body }: Claimed): Promise<AttemptOutcome | null> {
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
      return await receivers.post(target.url, headers, body, this.#stop.signal);
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
    const { id: deliveryId, subscriptionId } = delivery;
    const shared = { deliveryId, subscriptionId, token, outcome, ageMs: 0, startedAt };
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

/** Hundreds of running attempts may listen to it. */
function stopSwitch(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/** One missing answer says more about a receiver than several that arrived. */
function worse(one: Health, other: Health): Health {
  if (one === 'unwell' || other === 'unwell') return 'unwell';
  return one === 'well' || other === 'well' ? 'well' : 'unknown';
}
