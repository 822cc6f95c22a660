import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ServiceUnderLoad, startUnderLoad } from '../../harness/faults/crash-run.ts';
import { historiesOfOpenWork, untilSettled, watchTotals } from '../../harness/faults/settled.ts';
import { findProblems, lostAndDoubled, type Problems } from '../../harness/faults/verdict.ts';
import type { WholeService } from '../../harness/servers/whole-service.ts';

/** What dies: Postgres with all its sessions, or the machine, with what would promote in its place too. */
export type Death = 'postgres' | 'machine';

/** A primary, a synchronous standby, and what promotes it. */
export interface FailingPostgres {
  /** All hosts, as the service's role and as the owner. */
  readonly url: string;
  readonly ownerUrl: string;
  /** Kills the primary; resolves when it is dead. */
  killPrimary(death: Death): Promise<void>;
  /** Brings what was killed back as the synchronous standby. */
  bringBack(): Promise<void>;
}

export interface FailoverRound {
  readonly death: Death;
  /** From the kill to the first acknowledged write that was sent after it. */
  readonly seconds: number;
  readonly requests: number;
  /** By status; `no answer` where the connection broke. */
  readonly failures: Readonly<Record<string, number>>;
  readonly lost: number;
  readonly doubled: number;
}

export interface FailoverRunOptions {
  readonly postgres: FailingPostgres;
  readonly seed: number;
  /** One for each failover. */
  readonly deaths: readonly Death[];
  readonly processesEach: 1 | 2;
  readonly callers: number;
  /** Acknowledged transfers before each kill. */
  readonly transfersBefore: number;
  readonly settleMs: number;
  readonly say?: (line: string) => void;
  readonly onRound?: (round: FailoverRound, number: number) => void;
}

export interface FailoverResult {
  readonly rounds: readonly FailoverRound[];
  readonly acknowledged: number;
  readonly settledAfterMs: number | null;
  readonly problems: Problems;
}

/** Kills the primary again and again under load; then all work must finish, and all books must agree. */
export async function failoverRun(options: FailoverRunOptions): Promise<FailoverResult> {
  const { postgres, settleMs, say = () => {} } = options;
  const { url, ownerUrl } = postgres;
  const under = await startUnderLoad({
    ...options,
    thinkMs: 200,
    everything: false,
    service: { processesEach: options.processesEach, postgres: { url, ownerUrl } },
  });
  const { service, load } = under;
  let keep: 'logs' | undefined = 'logs';
  say(`seed ${options.seed} runs in ${service.directory}`);
  try {
    const watch = watchTotals(service.database);
    const rounds: FailoverRound[] = [];
    for (const death of options.deaths) {
      const round = await failOver(under, options, death);
      rounds.push(round);
      options.onRound?.(round, rounds.length);
      await postgres.bringBack();
      say('the killed server is back as the synchronous standby');
    }
    await load.stop();
    await load.settle();
    const settled = await untilSettled(service, settleMs, () => load.finish());
    await watch.stop();
    const problems = await findProblems(under);
    if ('open' in settled) {
      problems.push(`still open after ${settleMs} ms: ${JSON.stringify(settled.open)}`);
      problems.push(...(await historiesOfOpenWork(service)));
    }
    problems.push(...watch.wrong.map((total) => `a snapshot saw a wrong total: ${total}`));
    if (problems.length === 0) keep = undefined;
    else problems.push(`the logs are in ${service.directory}`);
    const settledAfterMs = 'tookMs' in settled ? Math.round(settled.tookMs) : null;
    return { rounds, acknowledged: load.figures.acknowledged, settledAfterMs, problems };
  } finally {
    await load.stop().catch(() => {});
    await service.close(keep);
  }
}

async function failOver(
  under: ServiceUnderLoad,
  { postgres, transfersBefore, say = () => {} }: FailoverRunOptions,
  death: Death,
): Promise<FailoverRound> {
  const { service, load } = under;
  const goal = load.figures.acknowledged + transfersBefore;
  const requestsBefore = load.figures.requests;
  const failuresBefore = new Map(load.failures);
  while (load.figures.acknowledged < goal) await sleep(50);
  await postgres.killPrimary(death);
  const killedAt = performance.now();
  say(`${death} killed`);
  await firstAcknowledgedWrite(service);
  const seconds = (performance.now() - killedAt) / 1_000;
  say(`writes are acknowledged again after ${seconds.toFixed(1)} s`);
  // Callers whose answers are still on their way are part of the round.
  const after = load.figures.acknowledged + transfersBefore;
  while (load.figures.acknowledged < after) await sleep(50);
  const failures = [...load.failures]
    .map(([kind, count]) => [kind, count - (failuresBefore.get(kind) ?? 0)] as const)
    .filter(([, count]) => count > 0);
  return {
    death,
    seconds,
    requests: load.figures.requests - requestsBefore,
    failures: Object.fromEntries(failures),
    ...(await lostAndDoubled(under)),
  };
}

const BETWEEN_WRITES_MS = 50;

/** A disabled subscription hears nothing, and is written as everything else is. */
async function firstAcknowledgedWrite({ apiUrls, token, receiver }: WholeService): Promise<void> {
  const webhookSubscription = { url: receiver.url, types: ['account-closed'], status: 'disabled' };
  const body = JSON.stringify({ workflow: { code: 'direct' }, data: { webhookSubscription } });
  for (let attempt = 0; ; attempt += 1) {
    const response = await fetch(`${apiUrls[attempt % apiUrls.length]}/webhook-subscriptions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      body,
    });
    const text = await response.text();
    if (response.status === 201) return;
    if (response.status !== 503) throw new Error(`a write got ${response.status}: ${text}`);
    await sleep(BETWEEN_WRITES_MS);
  }
}
