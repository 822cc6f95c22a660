import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Measurement } from '../load/measure.ts';
import { processorTimeMs } from '../load/processor-time.ts';
import type { Received } from '../load/receiver.ts';
import type { Bench } from '../main.ts';
import { serviceTransfers } from './transfers.ts';

const TRANSFERS = 500;
/** Events of one straight-through transfer: four on the sender's side, two on the receiver's. */
const EVENTS_OF_TRANSFER = 6;
const CALLERS = 16;
const LIMIT_MS = 120_000;
const POLL_MS = 100;

/** d. Webhooks delivered per second to one receiver, from the first to the last of a burst of transfers. */
export async function benchWebhooks(bench: Bench): Promise<Measurement[]> {
  bench.say('d. webhooks …');
  const child = fork(fileURLToPath(new URL('../load/receiver.ts', import.meta.url)), {
    execArgv: ['--import', import.meta.resolve('tsx')],
  });
  try {
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    await subscribe(bench, `http://127.0.0.1:${port}/webhooks`);
    const { stage } = bench;
    const processIds = [stage.api.process.pid, stage.worker.pid, stage.postgres.process.pid];
    const beforeMs = processorTimeMs(processIds);
    const { load } = serviceTransfers(bench, false);
    const { count } = await bench.callers.run({
      ...load,
      callers: CALLERS,
      seconds: LIMIT_MS / 1000,
      count: TRANSFERS,
    });
    const received = await untilReceived(child, count * EVENTS_OF_TRANSFER);
    return [
      {
        case: 'webhooks delivered',
        contender: 'service',
        callers: CALLERS,
        perSecond: received.count / ((received.lastMs - received.firstMs) / 1000),
        p50Ms: null,
        p99Ms: null,
        processorMs: (processorTimeMs(processIds) - beforeMs) / received.count,
      },
    ];
  } finally {
    child.disconnect();
  }
}

async function subscribe({ stage }: Bench, url: string): Promise<void> {
  const answer = await fetch(`${stage.api.origin}/webhook-subscriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ workflow: { code: 'direct' }, data: { webhookSubscription: { url } } }),
  });
  if (answer.status !== 201) throw new Error(`no subscription: ${await answer.text()}`);
}

async function untilReceived(child: ChildProcess, wanted: number): Promise<Received> {
  const endsMs = performance.now() + LIMIT_MS;
  for (;;) {
    child.send('how many');
    const [received] = (await once(child, 'message')) as [Received];
    if (received.count >= wanted) return received;
    if (performance.now() > endsMs) throw new Error(`${received.count} of ${wanted} webhooks came in time`);
    await sleep(POLL_MS);
  }
}
