import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { temporalSettings } from '../../../../config/temporal.ts';
import { lazyTemporalClient } from '../../../../loops/temporal.ts';
import { workflowId } from '../../../../workflows/common/messages.ts';
import { PROJECT_DIRECTORY } from '../../../tools/run/commands.ts';
import { entryArguments } from '../../../tools/run/entries.ts';
import { subscribe } from '../../faults/crash-run.ts';
import type { LoadFigures } from '../../faults/load/calls.ts';
import { type Load, startLoad } from '../../faults/load/load.ts';
import { historiesOfOpenWork, untilSettled } from '../../faults/settled.ts';
import { findProblems } from '../../faults/verdict.ts';
import { randomFrom } from '../../random.ts';
import { codesOf, failuresOf } from '../../workflows/histories.ts';
import type { ServiceProcess } from '../service-process.ts';
import { startWholeService, type WholeService } from '../whole-service.ts';
import type { ServiceRelease } from './service-releases.ts';
import { makeTwoReleases, type TwoReleases } from './two-releases.ts';

export interface UpgradeOptions {
  readonly seed: number;
  readonly callers: number;
  readonly thinkMs: number;
  /** How long each mixture of releases stays as it is. */
  readonly stayMs: number;
  /** Time for everything to finish once the load is over. */
  readonly settleMs: number;
  readonly say?: (line: string) => void;
}

/** A part of the upgrade, and what callers saw in it. */
export interface Phase {
  readonly name: string;
  readonly seconds: number;
  readonly requests: number;
  /** Without an answer, or with one of the server's errors. */
  readonly failed: number;
  readonly transfers: number;
}

export interface UpgradeResult {
  readonly phases: readonly Phase[];
  readonly figures: LoadFigures;
  /** Payments that failed, and neither bank, review nor caller wanted them to. */
  readonly failedPayments: readonly string[];
  /** Workflows by the releases whose workers carried them, in order: `1.0.0, 1.1.0`. */
  readonly carriers: Readonly<Record<string, number>>;
  /** Workflow tasks that failed. */
  readonly failedTasks: readonly string[];
  readonly settledAfterSeconds: number | null;
  readonly problems: readonly string[];
}

const DEPLOYMENT = 'financial-accounts';
/** A balancer takes an API out of its list before it is asked to end, as Kubernetes does with a pause before the stop. */
const OUT_OF_LIST_MS = 1_000;
const ATTEMPTS_MAX = 20;
const AGAIN_MS = 3_000;

/**
 * A service of two APIs, two workers and loops goes from a release to the next and back, process by process, under load: the schema first, then
 * some of each release for a while, then all of one. Afterwards every book must agree.
 */
export async function rollingUpgrade(options: UpgradeOptions): Promise<UpgradeResult> {
  const releases = await makeTwoReleases();
  const rollout = new Rollout(releases, options);
  try {
    return await rollout.run();
  } finally {
    await rollout.close();
    releases.remove();
  }
}

class Rollout {
  readonly #releases: TwoReleases;
  readonly #options: UpgradeOptions;
  readonly #problems: string[] = [];
  readonly #phases: Phase[] = [];
  /** Addresses that callers may use. */
  readonly #serving: string[] = [];
  /** What the next start of a process is of. */
  #starting: ServiceRelease;
  #whole: WholeService | null = null;
  #load: Load | null = null;

  constructor(releases: TwoReleases, options: UpgradeOptions) {
    this.#releases = releases;
    this.#options = options;
    this.#starting = releases.before;
  }

  async run(): Promise<UpgradeResult> {
    const { before, next } = this.#releases;
    const { seed, callers, thinkMs, settleMs } = this.#options;
    this.#whole = await startWholeService({
      loopsApart: true,
      environment: { TEMPORAL_DEPLOYMENT_NAME: DEPLOYMENT },
      startEntry: (entry) => this.#starting.start(entry),
    });
    this.#serving.push(...this.#whole.apiUrls);
    const serving = this.#serving;
    const service: WholeService = { ...this.#whole, apiUrls: serving };
    await this.#operate('set-current', before.version);
    const { id: subscriptionId, secret: webhookSecret } = await subscribe(service);
    const random = randomFrom(seed);
    const load = await startLoad({ service, random, callers, thinkMs, everything: true });
    this.#load = load;

    await this.#during(`${before.version}`, () => this.#stay());
    await this.#during('the schema of the next release', () =>
      this.#migrate(next, /Applied 9000_notes.sql, functions/),
    );
    await this.#exchange(before, next);
    await this.#during(`the schema is kept by ${before.version}`, () => this.#migrate(before, /newer release/));
    await this.#exchange(next, before);

    await load.stop();
    await load.settle();
    const settled = await untilSettled(service, settleMs, () => load.finish());
    this.#problems.push(...(await findProblems({ service, load, webhookSecret, subscriptionId })));
    if ('open' in settled) {
      this.#problems.push(`still open: ${JSON.stringify(settled.open)}`, ...(await historiesOfOpenWork(service)));
    }
    return {
      phases: this.#phases,
      figures: load.figures,
      failedPayments: await readFailedPayments(service),
      ...(await readCarriers(service)),
      settledAfterSeconds: 'tookMs' in settled ? Math.round(settled.tookMs / 1_000) : null,
      problems: this.#problems,
    };
  }

  async close(): Promise<void> {
    await this.#load?.stop().catch(() => {});
    await this.#whole?.close(this.#problems.length === 0 ? undefined : 'logs');
  }

  /** One of each kind, then, after a while, the others. Temporal gives the later ones half of the workflows first, then all. */
  async #exchange(from: ServiceRelease, to: ServiceRelease): Promise<void> {
    await this.#during(`${from.version} and ${to.version}`, async () => {
      await this.#replace('worker', 0, to);
      await this.#operate('ramp', to.version, '50');
      await this.#replace('loops', 0, to);
      await this.#replace('api', 0, to);
      await this.#stay();
    });
    await this.#during(`${to.version} instead of ${from.version}`, async () => {
      await this.#operate('set-current', to.version);
      await this.#replace('worker', 1, to);
      await this.#replace('api', 1, to);
    });
    await this.#during(to.version, () => this.#stay());
  }

  async #replace(kind: 'api' | 'worker' | 'loops', index: number, by: ServiceRelease): Promise<void> {
    const process = this.#service().process(kind, index);
    const url = kind === 'api' ? this.#service().apiUrls[index] : undefined;
    if (url !== undefined) {
      this.#serving.splice(this.#serving.indexOf(url), 1);
      await sleep(OUT_OF_LIST_MS);
    }
    await this.#restart(process, by);
    if (url !== undefined) this.#serving.push(url);
    this.#options.say?.(`${process.name} is of ${by.version}`);
  }

  async #restart(process: ServiceProcess, by: ServiceRelease): Promise<void> {
    if (!(await process.stop())) this.#problems.push(`${process.name} had to be killed`);
    this.#starting = by;
    await process.start();
  }

  async #migrate(release: ServiceRelease, expected: RegExp): Promise<void> {
    const printed = await release.migrate(this.#service());
    this.#options.say?.(printed.trim());
    if (!expected.test(printed)) this.#problems.push(`the migration of ${release.version} says: ${printed}`);
  }

  /** As an operator would. */
  async #operate(...words: string[]): Promise<void> {
    const { databaseUrl, temporalAddress } = this.#service();
    const environment = {
      ...process.env,
      DATABASE_URL: databaseUrl,
      TEMPORAL_ADDRESS: temporalAddress,
      TEMPORAL_DEPLOYMENT_NAME: DEPLOYMENT,
    };
    const command = [...entryArguments('cli/operate.ts'), 'worker-versions', ...words];
    const run = () => promisify(execFile)(process.execPath, command, { cwd: PROJECT_DIRECTORY, env: environment });
    // On a busy machine Temporal may not answer in time: given again, it comes to the same.
    for (let attempt = 1; ; attempt += 1) {
      try {
        const { stdout } = await run();
        return this.#options.say?.(stdout.trim());
      } catch (error) {
        if (attempt === ATTEMPTS_MAX) throw error;
        this.#options.say?.(String(error));
        await sleep(AGAIN_MS);
      }
    }
  }

  async #stay(): Promise<void> {
    await sleep(this.#options.stayMs);
  }

  async #during(name: string, work: () => Promise<void>): Promise<void> {
    const figures = this.#load?.figures;
    const began = { at: performance.now(), ...figures };
    await work();
    const since = (of: 'requests' | 'lost' | 'unavailable' | 'serverErrors' | 'acknowledged') =>
      (figures?.[of] ?? 0) - (began[of] ?? 0);
    const seconds = Math.round((performance.now() - began.at) / 1_000);
    const phase = {
      name,
      seconds,
      requests: since('requests'),
      failed: since('lost') + since('unavailable') + since('serverErrors'),
      transfers: since('acknowledged'),
    };
    this.#phases.push(phase);
    this.#options.say?.(JSON.stringify(phase));
  }

  #service(): WholeService {
    if (this.#whole === null) throw new Error('the service does not run');
    return this.#whole;
  }
}

/** The bank rejects or returns amounts with low last digits (test/harness/faults/load/orders.ts), reviews reject, and callers close accounts. */
const FAILED_PAYMENTS = `SELECT id || ': ' || coalesce(failure_code, 'no code') AS failed FROM outgoing_transfers
  WHERE status = 'failed' AND failure_code IS DISTINCT FROM 'compliance.rejected' AND failure_code IS DISTINCT FROM 'account.closed'
    AND (scope = 'internal' OR amount_minor % 100 >= 20)`;

async function readFailedPayments({ database }: WholeService): Promise<string[]> {
  const rows = await database.reader.statement<{ failed: string }>(FAILED_PAYMENTS, []);
  return rows.map(({ failed }) => failed);
}

/** Each costs a call. */
const HISTORIES_MAX = 400;

async function readCarriers({ database, temporalAddress }: WholeService) {
  const lazy = lazyTemporalClient(temporalSettings({ TEMPORAL_ADDRESS: temporalAddress }));
  const carriers: Record<string, number> = {};
  const failedTasks: string[] = [];
  try {
    const rows = await database.reader.statement<{ id: string }>(
      `SELECT id FROM outgoing_transfers WHERE scope = 'external' ORDER BY random() LIMIT ${HISTORIES_MAX}`,
      [],
    );
    for (const { id } of rows) {
      const history = await lazy.client.workflow.getHandle(workflowId('outgoing-transfer', id)).fetchHistory();
      const name = codesOf(history)
        .filter((code, index, all) => code !== all[index - 1])
        .join(', ');
      carriers[name] = (carriers[name] ?? 0) + 1;
      failedTasks.push(...failuresOf(history).map((cause) => `${id}: ${cause}`));
    }
  } finally {
    await lazy.close();
  }
  return { carriers, failedTasks };
}
