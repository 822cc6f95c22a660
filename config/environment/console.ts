import type { Role } from '../../domain/machine-users/roles.ts';
import type { Configuration } from '../configuration.ts';
import { EnvironmentError, isLoopback, readHttpUrl, readPort, readRequired, readText } from '../environment.ts';
import { ConfigurationError } from '../files.ts';

/** Where the console is reached, who may sign in, and what they may do. */
export interface ConsoleSettings {
  readonly port: number;
  readonly host: string;
  /** Its address for people, without a trailing slash: the only origin that its forms are accepted from. */
  readonly url: string;
  readonly identityProvider: {
    readonly issuer: string;
    readonly clientId: string;
    readonly clientSecret: string;
    /** What the console asks the provider for. */
    readonly scope: string;
    /** The claim that lists a person's groups, and the role of each group. */
    readonly rolesClaim: string;
    readonly rolesByClaimValue: ReadonlyMap<string, Role>;
  };
  readonly sessionMinutes: number;
  /** How long after a sign-in a person may do what moves money. */
  readonly recentSignInMinutes: number;
  /** Kinds of remedies that are off in this installation; `all` for each of them. */
  readonly remediesOff: 'all' | readonly string[];
  /** The address of Temporal's UI with its namespace; null: there is none to link to. */
  readonly temporalUiUrl: string | null;
}

const REGISTER = 'Register the console at the identity provider of your company';

/** Reads the console's settings from its environment and the configuration. */
export function readConsoleSettings(
  env: NodeJS.ProcessEnv,
  { console: configured }: Pick<Configuration, 'console'>,
): ConsoleSettings {
  const { scope, rolesClaim, roles, ...rest } = configured;
  const rolesByClaimValue = new Map(Object.entries(roles));
  if (rolesByClaimValue.size === 0)
    throw new ConfigurationError(['console.roles is empty: no person could sign in. Give a group of yours a role.']);
  const port = readPort(env, 'CONSOLE_PORT', 3200);
  return {
    port,
    host: readText(env, 'CONSOLE_HOST', '127.0.0.1'),
    url: originOf(env, `http://127.0.0.1:${port}`),
    identityProvider: {
      issuer: issuerOf(env),
      clientId: readRequired(env, 'CONSOLE_CLIENT_ID', `${REGISTER}, and set it to the client's id.`),
      clientSecret: readRequired(env, 'CONSOLE_CLIENT_SECRET', `${REGISTER}, and set it to the client's secret.`),
      scope,
      rolesClaim,
      rolesByClaimValue,
    },
    ...rest,
    temporalUiUrl: readText(env, 'TEMPORAL_UI_URL', '') === '' ? null : readHttpUrl(env, 'TEMPORAL_UI_URL', ''),
  };
}

function originOf(env: NodeJS.ProcessEnv, otherwise: string): string {
  const url = new URL(secure('CONSOLE_URL', readHttpUrl(env, 'CONSOLE_URL', otherwise)));
  if (url.pathname === '/' && url.search === '' && url.hash === '') return url.origin;
  throw new EnvironmentError(`CONSOLE_URL must have no path: the console has its host for itself.`);
}

/** Exactly as the provider writes it, also with a slash at its end. */
function issuerOf(env: NodeJS.ProcessEnv): string {
  const instruction = 'Set it to the issuer of your OpenID provider, such as https://login.example.com.';
  const given = readRequired(env, 'CONSOLE_ISSUER', instruction);
  secure('CONSOLE_ISSUER', readHttpUrl(env, 'CONSOLE_ISSUER', given));
  return given;
}

/** Over plain http, sign-ins could be read and changed on their way: only this machine may use it. */
function secure(name: string, address: string): string {
  const { protocol, hostname } = new URL(address);
  if (protocol === 'https:' || isLoopback(hostname)) return address;
  throw new EnvironmentError(`${name} must be an https address, or one of this machine, not "${address}".`);
}
