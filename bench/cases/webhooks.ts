import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Bench } from '../bench.ts';
import type { SignedFetches } from '../floor/signed-fetch.ts';
import { type Measurement, medianMeasurement } from '../load/measure.ts';
import { processorTimeMs } from '../load/processor-time.ts';
import type { Received } from '../load/receiver.ts';
import { serviceTransfers } from './transfers.ts';

const TRANSFERS = 500;
/** Events of one straight-through transfer: four on the sender's side, two on the receiver's. */
const EVENTS_OF_TRANSFER = 6;
const CALLERS = 16;
/** The most concurrent attempts of a worker for one subscription (activities/webhooks/concurrency.ts). */
const CONCURRENT = 32;
/** About as long as the event of a transfer. */
const BODY = JSON.stringify({ value: 'x'.repeat(1_400) });
const LIMIT_MS = 120_000;
const POLL_MS = 100;

/** d. Webhooks per second to one receiver after a burst of transfers, compared with a bare loop that signs and fetches. */
export async function benchWebhooks(bench: Bench): Promise<Measurement[]> {
  bench.say('d. webhooks …');
  const receiver = start('../load/receiver.ts');
  const floor = start('../floor/signed-fetch.ts');
  try {
    const [{ port }] = (await once(receiver, 'message')) as [{ port: number }];
    const origin = `http://127.0.0.1:${port}`;
    await subscribe(bench, `${origin}/webhooks`);
    const [floors, services]: [Measurement[], Measurement[]] = [[], []];
    // The first round of both warms up.
    for (let round = 0; round <= bench.options.rounds; round += 1) {
      const [bare, delivered] = [await measureFloor(floor, `${origin}/floor`), await measureService(bench, receiver)];
      if (round === 0) continue;
      floors.push(bare);
      services.push(delivered);
    }
    return [medianMeasurement(floors), medianMeasurement(services)];
  } finally {
    receiver.disconnect();
    floor.disconnect();
  }
}

export function start(path: string): ChildProcess {
  return fork(fileURLToPath(new URL(path, import.meta.url)), { execArgv: ['--import', import.meta.resolve('tsx')] });
}

const RESULT = { case: 'webhooks delivered', callers: CALLERS, p50Ms: null, p99Ms: null } as const;

async function measureFloor(floor: ChildProcess, url: string): Promise<Measurement> {
  const processIds = floor.pid === undefined ? [] : [floor.pid];
  const beforeMs = processorTimeMs(processIds);
  const count = TRANSFERS * EVENTS_OF_TRANSFER;
  const command: SignedFetches = { url, count, concurrent: CONCURRENT, body: BODY };
  floor.send(command);
  const [elapsedMs] = (await once(floor, 'message')) as [number];
  const processorMs = (processorTimeMs(processIds) - beforeMs) / count;
  return { ...RESULT, contender: 'floor', perSecond: count / (elapsedMs / 1000), processorMs };
}

async function measureService(bench: Bench, receiver: ChildProcess): Promise<Measurement> {
  const { stage } = bench;
  const processIds = [stage.api.process.pid, stage.worker.pid, stage.postgres.process.pid];
  const beforeMs = processorTimeMs(processIds);
  await ask(receiver, 'begin');
  const { load } = serviceTransfers(bench, false);
  const extent = { callers: CALLERS, seconds: LIMIT_MS / 1000, count: TRANSFERS };
  const { count } = await bench.callers.run({ ...load, ...extent });
  const received = await untilReceived(receiver, count * EVENTS_OF_TRANSFER);
  return {
    ...RESULT,
    contender: 'service',
    perSecond: received.count / ((received.lastMs - received.firstMs) / 1000),
    processorMs: (processorTimeMs(processIds) - beforeMs) / received.count,
  };
}

export async function subscribe({ stage }: Pick<Bench, 'stage'>, url: string): Promise<void> {
  const answer = await fetch(`${stage.api.origin}/webhook-subscriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ workflow: { code: 'direct' }, data: { webhookSubscription: { url } } }),
  });
  if (answer.status !== 201) throw new Error(`no subscription: ${await answer.text()}`);
}

async function untilReceived(receiver: ChildProcess, wanted: number): Promise<Received> {
  const endsMs = performance.now() + LIMIT_MS;
  for (;;) {
    const received = await ask(receiver, 'how many');
    if (received.count >= wanted) return received;
    if (performance.now() > endsMs) throw new Error(`${received.count} of ${wanted} webhooks arrived in time`);
    await sleep(POLL_MS);
  }
}

async function ask(receiver: ChildProcess, question: 'begin' | 'how many'): Promise<Received> {
  receiver.send(question);
  const [received] = (await once(receiver, 'message')) as [Received];
  return received;
}
