import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { sqlState } from '../db/postgres/failures.ts';
import { DomainError } from '../domain/common/errors.ts';
import { loopLastSuccess } from './metrics.ts';

const PAUSE_MS_MAX = 5_000;
/** So that an hour's log shows that a loop still fails. */
const WARNING_INTERVAL_MS = 60_000;

/** Work that runs next to the API: the relay, the sequencer, admissions, the sweep. */
export interface BackgroundLoop {
  readonly name: string;
  start(): void;
  /** Finishes the current step, releases claims, and resolves. */
  stop(): Promise<void>;
}

export interface PollingLoop extends BackgroundLoop {
  /** Polls now instead of at the next interval. Cheap: calls that come together cause one poll. */
  nudge(): void;
}

/**
 * Polls for work every `intervalMs`, and at once after `nudge()` or while `poll` reports more. A failing poll is
 * retried after a growing pause. The first failure in a row is logged, then one a minute, and the recovery.
 */
export function pollingLoop(options: {
  readonly name: string;
  readonly intervalMs: number;
  readonly logger: Logger;
  /** One step; true if there is more to do at once. */
  readonly poll: () => Promise<boolean>;
  /** Default a minute. */
  readonly warningIntervalMs?: number;
}): PollingLoop {
  const { name, intervalMs, logger, poll, warningIntervalMs = WARNING_INTERVAL_MS } = options;
  let stopping = false;
  let nudged = false;
  let failures = 0;
  let warnedAt = 0;
  let resting = new AbortController();
  let running: Promise<void> = Promise.resolve();

  async function rest(): Promise<void> {
    // A nudge does not shorten the pause after a failure: what failed would only fail again.
    if (stopping || (nudged && failures === 0)) return;
    const growing = Math.min(PAUSE_MS_MAX, intervalMs * 2 ** failures) * jitter();
    const pauseMs = failures === 0 ? intervalMs : Math.max(intervalMs, growing);
    resting = new AbortController();
    await sleep(pauseMs, undefined, { signal: resting.signal }).catch(() => {});
  }

  async function run(): Promise<void> {
    while (!stopping) {
      nudged = false;
      let more = false;
      try {
        more = await poll();
        loopLastSuccess.set({ loop: name }, Date.now() / 1_000);
        if (failures > 0) logger.info({ loop: name, failures }, 'background loop has recovered');
        failures = 0;
      } catch (error) {
        failures += 1;
        if (failures === 1 || performance.now() - warnedAt >= warningIntervalMs) {
          warnedAt = performance.now();
          logger.warn({ loop: name, failures, reason: reasonOf(error) }, 'background loop failed and is retried');
        }
      }
      if (!more) await rest();
    }
  }

  return {
    name,
    start: () => {
      loopLastSuccess.set({ loop: name }, Date.now() / 1_000);
      running = run();
    },
    stop: async () => {
      stopping = true;
      resting.abort();
      await running;
    },
    nudge: () => {
      nudged = true;
      if (failures === 0) resting.abort();
    },
  };
}

function jitter(): number {
  return 0.5 + Math.random() / 2;
}

/** Error messages can quote user input; logs get only the code. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  if (error instanceof DomainError) return error.code;
  const state = sqlState(error);
  return state === null ? error.message : `${error.name} ${state}`;
}
