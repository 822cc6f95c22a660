import type { Connection } from './connection.ts';
import { neverBegun, QUEUE_LENGTH_MAX } from './deadlines.ts';
import type { HostOptions, Hosts } from './hosts.ts';

/** A connection is replaced at this age or after this many distinct statements, so that no server process grows for ever. */
const CONNECTION_AGE_MAX_MS = 30 * 60_000;
const PREPARED_STATEMENTS_MAX = 2_000;

interface Waiter {
  readonly resolve: (connection: Connection) => void;
  readonly reject: (error: unknown) => void;
}

export interface PoolOptions extends Omit<HostOptions, 'onLost'> {
  readonly hosts: Hosts;
  /** Called at the end of each wait for a connection. */
  readonly onWait: ((pool: string, seconds: number) => void) | null;
}

/** Lends each connection to one user at a time, first come first served. */
export class Pool {
  readonly #options: PoolOptions;
  readonly #maxConnections: number;
  readonly #openedAt = new Map<Connection, number>();
  readonly #outdated = new WeakSet<Connection>();
  #idle: Connection[] = [];
  #waiters: Waiter[] = [];
  #opening = 0;
  #closed = false;
  #drained: (() => void) | null = null;

  constructor(options: PoolOptions, maxConnections: number) {
    this.#options = options;
    this.#maxConnections = maxConnections;
  }

  takeIdle(): Connection | null {
    return this.#idle.pop() ?? null;
  }

  /** Waits for a connection for up to `timeoutMs`, else rejects with DatabaseUnavailable. Return it with `release`. */
  acquire(timeoutMs: number): Promise<Connection> {
    if (this.#closed) return Promise.reject(neverBegun('the client is closed'));
    const idle = this.takeIdle();
    if (idle !== null) return Promise.resolve(idle);
    if (this.#waiters.length >= QUEUE_LENGTH_MAX) return Promise.reject(neverBegun('too many wait for a connection'));
    const { onWait, applicationName } = this.#options;
    const since = performance.now();
    const note = () => onWait?.(applicationName, (performance.now() - since) / 1_000);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
        note();
        reject(neverBegun('no connection became free in time'));
      }, timeoutMs);
      const waiter: Waiter = {
        resolve: (connection) => {
          clearTimeout(timer);
          note();
          resolve(connection);
        },
        reject: (error) => {
          clearTimeout(timer);
          note();
          reject(error);
        },
      };
      this.#waiters.push(waiter);
      this.#openAsNeeded();
    });
  }

  release(connection: Connection): void {
    if (connection.isLost) return;
    if (this.#closed || this.#isWornOut(connection)) {
      connection.retire('the connection is no longer needed');
      return;
    }
    const waiter = this.#waiters.shift();
    if (waiter === undefined) this.#idle.push(connection);
    else waiter.resolve(connection);
  }

  /**
   * Replaces all connections: idle ones now, the others when they are released. For failures on one connection that say
   * something about all of them.
   */
  renew(reason: string): void {
    for (const connection of this.#openedAt.keys()) this.#outdated.add(connection);
    for (const connection of this.#idle.splice(0)) connection.retire(reason);
  }

  /** A server ceased to take writes: leaves it. Returns whether new connections lead to one that does, if there is one. */
  leaveReadOnlyServer(): boolean {
    if (!this.#options.hosts.mustTakeWrites) return false;
    this.renew('the server takes no writes any more');
    return true;
  }

  /** Rejects new users, waits for current ones, then ends all connections. */
  async close(timeoutMs: number): Promise<void> {
    this.#closed = true;
    for (const waiter of this.#waiters.splice(0)) waiter.reject(neverBegun('the client is closed'));
    for (const connection of this.#idle.splice(0)) connection.retire('the client is closed');
    if (this.#openedAt.size + this.#opening === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#drained = resolve;
      timer = setTimeout(resolve, timeoutMs);
    });
    clearTimeout(timer);
    for (const connection of this.#openedAt.keys()) connection.retire('the client is closed');
  }

  #isWornOut(connection: Connection): boolean {
    const openedAt = this.#openedAt.get(connection) ?? 0;
    return (
      this.#outdated.has(connection) ||
      connection.preparedCount > PREPARED_STATEMENTS_MAX ||
      performance.now() - openedAt > CONNECTION_AGE_MAX_MS
    );
  }

  #openAsNeeded(): void {
    while (this.#opening < this.#waiters.length && this.#openedAt.size + this.#opening < this.#maxConnections) {
      this.#opening += 1;
      void this.#openOne();
    }
  }

  async #openOne(): Promise<void> {
    const { hosts, ...options } = this.#options;
    try {
      const connection = await hosts.open({ ...options, onLost: (lost) => this.#forget(lost) });
      this.#opening -= 1;
      this.#openedAt.set(connection, performance.now());
      this.release(connection);
    } catch (error) {
      this.#opening -= 1;
      // A waiting call may still get another live connection; with none left there is nothing to wait for.
      if (this.#openedAt.size === 0) {
        this.#waiters.shift()?.reject(error);
        this.#openAsNeeded();
      }
    }
    this.#checkDrained();
  }

  #forget(connection: Connection): void {
    this.#openedAt.delete(connection);
    this.#idle = this.#idle.filter((other) => other !== connection);
    this.#openAsNeeded();
    this.#checkDrained();
  }

  #checkDrained(): void {
    if (this.#openedAt.size + this.#opening === 0) this.#drained?.();
  }
}
