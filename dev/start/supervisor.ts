import { setTimeout as sleep } from 'node:timers/promises';
import { describeFailure } from '../../cli/common/actionable-error.ts';
import {
  isAlive,
  type ProcessIdentity,
  type RunningProcess,
  readPidFile,
  stopProcess,
  waitForEnd,
} from '../../cli/common/processes.ts';

export type ChildName = 'console' | 'api' | 'worker' | 'sandbox' | 'temporal' | 'postgres';

/**
 * The stop order: each process's signal, and its deadline from the start of the stop. First what accepts work, then
 * what does it, then what both need. It must fit into 20 s; late processes are killed, which loses nothing.
 */
export const STOP_ORDER: readonly { name: ChildName; byMs: number; signal: NodeJS.Signals }[] = [
  { name: 'console', byMs: 7_000, signal: 'SIGTERM' },
  { name: 'api', byMs: 7_000, signal: 'SIGTERM' },
  { name: 'worker', byMs: 14_000, signal: 'SIGTERM' },
  { name: 'sandbox', byMs: 15_000, signal: 'SIGTERM' },
  { name: 'temporal', byMs: 17_000, signal: 'SIGTERM' },
  // Postgres's fast shutdown: ends sessions, keeps everything committed.
  { name: 'postgres', byMs: 19_000, signal: 'SIGINT' },
];

/** An earlier start's leftovers need no drain. */
const LEFT_OVER_GRACE_MS = 3_000;

const RESTART_DELAY_FIRST_MS = 500;
const RESTART_DELAY_MAX_MS = 30_000;
/** A child that lived this long resets its back-off. */
const STABLE_AFTER_MS = 60_000;

/** The stop was requested during the start. */
export class StoppedWhileStarting extends Error {}

/** Starts children, restarts those that end by themselves, and stops them in order. */
export class Supervisor {
  readonly #pidFile: (name: ChildName) => string;
  readonly #say: (line: string) => void;
  #stopping = false;
  /** During the start a child's end fails the start instead of restarting the child. */
  #up = false;

  constructor(pidFile: (name: ChildName) => string, say: (line: string) => void) {
    this.#pidFile = pidFile;
    this.#say = say;
  }

  get stopping(): boolean {
    return this.#stopping;
  }

  /** Whether a child that ends is restarted. */
  get restarts(): boolean {
    return this.#up && !this.#stopping;
  }

  /** From now on children that end are restarted. */
  serviceIsUp(): void {
    this.#up = true;
  }

  /** Starts and supervises a child. `start` is called again, with back-off, whenever the child ends unexpectedly. */
  async launch(name: ChildName, start: () => Promise<RunningProcess>): Promise<RunningProcess> {
    if (this.#stopping) throw new StoppedWhileStarting();
    const first = await start();
    if (this.#stopping) throw new StoppedWhileStarting();
    void this.#watch(name, first, start);
    return first;
  }

  async #watch(name: ChildName, first: RunningProcess, start: () => Promise<RunningProcess>): Promise<void> {
    let running: RunningProcess | undefined = first;
    let delayMs = RESTART_DELAY_FIRST_MS;
    for (;;) {
      const since = performance.now();
      const how = running === undefined ? undefined : await running.ended;
      if (!this.restarts) return;
      if (performance.now() - since > STABLE_AFTER_MS) delayMs = RESTART_DELAY_FIRST_MS;
      if (how !== undefined) this.#say(`${name} ended unexpectedly (${how}); starting it again.`);
      await sleep(delayMs);
      delayMs = Math.min(delayMs * 2, RESTART_DELAY_MAX_MS);
      if (this.#stopping) return;
      try {
        running = await start();
        this.#say(`${name} runs again.`);
      } catch (error) {
        running = undefined;
        if (!this.#stopping)
          this.#say(
            `${name} cannot be started: ${describeFailure(error)} Trying again in ${Math.round(delayMs / 1000)} s.`,
          );
      }
    }
  }

  /**
   * Stops every living child in order, by recorded identity, which includes children just being started and those of
   * a killed start.
   */
  async stopAll(): Promise<void> {
    this.#stopping = true;
    const beganAt = performance.now();
    for (const { name, byMs, signal } of STOP_ORDER) {
      const identity = this.#recorded(name);
      if (identity === undefined) continue;
      const graceMs = Math.max(200, byMs - (performance.now() - beganAt));
      const byItself = await stopProcess(identity, { graceMs, signal });
      this.#say(byItself ? `Stopped ${name}.` : `Killed ${name}, which did not end in time.`);
    }
  }

  /** Ends leftovers of an earlier start of the same data directory, and no other processes. */
  async stopLeftOvers(): Promise<void> {
    const left = STOP_ORDER.flatMap((step) => {
      const identity = this.#recorded(step.name);
      return identity === undefined ? [] : [{ ...step, identity }];
    });
    if (left.length === 0) return;
    this.#say(`Stopping what an earlier start left behind: ${left.map(({ name }) => name).join(', ')}.`);
    for (const { identity, signal, name } of left) {
      const foundation = name === 'temporal' || name === 'postgres';
      await stopProcess(identity, { graceMs: foundation ? 2 * LEFT_OVER_GRACE_MS : LEFT_OVER_GRACE_MS, signal });
      await waitForEnd(identity, LEFT_OVER_GRACE_MS);
    }
  }

  #recorded(name: ChildName): ProcessIdentity | undefined {
    const identity = readPidFile(this.#pidFile(name));
    return identity !== undefined && isAlive(identity) ? identity : undefined;
  }
}
