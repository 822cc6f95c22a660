import { join } from 'node:path';
import type { ServiceAddress } from './service/service.ts';

export interface SandboxSettings {
  readonly port: number;
  readonly host: string;
  /** Names by which it is reached, besides those of this machine: lower case, without ports. */
  readonly hosts: readonly string[];
  /** The folder with the sandbox's data. */
  readonly directory: string;
  readonly bankCallbackUrl: string;
  readonly bankSecret: string;
  /** The mail server's port; 0 picks a free one. */
  readonly smtpPort: number;
  /** The port of the file bank's SFTP server; 0 picks a free one. */
  readonly sftpPort: number;
  /** The file with the keys of its customers; null: the sandbox makes one. */
  readonly sftpAuthorizedKeys: string | null;
  /** The database of the service whose clock callers may move; null: there is no such clock. Set only by `npm start`. */
  readonly clockDatabaseUrl: string | null;
  /** What the company's identity provider needs; null: there is none. */
  readonly identity: IdentitySettings | null;
  /** What the third party and the front office need; null: there are none. Set only by `npm start`. */
  readonly consentWalk: ConsentWalkSettings | null;
}

export interface IdentitySettings {
  /** Its address for people and for the console. */
  readonly issuer: string;
  readonly consoleUrl: string;
  readonly consoleSecret: string;
}

export interface ConsentWalkSettings extends ServiceAddress {
  /** The private keys of the two. */
  readonly partiesFile: string;
  readonly redirectUris: readonly string[];
}

const SECRET_LENGTH_MIN = 16;

/** Reads the environment. Throws one clear line for a bad or missing value. */
export function sandboxSettings(environment: Readonly<Record<string, string | undefined>>): SandboxSettings {
  const read = (name: string) => environment[name]?.trim() || undefined;
  const port = (name: string, otherwise: number) => {
    const value = read(name) ?? String(otherwise);
    if (/^\d{1,5}$/.test(value) && Number(value) <= 65_535) return Number(value);
    const unset = otherwise === 0 ? 'a free one' : String(otherwise);
    throw new Error(`${name} is "${value}". Set it to a port number, or unset it for ${unset}.`);
  };
  const secret = read('SANDBOX_BANK_SECRET');
  if (secret === undefined || secret.length < SECRET_LENGTH_MIN) {
    throw new Error(
      `SANDBOX_BANK_SECRET must hold the secret of at least ${SECRET_LENGTH_MIN} characters that signs the bank's callbacks.`,
    );
  }
  const publicUrl = read('PUBLIC_URL') ?? 'http://127.0.0.1:3000';
  const callbackUrl = read('CALLBACK_URL') ?? `${publicUrl.replace(/\/+$/, '')}/provider-callbacks/sandbox-bank`;
  if (!URL.canParse(callbackUrl) || !/^https?:/.test(callbackUrl)) {
    throw new Error(`Callbacks would go to "${callbackUrl}". Set PUBLIC_URL or CALLBACK_URL to an http(s) address.`);
  }
  const sandboxPort = port('SANDBOX_PORT', 3100);
  return {
    port: sandboxPort,
    smtpPort: port('SANDBOX_SMTP_PORT', 0),
    sftpPort: port('SANDBOX_SFTP_PORT', 0),
    sftpAuthorizedKeys: read('SANDBOX_SFTP_AUTHORIZED_KEYS') ?? null,
    host: read('SANDBOX_HOST') ?? '127.0.0.1',
    hosts: hostsOf(read),
    directory: join(read('DATA_DIR') ?? '.data', 'sandbox'),
    bankCallbackUrl: callbackUrl,
    bankSecret: secret,
    clockDatabaseUrl: read('SANDBOX_CLOCK') === 'on' ? (read('DATABASE_URL') ?? null) : null,
    identity: identity(read),
    consentWalk: consentWalk(read, publicUrl, sandboxPort),
  };
}

/** A listen address is a name too, unless it means all addresses. */
function hostsOf(read: (name: string) => string | undefined): readonly string[] {
  const names = `${read('SANDBOX_HOSTS') ?? ''},${read('SANDBOX_HOST') ?? ''}`.toLowerCase().split(',');
  return names.map((name) => name.trim()).filter((name) => !['', '0.0.0.0', '::'].includes(name));
}

function identity(read: (name: string) => string | undefined): IdentitySettings | null {
  const issuer = read('SANDBOX_ISSUER');
  const consoleUrl = read('SANDBOX_CONSOLE_URL');
  const consoleSecret = read('SANDBOX_CONSOLE_SECRET');
  if (issuer === undefined || consoleUrl === undefined || consoleSecret === undefined) return null;
  for (const address of [issuer, consoleUrl])
    if (!URL.canParse(address))
      throw new Error(`"${address}" is no address. Set SANDBOX_ISSUER and SANDBOX_CONSOLE_URL to http(s) addresses.`);
  return { issuer, consoleUrl, consoleSecret };
}

function consentWalk(
  read: (name: string) => string | undefined,
  publicUrl: string,
  sandboxPort: number,
): ConsentWalkSettings | null {
  const partiesFile = read('SANDBOX_PARTIES');
  const apiUrl = read('SANDBOX_API_URL');
  const audience = read('AUDIENCE');
  if (partiesFile === undefined || apiUrl === undefined || audience === undefined) return null;
  return { partiesFile, apiUrl, publicUrl, audience, redirectUris: redirectUrisOf(sandboxPort) };
}

/** The third party's redirect addresses: one for each name by which browsers may know this machine, as cookies belong to a name. */
export function redirectUrisOf(sandboxPort: number): readonly string[] {
  return ['127.0.0.1', 'localhost'].map((host) => `http://${host}:${sandboxPort}/third-party/callback`);
}
