import { setTimeout as sleep } from 'node:timers/promises';
import { STRANGE_FILES } from '../../../../sandbox/file-bank/strange-files.ts';
import type { Json } from '../../api.ts';
import type { FurtherFault, FurtherFaults } from '../../faults/faults.ts';
import type { TcpProxy } from '../../faults/tcp-proxy.ts';
import type { WholeService } from '../../servers/whole-service.ts';
import { FILE_BANK, SFTP_LINK } from './names.ts';

/** What happens on the way to the file bank and at its server, and how often. */
const FAULTS = {
  'cut connection': 12,
  'half-open connection': 8,
  'cut-in-write': 8,
  'cut-after-write': 6,
  'cut-at-rename': 10,
  'cut-in-read': 8,
  away: 6,
  lost: 5,
  'disk-full': 5,
  held: 6,
  doubled: 8,
  reversed: 8,
  'half-visible': 6,
  strange: 6,
  'end of the day': 6,
} as const;
type Name = keyof typeof FAULTS;

const FOR_MS = 3_000;
/** The exchange connects every two seconds, or later while it waits after a failure. */
const STRIKE_MS_MAX = 10_000;
const HALF_OPEN_MS_MIN = 1_000;
const HALF_OPEN_MS_MAX = 10_000;

/** Faults of the SFTP connection or of the bank behind it, chosen at random, one after the other. Each counts if it has struck. */
export function fileBankFaults(): FurtherFault {
  let last: Promise<unknown> = Promise.resolve();
  return (of) => {
    const fault = last.then(() => strike(of));
    last = fault.catch(() => {});
    return fault;
  };
}

async function strike({ service, links, random }: FurtherFaults): Promise<string | null> {
  const name: Name = random.weighted(FAULTS);
  const proxy = links.find((link) => link.name === SFTP_LINK)?.proxy;
  if (proxy === undefined) throw new Error('the SFTP connection has no proxy');
  const halfOpenMs = random.whole(HALF_OPEN_MS_MIN, HALF_OPEN_MS_MAX);
  const kind = random.pick(STRANGE_FILES);
  const inflict = (): Promise<boolean> => {
    switch (name) {
      case 'cut connection':
        return cutConnection(proxy);
      case 'half-open connection':
        return halfOpen(proxy, halfOpenMs);
      case 'strange':
        return ask(service, 'POST', '/strange-files', { customer: FILE_BANK, kind });
      case 'end of the day':
        return ask(service, 'POST', '/end-of-day', {});
      case 'cut-in-write':
      case 'cut-after-write':
      case 'cut-at-rename':
      case 'cut-in-read':
        return cutAtBank(service, name);
      default:
        return switched(service, SWITCHES[name]);
    }
  };
  return (await inflict()) ? `files: ${name}` : null;
}

const SWITCHES = {
  away: { connection: 'away' },
  lost: { uploads: 'lost' },
  'disk-full': { uploads: 'disk-full' },
  held: { answers: 'held' },
  doubled: { answers: 'doubled' },
  reversed: { answers: 'reversed' },
  'half-visible': { answers: 'half-visible' },
} as const;

/** Connections are short: waits until there is one. */
async function cutConnection(proxy: TcpProxy): Promise<boolean> {
  const deadline = performance.now() + STRIKE_MS_MAX;
  while (performance.now() < deadline) {
    if (proxy.release() > 0) return true;
    await sleep(20);
  }
  return false;
}

async function halfOpen(proxy: TcpProxy, durationMs: number): Promise<boolean> {
  proxy.hold();
  await sleep(durationMs);
  return proxy.release() > 0;
}

/** Until the bank has cut a connection, which ends its switch. A bank that was killed meanwhile has forgotten it. */
async function cutAtBank(service: WholeService, connection: string): Promise<boolean> {
  const sandbox = service.process('sandbox');
  const { kills } = sandbox;
  if (!(await ask(service, 'POST', '/faults', { connection, times: 1 }))) return false;
  const deadline = performance.now() + STRIKE_MS_MAX;
  while (performance.now() < deadline && sandbox.kills === kills) {
    const response = await fetch(`${service.sandboxUrl}/file-bank/faults`).catch(() => null);
    const now: Json = await response?.json().catch(() => null);
    if (now?.connection === 'normal') return sandbox.kills === kills;
    await sleep(200);
  }
  await ask(service, 'DELETE', '/faults');
  return false;
}

async function switched(service: WholeService, faults: Readonly<Record<string, string>>): Promise<boolean> {
  if (!(await ask(service, 'POST', '/faults', faults))) return false;
  await sleep(FOR_MS);
  // A killed bank has forgotten its faults; one that is away is asked again.
  while (!(await ask(service, 'DELETE', '/faults'))) await sleep(500);
  return true;
}

/** Whether the bank has done it. */
async function ask({ sandboxUrl }: WholeService, method: string, path: string, body?: unknown): Promise<boolean> {
  const response = await fetch(`${sandboxUrl}/file-bank${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(5_000),
  }).catch(() => null);
  if (response !== null && response.status >= 400 && response.status < 500) {
    throw new Error(`the file bank rejects ${path}: ${await response.text()}`);
  }
  return response?.ok ?? false;
}
