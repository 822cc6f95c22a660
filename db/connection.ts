import net from 'node:net';
import postgres from 'postgres';
import { asDatabaseFailure, DatabaseUnavailable, describe, endsConnection } from './failures.ts';
import { setValueParsers, toWire } from './values.ts';

export interface ConnectionOptions {
  readonly url: string;
  readonly applicationName: string;
  readonly connectTimeoutMs: number;
  /** The deadline of calls that do not name another. */
  readonly deadlineMs: number;
  readonly onLost: (connection: Connection) => void;
  readonly onNotification?: (channel: string, payload: string) => void;
}

/** The settings of Postgres that bound what a session may do; all in milliseconds. */
export const SERVER_TIMEOUTS = [
  'statement_timeout',
  'idle_in_transaction_session_timeout',
  'transaction_timeout',
] as const;

/** A little more than the deadline here: the server ends what it still does for a client that has given up. */
export function serverTimeoutMs(deadlineMs: number): number {
  return Math.ceil(deadlineMs) + 500;
}

type DriverOptions = postgres.Options<Record<string, never>> & {
  socket: (options: { host: string[]; port: number[]; path: string | false | undefined }) => Promise<net.Socket>;
  onnotify?: (channel: string, payload: string) => void;
};

/** Rows as the driver gives them, and the command that Postgres says it executed. */
export type Rows<Row> = Row[] & { readonly command?: string };

/**
 * One postgres.js client instance that owns exactly one socket for its whole life. postgres.js reconnects by itself, forgets
 * statements over it, and would run the rest of a broken transaction on the new connection; so a second socket is
 * refused here, and whoever waits on a lost connection is told at once.
 */
export class Connection {
  readonly #client: postgres.Sql;
  readonly #onLost: (connection: Connection) => void;
  readonly #outstanding = new Set<(error: Error) => void>();
  readonly #texts = new Set<string>();
  #socket: net.Socket | null = null;
  #lost: DatabaseUnavailable | null = null;
  /** The value of service.clock_offset that this session has; null until it was set. */
  clockOffset: string | null = null;

  constructor(options: ConnectionOptions) {
    this.#onLost = options.onLost;
    const driverOptions: DriverOptions = {
      max: 1,
      idle_timeout: 0,
      max_lifetime: null,
      connect_timeout: Math.max(1, Math.ceil(options.connectTimeoutMs / 1000)),
      fetch_types: false,
      prepare: true,
      onnotice: () => {},
      onclose: () => this.retire('the connection was closed'),
      socket: (parsed) => this.#openSocket(parsed, options.connectTimeoutMs),
      connection: {
        application_name: options.applicationName,
        ...Object.fromEntries(SERVER_TIMEOUTS.map((name) => [name, serverTimeoutMs(options.deadlineMs)])),
        // Ends a long statement whose client is gone; in milliseconds.
        client_connection_check_interval: 2_000,
        TimeZone: 'UTC',
        DateStyle: 'ISO, YMD',
      },
      ...(options.onNotification === undefined ? {} : { onnotify: options.onNotification }),
    };
    this.#client = postgres(options.url, driverOptions);
    setValueParsers(this.#client);
  }

  get isLost(): boolean {
    return this.#lost !== null;
  }

  /** How many different statements this session has prepared. */
  get preparedCount(): number {
    return this.#texts.size;
  }

  /** Connects, or rejects with DatabaseUnavailable. */
  async open(): Promise<void> {
    await this.simple('select 1');
  }

  /** Executes one statement as a prepared one. Calls keep their order, and a later one need not wait for an earlier one. */
  run<Row>(text: string, params: readonly unknown[]): Promise<Rows<Row>> {
    this.#texts.add(text);
    return this.#settle(() =>
      this.#client.unsafe<Row[] & postgres.Row[]>(text, params.map(toWire), { simple: false, prepare: true } as object),
    );
  }

  /** The same with rows as arrays in the order of the columns. */
  runArrays(text: string, params: readonly unknown[]): Promise<unknown[][]> {
    this.#texts.add(text);
    return this.#settle(() =>
      this.#client.unsafe(text, params.map(toWire), { simple: false, prepare: true } as object).values(),
    );
  }

  /** Executes text without parameters that may hold several statements. */
  simple(text: string): Promise<Rows<Record<string, unknown>>> {
    return this.#settle(() => this.#client.unsafe(text));
  }

  /** Ends this connection for good: all that waits on it fails, nothing more is sent. Repeating it does nothing. */
  retire(reason: string): void {
    if (this.#lost !== null) return;
    this.#lost = new DatabaseUnavailable(reason);
    for (const reject of this.#outstanding) reject(this.#lost);
    this.#outstanding.clear();
    // The driver says goodbye to a server that can hear it; the socket goes either way.
    this.#client.end({ timeout: 0 }).then(
      () => this.#destroySocket(),
      () => this.#destroySocket(),
    );
    this.#onLost(this);
  }

  #settle<Value>(start: () => PromiseLike<Value>): Promise<Value> {
    if (this.#lost !== null) return Promise.reject(this.#lost);
    return new Promise<Value>((resolve, reject) => {
      this.#outstanding.add(reject);
      start().then(
        (value) => {
          this.#outstanding.delete(reject);
          resolve(value);
        },
        (error: unknown) => {
          this.#outstanding.delete(reject);
          if (endsConnection(error)) this.retire(describe(error));
          reject(asDatabaseFailure(error));
        },
      );
    });
  }

  #openSocket(
    target: { host: string[]; port: number[]; path: string | false | undefined },
    timeoutMs: number,
  ): Promise<net.Socket> {
    if (this.#socket !== null || this.#lost !== null) {
      return Promise.reject(new DatabaseUnavailable('the connection was closed'));
    }
    const options = target.path
      ? { path: target.path }
      : { host: target.host[0] ?? 'localhost', port: target.port[0] ?? 5432 };
    const socket = net.connect({ ...options, noDelay: true });
    // The driver checks a server's certificate against this name.
    Object.assign(socket, { host: target.host[0], port: target.port[0] });
    this.#socket = socket;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => fail(new DatabaseUnavailable('no connection in time')), timeoutMs);
      const fail = (error: Error) => {
        clearTimeout(timer);
        socket.destroy();
        this.retire(describe(error));
        reject(error);
      };
      socket.once('error', fail);
      socket.once('connect', () => {
        clearTimeout(timer);
        socket.removeListener('error', fail);
        resolve(socket);
      });
    });
  }

  #destroySocket(): void {
    if (this.#socket === null || this.#socket.destroyed) return;
    // A goodbye under way gets a moment to leave; a peer that does not answer does not keep the socket.
    const socket = this.#socket;
    const timer = setTimeout(() => socket.destroy(), 500);
    timer.unref();
    socket.once('close', () => clearTimeout(timer));
  }
}
