import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** The addresses of a name, at least one; fails with the code ENOTFOUND, or EAI_AGAIN where no name server has answered. */
export type ResolveName = (hostname: string) => Promise<readonly ResolvedAddress[]>;

export interface NameResolverOptions {
  /** Until an answer is given up. */
  readonly deadlineMs: number;
  /** `address:port` of name servers in place of the system's, for tests. */
  readonly servers?: readonly string[];
  readonly hostsFile?: string;
}

/** Each question goes to each server twice, the second time for longer; the deadline ends it all. */
const QUESTION = { timeout: 1_500, tries: 2 } as const;
const HOSTS_FILE = '/etc/hosts';
const LOOPBACK: readonly ResolvedAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Resolves names that strangers chose, without the system's resolver: that one has four threads for the whole process, and
 * a silent name server would hold up what resolves the names of banks, the mail server and Postgres. It knows `localhost`,
 * the hosts file and the system's name servers, and no search domains: receivers are named in full.
 */
export function createNameResolver({ deadlineMs, servers, hostsFile = HOSTS_FILE }: NameResolverOptions): ResolveName {
  return async (hostname) => {
    const name = hostname.toLowerCase().replace(/\.$/, '');
    // This machine, whatever a name server says (RFC 6761).
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
  // One for each question: it has read the system's present settings, and cancelling it ends no other question.
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
