import net from 'node:net';
import postgres from 'postgres';
import { writeEndsAt } from './deadlines.ts';
import { asDatabaseFailure, DatabaseUnavailable, describe, endsConnection, isPastDeadline } from './failures.ts';
import { setValueParsers, toWire } from './values.ts';

export interface ConnectionOptions {
  readonly url: string;
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
const READ_CLOCK = 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now';

/** What a socket takes before it asks its writer to wait, which would cost a long transaction further round trips. */
const SOCKET_TAKES_BYTES = 128 * 1024;
/** The statements of a shared transaction fit into one packet; half of what the socket takes, so that it never asks. */
const HELD_BACK_MAX_BYTES = SOCKET_TAKES_BYTES / 2;

/**
 * The driver writes each statement of more than a kilobyte by itself. Those of one turn go to Postgres in one packet
 * instead: every packet costs both processes more than most statements.
 */
function sendTogether(socket: net.Socket): void {
  let corked = false;
  const write = socket.write;
  const uncork = () => {
    corked = false;
    socket.uncork();
  };
  socket.write = ((...given: Parameters<typeof write>) => {
    if (!corked) {
      corked = true;
      socket.cork();
      process.nextTick(uncork);
    }
    const hasRoom = write.apply(socket, given);
    if (socket.writableLength >= HELD_BACK_MAX_BYTES) uncork();
    return hasRoom;
  }) as typeof write;
}

type DriverOptions = postgres.Options<Record<string, never>> & {
  socket: (options: { host: string[]; port: number[]; path: string | false | undefined }) => Promise<net.Socket>;
  onnotify?: (channel: string, payload: string) => void;
};

/** Rows as the driver returns them, with the command that Postgres executed. */
export type Rows<Row> = Row[] & { readonly command?: string };

/**
 * One postgres.js client instance with exactly one socket for its whole life. Left to itself, postgres.js reconnects, loses
 * statements in the process, and would run the rest of a broken transaction on the new connection. This class refuses a
 * second socket and fails every pending call at once when the connection is lost.
 */
export class Connection {
  readonly #client: postgres.Sql;
  readonly #onLost: (connection: Connection) => void;
  readonly #outstanding = new Set<(error: Error) => void>();
  readonly #texts = new Set<string>();
  #socket: net.Socket | null = null;
  #lost: DatabaseUnavailable | null = null;
  /** This session's service.clock_offset; null until it is set. */
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
        // Ends long statements of a lost client; in milliseconds.
        client_connection_check_interval: 2_000,
        TimeZone: 'UTC',
        DateStyle: 'ISO, YMD',
        // Whatever the server's default is: locks and guards by revision rely on it.
        default_transaction_isolation: 'read committed',
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

  async open(): Promise<void> {
    await this.#readClock();
  }

  /**
   * Converts `endsAt`, when a caller's answer is due, to an instant of the server's clock. Errs on the early side, by up to
   * one answer's travel time.
   */
  #deadlineOf(endsAt: number): string {
    const now = performance.now();
    // Not awaited: the new reading serves later writes.
    if (now - this.#clockReadAt > CLOCK_AGE_MAX_MS) this.#readClock().catch(() => {});
    return new Date(writeEndsAt(endsAt, now) + this.#serverAheadMs).toISOString();
  }

  async #readClock(): Promise<void> {
    this.#clockReadAt = performance.now();
    const [row] = await this.simple(READ_CLOCK);
    this.#serverAheadMs = Number(row?.now) - performance.now();
    this.#isClockDoubtful = false;
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
    if (this.#isClockDoubtful) await this.#readClock();
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
    if (this.#isClockDoubtful) await this.#readClock();
    const answered = await this.simple(`select before_deadline('${this.#deadlineOf(endsAt)}'); commit`);
    return answered.command === 'COMMIT';
  }

  /** Ends this connection for good and fails all its pending calls. Idempotent. */
  retire(reason: string): void {
    if (this.#lost !== null) return;
    this.#lost = new DatabaseUnavailable(reason);
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
          if (endsConnection(error)) this.retire(describe(error));
          // The write may be in time and the clock may have been set: read the clock before the next write.
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
    // Give the goodbye a moment to leave; an unresponsive peer does not keep the socket.
    const socket = this.#socket;
    const timer = setTimeout(() => socket.destroy(), 500);
    timer.unref();
    socket.once('close', () => clearTimeout(timer));
  }
}
