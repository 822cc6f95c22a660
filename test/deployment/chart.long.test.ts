import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AFTER_DRAIN } from '../../activities/worker-settings.ts';
import { STOP_SECONDS_MAX } from '../../config/environment/signals.ts';
import { ENVIRONMENT_VARIABLES } from '../../config/environment/variables.ts';
import { findGo } from '../../dev/common/user-cache.ts';
import { TASK_QUEUES } from '../../workflows/common/messages.ts';
import type { Json } from '../harness/api.ts';
import { promtool } from '../tools/prometheus.ts';
import {
  chartFile,
  containersOf,
  helmLint,
  helmTemplate,
  named,
  namesOf,
  ofKind,
  podsOf,
  readManifests,
  rendered,
  run,
  VALUES_FILES,
} from './chart.ts';

const BUILD_MS_MAX = 1_800_000;

/** Of what runs in real use; the sandbox, one machine and the command line of callers are none of the chart's. */
const GROUPS = ['API, loops, worker and commands', 'Traces of API, loops, worker and console', 'Console', 'Temporal'];
const VARIABLES = GROUPS.flatMap((group) => Object.entries(ENVIRONMENT_VARIABLES[group] ?? {}));
const OF_NODE = ['NODE_EXTRA_CA_CERTS'];

describe.skipIf(findGo() === undefined && process.env.CI !== 'true')('the chart', () => {
  let full: readonly Json[];

  beforeAll(async () => {
    full = await rendered('full');
    await readManifests('');
  }, BUILD_MS_MAX);

  test.each(VALUES_FILES)(
    'with ci/%s.yaml is linted and rendered, and each manifest has its kind’s fields',
    async (name) => {
      const lint = await helmLint(name);
      expect(lint.status, lint.output + lint.errors).toBe(0);
      const { status, output, errors } = await helmTemplate(name);
      expect({ status, errors }).toEqual({ status: 0, errors: '' });
      const manifests = await rendered(name);
      for (const { metadata } of manifests) expect(metadata.name).toMatch(/^books/);
      expect((await readManifests(output)).output).toBe(`${manifests.length} valid, 0 invalid\n`);
    },
  );

  test.each([
    ['v1', 'Service', { portz: [] }, 'unknown field "spec.portz"'],
    ['apps/v1', 'Deployment', { replicas: 'two' }, 'cannot unmarshal string'],
    ['batch/v1', 'Job', { backOffLimit: 1 }, 'unknown field "spec.backOffLimit"'],
    ['monitoring.coreos.com/v1', 'ServiceMonitor', { endpoint: [] }, 'unknown field "spec.endpoint"'],
    ['keda.sh/v1alpha1', 'ScaledObject', { trigger: [] }, 'unknown field "spec.trigger"'],
    ['keda.sh/v1', 'ScaledObject', {}, 'no kind "ScaledObject" is registered for version "keda.sh/v1"'],
  ])('a manifest of %s %s with a wrong field is found', async (apiVersion, kind, spec, reason) => {
    const read = await readManifests(JSON.stringify({ apiVersion, kind, metadata: { name: 'a' }, spec }));
    expect(read.output).toContain(reason);
    expect([read.status, read.output]).toEqual([1, expect.stringContaining('0 valid, 1 invalid')]);
  });

  test('has every variable and port of docs/reference/environment.md, and no other', () => {
    const names = [...podsOf(full).values()].flatMap(containersOf).flatMap(namesOf);
    expect([...new Set(names)].filter((name) => !OF_NODE.includes(name)).sort()).toEqual(
      VARIABLES.map(([name]) => name).sort(),
    );
    const ports = [...podsOf(full).values()].flatMap(containersOf).flatMap(({ ports = [] }) => ports);
    expect([...new Set(ports.map(({ containerPort }: Json) => String(containerPort)))].sort()).toEqual(
      VARIABLES.flatMap(([, { port, otherwise }]) => (port === undefined ? [] : [otherwise])).sort(),
    );
  });

  test('gives each process only its own secrets', () => {
    const holders = (secret: string) =>
      [...podsOf(full).values()]
        .flatMap(containersOf)
        .filter((container) => namesOf(container).includes(secret))
        .map(({ name }) => name);
    const unique = (secret: string) => [...new Set(holders(secret))].sort();
    expect(unique('MIGRATION_DATABASE_URL')).toEqual(['migrate']);
    expect(unique('ENCRYPTION_KEY')).toEqual(['api', 'check-api', 'check-loops', 'check-worker', 'loops', 'worker']);
    expect(unique('CONSOLE_CLIENT_SECRET')).toEqual(['check-console', 'console']);
    expect(unique('SMTP_URL')).toEqual(['check-worker', 'worker']);
    expect(unique('EU_VOP_KEY_PASSPHRASE')).toEqual(['api', 'check-api']);
    for (const secret of ['SFTP_PASSPHRASE', 'PGP_PASSPHRASE'])
      expect(unique(secret)).toEqual(['check-loops', 'loops']);
    for (const secret of ['SFTP_PASSPHRASE', 'PGP_PASSPHRASE'])
      expect(unique(secret)).toEqual(['check-loops', 'loops']);
    const schema = JSON.parse(chartFile('values.schema.json'));
    for (const container of [...podsOf(full).values()].flatMap(containersOf))
      for (const { name, value } of container.env)
        if (value !== undefined) expect(Object.keys(schema.properties.secrets.properties)).not.toContain(name);
    expect(ofKind(full, 'Secret')).toEqual([]);
  });

  test('gives only the API, and the check of its settings, the certificate by which a directory knows us', () => {
    const holders = [...podsOf(full)].flatMap(([maker, pod]) =>
      containersOf(pod)
        .filter(({ volumeMounts }) => volumeMounts.some(({ mountPath }: Json) => mountPath === '/etc/directory-tls'))
        .map(({ name }) => [maker, name]),
    );
    expect(holders.sort()).toEqual([
      ['books-api', 'api'],
      ['books-migrate', 'check-api'],
    ]);
    const withVolume = [...podsOf(full)].filter(([, { spec }]) =>
      spec.volumes.some(({ secret }: Json) => secret?.secretName === 'directory-tls'),
    );
    expect(withVolume.map(([maker]) => maker).sort()).toEqual(['books-api', 'books-migrate']);
  });

  test('gives only the loops what they exchange files with: keys, a folder, and the way to banks', async () => {
    const BANK_PLACES = ['bank-keys', 'bank-files'];
    for (const [maker, { spec }] of podsOf(full)) {
      const volumes = spec.volumes.filter(({ name }: Json) => BANK_PLACES.includes(name));
      const mounts = containersOf({ spec }).flatMap(({ volumeMounts }) =>
        volumeMounts.filter(({ name }: Json) => BANK_PLACES.includes(name)),
      );
      const isLoops = maker === 'books-loops';
      expect(volumes, maker).toEqual(
        isLoops
          ? [
              { name: 'bank-keys', secret: expect.objectContaining({ secretName: 'bank-keys' }) },
              { name: 'bank-files', persistentVolumeClaim: { claimName: 'bank-files' } },
            ]
          : [],
      );
      expect(
        mounts.map(({ mountPath }) => mountPath),
        maker,
      ).toEqual(isLoops ? ['/etc/bank-keys', '/bank-files'] : []);
    }
    const goingTo = (manifests: readonly Json[], port: number) =>
      ofKind(manifests, 'NetworkPolicy')
        .filter(({ spec }) => spec.egress.some(({ ports }: Json) => ports.some((one: Json) => one.port === port)))
        .map(({ metadata }) => metadata.name);
    for (const port of [22, 2222]) expect(goingTo(full, port)).toEqual(['books-loops']);
    const withoutKeys = ['bankFiles.keysSecret=""'];
    expect(goingTo(await rendered('full', withoutKeys), 22)).toEqual([]);
    const sftp = 'configuration.providers={"house-bank":{"iso20022":{"transport":{"kind":"sftp"}}}}';
    expect(goingTo(await rendered('full', [...withoutKeys, sftp]), 22)).toEqual(['books-loops']);
  });

  test('runs nothing as root, with a file system that is written, or with a token of Kubernetes', () => {
    for (const [maker, { spec }] of podsOf(full)) {
      expect(spec.automountServiceAccountToken, maker).toBe(false);
      expect(spec.securityContext, maker).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      for (const { securityContext, resources, image } of containersOf({ spec })) {
        expect(securityContext, maker).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(resources.limits.memory, maker).toBeDefined();
        expect(image).toMatch(/@sha256:[0-9a-f]{64}$/);
      }
    }
  });

  test('checks all settings and migrates before anything else, in a hook whose Job can be made again', async () => {
    const hooks = full.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] !== undefined);
    const weight = ({ metadata }: Json) => Number(metadata.annotations['helm.sh/hook-weight']);
    expect(hooks.map((hook) => [weight(hook), hook.kind]).sort()).toEqual([
      [-5, 'ConfigMap'],
      [-5, 'NetworkPolicy'],
      [0, 'Job'],
    ]);
    for (const { metadata } of hooks) {
      expect(metadata.annotations).toMatchObject({
        'helm.sh/hook': 'pre-install,pre-upgrade',
        'helm.sh/hook-delete-policy': 'before-hook-creation',
      });
      expect(metadata.name).toBe('books-migrate');
    }
    const job = named(full, 'Job', 'books-migrate').spec;
    expect(job.backoffLimit).toBe(0);
    const { initContainers, containers, volumes } = job.template.spec;
    expect(initContainers.map(({ command }: Json) => command.join(' '))).toEqual(
      ['api', 'loops', 'worker', 'console'].map((program) => `node dist/${program}.mjs --check`),
    );
    expect(containers.map(({ command }: Json) => command.join(' '))).toEqual(['node dist/migrate.mjs']);
    // What the hook mounts is there before it: the other comes with the release.
    expect(volumes.find(({ name }: Json) => name === 'configuration').configMap.name).toBe('books-migrate');
    for (const [maker, { spec }] of podsOf(full)) {
      const [running] = spec.containers;
      if (['migrate', 'worker-version'].includes(running.name)) continue;
      const checked = initContainers.find(({ name }: Json) => name === `check-${running.name}`);
      expect(namesOf(checked), maker).toEqual(namesOf(running));
    }
  });

  test('makes and removes months each week, with what migrates', () => {
    const { schedule, concurrencyPolicy, jobTemplate } = named(full, 'CronJob', 'books-months').spec;
    expect([schedule, concurrencyPolicy]).toEqual(['17 3 * * 1', 'Forbid']);
    const [months] = jobTemplate.spec.template.spec.containers;
    const [migrates] = named(full, 'Job', 'books-migrate').spec.template.spec.containers;
    expect(months).toEqual(migrates);
    expect(named(full, 'NetworkPolicy', 'books-migrate').spec.podSelector.matchLabels).toEqual(
      expect.objectContaining({ 'app.kubernetes.io/component': 'migrate' }),
    );
  });

  describe('with versions of workers', () => {
    const JOB = 'books-worker-version-1';

    test('gives the tasks to the release by a Job of its own, which no release before has, with what reaches Temporal only', () => {
      const { metadata, spec } = named(full, 'Job', JOB);
      // Helm would run a hook only when no old worker is left.
      expect(metadata.annotations).toBeUndefined();
      const [container] = spec.template.spec.containers;
      expect(container.command.join(' ')).toBe(
        'node dist/fas.mjs worker-versions set-current 2026.11.24 --confirm 2026.11.24',
      );
      const deployment = ofKind(full, 'Deployment').find((one) => one.metadata.name === 'books-worker-workflows');
      const workers = new Set(namesOf(deployment?.spec.template.spec.containers[0]));
      const reaching = [...workers].filter((name) => name.startsWith('TEMPORAL_') || name === 'DATABASE_URL');
      const others = ['TEMPORAL_WORKER_BUILD_ID', ...OF_NODE];
      expect(
        namesOf(container)
          .filter((name) => !others.includes(name))
          .sort(),
      ).toEqual(reaching.filter((name) => !others.includes(name)).sort());
      const { podSelector, egress } = named(full, 'NetworkPolicy', 'books-worker-version').spec;
      expect(spec.template.metadata.labels).toMatchObject(podSelector.matchLabels);
      const ports = egress.flatMap((rule: Json) => rule.ports.map(({ port }: Json) => port));
      expect(ports).toEqual([53, 53, 6432, 7233]);
    });

    test('keeps an old worker until the new one has the tasks', () => {
      for (const { metadata, spec } of ofKind(full, 'Deployment'))
        expect(spec.minReadySeconds, metadata.name).toBe(metadata.name.includes('-worker-') ? 20 : undefined);
    });

    test.each([
      ['without TEMPORAL_DEPLOYMENT_NAME', 'full', ['environment.TEMPORAL_DEPLOYMENT_NAME=""']],
      ['as the values say', 'full', ['workerVersion.setCurrent=false']],
      ['by default', 'minimal', []],
    ] as const)('leaves the tasks where they are %s', async (_when, name, changes) => {
      const manifests = await rendered(name, changes);
      expect(manifests.filter(({ metadata }) => metadata.name.includes('worker-version'))).toEqual([]);
      for (const { spec } of ofKind(manifests, 'Deployment')) expect(spec.minReadySeconds).toBeUndefined();
    });
  });

  test('leaves pods their old configuration: a new one has another name', async () => {
    const nameIn = (manifests: readonly Json[]) =>
      podsOf(manifests)
        .get('books-api')
        ?.spec.volumes.find(({ name }: Json) => name === 'configuration').configMap.name;
    const [changed, same] = [await rendered('full', ['configuration.rollLimit=2']), await rendered('full')];
    expect(nameIn(same)).toBe(nameIn(full));
    expect(nameIn(changed)).not.toBe(nameIn(full));
    for (const manifests of [full, changed]) {
      const configuration = named(manifests, 'ConfigMap', nameIn(manifests));
      expect(configuration.immutable).toBe(true);
      // Helm would remove it before the new pods are ready, and an old pod that is lost until then could not come again.
      expect(configuration.metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
      expect(JSON.parse(configuration.data['configuration.json'])).toMatchObject({
        providers: { 'sandbox-bank': null },
      });
    }
  });

  test('takes an old pod away when a new one is ready, and gives it the time of its orderly stop', () => {
    const deployments = ofKind(full, 'Deployment');
    expect(deployments.length).toBe(6);
    for (const { metadata, spec } of deployments) {
      expect(spec.strategy.rollingUpdate, metadata.name).toEqual({ maxUnavailable: 0, maxSurge: 1 });
      const { terminationGracePeriodSeconds, containers } = spec.template.spec;
      const [{ env, lifecycle, readinessProbe }] = containers;
      const drain = env.find(({ name }: Json) => name === 'WORKER_DRAIN_SECONDS')?.value;
      const own = drain === undefined ? STOP_SECONDS_MAX : Number(drain) + AFTER_DRAIN.stopSeconds;
      const pause = lifecycle?.preStop.sleep.seconds ?? 0;
      expect(terminationGracePeriodSeconds - own - pause, metadata.name).toBeGreaterThanOrEqual(5);
      expect(readinessProbe.httpGet.path, metadata.name).toMatch(/^\/(health\/ready|readyz)$/);
    }
  });

  test('has a worker for each task queue, and rejects values without one', async () => {
    const queues = (manifests: readonly Json[]) =>
      [...podsOf(manifests).values()]
        .flatMap(({ spec }) => spec.containers)
        .flatMap(({ env }: Json) => env)
        .filter(({ name }: Json) => name === 'WORKER_TASK_QUEUES')
        .flatMap(({ value }: Json) => value.split(','));
    const every = Object.values(TASK_QUEUES).sort();
    expect(queues(full).sort()).toEqual(every);
    expect(queues(await rendered('one-worker')).sort()).toEqual(every);
    const schema = JSON.parse(chartFile('values.schema.json'));
    const [, worker] = schema.properties.workers.additionalProperties.oneOf;
    expect([...worker.properties.taskQueues.items.enum].sort()).toEqual(every);
  });

  test.each([
    [null, [], 'image'],
    ['minimal', ['environment.AUDIENCE=""'], 'environment.AUDIENCE is not set'],
    [
      'minimal',
      ['environment.AUDIENCE="https://accounts.example.com/x"'],
      'AUDIENCE is PUBLIC_URL or an address below it',
    ],
    ['minimal', ['environment.AUDIENC="x"'], "additional properties 'AUDIENC' not allowed"],
    ['minimal', ['environment.LOG_LEVEL="loud"'], '/environment/LOG_LEVEL'],
    ['minimal', ['environment.PUBLIC_URL="accounts.example.com"'], '/environment/PUBLIC_URL'],
    ['minimal', ['environment.TEMPORAL_ADDRESS="temporal"'], '/environment/TEMPORAL_ADDRESS'],
    ['minimal', ['secrets.DATABASE_URL="postgres://a:b@c/d"'], '/secrets/DATABASE_URL'],
    ['minimal', ['secrets.MIGRATION_DATABASE_URL=null'], 'MIGRATION_DATABASE_URL'],
    ['minimal', ['workers.providers=null'], 'No worker of workers polls the task queue providers'],
    ['minimal', ['workers.providers.taskQueues=["payments"]'], '/workers/providers'],
    ['minimal', ['replicas=3'], "additional properties 'replicas' not allowed"],
    ['minimal', ['console.enabled=true'], 'environment.CONSOLE_URL is not set'],
    ['minimal', ['networkPolicy.enabled=true'], 'networkPolicy.apiFrom is empty'],
    ['full', ['environment.TEMPORAL_WORKER_BUILD_ID=""'], 'environment.TEMPORAL_WORKER_BUILD_ID is not set'],
    ['full', ['secrets.CONSOLE_CLIENT_SECRET=null'], 'secrets.CONSOLE_CLIENT_SECRET is not set'],
    ['full', ['secrets.SFTP_PASSPHRASE=null'], 'opens the keys of bankFiles.keysSecret'],
    [
      'minimal',
      ['configuration.providers={"house-bank":{"iso20022":{"transport":{"kind":"sftp"}}}}'],
      'opens the key of configuration.providers.house-bank',
    ],
    ['full', ['configuration.console={}'], 'configuration.console.roles is empty'],
    ['full', ['networkPolicy.consoleFrom=[]'], 'networkPolicy.consoleFrom is empty'],
    ['full', ['networkPolicy.metricsFrom=[]'], 'networkPolicy.metricsFrom is empty'],
    ['full', ['workers.providers.autoscaling.minReplicas=21'], 'minReplicas is larger than maxReplicas'],
    [
      'full',
      ['workers.providers.autoscaling={"enabled":true,"minReplicas":null,"maxReplicas":null}'],
      '/workers/providers',
    ],
    ['full', ['autoscaling.prometheusUrl=""'], 'autoscaling.prometheusUrl is not set'],
    ['full', ['serviceMonitor.enabled=false'], 'needs serviceMonitor.enabled'],
    ['full', ['pods.extraEnvironment=[{"name":"PORT","value":"1"}]'], 'pods.extraEnvironment sets PORT'],
  ] as const)('%s with %j is rejected before anything is installed: %s', async (name, changes, reason) => {
    const { status, errors } = await helmTemplate(name, changes);
    expect(errors.replaceAll('\n', ' ')).toContain(reason);
    expect(status).toBe(1);
  });

  describe('an autoscaler', () => {
    const folder = mkdtempSync(join(tmpdir(), 'chart-'));
    afterAll(() => rmSync(folder, { recursive: true }));

    /** That Prometheus answers the queries of a worker's triggers so, to series that last a while. */
    async function expectAnswers(
      triggers: readonly Json[],
      series: Readonly<Record<string, number>>,
      values: readonly number[],
    ) {
      const rules = {
        rule_files: [],
        evaluation_interval: '15s',
        tests: [
          {
            interval: '15s',
            input_series: Object.entries(series).map(([name, value]) => ({ series: name, values: `${value}x20` })),
            promql_expr_test: triggers.map(({ metadata: { query } }, index) => ({
              expr: query,
              eval_time: '2m',
              exp_samples: [{ labels: '{}', value: values[index] }],
            })),
          },
        ],
      };
      writeFileSync(join(folder, 'test.yml'), JSON.stringify(rules));
      const { output, errors } = await run(await promtool(() => {}), ['test', 'rules', join(folder, 'test.yml')]);
      expect(output + errors).toContain('SUCCESS');
    }

    const slots = (kind: string, pod: string, type = 'ActivityWorker') =>
      `temporal_worker_task_slots_${kind}{namespace="payments",pod="${pod}",task_queue="providers",worker_type="${type}"}`;
    const lag = (pod: string) => `task_queue_lag_seconds{namespace="payments",pod="${pod}",task_queue="providers"}`;

    test.each([
      ['no backlog, and every slot of both in use: none is taken away', 0, 20, 0, 1, 4],
      ['no backlog, and a slot of ten in use: one is enough', 0, 2, 18, 0.1, 1],
      ['a backlog of 10 s while slots are free: more', 10, 2, 18, 0.1, 8],
    ])('with two workers and %s', async (_what, seconds, used, available, share, replicas) => {
      const series = Object.fromEntries(
        ['a', 'b'].flatMap((pod) => [
          [lag(pod), seconds],
          [slots('used', pod), used],
          [slots('available', pod), available],
          // Of a kind of which this worker has none.
          [slots('used', pod, 'NexusWorker'), 0],
          [slots('available', pod, 'NexusWorker'), 0],
        ]),
      );
      const { triggers } = named(full, 'ScaledObject', 'books-worker-providers').spec;
      await expectAnswers(triggers, series, [seconds, share]);
      // As Kubernetes computes it: by each metric, and the largest.
      const wanted = [seconds, share].map((value, index) =>
        Math.ceil((2 * value) / triggers[index].metadata.threshold),
      );
      expect(Math.max(...wanted)).toBe(replicas);
    });

    test('knows nothing where there are no samples, and takes its worker away one by one, each drained', () => {
      for (const { metadata, spec } of ofKind(full, 'ScaledObject')) {
        for (const trigger of spec.triggers)
          expect(trigger).toMatchObject({ metricType: 'Value', metadata: { ignoreNullValues: 'false' } });
        const deployment = named(full, 'Deployment', spec.scaleTargetRef.name);
        expect(deployment.spec.replicas, 'which the autoscaler decides').toBeUndefined();
        const [policy, ...others] = spec.advanced.horizontalPodAutoscalerConfig.behavior.scaleDown.policies;
        expect(others).toEqual([]);
        expect(policy).toMatchObject({ type: 'Pods', value: 1 });
        expect(policy.periodSeconds, metadata.name).toBeGreaterThanOrEqual(
          deployment.spec.template.spec.terminationGracePeriodSeconds,
        );
      }
    });
  });
});
