import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHART, type Ran, run, valuesFile } from '../../deployment/chart.ts';
import { helm } from '../../deployment/helm.ts';
import { orderPayment, reportPaid, type Send, senderOf, statusOf } from '../../deployment/plug-in-payment.ts';
import type { Json } from '../../harness/api.ts';
import { eventually } from '../../harness/servers/started-service.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { type Images, makeImages } from './images.ts';
import { type Kubelet, startKubelet } from './kubelet.ts';

export const NAMESPACE = 'payments';
const AUDIENCE = 'financial-accounts.example.com';
const PAID_MS_MAX = 180_000;

/** What runs: Deployments with generation and image; names of ReplicaSets, pods, configurations and Jobs. */
export interface Running {
  readonly images: readonly string[];
  readonly generations: readonly string[];
  readonly replicaSets: readonly string[];
  readonly pods: readonly string[];
  readonly configurations: readonly string[];
  readonly jobs: readonly string[];
}

/** The release `books` of deploy/helm in a cluster of this machine. */
export interface Release {
  readonly plane: ControlPlane;
  readonly kubelet: Kubelet;
  /** Installs or upgrades to a tag, as README.md of the chart has it, with changes of the values. */
  upgrade(tag: string, options?: { readonly changes?: readonly string[]; readonly timeout?: string }): Promise<Ran>;
  rollback(revision: number): Promise<Ran>;
  list(kind: string, group?: string): Promise<Json[]>;
  running(): Promise<Running>;
  /** One payment from account to report, by an API pod that is ready. */
  pay(): Promise<void>;
  log(): string;
  close(): Promise<void>;
}

export interface Outside {
  readonly folder: string;
  readonly databaseUrl: string;
  readonly ownerUrl: string;
  readonly temporalAddress: string;
  readonly temporalNamespace: string;
}

export async function startRelease(outside: Outside): Promise<Release> {
  const { folder } = outside;
  const images = await makeImages(folder);
  const plane = await startControlPlane(join(folder, 'control-plane'));
  // No pod that Pod Security would not let into a strict namespace.
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await plane.call('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE, labels } });
  await makeSecrets(plane, outside);
  const kubelet = startKubelet(plane, NAMESPACE, images);

  const log = () => [...kubelet.output].map(([pod, text]) => `--- ${pod}\n${text.slice(-2_000)}`).join('\n');
  const list: Release['list'] = async (kind, group = 'apis/apps/v1') =>
    (await plane.call('GET', `/${group}/namespaces/${NAMESPACE}/${kind}`)).items;
  const runHelm = async (words: readonly string[], timeout = '300s') =>
    run(await helm(() => {}), [
      ...words,
      ...['--namespace', NAMESPACE, '--kubeconfig', plane.kubeconfig],
      ...['--wait', '--wait-for-jobs', '--timeout', timeout],
    ]);
  let send: Send | null = null;

  return {
    plane,
    kubelet,
    list,
    log,
    running: () => running(list),
    upgrade: (tag, { changes = [], timeout } = {}) => {
      const file = join(folder, 'values.json');
      writeFileSync(file, JSON.stringify(valuesOf(tag, outside)));
      const set = changes.flatMap((change) => ['--set-json', change]);
      const values = ['--values', valuesFile('minimal'), '--values', file, ...set];
      return runHelm(['upgrade', 'books', CHART, '--install', ...values], timeout);
    },
    rollback: (revision) => runHelm(['rollback', 'books', String(revision)]),
    pay: async () => {
      send ??= await callerOf(outside, images, { list, log });
      const caller = send;
      const transferId = await orderPayment(caller);
      await eventually(async () => (await statusOf(caller, transferId)) === 'processing', PAID_MS_MAX, log);
      await reportPaid(caller, transferId);
    },
    close: async () => {
      await kubelet.close().finally(() => plane.close());
    },
  };
}

async function makeSecrets(plane: ControlPlane, { databaseUrl, ownerUrl }: Outside): Promise<void> {
  const secrets = {
    'financial-accounts-service': {
      DATABASE_URL: databaseUrl,
      ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      CONSOLE_CLIENT_SECRET: randomBytes(16).toString('hex'),
    },
    'financial-accounts-service-migration': { MIGRATION_DATABASE_URL: ownerUrl },
  };
  for (const [name, stringData] of Object.entries(secrets))
    await plane.call('POST', `/api/v1/namespaces/${NAMESPACE}/secrets`, { metadata: { name }, stringData });
}

/** Everything that needs no operator of Kubernetes; one worker for every queue, with a drain that is soon over. */
function valuesOf(tag: string, { temporalAddress, temporalNamespace }: Outside): Json {
  const taskQueues = ['workflows', 'providers', 'webhooks'];
  const all = { taskQueues, replicaCount: 1, drainSeconds: 5, resources: {}, autoscaling: { enabled: false } };
  return {
    image: { tag },
    environment: {
      TEMPORAL_ADDRESS: temporalAddress,
      TEMPORAL_NAMESPACE: temporalNamespace,
      TEMPORAL_DEPLOYMENT_NAME: 'books',
      TEMPORAL_WORKER_BUILD_ID: tag,
      CONSOLE_URL: 'https://console.example.com',
      CONSOLE_ISSUER: 'https://login.example.com',
      CONSOLE_CLIENT_ID: 'console',
    },
    secrets: { CONSOLE_CLIENT_SECRET: { name: 'financial-accounts-service', key: 'CONSOLE_CLIENT_SECRET' } },
    configuration: { console: { roles: { 'payments-on-call': 'operator' } } },
    console: { enabled: true },
    networkPolicy: { enabled: true, apiFrom: [{ podSelector: {} }], consoleFrom: [{ podSelector: {} }] },
    podDisruptionBudget: { enabled: true },
    workers: { all, workflows: null, providers: null, webhooks: null },
  };
}

async function running(list: Release['list']): Promise<Running> {
  const isOfRelease = ({ metadata }: Json) =>
    metadata.labels?.['app.kubernetes.io/component'] !== 'migrate' && metadata.deletionTimestamp === undefined;
  const namesIn = (items: Json[]) =>
    items
      .filter(isOfRelease)
      .map(({ metadata }) => metadata.name)
      .sort();
  const deployments = await list('deployments');
  const pods = await list('pods', 'api/v1');
  return {
    images: deployments.map(({ spec }) => spec.template.spec.containers[0].image),
    generations: deployments.map(({ metadata }) => `${metadata.name} ${metadata.generation}`),
    replicaSets: namesIn(await list('replicasets')),
    pods: namesIn(pods.filter(({ spec }) => spec.restartPolicy === 'Always')),
    configurations: namesIn(await list('configmaps', 'api/v1')),
    jobs: namesIn(await list('jobs', 'apis/batch/v1')),
  };
}

/** An operator, registered by the image's own command, who calls an API pod that is ready at that moment. */
async function callerOf(
  { databaseUrl, folder }: Outside,
  images: Images,
  { list, log }: Pick<Release, 'list' | 'log'>,
): Promise<Send> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const keyFile = join(folder, 'caller.pem');
  writeFileSync(keyFile, publicKey);
  const words = ['dist/fas.mjs', 'machine-users', 'register', 'caller', '--confirm', 'caller', '--key', keyFile];
  const output = execFileSync(images.node, [...words, '--role', 'operator', '--role', 'admin'], {
    cwd: images.folderOf('first'),
    env: { ...process.env, DATABASE_URL: databaseUrl },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [, id = ''] = /^id +(\S+)$/m.exec(output) ?? [];
  const [, kid = ''] = /^kid +(\S+)$/m.exec(output) ?? [];
  return async (method, path, body) => {
    const pods = await list('pods', 'api/v1');
    const api = pods.find(
      ({ metadata, status }) =>
        metadata.labels['app.kubernetes.io/component'] === 'api' &&
        metadata.deletionTimestamp === undefined &&
        status.conditions?.some(({ type, status: is }: Json) => type === 'Ready' && is === 'True'),
    );
    if (api === undefined) throw new Error(`no API is ready\n${log()}`);
    const caller = { id, kid, key: privateKey, audience: AUDIENCE };
    return (await senderOf(`http://${api.status.podIP}:3000`, caller, log))(method, path, body);
  };
}
