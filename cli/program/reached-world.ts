import { existsSync } from 'node:fs';
import { readAddresses } from '../../db/postgres/addresses.ts';
import { dataDirectory, setting } from '../common/data-directory.ts';
import { type Endpoints, endpointsFile, readEndpoints } from '../common/endpoints.ts';
import type { CommandContext } from './command.ts';
import { CommandFailure } from './exit-statuses.ts';
import { environmentMode, type FoundProfile, findProfile } from './profiles.ts';
import type { World } from './worlds.ts';

/** The world in which a command acts, before it does. */
export function reachedWorld(context: CommandContext): World {
  return context.command.reach === 'api' ? reachedApi(context).world : reachedInstallation(context);
}

export interface ReachedApi {
  readonly world: World;
  readonly profile: FoundProfile;
  /** The service that was started here, if no profile and no setting names another. */
  readonly started: Endpoints | null;
}

export function reachedApi({ globals, environment }: Pick<CommandContext, 'globals' | 'environment'>): ReachedApi {
  const profile = findProfile(globals, environment);
  const { baseUrl, mode = 'live' } = profile.settings;
  if (baseUrl !== undefined) {
    return { profile, started: null, world: { mode, name: profile.name ?? new URL(baseUrl).host, target: baseUrl } };
  }
  const started = startedHere(environment);
  return {
    profile,
    started,
    world: { mode: modeOfStarted(started, environment), name: STARTED, target: started.apiUrl },
  };
}

function startedHere(environment: NodeJS.ProcessEnv): Endpoints {
  const directory = dataDirectory(environment);
  if (existsSync(endpointsFile(directory))) return readEndpoints(directory);
  throw new CommandFailure(
    'unauthorized',
    'Nothing says which API to call: add a profile by fas profiles add, set FAS_BASE_URL, or start the service here.',
  );
}

const STARTED = 'started here';

/** On a Postgres of one's own there may be anything. */
function modeOfStarted({ hasDevelopmentUsers }: Endpoints, environment: NodeJS.ProcessEnv): World['mode'] {
  return hasDevelopmentUsers && environmentMode(environment) !== 'live' ? 'test' : 'live';
}

/** Database and Temporal are those of the environment, or else of the service that was started here: never those of a profile. */
function reachedInstallation({ environment }: CommandContext): World {
  const databaseUrl = setting(environment, 'DATABASE_URL');
  const mode = environmentMode(environment) ?? 'live';
  if (databaseUrl !== undefined) {
    const target = databaseName(databaseUrl);
    return { mode, name: target, target };
  }
  const started = readEndpoints(dataDirectory(environment));
  const target = databaseName(started.databaseUrl);
  const temporal = otherTemporal(started, environment);
  if (temporal === null) return { mode: modeOfStarted(started, environment), name: STARTED, target };
  return { mode, name: `Temporal at ${temporal}`, target };
}

/** Workflows elsewhere pay elsewhere. Null if they are those of the service that was started here. */
function otherTemporal({ temporalAddress, temporalNamespace }: Endpoints, environment: NodeJS.ProcessEnv) {
  const address = setting(environment, 'TEMPORAL_ADDRESS') ?? temporalAddress;
  const namespace = setting(environment, 'TEMPORAL_NAMESPACE') ?? temporalNamespace;
  return address === temporalAddress && namespace === temporalNamespace ? null : `${address}/${namespace}`;
}

/** A command that would not look at them must not run as if it had. */
export function rejectOptionsOfApi({ command, globals }: CommandContext): void {
  const given = globals.profile !== undefined ? 'profile' : globals.baseUrl !== undefined ? 'base-url' : null;
  if (command.reach !== 'installation' || given === null) return;
  throw new CommandFailure(
    'usage',
    `--${given} is of commands of the API: this one acts on DATABASE_URL and TEMPORAL_ADDRESS, or on the service that was started here.`,
  );
}

/** Host and database: never the password. */
function databaseName(url: string): string {
  const read = readAddresses(url);
  if (typeof read === 'string') return 'a database whose address cannot be read';
  const addresses = read.urls.map((address) => new URL(address));
  return `${addresses.map(({ host }) => host).join(',')}${addresses[0]?.pathname ?? ''}`;
}
