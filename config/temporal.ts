import manifest from '../package.json' with { type: 'json' };
import { readNamedFile } from './environment/named-files.ts';

/** Temporal's connection settings, under the variable names of its own tools. */
export interface TemporalSettings {
  /** `host:port` */
  readonly address: string;
  readonly namespace: string;
  readonly apiKey?: string;
  /** Absent: no encryption. */
  readonly tls?: {
    readonly serverNameOverride?: string;
    readonly serverRootCACertificate?: Buffer;
    readonly clientCertPair?: { readonly crt: Buffer; readonly key: Buffer };
  };
}

/** What a worker is to Temporal if its workers are versioned. The names of the variables are those that the Temporal Worker Controller sets. */
export interface WorkerVersion {
  /** Of all releases of one installation. */
  readonly deploymentName: string;
  /** Of this release. */
  readonly buildId: string;
}

/** Null if workers are not versioned. Throws one clear line for an unusable value. */
export function workerVersion(env: NodeJS.ProcessEnv): WorkerVersion | null {
  const deploymentName = given(env.TEMPORAL_DEPLOYMENT_NAME);
  const buildId = given(env.TEMPORAL_WORKER_BUILD_ID);
  if (deploymentName === undefined) {
    if (buildId === undefined) return null;
    throw new Error('TEMPORAL_WORKER_BUILD_ID needs TEMPORAL_DEPLOYMENT_NAME: without it workers are not versioned.');
  }
  if (!/^(?!__)[^\s.:]{1,100}$/.test(deploymentName)) {
    throw new Error(`TEMPORAL_DEPLOYMENT_NAME must be a name without dot, colon and blank, not "${deploymentName}".`);
  }
  if (buildId === undefined) return { deploymentName, buildId: manifest.version };
  if (!/^(?!__)\S{1,100}$/.test(buildId)) {
    throw new Error(`TEMPORAL_WORKER_BUILD_ID must be a text without blanks, not "${buildId}".`);
  }
  return { deploymentName, buildId };
}

/** Throws one clear line for an unusable value. */
export function temporalSettings(env: NodeJS.ProcessEnv): TemporalSettings {
  const address = given(env.TEMPORAL_ADDRESS) ?? '127.0.0.1:7233';
  if (!/^[^\s/:]+:\d{1,5}$|^\[[^\]\s]+\]:\d{1,5}$/.test(address)) {
    throw new Error(`TEMPORAL_ADDRESS must be host:port, not "${address}".`);
  }
  const apiKey = given(env.TEMPORAL_API_KEY);
  const tls = tlsSettings(env, apiKey !== undefined);
  return {
    address,
    namespace: given(env.TEMPORAL_NAMESPACE) ?? 'default',
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(tls === undefined ? {} : { tls }),
  };
}

function tlsSettings(env: NodeJS.ProcessEnv, hasApiKey: boolean): TemporalSettings['tls'] {
  const serverName = given(env.TEMPORAL_TLS_SERVER_NAME);
  const authority = readNamedFile(env, 'TEMPORAL_TLS_SERVER_CA_CERT_PATH');
  const certificate = readNamedFile(env, 'TEMPORAL_TLS_CLIENT_CERT_PATH');
  const key = readNamedFile(env, 'TEMPORAL_TLS_CLIENT_KEY_PATH');
  if ((certificate === undefined) !== (key === undefined)) {
    throw new Error('TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH must be set together.');
  }
  // Never sends an API key unencrypted.
  const wanted =
    given(env.TEMPORAL_TLS) === 'true' || hasApiKey || (certificate ?? authority ?? serverName) !== undefined;
  if (!wanted) return undefined;
  return {
    ...(serverName === undefined ? {} : { serverNameOverride: serverName }),
    ...(authority === undefined ? {} : { serverRootCACertificate: authority }),
    ...(certificate === undefined || key === undefined ? {} : { clientCertPair: { crt: certificate, key } }),
  };
}

function given(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim();
}
