/** Servers of one database, of which callers need the one that takes writes. */
export interface Addresses {
  /** One for each host, in the order given. */
  readonly urls: readonly string[];
  /** Whether a server that only reads will not do. */
  readonly mustTakeWrites: boolean;
}

/** Postgres' own name for the wish, and its words for a server that takes writes. */
const TARGET = 'target_session_attrs';
const TAKES_WRITES: ReadonlySet<string> = new Set(['read-write', 'primary']);

const PARTS = /^(?<start>postgres(?:ql)?:\/\/(?:[^/?#]*@)?)(?<hosts>[^/?#]*)(?<rest>.*)$/s;

/**
 * Reads `postgres://user:password@host:port,host:port/database`, which the standard for URLs does not know. Of several hosts, only one
 * that takes writes will do, unless it is for reads. A string says what is wrong, without what may be secret.
 */
export function readAddresses(value: string, use: 'writes' | 'reads' = 'writes'): Addresses | string {
  const { start, hosts, rest } = PARTS.exec(value)?.groups ?? {};
  if (start === undefined || hosts === undefined || rest === undefined) return FORM;
  const urls = hosts.split(',').map((host) => `${start}${host}${rest}`);
  if (!urls.every((url) => URL.canParse(url)) || (urls.length > 1 && hosts.split(',').includes(''))) return FORM;
  const read = urls.map((url) => new URL(url));
  const wish = read[0]?.searchParams.get(TARGET) ?? null;
  if (wish === null) return { urls, mustTakeWrites: use === 'writes' && urls.length > 1 };
  if (use === 'reads') return `${TARGET} has no place here: any server that follows the primary will do`;
  if (!TAKES_WRITES.has(wish))
    return `${TARGET} must be read-write or primary: this address must lead to a server that takes writes`;
  // The driver would act on it by a second socket.
  for (const url of read) url.searchParams.delete(TARGET);
  return { urls: read.map(({ href }) => href), mustTakeWrites: true };
}

const FORM = 'the form is postgres://user:password@host:port/database, with several hosts as host:port,host:port';

/** The first of its addresses, for what all have in common. */
export function firstAddress(value: string): URL {
  const read = readAddresses(value);
  if (typeof read === 'string' || read.urls[0] === undefined) throw new Error(`no address of Postgres: ${read}`);
  return new URL(read.urls[0]);
}

export function namesSeveral(value: string): boolean {
  const read = readAddresses(value);
  return typeof read !== 'string' && read.urls.length > 1;
}
