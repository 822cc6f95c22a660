import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { parse } from 'lossless-json';
import { type Logger, pino } from 'pino';
import * as v from 'valibot';
import { createDirectories, type NameDirectories } from '../../activities/providers/directories/directories.ts';
import type { Provider } from '../../activities/providers/port.ts';
import { createApi } from '../../api/app.ts';
import type { ServerLimits } from '../../api/http/connections/limits.ts';
import { SecurityLog } from '../../api/http/connections/security-rejections.ts';
import { startServer } from '../../api/http/connections/server.ts';
import { sharedStatementFailures, writesTotal } from '../../api/http/metrics.ts';
import type { Method, OpenRoute, Route } from '../../api/http/route.ts';
import type { Services } from '../../api/http/services.ts';
import { metricsText } from '../../api/metrics-text.ts';
import { ROUTES } from '../../api/routes.ts';
import { type Configuration, loadConfiguration, localConfigurationFiles } from '../../config/configuration.ts';
import { readDirectoryTls } from '../../config/environment/directory-tls.ts';
import { readEnvironment } from '../../config/environment.ts';
import { startMetricsServer } from '../../config/metrics/metrics-server.ts';
import { reportSharedFailures } from '../../config/metrics/shared-failures.ts';
import { createDatabase, type DatabaseOptions } from '../../db/client.ts';
import type { Keyring } from '../../db/common/keyring.ts';
import { createMachineUser } from '../../db/machine-users/machine-users.ts';
import type { Database } from '../../db/query/database.ts';
import type { MachineUserId } from '../../domain/common/ids.ts';
import { ROLES, type Role } from '../../domain/machine-users/roles.ts';
import { loopMetrics } from '../../loops/metrics.ts';
import { TESTER } from './audit.ts';
import { TEST_KEYRING } from './keyring.ts';
import type { TestDatabase } from './servers/postgres.ts';
import { checkWebhook } from './webhooks/webhook-contract.ts';

/** The result of JSON.parse: tests assert what they expect of it. */
export type Json = ReturnType<typeof JSON.parse>;

export interface ApiResponse {
  readonly status: number;
  /** Parsed; null where the answer has no body. */
  readonly body: Json;
  /** As sent, for byte-for-byte comparisons and exact amounts. */
  readonly text: string;
  readonly headers: Headers;
}

export interface CallOptions {
  /** A role's machine user (default `operator`), or null for no token. */
  readonly as?: Role | null;
  /** The Idempotency-Key. */
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TestMachineUser {
  readonly id: MachineUserId;
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly token: string;
}

export interface TestApi {
  readonly url: string;
  /** The address of its metrics. */
  readonly metricsUrl: string;
  readonly database: Database;
  readonly services: Services;
  readonly users: Readonly<Record<Role, TestMachineUser>>;
  /**
   * Calls the API over HTTP. `body` is JSON text or a value. Every answer of a route is checked against its contract:
   * an answer that contradicts the OpenAPI document fails the test.
   */
  call(method: Method, path: string, body?: unknown, options?: CallOptions): Promise<ApiResponse>;
  stop(): Promise<void>;
}

/** A success of a route of the interface. */
export interface SeenAnswer {
  readonly method: string;
  /** Its path in the document. */
  readonly route: string;
  /** As called, without the query. */
  readonly path: string;
  readonly status: number;
  readonly body: Json;
}

export interface TestApiOptions {
  /** Shifts the service's clock by a Postgres interval, read before each transaction. */
  readonly clockOffset?: () => string;
  readonly configuration?: (configuration: Configuration) => Configuration;
  /** Overrides the process's environment: SANDBOX_URL, SANDBOX_BANK_SECRET and so on. */
  readonly env?: Readonly<Record<string, string>>;
  /** The adapters of built-in providers; none unless given. */
  readonly providers?: ReadonlyMap<string, Provider>;
  /** Adapters of name directories; those of the sandbox at SANDBOX_URL by default. */
  readonly directories?: NameDirectories;
  readonly logger?: Logger;
  readonly keyring?: Keyring;
  /** What connections may take, in place of the usual limits. */
  readonly limits?: Partial<ServerLimits>;
  /** Machine users of another API on the same database, for a second process of one service. */
  readonly users?: TestApi['users'];
  /** Routes in addition to the service's own. */
  readonly routes?: readonly Route[];
  readonly maxConnections?: number;
  /** The wall clock. While it does not advance, each token key is read only once. */
  readonly now?: () => Date;
  /** Separate connections for lists. */
  readonly lists?: DatabaseOptions['lists'];
  /** The name by which tests find its sessions. */
  readonly applicationName?: string;
  /** Whether a second connection inside a transaction fails; true by default. The guard slows every promise. */
  readonly guardsTransactions?: boolean;
  /** Deadline of every database call; a minute by default. */
  readonly deadlineMs?: number;
  /** Called with every success of a route of the interface. */
  readonly onAnswer?: (answer: SeenAnswer) => void;
  /** Wraps its database; the wrapper must forward everything. */
  readonly database?: (database: Database) => Database;
}

/** The `aud` of the tokens that the APIs of tests accept. */
export const TEST_AUDIENCE = 'financial-accounts-service-test';

/** The API in this process, on a free port and its own database, with one machine user per role. */
export async function startApi(
  testDatabase: Pick<TestDatabase, 'url'>,
  options: TestApiOptions = {},
): Promise<TestApi> {
  const logger = options.logger ?? pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });
  const created = createDatabase({
    url: testDatabase.url,
    maxConnections: options.maxConnections ?? 10,
    applicationName: options.applicationName ?? 'test-api',
    guardsTransactions: options.guardsTransactions ?? true,
    // Only keeps a test from hanging; other tests cover deadlines.
    deadlineMs: options.deadlineMs ?? 60_000,
    lists: options.lists ?? { maxConnections: 4, deadlineMs: options.deadlineMs ?? 60_000 },
    onSharedFailure: reportSharedFailures(logger, sharedStatementFailures),
    onWrite: (way) => writesTotal.inc({ way }),
    ...(options.clockOffset === undefined ? {} : { clockOffset: options.clockOffset }),
  });
  const database = options.database?.(created) ?? created;
  const env = {
    ...process.env,
    DATABASE_URL: testDatabase.url,
    AUDIENCE: TEST_AUDIENCE,
    ...options.env,
    CONFIG_FILE: localConfigurationFiles(options.env ?? {}),
  };
  const usual = loadConfiguration(env);
  // Tests open thousands of connections from one address.
  const loaded = { ...usual, connections: { ...usual.connections, withoutTokenPerAddress: null } };
  const configuration = options.configuration?.(loaded) ?? loaded;
  const environment = readEnvironment(env);
  const services: Services = {
    database,
    configuration,
    logger,
    securityLog: new SecurityLog(logger),
    providers: options.providers ?? new Map(),
    keyring: options.keyring ?? TEST_KEYRING,
    directories:
      options.directories ?? createDirectories(configuration, { ...environment, directoryTls: readDirectoryTls(env) }),
    now: options.now ?? (() => new Date()),
    serviceNow: options.now ?? (() => new Date()),
    environment,
    isTemporalReachable: async () => false,
  };
  const extraRoutes = options.routes ?? [];
  const server = await startServer(
    createApi(services, extraRoutes),
    { port: 0, host: null },
    {
      limits: { unauthenticatedPerAddressMax: configuration.connections.withoutTokenPerAddress, ...options.limits },
      onConnectionRejected: services.securityLog.connectionRejected,
    },
  );
  const metrics = await startMetricsServer({ host: '127.0.0.1', port: 0 }, metricsText(services, loopMetrics));
  const url = `http://127.0.0.1:${server.port}`;
  const users = options.users ?? (await createUsers(database, options.now ?? (() => new Date())));
  return {
    url,
    metricsUrl: `http://127.0.0.1:${metrics.port}/metrics`,
    database,
    services,
    users,
    call: (method, path, body, callOptions = {}) =>
      call(
        { url, users, routes: [...ROUTES, ...extraRoutes], onAnswer: options.onAnswer },
        method,
        path,
        body,
        callOptions,
      ),
    stop: async () => {
      await server.drain();
      await metrics.close();
      await database.close();
    },
  };
}

async function createUsers(database: Database, now: () => Date): Promise<Record<Role, TestMachineUser>> {
  const users = await Promise.all(
    ROLES.map(async (role) => [role, await createTestMachineUser(database, TEST_AUDIENCE, [role], now)] as const),
  );
  return Object.fromEntries(users) as Record<Role, TestMachineUser>;
}

/** A machine user with one ES256 key and a token valid for an hour. */
export async function createTestMachineUser(
  database: Database,
  audience: string,
  roles: readonly Role[],
  now = () => new Date(),
): Promise<TestMachineUser> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const kid = randomUUID();
  const user = await database.transaction((tx) =>
    createMachineUser(
      tx,
      {
        name: `test ${roles.join(' ')}`,
        roles,
        key: { kid, algorithm: 'ES256', publicKey: publicKey.export({ format: 'jwk' }) },
      },
      TESTER,
    ),
  );
  const issuedAt = Math.floor(now().getTime() / 1000);
  const lifetime = { iat: issuedAt, exp: issuedAt + 3_600 };
  const token = await signToken({ id: user.id, kid, privateKey }, { aud: audience, ...lifetime });
  return { id: user.id, kid, privateKey, token };
}

/** Signs a bearer token as a machine user would; `claims` override the valid ones. */
export function signToken(
  user: Pick<TestMachineUser, 'id' | 'kid' | 'privateKey'>,
  claims: Readonly<Record<string, unknown>>,
): Promise<string> {
  const nowSeconds = Math.floor(Date.now() / 1000);
  return new SignJWT({ iss: user.id, sub: user.id, iat: nowSeconds, exp: nowSeconds + 3_600, ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: user.kid })
    .sign(user.privateKey);
}

interface Target {
  readonly url: string;
  readonly users: Readonly<Record<Role, TestMachineUser>>;
  readonly routes: typeof ROUTES;
  readonly onAnswer: TestApiOptions['onAnswer'];
}

async function call(
  target: Target,
  method: Method,
  path: string,
  body: unknown,
  options: CallOptions,
): Promise<ApiResponse> {
  const as = options.as === undefined ? 'operator' : options.as;
  const response = await fetch(`${target.url}${path}`, {
    method,
    headers: {
      ...(as === null ? {} : { authorization: `Bearer ${target.users[as].token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(options.key === undefined ? {} : { 'idempotency-key': options.key }),
      ...options.headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = (response.headers.get('content-type') ?? '').startsWith('application/json');
  checkAgainstContract(target.routes, method, path, response.status, text);
  const parsed = isJson && text !== '' ? JSON.parse(text) : null;
  const route = findRoute(target.routes, method, path)?.contract.path;
  if (route !== undefined && response.ok) {
    const [called = path] = path.split('?');
    target.onAnswer?.({ method, route, path: called, status: response.status, body: parsed });
  }
  if (response.status >= 400 && isJson) checkHelpLink(`${method} ${path}`, response.headers, text);
  return {
    status: response.status,
    body: parsed,
    text,
    headers: response.headers,
  };
}

const PROBLEM = {
  timestamp: v.pipe(v.string(), v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}$/)),
  message: v.string(),
  code: v.string(),
  messageParameters: v.tuple([v.string(), v.string(), v.string()]),
};
const ERROR = v.strictObject({ ...PROBLEM, errors: v.optional(v.array(v.strictObject(PROBLEM))) });

function checkAgainstContract(routes: typeof ROUTES, method: Method, path: string, status: number, text: string): void {
  const route = findRoute(routes, method, path);
  if (status >= 400) {
    if (route !== undefined || status === 404 || status === 405) {
      const checked = v.safeParse(ERROR, JSON.parse(text));
      if (!checked.success) throw new Error(`${method} ${path} ${status}: not the error shape: ${text}`);
    }
    return;
  }
  // Also where a contract does not describe the content, such as the data of events.
  if (/"routingCodes":\s*\{\s*\}/.test(text) && method === 'GET') {
    throw new Error(`${method} ${path}: routingCodes without any is null: ${text}`);
  }
  if (route === undefined) return;
  if (route.contract.files !== undefined) return;
  const expected = route.contract.status ?? (method === 'POST' ? 201 : 200);
  if (status !== expected && status !== 200) throw new Error(`${method} ${path}: ${status} is not in the contract`);
  const envelope = v.strictObject({
    workflow: v.looseObject({}),
    data: shownIn(route.contract, status),
    connect: v.looseObject({}),
    metadata: v.looseObject({}),
  });
  const checked = v.safeParse(envelope, parse(text));
  if (checked.success) {
    // The contract of the log leaves the data of events open.
    if (route.contract.operationId !== 'listEvents') return;
    for (const { position: _, resourceId: __, ...event } of JSON.parse(text).data.events) checkWebhook(event);
    return;
  }
  const problems = checked.issues.map((issue) => `${v.getDotPath(issue) ?? '(top)'}: ${issue.message}`);
  throw new Error(`${method} ${path} ${status} contradicts its contract: ${problems.join('; ')}\n${text}`);
}

/** The schema of an answer's data. */
function shownIn({ response, dryRun }: DeclaredRoute['contract'], status: number): v.GenericSchema {
  return status === 200 && dryRun !== undefined ? dryRun : response;
}

/** Every answer that has a code leads to the page of the code. */
function checkHelpLink(name: string, headers: Headers, text: string): void {
  const { code } = JSON.parse(text);
  const expected = code === undefined ? null : `</docs/errors/${code}>; rel="help"; type="text/html"`;
  if (headers.get('link') !== expected) throw new Error(`${name}: Link is ${headers.get('link')}, not ${expected}`);
}

type DeclaredRoute = Exclude<(typeof ROUTES)[number], OpenRoute>;

/** The route of the interface that serves a path. */
export function findRoute(routes: typeof ROUTES, method: Method, path: string): DeclaredRoute | undefined {
  const segments = (path.split('?')[0] ?? '').replace(/^\/v1\//, '/').split('/');
  const matches = routes.filter((route): route is DeclaredRoute => {
    if (route.kind === 'open' || route.contract.method !== method) return false;
    const own = route.contract.path.split('/');
    return (
      own.length === segments.length && own.every((part, index) => part.startsWith('{') || part === segments[index])
    );
  });
  // `/a/b` before `/a/{id}`.
  return matches.sort((one, other) => one.contract.path.split('{').length - other.contract.path.split('{').length)[0];
}
