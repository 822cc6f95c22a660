import { type Addresses, readAddresses } from './addresses.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import { SharedSessions } from './failures.ts';

export type HostOptions = Omit<ConnectionOptions, 'url' | 'mustTakeWrites'>;

/** Opens connections to the host that takes writes, beginning with the one that did last. All pools of a process share it. */
export class Hosts {
  readonly #addresses: Addresses;
  #first = 0;
  /** Whether a pooler was seen to leave each session to one client. */
  #ownsSessions = false;

  constructor(addresses: Addresses) {
    this.#addresses = addresses;
  }

  /** Whether a server that takes no writes any more is left for another. */
  get mustTakeWrites(): boolean {
    return this.#addresses.mustTakeWrites;
  }

  /** A silent host costs its share of the time to connect. Rejects with the failure of the last host. */
  async open(options: HostOptions, onOpening: (connection: Connection) => void = () => {}): Promise<Connection> {
    const { length } = this.#addresses.urls;
    const first = this.#first;
    let failure: unknown;
    for (let tried = 0; tried < length; tried += 1) {
      const index = (first + tried) % length;
      const connection = this.#connectionTo(index, options);
      onOpening(connection);
      try {
        await connection.open();
        if (connection.isPooled && !this.#ownsSessions) {
          await requireOwnSession(connection, this.#connectionTo(index, { ...options, onLost: () => {} }));
          this.#ownsSessions = true;
        }
        this.#first = index;
        return connection;
      } catch (error) {
        connection.retire('it could not be opened');
        failure = error;
      }
    }
    throw failure;
  }

  #connectionTo(index: number, options: HostOptions): Connection {
    const { urls, mustTakeWrites } = this.#addresses;
    const connectTimeoutMs = options.connectTimeoutMs / urls.length;
    return new Connection({ ...options, url: urls[index] ?? '', mustTakeWrites, connectTimeoutMs });
  }
}

export function hostsOf(url: string, use: 'writes' | 'reads' = 'writes'): Hosts {
  const addresses = readAddresses(url, use);
  if (typeof addresses === 'string') throw new Error(addresses);
  return new Hosts(addresses);
}

const CONNECT_TIMEOUT_MS = 10_000;

/** The one that takes writes of the addresses of a URL, whose sessions are one's own; for sessions that are not of a pool here. */
export async function addressThatTakesWrites(url: string): Promise<string> {
  const limits = { connectTimeoutMs: CONNECT_TIMEOUT_MS, deadlineMs: CONNECT_TIMEOUT_MS };
  const connection = await hostsOf(url).open({ ...limits, applicationName: 'migration', onLost: () => {} });
  connection.retire('only its address was wanted');
  return connection.url;
}

/** By transaction, a pooler serves both by the same session at once, or one by several: one of these shows in the first looks. */
const LOOKS = 10;

async function requireOwnSession(connection: Connection, other: Connection): Promise<void> {
  try {
    await other.open();
    for (let look = 0; look < LOOKS; look += 1) {
      await connection.probe();
      await other.probe();
      if (connection.backend === other.backend) throw new SharedSessions();
    }
  } finally {
    other.retire('it has been seen');
  }
}
