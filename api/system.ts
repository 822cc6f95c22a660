import { calendarStates } from '../config/calendars/calendar-watch.ts';
import { isReadOnlyServer } from '../db/driver/failures.ts';
import { requireWrites } from '../db/frame/clock.ts';
import { dateInUtc } from '../domain/frame/time/dates.ts';
import {
  DOCS_PAGE,
  DOCS_POLICY,
  SCALAR_PATH,
  START_PATH,
  START_SCRIPT,
  scalarScript,
} from './frame/openapi/docs-page.ts';
import { type OpenApiDocument, openApiDocument } from './frame/openapi/openapi.ts';
import { type OpenRoute, openRoute } from './frame/route.ts';
import type { Services } from './frame/services.ts';
import type { AnyRoute } from './frame/third-party-route.ts';
import { within } from './frame/within.ts';
import { WEBHOOKS } from './webhooks/event-contracts.ts';

/** Liveness and readiness. */
const live = openRoute(
  {
    method: 'GET',
    path: '/health/live',
    operationId: 'getLiveness',
    summary: 'The process runs',
    tag: 'System',
    responses: { 200: 'It does.' },
  },
  async () => ({ status: 200, body: '{"status":"live"}' }),
);

const ready = openRoute(
  {
    method: 'GET',
    path: '/health/ready',
    operationId: 'getReadiness',
    summary: 'The service can answer',
    description:
      'Postgres decides: it must answer, and not be read-only. Temporal is shown for information, because no request waits for it, and so are the calendars: until when each is published.',
    tag: 'System',
    responses: { 200: 'Postgres answers, and takes writes.', 503: 'Postgres does not.' },
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
      summary: 'This document',
      tag: 'System',
      responses: { 200: 'OpenAPI 3.1.' },
    },
    async () => ({ status: 200, body: document() }),
  );
  const own = [live, ready, openapi, docs, docsScalar, docsStart];
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
    summary: 'The documentation page',
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

/** What the documentation page loads, which is no part of the interface. */
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

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

async function postgresState(services: Services): Promise<'reachable' | 'read-only' | 'unreachable'> {
  let isReadOnly = false;
  const writes = requireWrites(services.database.reader).then(
    () => true,
    (error) => {
      isReadOnly = isReadOnlyServer(error);
      return false;
    },
  );
  if (await within(writes)) return 'reachable';
  return isReadOnly ? 'read-only' : 'unreachable';
}
