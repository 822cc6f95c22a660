import net from 'node:net';
import postgres from 'postgres';
import { setValueParsers, toWire } from '../query/values.ts';
import { writeEndsAt } from './deadlines.ts';
import {
  asDatabaseFailure,
  DatabaseUnavailable,
  describe,
  endsConnection,
  isPastDeadline,
  SharedSessions,
} from './failures.ts';
import { SOCKET_TAKES_BYTES, sendTogether } from './socket.ts';

export interface ConnectionOptions {
  /** Names one host. */
  readonly url: string;
  /** Whether a server that only reads is left at once. */
  readonly mustTakeWrites: boolean;
  readonly applicationName: string;
  readonly connectTimeoutMs: number;
  /** The default deadline of a call. */
  readonly deadlineMs: number;
  /** When Postgres cancels a statement by itself. Default: a little after the deadline. */
  readonly statementTimeoutMs?: number;
  readonly onLost: (connection: Connection) => void;
  readonly onNotification?: (channel: string, payload: string) => void;
}

/** The Postgres settings that limit a session, in milliseconds. */
export const SERVER_TIMEOUTS = [
  'statement_timeout',
  'idle_in_transaction_session_timeout',
  'transaction_timeout',
] as const;

/** A little longer than our own deadline, so that the server stops work that its client has abandoned. */
export function serverTimeoutMs(deadlineMs: number): number {
  return Math.ceil(deadlineMs) + 500;
}

/** Clocks drift and get set, so a connection reads the server's clock again after this time. */
const CLOCK_AGE_MAX_MS = 10_000;
const READ_SERVER = `select (extract(epoch from clock_timestamp()) * 1000)::float8 as now, pg_backend_pid() as backend,
  pg_is_in_recovery() or current_setting('default_transaction_read_only')::boolean as "onlyReads"`;

/** Where Postgres warns that a commit is on this server, and was not awaited on its synchronous standby: the wait was cancelled. */
const NOT_REPLICATED = 'SyncRepWaitForLSN';

type DriverOptions = postgres.Options<Record<string, never>> & {
  socket: (options: { host: string[]; port: number[]; path: string | false | undefined }) => Promise<net.Socket>;
  onnotify?: (channel: string, payload: string) => void;
};

/** Rows as the driver returns them, with the command that Postgres executed, and the session as it was announced. */
export type Rows<Row> = Row[] & { readonly command?: string; readonly state?: { readonly pid: number } };

/** Set by a statement: a pooler accepts few settings of a connection that begins. */
function settingsOf({ deadlineMs, statementTimeoutMs }: ConnectionOptions): Readonly<Record<string, string | number>> {
  return {
    ...Object.fromEntries(SERVER_TIMEOUTS.map((name) => [name, serverTimeoutMs(deadlineMs)])),
    ...(statementTimeoutMs === undefined ? {} : { statement_timeout: statementTimeoutMs }),
    // Ends long statements of a lost client; in milliseconds.
    client_connection_check_interval: 2_000,
    // Whatever the server's default is: locks and guards by revision rely on it.
    default_transaction_isolation: 'read committed',
  };
}

/**
 * One postgres.js client instance with exactly one socket for its whole life. Left to itself, postgres.js reconnects, loses
 * statements in the process, and would run the rest of a broken transaction on the new connection. This class rejects a
 * second socket and fails every pending call at once when the connection is lost.
 */
export class Connection {
  readonly #client: postgres.Sql;
  readonly #options: ConnectionOptions;
  readonly #onLost: (connection: Connection) => void;
  readonly #outstanding = new Set<(error: Error) => void>();
  readonly #texts = new Set<string>();
  #socket: net.Socket | null = null;
  #lost: DatabaseUnavailable | null = null;
  /** This session's service.clock_offset; null until it is set. */
  clockOffset: string | null = null;
  /** The process of Postgres that serves this session; null until it is known. */
  #backend: number | null = null;
  #isPooled = false;
  #serverAheadMs = 0;
  #clockReadAt = Number.NEGATIVE_INFINITY;
  #isClockDoubtful = false;

  constructor(options: ConnectionOptions) {
    this.#onLost = options.onLost;
    this.#options = options;
    const driverOptions: DriverOptions = {
      max: 1,
      idle_timeout: 0,
      max_lifetime: null,
      connect_timeout: Math.max(1, Math.ceil(options.connectTimeoutMs / 1000)),
      fetch_types: false,
      prepare: true,
      onnotice: ({ routine }) => {
        if (routine === NOT_REPLICATED) this.retire('a commit did not reach the synchronous standby');
      },
      onclose: () => this.retire('the connection was closed'),
      socket: (parsed) => this.#openSocket(parsed),
      connection: {
        application_name: options.applicationName,
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

  /** How many distinct statements this session has prepared. */
  get preparedCount(): number {
    return this.#texts.size;
  }

  /** Rejects if the server does not answer in time, or takes no writes where it must. */
  async open(): Promise<void> {
    const timer = setTimeout(() => this.retire('no connection in time'), this.#options.connectTimeoutMs);
    const settings = Object.entries(settingsOf(this.#options)).map(
      ([name, value]) => `set_config('${name}', '${value}', false)`,
    );
    await this.probe(settings).finally(() => clearTimeout(timer));
  }

  /** Whether a pooler stands between this process and Postgres: the server's process is not the announced one. */
  get isPooled(): boolean {
    return this.#isPooled;
  }

  get url(): string {
    return this.#options.url;
  }

  get backend(): number | null {
    return this.#backend;
  }

  /** Asks the server for a sign of life, and leaves one that only reads where it must take writes. */
  async probe(further: readonly string[] = []): Promise<void> {
    const onlyReads = await this.#readServer(further);
    if (onlyReads && this.#options.mustTakeWrites) this.retire('the server only reads');
    if (this.#lost !== null) throw this.#lost;
  }

  /**
   * Converts `endsAt`, when a caller's answer is due, to an instant of the server's clock. Errs on the early side, by up to
   * one answer's travel time.
   */
  #deadlineOf(endsAt: number): string {
    const now = performance.now();
    // Not awaited: the new reading serves later writes.
    if (now - this.#clockReadAt > CLOCK_AGE_MAX_MS) this.#readServer().catch(() => {});
    return new Date(writeEndsAt(endsAt, now) + this.#serverAheadMs).toISOString();
  }

  /** Reads the clock, and returns whether the server only reads. */
  async #readServer(further: readonly string[] = []): Promise<boolean> {
    this.#clockReadAt = performance.now();
    const rows = await this.simple([READ_SERVER, ...further].join(', '));
    const [row] = rows;
    this.#serverAheadMs = Number(row?.now) - performance.now();
    this.#isClockDoubtful = false;
    const backend = Number(row?.backend);
    this.#isPooled = rows.state?.pid !== backend;
    if (this.#backend !== null && this.#backend !== backend) this.#end(new SharedSessions());
    this.#backend = backend;
    return row?.onlyReads === true;
  }

  /** Executes a prepared statement. Calls run in order; there is no need to await one before sending the next. */
  run<Row>(text: string, params: readonly unknown[]): Promise<Rows<Row>> {
    this.#texts.add(text);
    return this.#settle(() =>
      this.#client.unsafe<Row[] & postgres.Row[]>(text, params.map(toWire), { simple: false, prepare: true } as object),
    );
  }

  /** The same with each row as an array in column order. */
  runArrays(text: string, params: readonly unknown[]): Promise<unknown[][]> {
    this.#texts.add(text);
    return this.#settle(() =>
      this.#client.unsafe(text, params.map(toWire), { simple: false, prepare: true } as object).values(),
    );
  }

  /** Runs a single writing statement like `run`; its deadline becomes the last parameter. */
  async write<Row>(text: string, params: readonly unknown[], endsAt: number): Promise<Rows<Row>> {
    if (this.#isClockDoubtful) await this.#readServer();
    return this.run<Row>(text, [...params, this.#deadlineOf(endsAt)]);
  }

  /** Executes text without parameters, which may hold several statements. */
  simple(text: string): Promise<Rows<Record<string, unknown>>> {
    return this.#settle(() => this.#client.unsafe(text));
  }

  /**
   * Commits a transaction whose caller's answer is due at `endsAt`; returns false if Postgres rolled back. The deadline
   * check and the commit travel in one message: if the check fails, Postgres never executes the commit.
   */
  async commit(endsAt: number): Promise<boolean> {
    if (this.#isClockDoubtful) await this.#readServer();
    const answered = await this.simple(`select before_deadline('${this.#deadlineOf(endsAt)}'); commit`);
    return answered.command === 'COMMIT';
  }

  /** Ends this connection for good and fails all its pending calls. Idempotent. */
  retire(reason: string, cause?: unknown): void {
    this.#end(new DatabaseUnavailable(reason, { cause }));
  }

  #end(failure: DatabaseUnavailable): void {
    if (this.#lost !== null) return;
    this.#lost = failure;
    for (const reject of this.#outstanding) reject(this.#lost);
    this.#outstanding.clear();
    // The driver ends the session if the server is reachable; the socket is closed in any case.
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
          if (endsConnection(error)) this.retire(describe(error), error);
          // The write may be in time and the clock may have been set: read the clock before the next write.
          if (isPastDeadline(error)) this.#isClockDoubtful = true;
          reject(asDatabaseFailure(error));
        },
      );
    });
  }

  #openSocket(target: { host: string[]; port: number[]; path: string | false | undefined }): Promise<net.Socket> {
    if (this.#socket !== null || this.#lost !== null) {
      return Promise.reject(new DatabaseUnavailable('the connection was closed'));
    }
    // Node passes the last one on to the stream; its types do not know.
    const taking = { noDelay: true, writableHighWaterMark: SOCKET_TAKES_BYTES };
    const socket = target.path
      ? net.connect({ ...taking, path: target.path })
      : net.connect({ ...taking, host: target.host[0] ?? 'localhost', port: target.port[0] ?? 5432 });
    // The driver checks the server's certificate against this name.
    Object.assign(socket, { host: target.host[0], port: target.port[0] });
    this.#socket = socket;
    sendTogether(socket);
    return new Promise((resolve, reject) => {
      const fail = (error: Error) => {
        socket.destroy();
        this.retire(describe(error));
        reject(error);
      };
      socket.once('error', fail);
      socket.once('connect', () => {
        socket.removeListener('error', fail);
        resolve(socket);
      });
    });
  }

  #destroySocket(): void {
    if (this.#socket === null || this.#socket.destroyed) return;
    // Give the goodbye a moment to leave; an unresponsive peer does not keep the socket.
    const socket = this.#socket;
    const timer = setTimeout(() => socket.destroy(), 500);
    timer.unref();
    socket.once('close', () => clearTimeout(timer));
  }
}
