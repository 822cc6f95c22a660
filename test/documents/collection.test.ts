import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Collection, CollectionItem } from '../../api/documentation/collection.ts';
import { ROUTES } from '../../api/routes.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { inlinedPaths } from '../harness/http/openapi.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

let database: TestDatabase;
let api: TestApi;
let collection: Collection;
let items: readonly CollectionItem[];

beforeAll(async () => {
  database = await createTestDatabase('collection');
  api = await startApi(database);
  collection = (await api.call('GET', '/docs/collection.json', undefined, { as: null })).body;
  items = collection.item.flatMap(({ item }) => item);
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

/** `POST /clients/{clientId}/relations`, as the document names it. */
function operationOf({ request: { method, url } }: CollectionItem): string {
  return `${method} /${url.path.map((part) => part.replace(/^:(.+)$/, '{$1}')).join('/')}`;
}

/** As a program that imports the collection would send it. */
function send({ request }: CollectionItem): Promise<Response> {
  const values: Readonly<Record<string, string>> = {
    baseUrl: api.url,
    token: api.users.operator.token,
    $guid: crypto.randomUUID(),
  };
  const filled = (text: string) => text.replaceAll(/\{\{(.+?)\}\}/g, (_, name: string) => values[name] ?? `no ${name}`);
  const [bearer] = collection.auth.bearer as { value: string }[];
  const headers = Object.fromEntries(request.header.map(({ key, value }) => [key, filled(value)]));
  return fetch(filled(request.url.raw), {
    method: request.method,
    headers: { ...headers, ...(request.auth ? {} : { authorization: `Bearer ${filled(bearer?.value ?? '')}` }) },
    ...(request.body === undefined ? {} : { body: request.body.raw }),
  });
}

test('it has every operation and workflow code of the document, and no other', async () => {
  const { body } = await api.call('GET', '/openapi.json', undefined, { as: null });
  const operations = Object.entries<Json>(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect([...new Set(items.map(operationOf))].sort()).toEqual(operations.sort());
  const codes = items.flatMap((item) =>
    item.request.body === undefined ? [] : [`${operationOf(item)} ${JSON.parse(item.request.body.raw).workflow.code}`],
  );
  expect(new Set(codes).size).toBe(codes.length);
  expect(codes).toContain('POST /clients migration');
  expect(collection.variable.map(({ key }) => key)).toEqual(['baseUrl', 'token']);
});

test('each of its requests has a key where the route takes one, and every parameter that it wants', () => {
  const documented: Json = inlinedPaths(ROUTES);
  const wanted = (item: CollectionItem) => {
    const [method = '', path = ''] = operationOf(item).split(' ');
    const { parameters = [] }: Json = documented[path]?.[method.toLowerCase()] ?? {};
    const hasKey = parameters.some(({ name }: Json) => name === 'Idempotency-Key');
    const query = parameters.filter((parameter: Json) => parameter.in === 'query' && parameter.required);
    return { hasKey, query: query.map(({ name }: Json) => name) };
  };
  const given = ({ request }: CollectionItem) => ({
    hasKey: request.header.some(({ key }) => key === 'Idempotency-Key'),
    query: request.url.query.filter(({ disabled }) => !disabled).map(({ key }) => key),
  });
  const named = (of: typeof given) => items.map((item) => [operationOf(item), of(item)]);
  expect(named(given)).toEqual(named(wanted));
});

test('its lists answer, and its examples create what they show', async () => {
  const lists = items.filter(({ request }) => request.method === 'GET' && request.url.variable.length === 0);
  const answers = await Promise.all(lists.map(async (item) => [operationOf(item), (await send(item)).status] as const));
  expect(answers.filter(([, status]) => status === 200).length).toBeGreaterThan(12);
  // What only administrators read, and what needs a parameter.
  expect(Object.fromEntries(answers.filter(([, status]) => status !== 200))).toEqual({
    'GET /audit-entries': 403,
    'GET /audit-entries/export': 403,
    'GET /beneficiary-bank-account-requirements': 400,
    'GET /machine-users': 403,
    'GET /third-party-providers': 403,
    'GET /users': 400,
    'GET /webhook-subscriptions': 403,
  });
  const create = items.find(({ name }) => name === 'Create a client (direct)');
  if (create === undefined) throw new Error('there is no request that creates a client');
  const created = await send(create);
  expect(created.status, await created.clone().text()).toBe(201);
  const { data }: Json = await created.json();
  expect(data.client.id).toMatch(/^[0-9a-f-]{36}$/);
});
