import { chmodSync, mkdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { ActionableError, describeFailure, errorMessage } from '../../cli/common/actionable-error.ts';
import { dataDirectory, setting } from '../../cli/common/data-directory.ts';
import { type Configuration, loadConfiguration, localConfigurationFiles } from '../../config/configuration.ts';
import { readConsoleSettings } from '../../config/environment/console.ts';
import { readEncryptionKeys } from '../../config/environment/encryption-keys.ts';
import { readEnvironment } from '../../config/environment.ts';
import { readMetricsAddress } from '../../config/metrics/metrics-server.ts';
import { temporalSettings } from '../../config/temporal.ts';
import { readAddresses } from '../../db/postgres/addresses.ts';
import { sandboxSettings } from '../../sandbox/settings.ts';

/** The environment's settings for a start, checked before anything runs. */
export interface StartEnvironment {
  dataDirectory: string;
  port: number;
  sandboxPort: number;
  consolePort: number;
  /** The console's address for people. */
  consoleUrl: string;
  temporalPort: number;
  temporalUiPort: number;
  temporalNamespace: string;
  /** Undefined: start the embedded Postgres. */
  databaseUrl: string | undefined;
  /** Of the owner of its tables, which migrates. Undefined: the same. */
  migrationDatabaseUrl: string | undefined;
  /** Undefined: start the local Temporal. */
  temporalAddress: string | undefined;
  /** The address that the API listens on. */
  apiHost: string;
  /** The API's address for this machine. */
  apiUrl: string;
  /** The API's address for providers. */
  publicUrl: string;
  /** From the environment or the configuration; null: the start generates one. */
  audience: string | null;
  /** Undefined: a free port. The worker's is always free. */
  metricsPort: number | undefined;
  metricsHost: string;
}

const EVERY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** Approximate size of a new cluster, Temporal's file and the first logs. */
const DISK_BYTES_MIN = 200 * 1024 * 1024;

export function readStartEnvironment(environment: NodeJS.ProcessEnv): StartEnvironment {
  const configuration = validConfiguration(environment);
  const port = portSetting(environment, 'PORT', 3000);
  const consolePort = portSetting(environment, 'CONSOLE_PORT', 3200);
  const apiHost = setting(environment, 'API_HOST') ?? '127.0.0.1';
  const apiUrl = httpUrl(EVERY_ADDRESS.has(apiHost) ? '127.0.0.1' : apiHost, port);
  const read: StartEnvironment = {
    dataDirectory: dataDirectory(environment),
    port,
    sandboxPort: portSetting(environment, 'SANDBOX_PORT', 3100),
    consolePort,
    consoleUrl: setting(environment, 'CONSOLE_URL') ?? httpUrl('127.0.0.1', consolePort),
    temporalPort: portSetting(environment, 'TEMPORAL_PORT', 7233),
    temporalUiPort: portSetting(environment, 'TEMPORAL_UI_PORT', 8233),
    temporalNamespace: setting(environment, 'TEMPORAL_NAMESPACE') ?? 'default',
    databaseUrl: databaseUrl(environment, 'DATABASE_URL'),
    migrationDatabaseUrl: databaseUrl(environment, 'MIGRATION_DATABASE_URL'),
    temporalAddress: temporalAddress(environment),
    apiHost,
    apiUrl,
    publicUrl: publicUrl(environment) ?? apiUrl,
    audience: configuration.audience,
    metricsPort:
      setting(environment, 'METRICS_PORT') === undefined ? undefined : portSetting(environment, 'METRICS_PORT', 0),
    metricsHost: setting(environment, 'METRICS_HOST') ?? '127.0.0.1',
  };
  requireDifferentPorts(read);
  checkChildSettings(environment, read, configuration);
  return read;
}

export function httpUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Placeholder for the one generated later, if none is given. */
const GENERATED_SECRET = 'x'.repeat(64);

/** Stands for the sandbox's identity provider, where the environment names no other. */
const SANDBOX_IDENTITY = {
  CONSOLE_ISSUER: 'http://127.0.0.1',
  CONSOLE_CLIENT_ID: 'console',
  CONSOLE_CLIENT_SECRET: GENERATED_SECRET,
};

/** Reports what our own processes would reject before anything starts. */
function checkChildSettings(
  environment: NodeJS.ProcessEnv,
  read: StartEnvironment,
  configuration: Configuration,
): void {
  try {
    readEnvironment({ ...environment, DATABASE_URL: read.databaseUrl ?? 'postgres://embedded' });
    readMetricsAddress(environment);
    if (setting(environment, 'ENCRYPTION_KEY') !== undefined) readEncryptionKeys(environment);
    temporalSettings(environment);
    readConsoleSettings({ ...SANDBOX_IDENTITY, ...environment }, configuration);
    sandboxSettings({
      ...environment,
      SANDBOX_BANK_SECRET: setting(environment, 'SANDBOX_BANK_SECRET') ?? GENERATED_SECRET,
    });
  } catch (error) {
    throw new ActionableError(errorMessage(error), { cause: error });
  }
}

/** The API and the worker read the same file; mistakes are reported before anything starts. */
function validConfiguration(environment: NodeJS.ProcessEnv): Configuration {
  try {
    return loadConfiguration({ ...environment, CONFIG_FILE: localConfigurationFiles(environment) });
  } catch (error) {
    throw new ActionableError(`The configuration is not valid: ${errorMessage(error).split('\n').join('; ')}`, {
      cause: error,
    });
  }
}

function portSetting(environment: NodeJS.ProcessEnv, name: string, otherwise: number): number {
  const value = setting(environment, name);
  if (value === undefined) return otherwise;
  const port = /^\d{1,5}$/.test(value) ? Number(value) : 0;
  if (port < 1 || port > 65_535)
    throw new ActionableError(
      `${name} is "${value}", which is no port. Set it to a number from 1 to 65535, or unset it for ${otherwise}.`,
    );
  return port;
}

function databaseUrl(
  environment: NodeJS.ProcessEnv,
  name: 'DATABASE_URL' | 'MIGRATION_DATABASE_URL',
): string | undefined {
  const value = setting(environment, name);
  if (value === undefined) return undefined;
  // The value contains a password and is never echoed.
  if (typeof readAddresses(value) === 'string') {
    throw new ActionableError(
      `${name} is no Postgres address. Set it to postgres://user:password@host:port/database, or unset it${name === 'DATABASE_URL' ? ' for the embedded Postgres' : ''}.`,
    );
  }
  return value;
}

function temporalAddress(environment: NodeJS.ProcessEnv): string | undefined {
  const value = setting(environment, 'TEMPORAL_ADDRESS');
  if (value === undefined) return undefined;
  if (!/^[^\s/:]+:\d{1,5}$|^\[[0-9a-fA-F:]+\]:\d{1,5}$/.test(value)) {
    throw new ActionableError(
      `TEMPORAL_ADDRESS is "${value}". Set it to host:port, or unset it for the local Temporal.`,
    );
  }
  return value;
}

function publicUrl(environment: NodeJS.ProcessEnv): string | undefined {
  const value = setting(environment, 'PUBLIC_URL');
  if (value === undefined) return undefined;
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol)) {
    throw new ActionableError(
      `PUBLIC_URL is "${value}". Set it to the http(s) address at which providers reach the API, or unset it.`,
    );
  }
  return value.replace(/\/+$/, '');
}

function requireDifferentPorts(read: StartEnvironment): void {
  const seen = new Map<number, string>();
  const wanted: [string, number][] = [
    ['PORT', read.port],
    ['SANDBOX_PORT', read.sandboxPort],
    ['CONSOLE_PORT', read.consolePort],
    ...(read.metricsPort === undefined ? [] : [['METRICS_PORT', read.metricsPort] satisfies [string, number]]),
  ];
  if (read.temporalAddress === undefined)
    wanted.push(['TEMPORAL_PORT', read.temporalPort], ['TEMPORAL_UI_PORT', read.temporalUiPort]);
  for (const [name, port] of wanted) {
    const other = seen.get(port);
    if (other !== undefined)
      throw new ActionableError(`${other} and ${name} are both ${port}. Give each a port of its own.`);
    seen.set(port, name);
  }
}

/** Creates the data directory and checks that it is usable. */
export function prepareDataDirectory(directory: string): void {
  try {
    // Others may traverse but not list it: Postgres's user needs the path to its folder.
    if (mkdirSync(directory, { recursive: true }) !== undefined) chmodSync(directory, 0o711);
    mkdirSync(join(directory, 'run'), { recursive: true, mode: 0o700 });
    mkdirSync(join(directory, 'logs'), { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new ActionableError(`DATA_DIR ${directory} cannot be made: ${describeFailure(error)}`, { cause: error });
  }
  const { bavail, bsize } = statfsSync(directory);
  if (bavail * bsize < DISK_BYTES_MIN) {
    const free = Math.floor((bavail * bsize) / (1024 * 1024));
    throw new ActionableError(
      `The disk of ${directory} has ${free} MB left, and a start needs ${DISK_BYTES_MIN / 1024 / 1024} MB. Free some space, or set DATA_DIR to a folder on another disk.`,
    );
  }
}
