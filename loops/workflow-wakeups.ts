import { randomUUID } from 'node:crypto';
import { type Client, isGrpcServiceError, NamespaceNotFoundError } from '@temporalio/client';
import type { Logger } from 'pino';
import { tracing } from '../config/tracing/tracing.ts';
import {
  type ClaimedWakeup,
  parkWakeup,
  readRelayBacklog,
  releaseWakeup,
  settleAndClaimWakeups,
  settleWakeup,
} from '../db/common/workflow-wakeups.ts';
import { WAKEUPS_CHANNEL } from '../db/postgres/wakeup-nudges.ts';
import type { Database } from '../db/query/database.ts';
import { CHANGED_SIGNAL, staticDetails, staticSummary, TASK_QUEUES } from '../workflows/common/messages.ts';
import { relayLagSeconds, relayParkedWakeups } from './metrics.ts';
import { type PollingLoop, pollingLoop } from './polling.ts';
import { workflowsInTrace } from './temporal.ts';

/** The relay sees a committed wake-up within this time, nudged or not. */
const POLL_INTERVAL_MS = 500;
/** Temporal answers a start within milliseconds; more calls at once would only move the queue to Temporal. */
const CALLS_MAX = 8;
/**
 * Outlasts a call (deadline: loops/temporal.ts) and the recording of its result, so that no other relay repeats it
 * meanwhile.
 */
const LEASE_MS = 30_000;
const BACKOFF_MS_MIN = 500;
/** For a wake-up that Temporal rejects. */
const BACKOFF_MS_MAX = 60_000;
/** For all wake-ups while Temporal does not answer. */
const ABSENCE_MS_MAX = 5_000;
const BACKLOG_INTERVAL_MS = 2_000;
/** A closing run rejects once; expired credentials are rejected at every call, and one line says as much as thousands. */
const REJECTIONS_BEFORE_WARNING = 2;
const REJECTION_WARNING_INTERVAL_MS = 60_000;

export interface RelayOptions {
  readonly database: Database;
  readonly client: Client;
  readonly logger: Logger;
  /** The console's address, to which workflows lead; none unless given. */
  readonly consoleUrl?: string | null;
  /**
   * Relays right after a commit that wakes workflows, also one of another process (NOTIFY). Without it the poll finds
   * them a little later. Default true.
   */
  readonly listen?: boolean;
  /** Default 500 ms. */
  readonly pollIntervalMs?: number;
}

/** Passes wake-ups to Temporal. It only ever calls signalWithStart, so duplicates and restarts are harmless. */
export function workflowWakeupRelay(options: RelayOptions): PollingLoop {
  const { database, logger } = options;
  const relay = new Relay(options, () => loop.nudge());
  const loop = pollingLoop({
    name: 'workflow-wakeups',
    intervalMs: options.pollIntervalMs ?? POLL_INTERVAL_MS,
    logger,
    poll: () => relay.poll(),
  });
  let nudges: { close(): void } | undefined;
  let listening: Promise<{ close(): Promise<void> }> | undefined;
  return {
    ...loop,
    start: () => {
      loop.start();
      if (options.listen === false) return;
      nudges = database.onWakeup(() => loop.nudge());
      listening = database.listen(WAKEUPS_CHANNEL, () => loop.nudge());
      listening.catch((error: unknown) => logger.warn({ error }, 'the relay polls only, it cannot listen'));
    },
    stop: async () => {
      nudges?.close();
      await (await listening?.catch(() => undefined))?.close();
      await loop.stop();
      await relay.settled();
    },
  };
}

class Relay {
  readonly #options: RelayOptions;
  readonly #nudge: () => void;
  readonly #calls = new Set<Promise<void>>();
  /** Signalled in Temporal; the next claim deletes them. */
  #signalled: ClaimedWakeup[] = [];
  /**
   * Consecutive calls that Temporal did not answer. While this is not 0, one call at a time probes whether it is
   * back.
   */
  #absences = 0;
  #absentUntil = 0;
  #backlogReadAt = 0;
  #rejectionWarnedAt = Number.NEGATIVE_INFINITY;

  constructor(options: RelayOptions, nudge: () => void) {
    this.#options = options;
    this.#nudge = nudge;
  }

  /** Claims as many wake-ups as there are free calls. The loop does not wait for calls, so that a slow one delays no other. */
  async poll(): Promise<boolean> {
    await this.#readBacklog();
    const limit = this.#freeCalls();
    const signalled = [...this.#signalled];
    if (limit === 0 && signalled.length === 0) return false;
    const { reader } = this.#options.database;
    const claim = { token: randomUUID(), limit, leaseMs: LEASE_MS };
    const { settled, claimed } = await settleAndClaimWakeups(reader, signalled, claim);
    this.#signalled = this.#signalled.slice(signalled.length);
    for (const wakeup of signalled)
      if (!settled.has(wakeup.workflowId)) this.#inBackground(wakeup, () => this.#settle(wakeup));
    for (const wakeup of claimed) this.#inBackground(wakeup, () => this.#relay(wakeup));
    return false;
  }

  async settled(): Promise<void> {
    await Promise.all(this.#calls);
    for (const wakeup of this.#signalled.splice(0)) this.#inBackground(wakeup, () => this.#settle(wakeup));
    await Promise.all(this.#calls);
  }

  #freeCalls(): number {
    if (performance.now() < this.#absentUntil) return 0;
    return Math.max(0, (this.#absences > 0 ? 1 : CALLS_MAX) - this.#calls.size);
  }

  #inBackground(wakeup: ClaimedWakeup, work: () => Promise<void>): void {
    const call = work()
      .catch((error: unknown) => {
        // The lease will expire, and repeating a signal is harmless.
        const { workflowId } = wakeup;
        this.#options.logger.warn({ workflowId, error }, 'the outcome of a wake-up could not be recorded');
      })
      .finally(() => {
        this.#calls.delete(call);
        if (this.#absences === 0) this.#nudge();
      });
    this.#calls.add(call);
  }

  #settle(wakeup: ClaimedWakeup): Promise<void> {
    return settleWakeup(this.#options.database.reader, wakeup);
  }

  async #relay(wakeup: ClaimedWakeup): Promise<void> {
    const { database, logger } = this.#options;
    const { reader } = database;
    const failure = await this.#signal(wakeup);
    if (failure === null) this.#signalled.push(wakeup);
    else if (failure.kind === 'absent') await releaseWakeup(reader, wakeup, 0);
    else if (failure.kind === 'invalid') {
      const { workflowId } = wakeup;
      logger.error({ workflowId, reason: failure.reason }, 'wake-up parked: Temporal finds it invalid');
      await parkWakeup(reader, wakeup, failure.reason);
    } else {
      if (wakeup.attemptCount >= REJECTIONS_BEFORE_WARNING) this.#warnOfRejection(failure.reason);
      await releaseWakeup(reader, wakeup, backoffMs(wakeup.attemptCount, BACKOFF_MS_MAX), failure.reason);
    }
  }

  #warnOfRejection(reason: string): void {
    if (performance.now() - this.#rejectionWarnedAt < REJECTION_WARNING_INTERVAL_MS) return;
    this.#rejectionWarnedAt = performance.now();
    this.#options.logger.warn({ reason }, 'Temporal rejects wake-ups; they wait and are tried again');
  }

  async #signal(wakeup: ClaimedWakeup): Promise<Failure | null> {
    const { client, logger, consoleUrl = null } = this.#options;
    const { workflowType, workflowId, priority } = wakeup;
    const details = staticDetails(workflowType, workflowId, consoleUrl);
    const trace = tracing()?.beginCall(`wake ${workflowType}`, { workflowId }, wakeup.traceparent);
    const workflows = trace?.traceparent === undefined ? client.workflow : workflowsInTrace(client, trace.traceparent);
    try {
      await workflows.signalWithStart(workflowType, {
        workflowId,
        taskQueue: TASK_QUEUES.workflows,
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        signal: CHANGED_SIGNAL,
        priority: { priorityKey: priority },
        staticSummary: staticSummary(workflowType, workflowId),
        ...(details === undefined ? {} : { staticDetails: details }),
      });
      if (this.#absences > 0) logger.info({ absences: this.#absences }, 'Temporal answers again');
      this.#absences = 0;
      trace?.end({});
      return null;
    } catch (error) {
      trace?.end({}, 'failed');
      const failure = classify(error);
      if (failure.kind !== 'absent') return failure;
      if (this.#absences === 0) logger.warn({ reason: failure.reason }, 'Temporal does not answer; wake-ups wait');
      this.#absentUntil = performance.now() + backoffMs(this.#absences, ABSENCE_MS_MAX);
      this.#absences += 1;
      return failure;
    }
  }

  async #readBacklog(): Promise<void> {
    if (performance.now() - this.#backlogReadAt < BACKLOG_INTERVAL_MS) return;
    this.#backlogReadAt = performance.now();
    const { lagSeconds, parked } = await readRelayBacklog(this.#options.database.reader);
    relayLagSeconds.set(lagSeconds);
    relayParkedWakeups.set(parked);
  }
}

/** `absent`: no answer. `invalid`: Temporal will never accept it. `rejected`: not now. */
interface Failure {
  readonly kind: 'absent' | 'invalid' | 'rejected';
  readonly reason: string;
}

const ABSENT_CODES: ReadonlySet<number> = new Set([1, 4, 14]); // cancelled, deadline exceeded, unavailable
const INVALID_CODES: ReadonlySet<number> = new Set([3]); // invalid argument

function classify(error: unknown): Failure {
  const cause = error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : error;
  // The SDK's own error for one kind of NOT_FOUND. Messages of others may quote metadata, and thus an API key.
  if (cause instanceof NamespaceNotFoundError) return { kind: 'rejected', reason: `5 ${cause.message}` };
  if (!isGrpcServiceError(cause)) return { kind: 'rejected', reason: error instanceof Error ? error.name : 'unknown' };
  const reason = `${cause.code} ${cause.details}`.slice(0, 300);
  if (ABSENT_CODES.has(cause.code)) return { kind: 'absent', reason };
  return { kind: INVALID_CODES.has(cause.code) ? 'invalid' : 'rejected', reason };
}

/** Doubles with each attempt up to a limit; jitter keeps relays from retrying in step. */
function backoffMs(attempts: number, maxMs: number): number {
  return Math.min(maxMs, BACKOFF_MS_MIN * 2 ** Math.min(attempts, 20)) * (0.5 + Math.random() / 2);
}
