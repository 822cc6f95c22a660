import { resolve } from 'node:path';

/**
 * Typed reading of environment variables. Unset, empty and blank are the same; a bad value throws one clear line that
 * names the variable and its rule, and the value only where it cannot be a secret.
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

/** For what a process cannot work without; `remedy` says what to set it to. */
export function readRequired(env: NodeJS.ProcessEnv, name: string, remedy: string): string {
  const value = given(env, name);
  if (value === undefined) throw new EnvironmentError(`${name} is not set. ${remedy}`);
  return value;
}

/** A TCP port; 0 asks the system for a free one. */
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

/** An http or https address, without the slash at its end. */
export function readHttpUrl(env: NodeJS.ProcessEnv, name: string, otherwise: string): string {
  const value = readText(env, name, otherwise);
  const url = URL.canParse(value) ? new URL(value) : null;
  // With a user and password in it the value is a secret, and of no use here.
  if (url?.username) throw new EnvironmentError(`${name} must not carry a user name or password.`);
  if (url !== null && /^https?:$/.test(url.protocol)) return value.replace(/\/+$/, '');
  throw new EnvironmentError(`${name} must be an http or https address, not "${value}".`);
}

/** The address of Postgres; it holds a password, so an error never repeats it. */
export function readDatabaseUrl(env: NodeJS.ProcessEnv): string {
  const value = readRequired(env, 'DATABASE_URL', 'Set it to postgres://user:password@host:port/database.');
  if (URL.canParse(value) && /^postgres(ql)?:$/.test(new URL(value).protocol)) return value;
  throw new EnvironmentError('DATABASE_URL must be postgres://user:password@host:port/database.');
}

/** The address of the mail server; it may hold a password, so an error never repeats it. */
function readSmtpUrl(env: NodeJS.ProcessEnv): string | null {
  const value = given(env, 'SMTP_URL');
  if (value === undefined) return null;
  if (URL.canParse(value) && /^smtps?:$/.test(new URL(value).protocol)) return value;
  throw new EnvironmentError('SMTP_URL must be smtp://host:port or smtps://user:password@host:port.');
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What the processes of the service share; Temporal's settings are in temporal.ts. */
export interface Environment {
  readonly port: number;
  /** Whether the API process runs the loops too, or leaves them to processes of their own. */
  readonly apiRunsLoops: boolean;
  /** The address that the API listens on; null is every address of the machine. */
  readonly host: string | null;
  readonly databaseUrl: string;
  readonly dataDirectory: string;
  /** Base address of the API for callbacks and links. */
  readonly publicUrl: string;
  readonly sandboxPort: number;
  readonly sandboxUrl: string;
  /** Shared by the sandbox bank and us to sign callbacks; null where that bank is not used. */
  readonly sandboxBankSecret: string | null;
  readonly mail: MailSettings;
  readonly logLevel: LogLevel;
}

/** How e-mails leave. */
export interface MailSettings {
  /**
   * smtp: (with STARTTLS, unless it ends in `?requireTLS=false`) or smtps:, with user and password where the server wants
   * them; null while there is no mail server.
   */
  readonly smtpUrl: string | null;
  readonly from: string;
}

/** Reads all at once, for the entry points of the processes. */
export function readEnvironment(env: NodeJS.ProcessEnv): Environment {
  const port = readPort(env, 'PORT', 3000);
  const sandboxPort = readPort(env, 'SANDBOX_PORT', 3100);
  return {
    port,
    host: given(env, 'API_HOST') ?? null,
    apiRunsLoops: readChoice(env, 'API_LOOPS', ['on', 'off'], 'on') === 'on',
    databaseUrl: readDatabaseUrl(env),
    dataDirectory: resolve(readText(env, 'DATA_DIR', '.data')),
    publicUrl: readHttpUrl(env, 'PUBLIC_URL', `http://127.0.0.1:${port}`),
    sandboxPort,
    sandboxUrl: readHttpUrl(env, 'SANDBOX_URL', `http://127.0.0.1:${sandboxPort}`),
    sandboxBankSecret: given(env, 'SANDBOX_BANK_SECRET') ?? null,
    mail: { smtpUrl: readSmtpUrl(env), from: readText(env, 'MAIL_FROM', 'no-reply@localhost') },
    logLevel: readChoice(env, 'LOG_LEVEL', LOG_LEVELS, 'info'),
  };
}

function given(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === '' ? undefined : value;
}
