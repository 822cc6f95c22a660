import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Resolves to at least one address; fails with ENOTFOUND, or with EAI_AGAIN if no name server answered. */
export type ResolveName = (hostname: string) => Promise<readonly ResolvedAddress[]>;

export interface NameResolverOptions {
  /** Time limit of an answer. */
  readonly deadlineMs: number;
  /** Replaces the system's name servers (`address:port`) in tests. */
  readonly servers?: readonly string[];
  readonly hostsFile?: string;
}

/** Each server gets each query twice, the second time with a longer timeout, within the overall deadline. */
const QUESTION = { timeout: 1_500, tries: 2 } as const;
const HOSTS_FILE = '/etc/hosts';
const LOOPBACK: readonly ResolvedAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Resolves subscribers' host names without the system's resolver, whose four threads also resolve the bank, the mail
 * server and Postgres: a silent name server would stall them all. It knows `localhost`, the hosts file and the
 * system's name servers, but no search domains.
 */
export function createNameResolver({ deadlineMs, servers, hostsFile = HOSTS_FILE }: NameResolverOptions): ResolveName {
  return async (hostname) => {
    const name = hostname.toLowerCase().replace(/\.$/, '');
    // Always the loopback address (RFC 6761).
    if (name === 'localhost' || name.endsWith('.localhost')) return LOOPBACK;
    const written = hostsEntries(await readFile(hostsFile, 'utf8').catch(() => ''), name);
    return written.length > 0 ? written : ask(name, deadlineMs, servers);
  };
}

function hostsEntries(text: string, name: string): ResolvedAddress[] {
  return text.split('\n').flatMap((line) => {
    const [address, ...names] = (line.split('#')[0] ?? '').trim().split(/\s+/);
    if (address === undefined || !names.some((known) => known.toLowerCase() === name)) return [];
    return [{ address, family: address.includes(':') ? 6 : 4 }];
  });
}

async function ask(
  name: string,
  deadlineMs: number,
  servers: readonly string[] | undefined,
): Promise<readonly ResolvedAddress[]> {
  // One per query: it reads the system's current settings, and cancelling it ends no other query.
  const resolver = new Resolver(QUESTION);
  if (servers !== undefined) resolver.setServers(servers);
  const deadline = setTimeout(() => resolver.cancel(), deadlineMs);
  const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  clearTimeout(deadline);
  const found = [
    ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 as const })) : []),
    ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 as const })) : []),
  ];
  if (found.length > 0) return found;
  const isKnownToBeNone = [four, six].every((one) => one.status === 'fulfilled' || isNone(one.reason));
  throw Object.assign(new Error('the name does not resolve'), { code: isKnownToBeNone ? 'ENOTFOUND' : 'EAI_AGAIN' });
}

function isNone(reason: unknown): boolean {
  const code = reason instanceof Error && 'code' in reason ? reason.code : undefined;
  return code === 'ENOTFOUND' || code === 'ENODATA';
}
