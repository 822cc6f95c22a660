import net from 'node:net';
import postgres from 'postgres';
import { writeEndsAt } from './deadlines.ts';
import { asDatabaseFailure, DatabaseUnavailable, describe, endsConnection, isPastDeadline } from './failures.ts';
import { setValueParsers, toWire } from './values.ts';

export interface ConnectionOptions {
  readonly url: string;
  readonly applicationName: string;
  readonly connectTimeoutMs: number;
  /** The deadline of calls that do not name another. */
  readonly deadlineMs: number;
  /** After which Postgres ends a statement by itself; default: a little after the deadline. */
  readonly statementTimeoutMs?: number;
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

/** Clocks drift apart and are set: what a connection knows of the server's is read anew after this. */
const CLOCK_AGE_MAX_MS = 10_000;
const READ_CLOCK = 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now';

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
  #serverAheadMs = 0;
  #clockReadAt = Number.NEGATIVE_INFINITY;
  #isClockDoubtful = false;

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
        ...(options.statementTimeoutMs === undefined ? {} : { statement_timeout: options.statementTimeoutMs }),
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
    await this.#readClock();
  }

  /**
   * The deadline of a write whose caller's answer is due at `endsAt`, as an instant of the server's clock: rather a moment
   * too early, by the time that an answer of the server took to get here.
   */
  #deadlineOf(endsAt: number): string {
    const now = performance.now();
    // Sent ahead, and not waited for: it serves the writes after this one.
    if (now - this.#clockReadAt > CLOCK_AGE_MAX_MS) this.#readClock().catch(() => {});
    return new Date(writeEndsAt(endsAt, now) + this.#serverAheadMs).toISOString();
  }

  async #readClock(): Promise<void> {
    this.#clockReadAt = performance.now();
    const [row] = await this.simple(READ_CLOCK);
    this.#serverAheadMs = Number(row?.now) - performance.now();
    this.#isClockDoubtful = false;
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

  /** As `run`, of a single statement that writes: its last parameter, after these, is its deadline. */
  async write<Row>(text: string, params: readonly unknown[], endsAt: number): Promise<Rows<Row>> {
    if (this.#isClockDoubtful) await this.#readClock();
    return this.run<Row>(text, [...params, this.#deadlineOf(endsAt)]);
  }

  /** Executes text without parameters that may hold several statements. */
  simple(text: string): Promise<Rows<Record<string, unknown>>> {
    return this.#settle(() => this.#client.unsafe(text));
  }

  /**
   * Commits a write whose caller's answer is due at `endsAt`; false when Postgres rolled back. One message: where the deadline has
   * passed by the server's clock, its first statement is refused, and Postgres does not look at the second.
   */
  async commit(endsAt: number): Promise<boolean> {
    if (this.#isClockDoubtful) await this.#readClock();
    const answered = await this.simple(`select before_deadline('${this.#deadlineOf(endsAt)}'); commit`);
    return answered.command === 'COMMIT';
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
          // Perhaps it is not late, and the clock was set: the next write must not be refused for that.
          if (isPastDeadline(error)) this.#isClockDoubtful = true;
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
