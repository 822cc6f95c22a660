import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { setting } from '../common/data-directory.ts';
import type { GlobalOptions } from './command.ts';
import { CommandFailure } from './exit-statuses.ts';
import type { Mode } from './worlds.ts';

/** Where and as whom `fas` calls the API. It has the path of the private key, never the key. */
export interface Profile {
  readonly mode: Mode;
  readonly baseUrl: string;
  readonly machineUser: string;
  readonly keyFile: string;
  /** The `kid` under which the key is registered; its thumbprint if it is absent. */
  readonly keyId?: string;
  readonly audience: string;
}

export const PROFILE_FIELDS = ['mode', 'baseUrl', 'machineUser', 'keyFile', 'keyId', 'audience'] as const;

export interface Profiles {
  readonly current: string | null;
  readonly profiles: Readonly<Record<string, Profile>>;
}

/** A profile's name, as it is typed and shown. */
export const PROFILE_NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;

export function profilesFile(environment: NodeJS.ProcessEnv): string {
  const { HOME } = environment;
  return join(setting(environment, 'XDG_CONFIG_HOME') ?? join(HOME || homedir(), '.config'), 'fas', 'profiles.json');
}

export function readProfiles(file: string): Profiles {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { current: null, profiles: {} };
    throw error;
  }
  try {
    return checkedProfiles(JSON.parse(text));
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'it is not JSON' : error instanceof Error ? error.message : '';
    throw new CommandFailure('usage', `${file} cannot be used: ${reason}. Mend it, or remove it and add the profiles.`);
  }
}

/** Readable by its user only, and whole even if the command is killed. */
export function writeProfiles(file: string, profiles: Profiles): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  rmSync(`${file}.${process.pid}`, { force: true });
  writeFileSync(`${file}.${process.pid}`, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.${process.pid}`, file);
}

function checkedProfiles(value: unknown): Profiles {
  if (!isRecord(value) || !isRecord(value.profiles)) throw new Error('it has no "profiles"');
  const entries = Object.entries(value.profiles).map(([name, profile]) => {
    if (!PROFILE_NAME.test(name)) throw new Error(`"${name}" is no name of a profile`);
    return [name, checkedProfile(name, profile)] as const;
  });
  const { current = null } = value;
  if (current !== null && (typeof current !== 'string' || !entries.some(([name]) => name === current)))
    throw new Error('"current" is none of its profiles');
  return { current, profiles: Object.fromEntries(entries) };
}

function checkedProfile(name: string, value: unknown): Profile {
  if (!isRecord(value)) throw new Error(`profile "${name}" is not an object`);
  const unknown = Object.keys(value).find((field) => !PROFILE_FIELDS.some((known) => known === field));
  if (unknown !== undefined) throw new Error(`profile "${name}" has "${unknown}", which is no setting`);
  const text = (field: string): string => {
    const found = value[field];
    if (typeof found !== 'string' || found === '') throw new Error(`profile "${name}" lacks ${field}`);
    return found;
  };
  const { keyId } = value;
  return {
    mode: checkedMode(text('mode'), `mode of profile "${name}"`),
    baseUrl: checkedBaseUrl(text('baseUrl'), `baseUrl of profile "${name}"`),
    machineUser: text('machineUser'),
    keyFile: text('keyFile'),
    ...(typeof keyId === 'string' ? { keyId } : {}),
    audience: text('audience'),
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function checkedMode(text: string, where: string): Mode {
  if (text === 'test' || text === 'live') return text;
  throw new CommandFailure('usage', `${where} must be test or live, not "${text}"`);
}

/** An address without credentials: a token or password in it would end up in logs. */
export function checkedBaseUrl(text: string, where: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new CommandFailure('usage', `${where} must be an http(s) address`);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new CommandFailure('usage', `${where} must have no credentials, query or fragment`);
  return url.href.replace(/\/$/, '');
}

/** What was found: the flag goes before the environment, which goes before the file. */
export interface FoundProfile {
  /** Null if the settings are of no profile. */
  readonly name: string | null;
  /** What is there: a call needs all of them, or the service that was started here. */
  readonly settings: Partial<Profile>;
}

export function findProfile(globals: GlobalOptions, environment: NodeJS.ProcessEnv): FoundProfile {
  const { current, profiles } = readProfiles(profilesFile(environment));
  const name = globals.profile ?? setting(environment, 'FAS_PROFILE') ?? current;
  if (name !== null && !Object.hasOwn(profiles, name)) {
    const known = Object.keys(profiles).join(', ') || 'none yet';
    throw new CommandFailure('usage', `There is no profile "${name}" (${known}). Add it by: fas profiles add`);
  }
  const stored: Partial<Profile> = name === null ? {} : (profiles[name] ?? {});
  // A flag goes before the environment: who names a profile gets that one whole.
  const given = globals.profile === undefined ? settingsOf(environment) : {};
  const typed = globals.baseUrl === undefined ? undefined : checkedBaseUrl(globals.baseUrl, '--base-url');
  const settings: Partial<Profile> = { ...stored, ...given, ...(typed === undefined ? {} : { baseUrl: typed }) };
  const { baseUrl } = settings;
  if (baseUrl === undefined) return { name, settings };
  const isOfEnvironment = typed === undefined && given.baseUrl !== undefined;
  const wish = environmentMode(environment);
  const mode = modeOfAddress(baseUrl, Object.values(profiles), isOfEnvironment ? wish : null);
  return { name, settings: { ...settings, mode: wish === 'live' ? wish : mode } };
}

/** The mode belongs to the address: what one profile calls live is live, and so is what nothing calls a test. */
function modeOfAddress(address: string, profiles: readonly Profile[], otherwise: Mode | null): Mode {
  const modes = profiles.filter(({ baseUrl }) => bare(baseUrl) === bare(address)).map(({ mode }) => mode);
  if (modes.includes('live')) return 'live';
  return modes.includes('test') ? 'test' : (otherwise ?? 'live');
}

/** The version's part may be left out. */
function bare(address: string): string {
  return address.replace(/\/v1$/, '');
}

function settingsOf(environment: NodeJS.ProcessEnv): Partial<Profile> {
  const baseUrl = setting(environment, 'FAS_BASE_URL');
  const given = {
    baseUrl: baseUrl === undefined ? undefined : checkedBaseUrl(baseUrl, 'FAS_BASE_URL'),
    machineUser: setting(environment, 'FAS_MACHINE_USER'),
    keyFile: setting(environment, 'FAS_KEY_FILE'),
    keyId: setting(environment, 'FAS_KEY_ID'),
    audience: setting(environment, 'FAS_AUDIENCE'),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** FAS_MODE: `test` is said of the addresses in the environment only, `live` of all. */
export function environmentMode(environment: NodeJS.ProcessEnv): Mode | null {
  const mode = setting(environment, 'FAS_MODE');
  return mode === undefined ? null : checkedMode(mode, 'FAS_MODE');
}
