import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Callback } from './books.ts';
import type { FaultSwitch } from './faults.ts';

const SENDERS = 16;
const ANSWER_TIMEOUT_MS = 10_000;
const BACK_OFF_MS_MIN = 200;
const BACK_OFF_MS_MAX = 10_000;
const SHUFFLE_MS_MAX = 1_000;

/** After this many consecutive failures the receiver counts as unavailable, and retries slow down. */
const FAILURES_TO_REST = SENDERS;
const REST_MS = 2_000;

interface Line {
  readonly callbacks: Callback[];
  failures: number;
  state: 'idle' | 'queued' | 'sending' | 'pausing';
}

export interface CallbackOptions {
  /** Null: there are no callbacks to send. */
  readonly target: { readonly url: string; readonly secret: string } | null;
  readonly faults: FaultSwitch;
  /** Called after each delivery; removes the callback, or one of its copies, from the books. */
  readonly onDelivered: (callback: Callback) => void;
}

/**
 * Sends every callback until a 2xx answer, one subject's in order, signed per Standard Webhooks 1.0: HMAC-SHA256 over
 * `id.timestamp.body`.
 */
export class Callbacks {
  readonly #options: CallbackOptions;
  readonly #agent = new Agent({
    connections: SENDERS,
    headersTimeout: ANSWER_TIMEOUT_MS,
    bodyTimeout: ANSWER_TIMEOUT_MS,
  });
  readonly #stop = new AbortController();
  readonly #lines = new Map<string, Line>();
  readonly #queue: string[] = [];
  readonly #attempted = new Map<string, () => void>();
  #sending = 0;
  #failuresInARow = 0;

  constructor(options: CallbackOptions) {
    this.#options = options;
    options.faults.onChange(() => this.#work());
  }

  add(callback: Callback): void {
    const { callbacks, callbackDelayMs } = this.#options.faults.now;
    const shuffled = callbacks === 'shuffled';
    // Out of order: each callback gets its own line.
    const name = shuffled ? callback.id : callback.line;
    const line = this.#lines.get(name) ?? { callbacks: [], failures: 0, state: 'idle' };
    this.#lines.set(name, line);
    line.callbacks.push(callback);
    if (line.state !== 'idle') return;
    this.#enqueueAfter(name, line, callbackDelayMs + (shuffled ? Math.random() * SHUFFLE_MS_MAX : 0));
  }

  /** Resolves after the callback's first attempt, successful or not, or after `timeoutMs`. */
  async attempted(id: string, timeoutMs: number): Promise<void> {
    const sent = new Promise<void>((resolve) => this.#attempted.set(id, resolve));
    await Promise.race([sent, sleep(timeoutMs, undefined, { ref: false })]);
    this.#attempted.delete(id);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#agent.destroy();
  }

  #enqueueAfter(name: string, line: Line, delayMs: number): void {
    line.state = 'pausing';
    const enqueue = () => {
      line.state = 'queued';
      this.#queue.push(name);
      this.#work();
    };
    if (delayMs <= 0) enqueue();
    else sleep(delayMs, undefined, { signal: this.#stop.signal }).then(enqueue, () => {});
  }

  #work(): void {
    while (this.#sending < SENDERS && !this.#stop.signal.aborted && this.#options.faults.now.callbacks !== 'held') {
      const name = this.#queue.shift();
      if (name === undefined) return;
      this.#sending += 1;
      this.#serve(name)
        .catch(() => {})
        .finally(() => {
          this.#sending -= 1;
          this.#work();
        });
    }
  }

  async #serve(name: string): Promise<void> {
    const line = this.#lines.get(name);
    const callback = line?.callbacks[0];
    if (line === undefined || callback === undefined) return;
    line.state = 'sending';
    const delivered = await this.#send(callback);
    this.#attempted.get(callback.id)?.();
    if (this.#stop.signal.aborted) return;
    if (delivered) {
      line.failures = 0;
      this.#options.onDelivered(callback);
      if (callback.copies > 1) line.callbacks[0] = { ...callback, copies: callback.copies - 1 };
      else line.callbacks.shift();
      if (line.callbacks.length === 0) this.#lines.delete(name);
      else this.#enqueueAfter(name, line, 0);
      return;
    }
    line.failures += 1;
    const backOffMs = Math.min(BACK_OFF_MS_MIN * 2 ** (line.failures - 1), BACK_OFF_MS_MAX);
    this.#enqueueAfter(name, line, backOffMs * (0.5 + Math.random() / 2));
    if (this.#failuresInARow >= FAILURES_TO_REST) await sleep(REST_MS, undefined, { signal: this.#stop.signal });
  }

  async #send(callback: Callback): Promise<boolean> {
    const { target } = this.#options;
    if (target === null) return false;
    // By the real clock, as receivers compare it with theirs.
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = createHmac('sha256', target.secret)
      .update(`${callback.id}.${timestamp}.${callback.body}`)
      .digest('base64');
    try {
      const response = await request(target.url, {
        method: 'POST',
        dispatcher: this.#agent,
        // The agent has the time limits.
        signal: this.#stop.signal,
        headers: {
          'content-type': 'application/json',
          'webhook-id': callback.id,
          'webhook-timestamp': timestamp,
          'webhook-signature': `v1,${signature}`,
        },
        body: callback.body,
      });
      await response.body.dump();
      this.#failuresInARow = response.statusCode >= 500 ? this.#failuresInARow + 1 : 0;
      return response.statusCode >= 200 && response.statusCode < 300;
    } catch {
      this.#failuresInARow += 1;
      return false;
    }
  }
}
