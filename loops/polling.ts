import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { sqlState } from '../db/driver/client.ts';
import { DomainError } from '../domain/frame/errors.ts';

const PAUSE_MS_MAX = 5_000;

/** Work that goes on beside answering: the relay, the sequencer, admissions, the sweep. */
export interface BackgroundLoop {
  readonly name: string;
  start(): void;
  /** Finishes the step under way, gives claims back, and resolves. */
  stop(): Promise<void>;
}

export interface PollingLoop extends BackgroundLoop {
  /** Looks now instead of at the next interval. Cheap, and as often as one likes: calls in between are one. */
  nudge(): void;
}

/**
 * Work that is found by looking: at least every `intervalMs`, at once after a `nudge()` or while `poll` says that there
 * is more. A failing poll is tried again after a growing pause; the first failure in a row is
 * logged, and its end.
 */
export function pollingLoop(options: {
  readonly name: string;
  readonly intervalMs: number;
  readonly logger: Logger;
  /** One step; true when there is more to do at once. */
  readonly poll: () => Promise<boolean>;
}): PollingLoop {
  const { name, intervalMs, logger, poll } = options;
  let stopping = false;
  let nudged = false;
  let failures = 0;
  let resting = new AbortController();
  let running: Promise<void> = Promise.resolve();

  async function rest(): Promise<void> {
    // Hurrying does not shorten the pause after a failure: what failed would only fail again.
    if (stopping || (nudged && failures === 0)) return;
    const pauseMs = failures === 0 ? intervalMs : Math.min(PAUSE_MS_MAX, intervalMs * 2 ** failures) * jitter();
    resting = new AbortController();
    await sleep(pauseMs, undefined, { signal: resting.signal }).catch(() => {});
  }

  async function run(): Promise<void> {
    while (!stopping) {
      nudged = false;
      let more = false;
      try {
        more = await poll();
        if (failures > 0) logger.info({ loop: name, failures }, 'background loop goes on');
        failures = 0;
      } catch (error) {
        failures += 1;
        if (failures === 1)
          logger.warn({ loop: name, reason: reasonOf(error) }, 'background loop failed; it tries again');
      }
      if (!more) await rest();
    }
  }

  return {
    name,
    start: () => {
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

/** Messages of a refusal, by the database or by a rule, can quote what people typed: of these the code alone. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  if (error instanceof DomainError) return error.code;
  const state = sqlState(error);
  return state === null ? error.message : `${error.name} ${state}`;
}
