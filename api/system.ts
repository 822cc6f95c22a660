import { calendarStates } from '../config/calendars/calendar-watch.ts';
import { requireWrites } from '../db/common/clock.ts';
import { isReadOnlyServer } from '../db/postgres/failures.ts';
import { dateInUtc } from '../domain/common/time/dates.ts';
import { homeRoutes } from './documentation/home.ts';
import { once } from './documentation/once.ts';
import { documentationRoutes } from './documentation/routes.ts';
import { within } from './http/probe-deadline.ts';
import { type OpenRoute, openRoute } from './http/route.ts';
import type { Services } from './http/services.ts';
import type { AnyRoute } from './http/third-party-route.ts';
import { DOCS_PAGE, DOCS_POLICY, SCALAR_PATH, START_PATH, START_SCRIPT, scalarScript } from './openapi/docs-page.ts';
import type { OpenApiDocument } from './openapi/document.ts';
import { openApiDocument } from './openapi/openapi.ts';
import { WEBHOOKS } from './webhooks/event-contracts.ts';

/** Liveness and readiness. */
const live = openRoute(
  {
    method: 'GET',
    path: '/health/live',
    operationId: 'getLiveness',
    summary: 'Check that the process is running',
    tag: 'System',
    responses: { 200: 'The process is running.' },
  },
  async () => ({ status: 200, body: '{"status":"live"}' }),
);

const ready = openRoute(
  {
    method: 'GET',
    path: '/health/ready',
    operationId: 'getReadiness',
    summary: 'Check that the service can handle requests',
    description:
      'The service is ready if Postgres responds and is writable. Temporal is shown only for information, because no request waits for it, and so is the date until which each calendar is published.',
    tag: 'System',
    responses: { 200: 'Postgres responds and is writable.', 503: 'Postgres does not respond or is read-only.' },
  },
  async ({ services }) => {
    const [postgres, temporal] = await Promise.all([postgresState(services), within(services.isTemporalReachable())]);
    const isReady = postgres === 'reachable';
    const body = JSON.stringify({
      status: isReady ? 'ready' : 'unavailable',
      postgres,
      temporal: temporal ? 'reachable' : 'unreachable',
      calendars: calendarStates(services.configuration.calendars, dateInUtc(services.serviceNow())),
    });
    return isReady ? { status: 200, body } : { status: 503, body, headers: { 'retry-after': '2' } };
  },
);

/** Health and the documents about the interface: open without a token, outside the envelope. */
export function systemRoutes(routes: readonly AnyRoute[], version: string): readonly OpenRoute[] {
  const openapi = openRoute(
    {
      method: 'GET',
      path: '/openapi.json',
      operationId: 'getOpenApiDocument',
      summary: 'Get this document',
      tag: 'System',
      responses: { 200: 'OpenAPI 3.1.' },
    },
    async () => ({ status: 200, body: document() }),
  );
  const documented = [...homeRoutes, live, ready, openapi, docs];
  const own = [...documented, docsScalar, docsStart, ...documentationRoutes([...routes, ...documented])];
  const document = once(() => JSON.stringify(openApiDocument([...routes, ...own], version, WEBHOOKS)));
  return own;
}

/** The document about the whole interface. */
export function documentOf(routes: readonly AnyRoute[], version: string): OpenApiDocument {
  return openApiDocument([...routes, ...systemRoutes(routes, version)], version, WEBHOOKS);
}

const docs = openRoute(
  {
    method: 'GET',
    path: '/docs',
    operationId: 'getDocumentation',
    summary: 'Get the documentation page',
    tag: 'System',
    responses: { 200: 'As HTML.' },
  },
  async () => ({
    status: 200,
    body: DOCS_PAGE,
    contentType: 'text/html; charset=utf-8',
    headers: { 'content-security-policy': DOCS_POLICY },
  }),
);

/** Scripts of the documentation page, which are not part of the interface. */
const docsScalar = openRoute(
  {
    method: 'GET',
    path: SCALAR_PATH,
    operationId: 'getDocumentationScalar',
    summary: 'What renders the documentation page',
    tag: 'System',
    undocumented: true,
    responses: { 200: 'As JavaScript.' },
  },
  async () => ({
    status: 200,
    body: await script(),
    contentType: SCRIPT_TYPE,
    headers: { 'content-encoding': 'gzip', 'cache-control': 'public, max-age=3600' },
  }),
);

const docsStart = openRoute(
  {
    method: 'GET',
    path: START_PATH,
    operationId: 'getDocumentationStart',
    summary: 'The settings of the documentation page',
    tag: 'System',
    undocumented: true,
    responses: { 200: 'As JavaScript.' },
  },
  async () => ({ status: 200, body: START_SCRIPT, contentType: SCRIPT_TYPE }),
);

const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
const script = once(scalarScript);

async function postgresState(services: Services): Promise<'reachable' | 'read-only' | 'unreachable'> {
  let isReadOnly = false;
  const writes = requireWrites(services.database.shared().reader).then(
    () => true,
    (error) => {
      isReadOnly = isReadOnlyServer(error);
      return false;
    },
  );
  if (await within(writes)) return 'reachable';
  return isReadOnly ? 'read-only' : 'unreachable';
}
