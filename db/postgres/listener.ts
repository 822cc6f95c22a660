import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import type { HostOptions, Hosts } from './hosts.ts';

const RECONNECT_FIRST_MS = 100;
const RECONNECT_MAX_MS = 5_000;
/** How often an idle listener probes its connection; otherwise it would never notice a peer that vanished silently. */
const PROBE_EVERY_MS = 10_000;
const PROBE_TIMEOUT_MS = 5_000;

type OnNotify = (payload: string) => void;

/** A process's single LISTEN connection. It reconnects by itself and then calls every listener with ''. */
export class Listener {
  readonly #hosts: Hosts;
  readonly #options: Omit<HostOptions, 'onLost'>;
  readonly #listeners = new Map<string, Set<OnNotify>>();
  readonly #stopped = new AbortController();
  /** In use or being opened; `#connected` is true once it listens. */
  #connection: Connection | null = null;
  #connected = false;
  #running: Promise<void> | null = null;
  #wakeUp: (() => void) | null = null;

  constructor({ hosts, ...options }: Omit<HostOptions, 'onLost' | 'onNotification'> & { readonly hosts: Hosts }) {
    this.#hosts = hosts;
    this.#options = {
      ...options,
      onNotification: (channel, payload) => this.#deliver(channel, payload),
    };
  }

  /** Starts to listen. Resolves at once, even while Postgres is away. */
  async listen(channel: string, onNotify: OnNotify): Promise<{ close(): Promise<void> }> {
    const known = this.#listeners.get(channel);
    if (known === undefined) this.#listeners.set(channel, new Set([onNotify]));
    else known.add(onNotify);
    this.#running ??= this.#keepConnected();
    const connection = this.#connection;
    if (known === undefined && this.#connected && connection !== null) {
      await this.#subscribe(connection, channel).catch(() => connection.retire('LISTEN failed'));
    }
    return {
      close: async () => {
        this.#listeners.get(channel)?.delete(onNotify);
      },
    };
  }

  async close(): Promise<void> {
    this.#stopped.abort();
    this.#connection?.retire('the listener is closed');
    this.#wakeUp?.();
    await this.#running;
  }

  #deliver(channel: string, payload: string): void {
    for (const onNotify of this.#listeners.get(channel) ?? []) onNotify(payload);
  }

  async #subscribe(connection: Connection, channel: string): Promise<void> {
    await connection.simple(`listen "${channel.replaceAll('"', '""')}"`);
    this.#deliver(channel, '');
  }

  async #keepConnected(): Promise<void> {
    let delayMs = RECONNECT_FIRST_MS;
    while (!this.#stopped.signal.aborted) {
      try {
        const connection = await this.#hosts.open({ ...this.#options, onLost: () => this.#wakeUp?.() }, (opening) => {
          this.#connection = opening;
        });
        this.#connected = true;
        for (const channel of this.#listeners.keys()) await this.#subscribe(connection, channel);
        delayMs = RECONNECT_FIRST_MS;
        await this.#watch(connection);
      } catch {
        // Postgres is away or shutting down; the loop tries again.
      }
      this.#connected = false;
      this.#connection?.retire('the listener connects again');
      await sleep(delayMs * (0.5 + Math.random() / 2), undefined, { signal: this.#stopped.signal }).catch(() => {});
      delayMs = Math.min(delayMs * 2, RECONNECT_MAX_MS);
    }
  }

  /** Returns when the connection is lost or does not answer. */
  async #watch(connection: Connection): Promise<void> {
    while (!connection.isLost && !this.#stopped.signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, PROBE_EVERY_MS);
        timer.unref();
        this.#wakeUp = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      if (connection.isLost || this.#stopped.signal.aborted) return;
      const timer = setTimeout(() => connection.retire('the listener got no answer'), PROBE_TIMEOUT_MS);
      await connection.probe().finally(() => clearTimeout(timer));
    }
  }
}
