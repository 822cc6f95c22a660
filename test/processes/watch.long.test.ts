import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { findGo } from '../../dev/common/user-cache.ts';
import { DASHBOARDS } from '../../dev/watch/dashboards.ts';
import { ofKind, rendered } from '../deployment/chart.ts';
import { type RunningPrometheus, startPrometheus } from '../deployment/prometheus.ts';
import type { Json } from '../harness/api.ts';
import { parseMetrics } from '../harness/faults/alert-expressions.ts';
import { startLoad } from '../harness/faults/load/load.ts';
import { externalTransfer, issuing, transferOf } from '../harness/faults/load/orders.ts';
import { randomFrom } from '../harness/random.ts';
import { executeOn } from '../harness/servers/postgres.ts';
import { startWholeService, type WholeService } from '../harness/servers/whole-service.ts';
import { until } from '../harness/stage.ts';
import { PROJECT_DIRECTORY } from '../tools/run/commands.ts';
import { type Asked, askedBy } from './asked-metrics.ts';

// What deploy/ asks for, against what our processes show.

const PROMETHEUS = join(PROJECT_DIRECTORY, 'deploy/prometheus');
const RULE_FILES: readonly string[] = parse(readFileSync(join(PROMETHEUS, 'prometheus.yml'), 'utf8')).rule_files;

interface Rule {
  readonly expr: string;
  readonly record?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

const RULES: readonly Rule[] = RULE_FILES.flatMap((file) =>
  parse(readFileSync(join(PROMETHEUS, file), 'utf8')).groups.flatMap(({ rules }: { rules: Rule[] }) => rules),
);

/** Samples that only a bank of files, a certificate of ours, a list of names or a fault makes; test/processes/alerts.long.test.ts makes each and reads it. */
const WITHOUT_SAMPLES: readonly string[] = [
  'no bank_pgp_key_ends_timestamp_seconds',
  'no bank_statements_missing',
  'no compliance_name_list_entities',
  'no compliance_name_list_failures_total',
  'no compliance_name_list_modified_timestamp_seconds',
  'no directory_certificate_ends_timestamp_seconds',
  'no shared_statement_failures_total',
];

async function send(service: WholeService, path: string, body: Json): Promise<void> {
  const answer = await fetch(`${service.apiUrls[0]}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.status, `${path}: ${await answer.text()}`).toBe(201);
}

async function subscribe(service: WholeService): Promise<void> {
  const webhookSubscription = { url: service.receiver.url };
  await send(service, '/webhook-subscriptions', { workflow: { code: 'direct' }, data: { webhookSubscription } });
}

/** A payment of each kind, a webhook, an account and a payment whose bank is away, and a day that was compared. */
async function makeWork(service: WholeService): Promise<void> {
  await subscribe(service);
  const load = await startLoad({ service, random: randomFrom(1), callers: 2, thinkMs: 200, everything: false });
  await until(
    async () => load.figures.requests,
    (requests) => requests > 40,
  );
  await load.stop();
  await service.process('sandbox').kill();
  const [row] = await service.database.reader.statement<{
    client_id: string;
    account_id: string;
    bank_account_id: string;
  }>(
    `SELECT client_id, a.id AS account_id, b.id AS bank_account_id
     FROM accounts a JOIN beneficiaries USING (client_id) JOIN beneficiary_bank_accounts b ON b.beneficiary_id = beneficiaries.id LIMIT 1`,
    [],
  );
  if (row === undefined) throw new Error('the load has no account');
  for (const { path, body } of [
    issuing(row.client_id, 'GBP'),
    transferOf(
      externalTransfer(
        { clientId: row.client_id, currency: 'GBP', amount: 1, from: row.account_id },
        'faster-payments',
        row.bank_account_id,
      ),
    ),
  ])
    await send(service, path, body);
  await executeOn(
    service.ownerUrl,
    `INSERT INTO reconciliations (id, provider, currency, day, provider_credit_count, provider_credit_minor, provider_debit_count,
       provider_debit_minor, ledger_credit_count, ledger_credit_minor, ledger_debit_count, ledger_debit_minor, posting_id, created_at, compared_at)
     VALUES (uuidv7(), 'sandbox-bank', 'GBP', (service_now() AT TIME ZONE 'UTC')::date - 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, service_now(), service_now())`,
  );
}

function metricsOfWorker(service: WholeService): string {
  const [port = ''] = readFileSync(service.process('worker').logFile, 'utf8')
    .split('\n')
    .flatMap((line) => /"metricsPort":(\d+)/.exec(line)?.[1] ?? []);
  return `http://127.0.0.1:${port}/metrics`;
}

async function scrape(service: WholeService, seen: Map<string, Set<string>>): Promise<void> {
  for (const url of [...service.apiMetricsUrls, metricsOfWorker(service)]) {
    for (const { labels } of parseMetrics(await (await fetch(url)).text(), url)) {
      const { __name__: name = '', ...others } = labels;
      const known = seen.get(name) ?? new Set();
      for (const label of Object.keys(others)) known.add(label);
      seen.set(name, known);
    }
  }
}

/** What Grafana puts in place of its variables, for all jobs and namespaces. */
function asGrafana(query: string): string {
  return query.replaceAll(/\$(?:job|namespace)/g, '.*').replaceAll('$__rate_interval', '5m');
}

/** Of failures and of waits for a connection: the work may have none. */
const MAY_BE_EMPTY: readonly string[] = [
  '2 Service: Failures by route',
  '2 Service: How long do calls wait for a connection to Postgres (95 % within)?',
];

/** Titles of panels, and triggers of autoscalers, whose query gives nothing. */
async function withoutData(prometheus: RunningPrometheus): Promise<string[]> {
  const scaled = ofKind(await rendered('full'), 'ScaledObject').flatMap(({ metadata, spec }) =>
    spec.triggers.map((trigger: Json, at: number) => ({
      name: `${metadata.name} ${at}`,
      query: trigger.metadata.query,
    })),
  );
  const panels = DASHBOARDS.flatMap((dashboard) =>
    dashboard.panels.map(({ title, query }) => ({ name: `${dashboard.title}: ${title}`, query: asGrafana(query) })),
  );
  const empty: string[] = [];
  for (const { name, query } of [...panels, ...scaled])
    if (!MAY_BE_EMPTY.includes(name) && (await prometheus.query(query)).length === 0) empty.push(name);
  return empty;
}

test.skipIf(findGo() === undefined && process.env.CI !== 'true')(
  'every metric and label of rules and dashboards is in a scrape of API, loops and worker under load, and a Prometheus fills each panel from it',
  async () => {
    const recorded = new Map<string, Set<string>>([['up', new Set()]]);
    for (const { record, labels = {} } of RULES)
      if (record !== undefined) recorded.set(record, new Set(['slo', ...Object.keys(labels)]));
    const asked = [
      ...RULES.map(({ expr }) => expr),
      ...DASHBOARDS.flatMap(({ panels }) => panels.map(({ query }) => query)),
    ]
      .flatMap(askedBy)
      .filter(({ metric }) => !recorded.has(metric));
    expect(new Set(asked.map(({ metric }) => metric)).size).toBeGreaterThan(40);
    const seen = new Map<string, Set<string>>();
    const missing = ({ metric, labels }: Asked) =>
      seen.has(metric)
        ? labels
            .filter((label) => seen.get(metric)?.has(label) !== true)
            .map((label) => `${metric} has no label ${label}`)
        : [`no ${metric}`];
    const service = await startWholeService({ processesEach: 1 });
    const jobs = { api: service.apiMetricsUrls, worker: [metricsOfWorker(service)] };
    const prometheus = await startPrometheus(service.directory, jobs, { namespace: 'payments', pod: 'one' });
    try {
      // What the work shows on its way counts, too.
      const looking = setInterval(() => void scrape(service, seen).catch(() => {}), 1_000);
      await makeWork(service).finally(() => clearInterval(looking));
      const breaches = () => [...new Set(asked.flatMap(missing))].sort();
      const complete = async () => {
        await scrape(service, seen);
        return breaches().length <= WITHOUT_SAMPLES.length;
      };
      await until(complete, (isComplete) => isComplete, 60_000).catch(() => {});
      expect(breaches()).toEqual(WITHOUT_SAMPLES);
      await until(
        async () => {
          // A rate needs requests between two scrapes, of which a busy machine may have missed those during the load.
          await subscribe(service);
          return withoutData(prometheus);
        },
        ({ length }) => length === 0,
        60_000,
      ).catch(() => {});
      expect(await withoutData(prometheus)).toEqual([]);
    } finally {
      await prometheus.close();
      await service.close();
    }
  },
);
