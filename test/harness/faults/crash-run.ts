import { setTimeout as sleep } from 'node:timers/promises';
import { WEBHOOK_TYPES } from '../../../domain/webhooks/subscriptions.ts';
import type { Json } from '../api.ts';
import { randomFrom } from '../random.ts';
import {
  type Link,
  linkedDetours,
  startWholeService,
  type WholeService,
  type WholeServiceOptions,
} from '../servers/whole-service.ts';
import { type FaultCounts, type FaultPlan, inflictFaults } from './faults.ts';
import { checkFootprints, type Footprints, footprintsOf } from './footprint.ts';
import type { LoadBank } from './load/banks.ts';
import { isDone, type LoadFigures, type Purpose } from './load/calls.ts';
import { type Load, type LoadOptions, startLoad } from './load/load.ts';
import { type CountOpen, historiesOfOpenWork, untilSettled, watchTotals } from './settled.ts';
import { type CheckedBank, findProblems, type Problems } from './verdict.ts';

/** A bank besides the sandbox's, at which the load's own accounts are. */
export interface FurtherBank extends CheckedBank, LoadBank {
  readonly countOpen: CountOpen;
  /** Payments out that have gone to it. */
  countPayments(service: WholeService): Promise<number>;
  /** What a report of the run says of it. */
  readFigures(service: WholeService): Promise<Readonly<Record<string, number>>>;
}

type LoadSettings = Pick<
  LoadOptions,
  'callers' | 'thinkMs' | 'everything' | 'deeds' | 'pounds' | 'externalShare' | 'openMax'
>;

interface UnderLoadOptions extends LoadSettings {
  readonly seed: number;
  /** Default: each connection of its processes can be cut. */
  readonly service?: WholeServiceOptions;
  /** The connections that can be cut; those of `service` add themselves. */
  readonly links?: Link[];
  readonly further?: FurtherBank;
}

export interface CrashRunOptions extends UnderLoadOptions {
  readonly plan: FaultPlan;
  /** The plan is carried out again until so many payments have gone to the further bank; default: once. */
  readonly payments?: number;
  /** After so long it is not carried out again, however many there are. */
  readonly loadMsMax?: number;
  /** How often all accounts are summed, which costs more the longer the run; default ten times a second. */
  readonly watchEveryMs?: number;
  /** Time for everything to finish once the faults are over. */
  readonly settleMs: number;
  /** How long Temporal stays dead under load, after all other faults. */
  readonly temporalAwayMs: number;
  readonly say?: (line: string) => void;
}

export interface CrashRunResult {
  readonly seed: number;
  readonly figures: LoadFigures;
  /** Acknowledged operations, the accounts and funds of the start included. */
  readonly done: Readonly<Partial<Record<Purpose, number>>>;
  readonly faults: FaultCounts;
  /** How long callers sent requests under faults. */
  readonly loadMs: number;
  readonly transfers: Readonly<Record<string, number>>;
  readonly events: number;
  readonly webhooksReceived: number;
  readonly snapshots: number;
  /** Requests while Temporal was dead, and those among them that failed. */
  readonly temporalAway: { readonly requests: number; readonly acknowledged: number; readonly failed: number };
  readonly settledAfterMs: number | null;
  /** Of the further bank. */
  readonly further: Readonly<Record<string, number>>;
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
  readonly further?: FurtherBank;
}

export async function startUnderLoad(
  options: UnderLoadOptions & {
    readonly temporal?: WholeServiceOptions['temporal'];
  },
): Promise<ServiceUnderLoad> {
  const { temporal, further } = options;
  const links = options.links ?? [];
  const service = await startWholeService({
    ...(options.service ?? { detours: linkedDetours(links) }),
    ...(temporal === undefined ? {} : { temporal }),
  });
  try {
    const atStart = footprintsOf(service);
    const subscription = await subscribe(service);
    const bank = further === undefined ? {} : { bank: further };
    const load = await startLoad({ ...options, ...bank, service, random: randomFrom(options.seed) });
    return {
      service,
      load,
      webhookSecret: subscription.secret,
      subscriptionId: subscription.id,
      links,
      atStart,
      ...(further === undefined ? {} : { further }),
    };
  } catch (error) {
    await service.close();
    await closeLinks(links);
    throw error;
  }
}

export async function closeLinks(links: readonly Link[]): Promise<void> {
  await Promise.all(links.map(({ proxy }) => proxy.close()));
}

export async function subscribe({ apiUrls, token, receiver }: WholeService): Promise<{ id: string; secret: string }> {
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
    const watch = watchTotals(service.database, options.watchEveryMs);
    // A random sequence separate from the callers', so that neither shifts the other.
    const random = randomFrom(seed + 1_000_003);
    const loadedAt = performance.now();
    let faults = await inflictFaults(service, links, random, plan, say);
    const { payments = 0, loadMsMax = Number.POSITIVE_INFINITY } = options;
    while (performance.now() - loadedAt < loadMsMax && (await countPayments(under)) < payments) {
      faults = added(faults, await inflictFaults(service, links, random, plan, say));
    }
    const loadMs = Math.round(performance.now() - loadedAt);
    const temporalAway = await withoutTemporal(service, load, options.temporalAwayMs);
    const { settledAfterMs, problems } = await settleAndCheck(under, settleMs, say);
    await watch.stop();
    if (temporalAway.failed > 0) problems.push(`${temporalAway.failed} requests failed while Temporal was away`);
    problems.push(...watch.wrong.map((total) => `a snapshot saw a wrong total: ${total}`));
    if (problems.length === 0) keep = undefined;
    else problems.push(`the logs are in ${service.directory}`);
    return {
      seed,
      figures: load.figures,
      done: countDone(load),
      faults,
      loadMs,
      transfers: await transfersByStatus(service),
      events: await countEvents(service),
      webhooksReceived: service.receiver.received.length,
      snapshots: watch.reads,
      temporalAway,
      settledAfterMs,
      further: (await options.further?.readFigures(service)) ?? {},
      footprints: { atStart: under.atStart, atEnd: footprintsOf(service) },
      problems,
    };
  } finally {
    await load.stop().catch(() => {});
    await service.close(keep);
    await closeLinks(links);
  }
}

/** Ends the load, gives every request its outcome and all work its end, and compares the books. */
export async function settleAndCheck(
  under: ServiceUnderLoad,
  settleMs: number,
  say?: (line: string) => void,
): Promise<{ readonly settledAfterMs: number | null; readonly problems: Problems }> {
  const { service, load } = under;
  await load.stop();
  await load.settle();
  say?.('the faults are over, and every request has its outcome');
  const settled = await untilSettled(service, settleMs, () => load.finish(), under.further?.countOpen);
  const problems = await findProblems(under);
  problems.push(...(await checkFootprints(service, under.atStart)));
  if ('tookMs' in settled) return { settledAfterMs: Math.round(settled.tookMs), problems };
  problems.push(`still open after ${settleMs} ms: ${JSON.stringify(settled.open)}`);
  problems.push(...(await historiesOfOpenWork(service)));
  return { settledAfterMs: null, problems };
}

const AFTER_FAULTS_MS = 5_000;
const ACKNOWLEDGED_MIN = 20;

/** Kills Temporal while callers post, and restarts it after this long. */
async function withoutTemporal(service: WholeService, { figures }: Load, awayMs: number) {
  const temporal = service.process('temporal');
  // By now the last fault is over, so that only Temporal's absence is tested.
  await sleep(AFTER_FAULTS_MS);
  const before = { ...figures };
  await temporal.kill();
  await sleep(awayMs);
  // A busy machine needs longer to show something.
  const hasShown = () => awayMs === 0 || figures.acknowledged - before.acknowledged >= ACKNOWLEDGED_MIN;
  for (let more = 0; more < 120 && !hasShown(); more += 1) await sleep(500);
  const temporalAway = {
    requests: figures.requests - before.requests,
    acknowledged: figures.acknowledged - before.acknowledged,
    // One that a busy machine is still doing for the first of two requests is not among them.
    failed: (['lost', 'serverErrors', 'unavailable'] as const).reduce((sum, of) => sum + figures[of] - before[of], 0),
  };
  await temporal.start();
  return temporalAway;
}

function countDone({ operations }: Load): Partial<Record<Purpose, number>> {
  const counts: Partial<Record<Purpose, number>> = {};
  for (const { purpose } of operations.filter(isDone)) counts[purpose] = (counts[purpose] ?? 0) + 1;
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

/** Payments out that have gone to the further bank; counted again while Postgres is away. */
async function countPayments({ service, further }: ServiceUnderLoad): Promise<number> {
  for (;;) {
    const count = await (further?.countPayments(service) ?? Promise.resolve(0)).catch(() => null);
    if (count !== null) return count;
    await sleep(500);
  }
}

function added(one: FaultCounts, other: FaultCounts): FaultCounts {
  const sums = <Name extends string>(some: Readonly<Record<Name, number>>, more: Readonly<Record<Name, number>>) => {
    const result: Record<string, number> = { ...some };
    for (const [name, count] of Object.entries<number>(more)) result[name] = (result[name] ?? 0) + count;
    return result as Record<Name, number>;
  };
  return { kills: sums(one.kills, other.kills), done: sums(one.done, other.done) };
}

async function countEvents({ database }: WholeService): Promise<number> {
  const [row] = await database.reader.statement<{ count: number }>(
    'SELECT coalesce(sum(entry_count), 0)::integer AS count FROM events',
    [],
  );
  return row?.count ?? 0;
}
