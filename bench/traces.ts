import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAccounts } from './accounts.ts';
import type { Bench } from './bench.ts';
import { complete, payableRequests, serviceExternal, serviceRunner } from './cases/external-transfers.ts';
import { start, subscribe } from './cases/webhooks.ts';
import { type Measurement, median } from './load/measure.ts';
import { processorTimeMs } from './load/processor-time.ts';
import { type Stage, startStage } from './stage.ts';

const PAYMENTS = 200;
const WARM_UP = 400;
const CALLERS = 8;
/** The bank completes it by a callback, which it sends twice. */
const AMOUNT_WITH_CALLBACK = 1.08;
/** Longer than spans wait to be sent, and webhooks for theirs. */
const SETTLE_MS = 6_000;

interface Contender {
  readonly name: string;
  readonly stage: Stage;
  readonly pay: (count: number) => Promise<{ readonly perSecond: number }>;
  readonly sent: () => Promise<number>;
  readonly costsMs: number[];
  readonly rates: number[];
}

/**
 * What traces cost: CPU of API and worker for an external payment with a callback and its webhooks, without traces and at a tenth sampled.
 * Each is a service of its own, whose spans go to a process; they pay in turns, each turn in another order.
 */
export async function benchTraces(bench: Bench): Promise<Measurement[]> {
  const receivers: ChildProcess[] = [];
  const stages: Stage[] = [];
  const receive = async () => {
    const receiver = start('../load/receiver.ts');
    receivers.push(receiver);
    const [{ port }] = (await once(receiver, 'message')) as [{ port: number }];
    return { receiver, origin: `http://127.0.0.1:${port}` };
  };
  const traced = async (name: string, ratio: string): Promise<Contender> => {
    const { receiver, origin } = await receive();
    const sampler = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: ratio };
    const stage = await startStage(bench.say, undefined, { ...sampler, OTEL_EXPORTER_OTLP_ENDPOINT: origin });
    stages.push(stage);
    return contender({ ...bench, stage, accounts: await createAccounts(stage.sql) }, name, receiver);
  };
  try {
    const { origin } = await receive();
    const all = [await contender(bench, 'off', null), await traced('a tenth', '0.1')];
    for (const { stage } of all) await subscribe({ stage }, `${origin}/webhooks`);
    bench.say('traces: warm-up …');
    for (const { pay } of all) await pay(WARM_UP);
    for (let round = 0; round < bench.options.rounds; round += 1) {
      for (let turn = 0; turn < all.length; turn += 1) await measure(bench, all[(round + turn) % all.length]);
    }
    const [off] = all;
    for (const { name, costsMs } of all.slice(1))
      bench.say(`traces: ${name}: ${differences(costsMs, off?.costsMs ?? [])}`);
    return all.map(({ name, costsMs, rates }) => ({
      case: 'external payment, CPU of API and worker by traces',
      contender: name,
      callers: CALLERS,
      perSecond: median(rates),
      p50Ms: null,
      p99Ms: null,
      processorMs: median(costsMs),
    }));
  } finally {
    for (const stage of stages) await stage.close();
    for (const receiver of receivers) receiver.disconnect();
  }
}

async function contender(bench: Bench, name: string, collector: ChildProcess | null): Promise<Contender> {
  const requests = await payableRequests(bench, undefined, AMOUNT_WITH_CALLBACK);
  const runner = serviceRunner(bench, serviceExternal(bench, requests));
  const sent = async () => {
    if (collector === null) return 0;
    collector.send('how many');
    const [{ count }] = (await once(collector, 'message')) as [{ count: number }];
    return count;
  };
  return {
    name,
    stage: bench.stage,
    pay: (count) => complete(bench, runner, count, CALLERS),
    sent,
    costsMs: [],
    rates: [],
  };
}

async function measure(bench: Bench, turn: Contender | undefined): Promise<void> {
  if (turn === undefined) throw new Error('there is no contender');
  const { name, stage, pay, sent, costsMs, rates } = turn;
  const processIds = [stage.api.process.pid, stage.worker.pid];
  const before = { processorMs: processorTimeMs(processIds), exports: await sent() };
  const { perSecond } = await pay(PAYMENTS);
  await sleep(SETTLE_MS);
  const costMs = (processorTimeMs(processIds) - before.processorMs) / PAYMENTS;
  costsMs.push(costMs);
  rates.push(perSecond);
  bench.say(`traces: ${name}: ${costMs.toFixed(2)} ms of CPU a payment, ${(await sent()) - before.exports} exports`);
}

/** How much more each turn cost than the turn without traces of the same round. */
function differences(costsMs: readonly number[], offMs: readonly number[]): string {
  const percents = costsMs.map((cost, round) => (100 * (cost - (offMs[round] ?? 0))) / (offMs[round] ?? 1));
  const shown = [...percents].sort((one, other) => one - other).map((percent) => percent.toFixed(1));
  return `${median(percents).toFixed(1)} % more CPU than without (${shown.join(', ')})`;
}
