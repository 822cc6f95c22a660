import { setTimeout as sleep } from 'node:timers/promises';
import { WEBHOOK_TYPES } from '../../../domain/webhooks/subscriptions.ts';
import type { Json } from '../api.ts';
import { randomFrom } from '../random.ts';
import { type Link, linkedDetours, startWholeService, type WholeService } from '../servers/whole-service.ts';
import { type FaultCounts, type FaultPlan, inflictFaults } from './faults.ts';
import { checkFootprints, type Footprints, footprintsOf } from './footprint.ts';
import { isDone, type LoadFigures, type Purpose } from './load/calls.ts';
import { type Load, startLoad } from './load/load.ts';
import { pastsOfOpenWork, untilSettled, watchTotals } from './settled.ts';
import { findProblems, type Problems } from './verdict.ts';

export interface CrashRunOptions {
  readonly seed: number;
  readonly plan: FaultPlan;
  readonly callers: number;
  readonly thinkMs: number;
  /** Whether the load has every kind, not only transfers, cancellations and payments in. */
  readonly everything: boolean;
  /** Time for everything to finish once the faults are over. */
  readonly settleMs: number;
  /** How long Temporal stays dead under load, after all other faults. */
  readonly temporalAwayMs: number;
  readonly say?: (line: string) => void;
}

export interface CrashRunResult {
  readonly seed: number;
  readonly figures: LoadFigures;
  /** Acknowledged wishes, the accounts and funds of the start included. */
  readonly done: Readonly<Partial<Record<Purpose, number>>>;
  readonly faults: FaultCounts;
  readonly transfers: Readonly<Record<string, number>>;
  readonly events: number;
  readonly webhooksReceived: number;
  readonly snapshots: number;
  /** Requests while Temporal was dead, and those among them that failed. */
  readonly temporalAway: { readonly requests: number; readonly acknowledged: number; readonly failed: number };
  readonly settledAfterMs: number | null;
  /** Of our own processes, before the first request and after the last. */
  readonly footprints: { readonly atStart: Footprints; readonly atEnd: Footprints };
  readonly problems: Problems;
}

/** A service under load, with a subscriber from the first event on. */
export interface ServiceUnderLoad {
  readonly service: WholeService;
  readonly load: Load;
  readonly webhookSecret: string;
  readonly subscriptionId: string;
  readonly links: readonly Link[];
  readonly atStart: Footprints;
}

export async function startUnderLoad(options: {
  readonly seed: number;
  readonly callers: number;
  readonly thinkMs: number;
  readonly everything: boolean;
}): Promise<ServiceUnderLoad> {
  const links: Link[] = [];
  const service = await startWholeService({ detours: linkedDetours(links) });
  try {
    const atStart = footprintsOf(service);
    const subscription = await subscribe(service);
    const load = await startLoad({ ...options, service, random: randomFrom(options.seed) });
    return { service, load, webhookSecret: subscription.secret, subscriptionId: subscription.id, links, atStart };
  } catch (error) {
    await service.close();
    await closeLinks(links);
    throw error;
  }
}

async function closeLinks(links: readonly Link[]): Promise<void> {
  await Promise.all(links.map(({ proxy }) => proxy.close()));
}

async function subscribe({ apiUrls, token, receiver }: WholeService): Promise<{ id: string; secret: string }> {
  // By name, since some types reach only subscribers who name them, and every event must arrive.
  const webhookSubscription = { url: receiver.url, types: WEBHOOK_TYPES };
  const response = await fetch(`${apiUrls[0]}/webhook-subscriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ workflow: { code: 'direct' }, data: { webhookSubscription } }),
  });
  const answer: Json = await response.json();
  if (response.status !== 201) throw new Error(`no subscription: ${JSON.stringify(answer)}`);
  return answer.data.webhookSubscription;
}

/** Injects faults under load; then all work must finish, and all books must agree. */
export async function crashRun(options: CrashRunOptions): Promise<CrashRunResult> {
  const { seed, plan, settleMs, say } = options;
  const under = await startUnderLoad(options);
  const { service, load, links } = under;
  let keep: 'logs' | undefined = 'logs';
  say?.(`seed ${seed} runs in ${service.directory}`);
  try {
    const watch = watchTotals(service.database);
    // A random sequence separate from the callers', so that neither shifts the other.
    const faults = await inflictFaults(service, links, randomFrom(seed + 1_000_003), plan, say);
    const temporalAway = await withoutTemporal(service, load, options.temporalAwayMs);
    await load.stop();
    await load.settle();
    say?.('the faults are over, and every request has its outcome');
    const settled = await untilSettled(service, settleMs, () => load.finish());
    await watch.stop();
    const problems = await findProblems(under);
    problems.push(...(await checkFootprints(service, under.atStart)));
    if ('open' in settled) {
      problems.push(`still open after ${settleMs} ms: ${JSON.stringify(settled.open)}`);
      problems.push(...(await pastsOfOpenWork(service)));
    }
    if (temporalAway.failed > 0) problems.push(`${temporalAway.failed} requests failed while Temporal was away`);
    problems.push(...watch.wrong.map((total) => `a snapshot saw a wrong total: ${total}`));
    if (problems.length === 0) keep = undefined;
    else problems.push(`the logs are in ${service.directory}`);
    return {
      seed,
      figures: load.figures,
      done: countDone(load),
      faults,
      transfers: await transfersByStatus(service),
      events: await countEvents(service),
      webhooksReceived: service.receiver.received.length,
      snapshots: watch.reads,
      temporalAway,
      settledAfterMs: 'tookMs' in settled ? Math.round(settled.tookMs) : null,
      footprints: { atStart: under.atStart, atEnd: footprintsOf(service) },
      problems,
    };
  } finally {
    await load.stop().catch(() => {});
    await service.close(keep);
    await closeLinks(links);
  }
}

const AFTER_FAULTS_MS = 5_000;

/** Kills Temporal for so long while callers post, and starts it again. */
async function withoutTemporal(service: WholeService, { figures }: Load, awayMs: number) {
  const temporal = service.process('temporal');
  // By now the last fault is over, so that only Temporal's absence is tested.
  await sleep(AFTER_FAULTS_MS);
  const before = { ...figures };
  await temporal.kill();
  await sleep(awayMs);
  const temporalAway = {
    requests: figures.requests - before.requests,
    acknowledged: figures.acknowledged - before.acknowledged,
    failed: figures.unknown - before.unknown + (figures.serverErrors - before.serverErrors),
  };
  await temporal.start();
  return temporalAway;
}

function countDone({ wishes }: Load): Partial<Record<Purpose, number>> {
  const counts: Partial<Record<Purpose, number>> = {};
  for (const { purpose } of wishes.filter(isDone)) counts[purpose] = (counts[purpose] ?? 0) + 1;
  return counts;
}

async function transfersByStatus({ database }: WholeService): Promise<Record<string, number>> {
  const rows = await database.reader.statement<{ kind: string; count: number }>(
    `SELECT scope || ' ' || status || CASE WHEN returned THEN ' returned' ELSE '' END AS kind, count(*)::integer AS count
     FROM outgoing_transfers GROUP BY 1 ORDER BY 1`,
    [],
  );
  return Object.fromEntries(rows.map(({ kind, count }) => [kind, count]));
}

async function countEvents({ database }: WholeService): Promise<number> {
  const [row] = await database.reader.statement<{ count: number }>(
    'SELECT coalesce(sum(entry_count), 0)::integer AS count FROM events',
    [],
  );
  return row?.count ?? 0;
}
