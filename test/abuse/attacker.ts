import { setTimeout as sleep } from 'node:timers/promises';
import { nextStatus, requestHead, socketTo } from '../harness/faults/sockets.ts';
import { ATTACKS, type Attack, HARMLESS, type Target } from './attacks.ts';

/**
 * The attackers' process: a given number of requests a second, each on its own connection, without waiting for earlier
 * ones.
 */

export interface AttackCommand {
  readonly target: Target;
  readonly kind: 'attacks' | 'harmless';
  readonly perSecond: number;
  readonly seconds: number;
}

/** By attack: how often it was sent, and which wrong answers it got. */
export interface AttackReport {
  readonly sent: Readonly<Record<string, number>>;
  readonly wrong: Readonly<Record<string, readonly string[]>>;
}

/** Longer than every limit of the service: a socket still open by then is never closed. */
const OPEN_MS_MAX = 60_000;
const DRIP_MS = 1_000;

const sent: Record<string, number> = {};
const wrong: Record<string, string[]> = {};
const underWay = new Set<Promise<void>>();
let turn = 0;

process.on('message', (command: AttackCommand | 'report') => {
  (command === 'report' ? report() : run(command)).then(
    (answer) => process.send?.(answer),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit(0));

/** Sends for this long. The next command does not wait for slow requests, which continue. */
async function run({ target, kind, perSecond, seconds }: AttackCommand): Promise<'sent'> {
  const startedMs = performance.now();
  for (let count = 0; count < perSecond * seconds; count += 1) {
    const dueMs = startedMs + (count * 1_000) / perSecond;
    await sleep(Math.max(0, dueMs - performance.now()));
    const attack = kind === 'harmless' ? HARMLESS : ATTACKS[turn++ % ATTACKS.length];
    if (attack === undefined) throw new Error('there are no attacks');
    const running: Promise<void> = attempt(attack, target).finally(() => underWay.delete(running));
    underWay.add(running);
  }
  return 'sent';
}

async function report(): Promise<AttackReport> {
  await Promise.all(underWay);
  return { sent, wrong };
}

async function attempt(attack: Attack, target: Target): Promise<void> {
  sent[attack.name] = (sent[attack.name] ?? 0) + 1;
  const got = await statusOf(attack, target).catch((error: unknown) => String(error));
  if (got === null || typeof got === 'number' ? attack.answers.includes(got) : false) return;
  wrong[attack.name] = [...(wrong[attack.name] ?? []), String(got)];
}

async function statusOf(attack: Attack, target: Target): Promise<number | null | 'still open'> {
  const socket = await socketTo(target.url);
  const request = attack.request(target);
  const { drip, bytes } =
    typeof request === 'string'
      ? { drip: undefined, bytes: request }
      : {
          drip: request.drip,
          bytes: requestHead(request.method ?? 'GET', request.path, request.headers ?? {}) + (request.body ?? ''),
        };
  const dripping = drip === undefined ? undefined : setInterval(() => socket.write(drip), DRIP_MS);
  const stop = new AbortController();
  try {
    const status = nextStatus(socket);
    socket.write(bytes);
    const late = sleep(OPEN_MS_MAX, 'still open' as const, { signal: stop.signal });
    return await Promise.race([status, late]);
  } finally {
    stop.abort();
    clearInterval(dripping);
    socket.destroy();
  }
}
