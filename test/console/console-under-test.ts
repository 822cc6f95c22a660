import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { type Logger, pino } from 'pino';
import type { Provider } from '../../activities/providers/port.ts';
import { startServer } from '../../api/http/connections/server.ts';
import { type Configuration, loadConfiguration, localConfigurationFiles } from '../../config/configuration.ts';
import { type ConsoleSettings, readConsoleSettings } from '../../config/environment/console.ts';
import { createConsole } from '../../console/app.tsx';
import { digestOf } from '../../console/http/secrets.ts';
import type { ConsoleServices } from '../../console/http/services.ts';
import { createDatabase } from '../../db/client.ts';
import { findSession } from '../../db/people/sessions.ts';
import type { Database } from '../../db/query/database.ts';
import { freePort } from '../../dev/servers/ports.ts';
import type { ConsoleSessionId, PersonId } from '../../domain/common/ids.ts';
import type { Role } from '../../domain/machine-users/roles.ts';
import { lazyTemporalClient } from '../../loops/temporal.ts';
import { CONSOLE_CLIENT_ID, IDENTITY_PATH, PICK_PATH } from '../../sandbox/identity/addresses.ts';
import { SANDBOX_PEOPLE, type SandboxPerson } from '../../sandbox/identity/people.ts';
import { createIdentityProvider } from '../../sandbox/identity/provider.ts';
import { identityRoutes } from '../../sandbox/identity/routes.ts';
import type { TestDatabase } from '../harness/servers/postgres.ts';
import { Browser, type BrowserAnswer, type BrowserRequest, locationOf } from './browser.ts';

export const SESSION_COOKIE = '__Host-session';
export const BROWSER_COOKIE = '__Host-sign-in';

export interface ConsoleOptions {
  readonly configuration?: (configuration: Configuration) => Configuration;
  readonly settings?: (settings: ConsoleSettings) => ConsoleSettings;
  /** Real time. */
  readonly now?: () => Date;
  /** Shifts the service's clock by a Postgres interval: the sandbox's clock. */
  readonly clockOffset?: () => string;
  /** Adapters of built-in providers; none unless given. */
  readonly providers?: ReadonlyMap<string, Provider>;
  /** Where Temporal is; nowhere unless given. */
  readonly temporal?: { readonly address: string; readonly namespace?: string };
  readonly people?: readonly SandboxPerson[];
  readonly logger?: Logger;
  /** Ends a connection on which the identity provider has answered a program once, at that program's next request. */
  readonly providerEndsConnections?: boolean;
  /** Of its database; with none for lists. */
  readonly maxConnections?: number;
  /** Before each request at the identity provider: an answer in its place. */
  readonly atProvider?: (request: Request) => Promise<Response | null> | Response | null;
}

export interface ConsoleUnderTest {
  readonly url: string;
  readonly issuer: string;
  readonly database: Database;
  readonly services: ConsoleServices;
  /** Signs in as the first person of the role, or as the person of this id at the identity provider. */
  signIn(who: Role | 'second-operator' | (string & {}), browser?: Browser): Promise<ConsoleCaller>;
  /** The way through the identity provider that the address begins; the answer with which it ends. */
  walk(browser: Browser, address: string, who: string): Promise<BrowserAnswer>;
  /** The same as far as the address of the console that the identity provider leads to, which is not opened. */
  walkToCallback(browser: Browser, address: string, who: string): Promise<string>;
  stop(): Promise<void>;
}

/** A person's browser, signed in. */
export interface ConsoleCaller {
  readonly browser: Browser;
  readonly personId: PersonId;
  readonly sessionId: ConsoleSessionId;
  readonly csrfToken: string;
  /** A page; redirects are not followed. */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<BrowserAnswer>;
  /** A form of the console's own pages, with its token and origin; redirects are not followed. */
  post(path: string, fields?: Readonly<Record<string, string>>): Promise<BrowserAnswer>;
}

const CLIENT = { id: CONSOLE_CLIENT_ID, secret: randomBytes(32).toString('hex') };

/** The console in this process, on the test's database, with an identity provider of its own: a real one. */
export async function startConsole(
  testDatabase: Pick<TestDatabase, 'url'>,
  options: ConsoleOptions = {},
): Promise<ConsoleUnderTest> {
  const [port, providerPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const people = options.people ?? SANDBOX_PEOPLE;
  const issuer = `http://127.0.0.1:${providerPort}${IDENTITY_PATH}`;
  const provider = await startIdentityProvider(providerPort, { issuer, clientUrl: url, people }, options);
  const loaded = loadConfiguration({ CONFIG_FILE: localConfigurationFiles({}) });
  const configuration = options.configuration?.(loaded) ?? loaded;
  const env = {
    CONSOLE_PORT: String(port),
    CONSOLE_ISSUER: issuer,
    CONSOLE_CLIENT_ID: CLIENT.id,
    CONSOLE_CLIENT_SECRET: CLIENT.secret,
  };
  const settings = readConsoleSettings(env, configuration);
  const database = createDatabase({
    url: testDatabase.url,
    maxConnections: options.maxConnections ?? 6,
    applicationName: 'test-console',
    guardsTransactions: true,
    deadlineMs: 60_000,
    ...(options.maxConnections === undefined ? { lists: { maxConnections: 2, deadlineMs: 60_000 } } : {}),
    ...(options.clockOffset === undefined ? {} : { clockOffset: options.clockOffset }),
  });
  const { address, namespace = 'default' } = options.temporal ?? { address: '127.0.0.1:1' };
  const temporal = lazyTemporalClient({ address, namespace });
  const services: ConsoleServices = {
    database,
    configuration,
    logger: options.logger ?? pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' }),
    settings: options.settings?.(settings) ?? settings,
    temporal,
    providers: options.providers ?? new Map(),
    now: options.now ?? (() => new Date()),
  };
  const server = await startServer(createConsole(services), { port, host: '127.0.0.1' });
  return {
    url,
    issuer,
    database,
    services,
    signIn: async (who, browser = new Browser()) => {
      const answer = await walk(url, browser, `${url}/sign-in`, who);
      if (browser.cookie(url, SESSION_COOKIE) === null) throw new Error(`${who} was not signed in: ${answer.text}`);
      return callerOf(url, database, browser);
    },
    walk: (browser, begin, who) => walk(url, browser, begin, who),
    walkToCallback: (browser, begin, who) => walkToCallback(url, browser, begin, who),
    stop: async () => {
      await server.drain();
      await provider.close();
      await temporal.close();
      await database.close();
    },
  };
}

async function startIdentityProvider(
  port: number,
  of: { readonly issuer: string; readonly clientUrl: string; readonly people: readonly SandboxPerson[] },
  { atProvider: instead, providerEndsConnections = false }: ConsoleOptions,
): Promise<{ close(): Promise<void> }> {
  const { issuer, clientUrl, people } = of;
  const provider = await createIdentityProvider({ issuer, client: CLIENT, clientUrls: [clientUrl], people });
  const app = new Hono();
  app.use(async (c, next) => {
    const answer = (await instead?.(c.req.raw)) ?? null;
    return answer ?? next();
  });
  app.route(IDENTITY_PATH, identityRoutes(provider, people));
  const server = createAdaptorServer({ fetch: app.fetch });
  if (providerEndsConnections) endConnections(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        if ('closeAllConnections' in server) server.closeAllConnections();
      }),
  };
}

function endConnections(server: ReturnType<typeof createAdaptorServer>): void {
  const answered = new WeakSet<Socket>();
  server.prependListener('request', ({ socket, url = '' }: IncomingMessage) => {
    if (!/\/(token|me|jwks|openid-configuration)$/.test(url)) return;
    if (answered.has(socket)) socket.destroy();
    answered.add(socket);
  });
}

async function walkToCallback(url: string, browser: Browser, begin: string, who: string): Promise<string> {
  let answer = await browser.request(begin);
  for (let steps = 0; steps < 12; steps += 1) {
    if (answer.status >= 300 && answer.status < 400) {
      const next = locationOf(answer);
      if (next.startsWith(`${url}/sign-in/callback`)) return next;
      answer = await browser.request(next);
    } else if (answer.headers.has('refresh')) {
      answer = await browser.request(refreshOf(answer));
    } else if (new URL(answer.url).pathname.startsWith(`${IDENTITY_PATH}${PICK_PATH}/`) && answer.status === 200) {
      answer = await browser.request(answer.url, { form: { person: who } });
    } else break;
  }
  throw new Error(`the way to the callback ended at ${answer.url}: ${answer.status} ${answer.text}`);
}

function refreshOf({ headers }: BrowserAnswer): string {
  return (headers.get('refresh') ?? '').replace(/^0; url=/, '');
}

async function walk(url: string, browser: Browser, begin: string, who: string): Promise<BrowserAnswer> {
  return browser.request(await walkToCallback(url, browser, begin, who));
}

async function callerOf(url: string, database: Database, browser: Browser): Promise<ConsoleCaller> {
  const found = await findSession(database.reader, digestOf(browser.cookie(url, SESSION_COOKIE) ?? ''));
  if (found === null) throw new Error('the session is not in the database');
  const { personId, id, csrfToken } = found.session;
  const ask = (path: string, request: BrowserRequest) => browser.request(`${url}${path}`, request);
  return {
    browser,
    personId,
    sessionId: id,
    csrfToken,
    get: (path, headers = {}) => ask(path, { headers }),
    post: (path, fields = {}) => ask(path, { headers: { origin: url }, form: { csrf: csrfToken, ...fields } }),
  };
}
