import { resolve } from 'node:path';
import type { Logger } from 'pino';
import { readAddresses } from '../db/postgres/addresses.ts';

/**
 * Reads typed environment variables. Unset, empty and blank are equal; a bad value throws one line with the variable
 * and its rule, and echoes the value only if it cannot be a secret.
 */
export class EnvironmentError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EnvironmentError';
  }
}

export function readText(env: NodeJS.ProcessEnv, name: string, otherwise: string): string {
  return given(env, name) ?? otherwise;
}

/** For required settings; `instruction` says how to set them. */
export function readRequired(env: NodeJS.ProcessEnv, name: string, instruction: string): string {
  const value = given(env, name);
  if (value === undefined) throw new EnvironmentError(`${name} is not set. ${instruction}`);
  return value;
}

/** A TCP port; 0 picks a free one. */
export function readPort(env: NodeJS.ProcessEnv, name: string, otherwise: number): number {
  return readWhole(env, name, { minimum: 0, maximum: 65_535, otherwise });
}

export function readWhole(
  env: NodeJS.ProcessEnv,
  name: string,
  range: { readonly minimum: number; readonly maximum: number; readonly otherwise: number },
): number {
  const value = given(env, name);
  if (value === undefined) return range.otherwise;
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= range.minimum && number <= range.maximum) return number;
  throw new EnvironmentError(
    `${name} must be a whole number from ${range.minimum} to ${range.maximum}, not "${value}".`,
  );
}

export function readChoice<Choice extends string>(
  env: NodeJS.ProcessEnv,
  name: string,
  choices: readonly Choice[],
  otherwise: Choice,
): Choice {
  const value = given(env, name);
  if (value === undefined) return otherwise;
  const choice = choices.find((known) => known === value);
  if (choice === undefined) throw new EnvironmentError(`${name} must be one of ${choices.join(', ')}, not "${value}".`);
  return choice;
}

/** An http or https address without a trailing slash. */
export function readHttpUrl(env: NodeJS.ProcessEnv, name: string, otherwise: string): string {
  const value = readText(env, name, otherwise);
  const url = URL.canParse(value) ? new URL(value) : null;
  // With credentials the value would be secret, and they are of no use here.
  if (url?.username) throw new EnvironmentError(`${name} must not carry a user name or password.`);
  if (url !== null && /^https?:$/.test(url.protocol)) return value.replace(/\/+$/, '');
  throw new EnvironmentError(`${name} must be an http or https address, not "${value}".`);
}

/** The address of Postgres, which contains a password: errors never echo it. */
export function readDatabaseUrl(env: NodeJS.ProcessEnv): string {
  const value = readRequired(env, 'DATABASE_URL', 'Set it to postgres://user:password@host:port/database.');
  hostsIn('DATABASE_URL', value, 'writes');
  return value;
}

/** The address of servers that follow it; null: there are none. */
function readReplicaUrl(env: NodeJS.ProcessEnv): string | null {
  const value = readText(env, 'DATABASE_READ_URL', '');
  if (value === '') return null;
  hostsIn('DATABASE_READ_URL', value, 'reads');
  return value;
}

/** An address of Postgres for each host that a variable names. */
function hostsIn(name: string, value: string, use: 'writes' | 'reads'): URL[] {
  const read = readAddresses(value, use);
  if (typeof read === 'string') throw new EnvironmentError(`${name} is no address of Postgres: ${read}.`);
  return read.urls.map((url) => new URL(url));
}

const LOOPBACK = /^((.+\.)?localhost|127(\.\d+){3}|\[::1\])$/;

/** Whether the host of an address is this machine: `*.localhost` is reserved for it (RFC 6761). */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

/** The driver reads these from the address, and `PGSSL` where it has neither. */
const ENCRYPTION_SETTINGS = ['sslmode', 'ssl'] as const;

/** Warns if the service's data would cross a network in clear text, unless the address says that this is meant (`sslmode=disable`). */
export function warnOfPlainDatabase(env: NodeJS.ProcessEnv, logger: Pick<Logger, 'warn'>): void {
  const hosts = hostsIn('DATABASE_URL', readDatabaseUrl(env), 'writes');
  const replica = readReplicaUrl(env);
  if (replica !== null) hosts.push(...hostsIn('DATABASE_READ_URL', replica, 'reads'));
  if (!hosts.some(mayGoInClearText) || given(env, 'PGSSL') !== undefined) return;
  logger.warn(PLAIN_DATABASE);
}

function mayGoInClearText({ hostname, searchParams }: URL): boolean {
  const isLocal = hostname === '' || hostname.startsWith('%2F') || isLoopback(hostname);
  return !isLocal && !ENCRYPTION_SETTINGS.some((name) => searchParams.has(name));
}

const PLAIN_DATABASE =
  'the connection to Postgres is not encrypted: add sslmode=verify-full to its address, or sslmode=disable if that is meant';

/** The address of the mail server, which may contain a password: errors never echo it. */
function readSmtpUrl(env: NodeJS.ProcessEnv): string | null {
  const value = given(env, 'SMTP_URL');
  if (value === undefined) return null;
  if (URL.canParse(value) && /^smtps?:$/.test(new URL(value).protocol)) return value;
  throw new EnvironmentError('SMTP_URL must be smtp://host:port or smtps://user:password@host:port.');
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Settings that the processes share; Temporal's are in temporal.ts. */
export interface Environment {
  readonly port: number;
  /** Whether the API process also runs the loops. */
  readonly apiRunsLoops: boolean;
  /** The API's listen address; null is every address of the machine. */
  readonly host: string | null;
  readonly databaseUrl: string;
  /** Of servers that follow it, for lists; null: there are none. */
  readonly databaseReadUrl: string | null;
  readonly dataDirectory: string;
  /** Base address of the API for callbacks and links. */
  readonly publicUrl: string;
  /** The console's address, to which workflows lead; null: there is none. */
  readonly consoleUrl: string | null;
  readonly sandboxPort: number;
  readonly sandboxUrl: string;
  /** Whether the database is a sandbox's, whose clock may be moved. Set only by `npm start`. */
  readonly followsSandboxClock: boolean;
  /** The sandbox bank's callback signing secret; null if that bank is not used. */
  readonly sandboxBankSecret: string | null;
  /** Opens the private keys with which the loops sign in at banks' SFTP servers. */
  readonly sftpPassphrase: string | null;
  /** Opens the private keys that sign files for banks, and open theirs. */
  readonly pgpPassphrase: string | null;
  readonly mail: MailSettings;
  readonly logLevel: LogLevel;
}

/** Outgoing mail. */
export interface MailSettings {
  /**
   * smtp: (with STARTTLS unless `?requireTLS=false`) or smtps:, with credentials if needed; null without a mail
   * server.
   */
  readonly smtpUrl: string | null;
  readonly from: string;
}

/** Reads all settings, for the processes' entry points. */
export function readEnvironment(env: NodeJS.ProcessEnv): Environment {
  const port = readPort(env, 'PORT', 3000);
  const sandboxPort = readPort(env, 'SANDBOX_PORT', 3100);
  return {
    port,
    host: given(env, 'API_HOST') ?? null,
    apiRunsLoops: readChoice(env, 'API_LOOPS', ['on', 'off'], 'on') === 'on',
    databaseUrl: readDatabaseUrl(env),
    databaseReadUrl: readReplicaUrl(env),
    dataDirectory: resolve(readText(env, 'DATA_DIR', '.data')),
    publicUrl: readHttpUrl(env, 'PUBLIC_URL', `http://127.0.0.1:${port}`),
    consoleUrl: given(env, 'CONSOLE_URL') === undefined ? null : readHttpUrl(env, 'CONSOLE_URL', ''),
    sandboxPort,
    sandboxUrl: readHttpUrl(env, 'SANDBOX_URL', `http://127.0.0.1:${sandboxPort}`),
    followsSandboxClock: readChoice(env, 'SANDBOX_CLOCK', ['on', 'off'], 'off') === 'on',
    sandboxBankSecret: given(env, 'SANDBOX_BANK_SECRET') ?? null,
    sftpPassphrase: env.SFTP_PASSPHRASE || null,
    pgpPassphrase: env.PGP_PASSPHRASE || null,
    mail: { smtpUrl: readSmtpUrl(env), from: readText(env, 'MAIL_FROM', 'no-reply@localhost') },
    logLevel: readChoice(env, 'LOG_LEVEL', LOG_LEVELS, 'info'),
  };
}

function given(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === '' ? undefined : value;
}
