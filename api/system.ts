import { readClock } from '../db/frame/clock.ts';
import { docsPage } from './frame/openapi/docs-page.ts';
import { openApiDocument } from './frame/openapi/openapi.ts';
import { type OpenRoute, openRoute, type Route } from './frame/route.ts';
import type { Services } from './frame/services.ts';
import { within } from './frame/within.ts';

/** Liveness and readiness. */
const live = openRoute(
  { method: 'GET', path: '/health/live', summary: 'The process runs', tag: 'System', responses: { 200: 'It does.' } },
  async () => ({ status: 200, body: '{"status":"live"}' }),
);

const ready = openRoute(
  {
    method: 'GET',
    path: '/health/ready',
    summary: 'The service can answer',
    description: 'Postgres decides; Temporal is shown for information, because no request waits for it.',
    tag: 'System',
    responses: { 200: 'Postgres answers.', 503: 'Postgres does not.' },
  },
  async ({ services }) => {
    const [postgres, temporal] = await Promise.all([
      isPostgresReachable(services),
      within(services.isTemporalReachable()),
    ]);
    const body = JSON.stringify({
      status: postgres ? 'ready' : 'unavailable',
      postgres: postgres ? 'reachable' : 'unreachable',
      temporal: temporal ? 'reachable' : 'unreachable',
    });
    return postgres ? { status: 200, body } : { status: 503, body, headers: { 'retry-after': '2' } };
  },
);

/** Health and the documents about the interface: open without a token, outside the envelope. */
export function systemRoutes(routes: readonly (Route | OpenRoute)[], version: string): readonly OpenRoute[] {
  const openapi = openRoute(
    {
      method: 'GET',
      path: '/openapi.json',
      summary: 'This document',
      tag: 'System',
      responses: { 200: 'OpenAPI 3.1.' },
    },
    async () => ({ status: 200, body: documents().json }),
  );

  const docs = openRoute(
    { method: 'GET', path: '/docs', summary: 'The documentation page', tag: 'System', responses: { 200: 'As HTML.' } },
    async () => ({
      status: 200,
      body: documents().page,
      contentType: 'text/html; charset=utf-8',
      headers: { 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'" },
    }),
  );

  const own = [live, ready, openapi, docs];
  const documents = once(() => {
    const document = openApiDocument([...routes, ...own], version);
    return { json: JSON.stringify(document), page: docsPage(document) };
  });
  return own;
}

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

async function isPostgresReachable(services: Services): Promise<boolean> {
  return within(readClock(services.database.reader).then(() => true));
}
