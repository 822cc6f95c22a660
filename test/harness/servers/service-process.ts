import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, logTail, type RunningProcess, signalProcess, stopProcess } from '../../../cli/common/processes.ts';

/** Processes that are killed. `api` and `worker` are two each; their loops may run in a process of their own, `loops`. */
export const PROCESS_KINDS = ['api', 'worker', 'temporal', 'postgres', 'sandbox'] as const;
export const KINDS_WITH_LOOPS = [...PROCESS_KINDS, 'loops'] as const;
export type ProcessKind = (typeof KINDS_WITH_LOOPS)[number];

/** One process of the service, which can be killed and restarted on the same port and files. */
export interface ServiceProcess {
  readonly kind: ProcessKind;
  readonly name: string;
  readonly logFile: string;
  /** How often it was killed. */
  readonly kills: number;
  readonly isUp: boolean;
  /** Of the running process; undefined while there is none. */
  readonly pid: number | undefined;
  /** Sends SIGKILL, and resolves when it has ended. */
  kill(): Promise<void>;
  /** Starts it again; resolves when it serves. */
  start(): Promise<void>;
  /** Stops it (SIGSTOP) for this long. */
  pause(durationMs: number): Promise<void>;
  /** Ends it in order, as a deployment does; whether it ended by itself. */
  stop(): Promise<boolean>;
}

const READY_MS_MAX = 180_000;
/** As docker-compose.yml allows the worker, which takes longest. */
const STOP_MS_MAX = 25_000;

export interface ProcessFiles {
  readonly logFile: string;
  readonly pidFile: string;
}

/** The log line by which our own processes report ready; the others are ready when their start resolves. */
const READY = {
  api: 'api ready',
  worker: 'worker ready',
  loops: 'loops ready',
  sandbox: 'sandbox ready',
  temporal: null,
  postgres: null,
};

export class Child implements ServiceProcess {
  readonly kind: ProcessKind;
  readonly name: string;
  readonly logFile: string;
  kills = 0;
  isUp = false;
  readonly #pidFile: string;
  readonly #run: (files: ProcessFiles) => Promise<RunningProcess>;
  #running: RunningProcess | null = null;

  constructor(
    kind: ProcessKind,
    name: string,
    directory: string,
    run: (files: ProcessFiles) => Promise<RunningProcess>,
  ) {
    this.kind = kind;
    this.name = name;
    this.logFile = join(directory, 'logs', `${name}.log`);
    this.#pidFile = join(directory, 'run', `${name}.pid`);
    this.#run = run;
  }

  get pid(): number | undefined {
    return this.#running?.pid;
  }

  async start(): Promise<void> {
    const before = this.#readyCount();
    const running = await this.#run({ logFile: this.logFile, pidFile: this.#pidFile });
    this.#running = running;
    const deadline = performance.now() + READY_MS_MAX;
    while (READY[this.kind] !== null && this.#readyCount() === before) {
      if (!isAlive(running) || performance.now() > deadline) {
        throw new Error(`${this.name} did not become ready: ${logTail(this.logFile, 5)}`);
      }
      await sleep(50);
    }
    this.isUp = true;
  }

  async kill(): Promise<void> {
    if (this.#running === null) return;
    this.isUp = false;
    this.kills += 1;
    await this.#end('SIGKILL', 5_000);
  }

  killNow(): void {
    if (this.#running !== null) signalProcess(this.#running, 'SIGKILL');
  }

  async pause(durationMs: number): Promise<void> {
    const running = this.#running;
    if (running === null) return;
    signalProcess(running, 'SIGSTOP');
    await sleep(durationMs);
    signalProcess(running, 'SIGCONT');
  }

  async stop(): Promise<boolean> {
    this.isUp = false;
    return this.#end('SIGTERM', STOP_MS_MAX);
  }

  async end(): Promise<void> {
    if (this.kind === 'postgres') await this.#end('SIGINT', 8_000);
    else await this.#end('SIGKILL', 5_000);
  }

  async #end(signal: NodeJS.Signals, graceMs: number): Promise<boolean> {
    const running = this.#running;
    if (running === null) return true;
    this.#running = null;
    const endedByItself = await stopProcess(running, { graceMs, signal });
    // Until it is reaped its process id seems alive.
    await running.ended;
    return endedByItself;
  }

  #readyCount(): number {
    const words = READY[this.kind];
    return words === null ? 0 : logTail(this.logFile, 1_000_000).split(`"${words}"`).length - 1;
  }
}
