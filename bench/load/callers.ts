import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface PreparedRequest {
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface LoadCommand {
  readonly origin: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly requests: readonly PreparedRequest[];
  /** Sends each request once, in order, and stops after the last; otherwise requests are drawn at random. */
  readonly once?: boolean;
  /** Sends a new Idempotency-Key with every request. */
  readonly idempotent: boolean;
  readonly callers: number;
  readonly seconds: number;
  /** Stops after this many requests, if that comes first. */
  readonly count?: number;
  /** Pause of each caller between an answer and its next request. */
  readonly pauseMs?: number;
}

export interface LoadResult {
  readonly count: number;
  readonly errors: number;
  readonly firstError: string | null;
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** The process of the load generator, which runs as long as the bench, so that every round has warm code. */
export class Callers {
  readonly #child: ChildProcess;

  constructor() {
    this.#child = fork(fileURLToPath(new URL('load.ts', import.meta.url)), {
      execArgv: ['--import', import.meta.resolve('tsx')],
    });
  }

  /** Runs one load to its end. Any failed request ends the bench, because the rate would mean nothing. */
  async run(command: LoadCommand): Promise<LoadResult> {
    const result = await new Promise<LoadResult>((resolve, reject) => {
      const onExit = () => reject(new Error('the load generator ended'));
      this.#child.once('exit', onExit);
      this.#child.once('message', (message) => {
        this.#child.off('exit', onExit);
        resolve(message as LoadResult);
      });
      this.#child.send(command);
    });
    if (result.errors > 0) {
      throw new Error(`${result.errors} requests to ${command.origin} failed, the first with: ${result.firstError}`);
    }
    return result;
  }

  close(): void {
    this.#child.disconnect();
  }
}
