import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { freePort } from '../../../dev/servers/ports.ts';
import { ownProgram } from '../../deployment/helm.ts';
import type { Json } from '../../harness/api.ts';
import { until } from '../../harness/stage.ts';

/** A control plane of Kubernetes on this machine: its API server with its store, and the controllers that a release needs. No node. */
export interface ControlPlane {
  /** For helm. */
  readonly kubeconfig: string;
  /** Answers the body; throws at a status that is none of success, unless it is 404: then null. */
  call(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: Json): Promise<Json>;
  close(): Promise<void>;
}

const READY_MS_MAX = 300_000;

export async function startControlPlane(directory: string): Promise<ControlPlane> {
  mkdirSync(directory, { recursive: true });
  const program = await ownProgram('control-plane', 'test/proof/kubernetes', {
    title: 'control plane',
    neededFor: 'the proof of deploy/helm',
    // As Kubernetes' own build does it: the chart asks for the release of its cluster.
    variables: [`k8s.io/component-base/version.gitVersion=${releaseOfKubernetes()}`],
    onProgress: (line) => console.log(line),
  });
  const [etcdPort, peerPort, port] = [await freePort(), await freePort(), await freePort()];
  const token = randomBytes(16).toString('hex');
  const file = (name: string, content: string) => {
    writeFileSync(join(directory, name), content, { mode: 0o600 });
    return join(directory, name);
  };
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const signingKey = file('service-accounts.key', privateKey);
  const url = `https://127.0.0.1:${port}`;
  const kubeconfig = file('kubeconfig', JSON.stringify(kubeconfigOf(url, token)));
  const processes: ChildProcess[] = [];
  const start = (name: string, ...options: string[]) => {
    const log = openSync(join(directory, `${name}.log`), 'a');
    const child = spawn(program, [name, ...options], { stdio: ['ignore', log, log], cwd: directory });
    process.once('exit', () => child.kill('SIGKILL'));
    processes.push(child);
  };
  start(
    'etcd',
    `--data-dir=${join(directory, 'etcd')}`,
    `--listen-client-urls=http://127.0.0.1:${etcdPort}`,
    `--advertise-client-urls=http://127.0.0.1:${etcdPort}`,
    `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
    `--initial-advertise-peer-urls=http://127.0.0.1:${peerPort}`,
    `--initial-cluster=default=http://127.0.0.1:${peerPort}`,
    // Nothing is kept.
    '--unsafe-no-fsync',
  );
  start(
    'kube-apiserver',
    `--etcd-servers=http://127.0.0.1:${etcdPort}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${join(directory, 'certificates')}`,
    `--token-auth-file=${file('tokens', `${token},administrator,administrator,system:masters\n`)}`,
    '--authorization-mode=RBAC',
    '--endpoint-reconciler-type=none',
    '--service-cluster-ip-range=10.99.0.0/24',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${file('service-accounts.pub', publicKey)}`,
    `--service-account-signing-key-file=${signingKey}`,
  );
  const plane = connect(url, token);
  const close = async () => {
    await Promise.all(processes.reverse().map(end));
    await plane.agent.close();
  };
  try {
    await until(
      () =>
        plane.call('GET', '/readyz').then(
          () => true,
          () => false,
        ),
      (isReady) => isReady,
      READY_MS_MAX,
    );
  } catch (error) {
    await close();
    throw new Error(readFileSync(join(directory, 'kube-apiserver.log'), 'utf8').slice(-3_000), { cause: error });
  }
  start('controllers', kubeconfig);
  return { kubeconfig, call: plane.call, close };
}

function releaseOfKubernetes(): string {
  const modules = readFileSync(join(import.meta.dirname, 'control-plane/go.mod'), 'utf8');
  const [, release] = /^\tk8s\.io\/kubernetes (\S+)$/m.exec(modules) ?? [];
  if (release === undefined) throw new Error('go.mod names no release of Kubernetes');
  return release;
}

/** The certificate is its own, and the address this machine's. */
function kubeconfigOf(server: string, token: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'here', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'administrator', user: { token } }],
    contexts: [{ name: 'here', context: { cluster: 'here', user: 'administrator' } }],
    'current-context': 'here',
  };
}

function connect(url: string, token: string) {
  const agent = new Agent({ connect: { rejectUnauthorized: false } });
  const call: ControlPlane['call'] = async (method, path, body) => {
    const contentType = method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json';
    const answer = await request(`${url}${path}`, {
      method,
      dispatcher: agent,
      headers: { authorization: `Bearer ${token}`, 'content-type': contentType },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    if (answer.statusCode === 404) return null;
    if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
    return text.startsWith('{') ? JSON.parse(text) : text;
  };
  return { agent, call };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGKILL');
  await ended;
}
