import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ERROR_STATUS } from '../../../api/http/errors.ts';
import { parseJson } from '../../../api/http/requests/json.ts';
import { check } from '../../../api/http/requests/problems.ts';
import { parseBody } from '../../../api/http/requests/request.ts';
import type { Contract, Route } from '../../../api/http/route.ts';
import { ROLES } from '../../../domain/machine-users/roles.ts';
import type { ApiResponse, Json, TestApi } from '../api.ts';
import { inlinedPaths } from './openapi.ts';

/** A path or required query parameter other than an id: the first value that its schema accepts. */
const CANDIDATES = [
  'GB',
  'GBP',
  'external',
  'internal',
  'faster-payments',
  'someone@example.com',
  'sandbox-bank',
  '1',
  'csv',
  '2026-01-01T00:00:00.000',
];

/** Routes without any resource id in path, body or query, and why they can reject none. */
export const WITHOUT_IDS: Readonly<Record<string, string>> = {
  'POST /clients': 'a client refers to no other resource',
  'GET /clients': 'its filters are fields of the client itself',
  'GET /users': 'its filters are fields of the user itself',
  'POST /user-authentications': 'an unknown address is rejected like a wrong password',
  'GET /users/{userEmail}/invitations': 'an address is no id: one that was never invited has no invitations',
  'GET /beneficiary-bank-account-requirements': 'rules by currency and country',
  'GET /transfer-reasons/{country}': 'reasons by country',
  'GET /audit-entries': 'actors, and ids of any kind: a day is one, too',
  'GET /audit-entries/export': 'as the list',
  'GET /reconciliations': 'days, by provider and currency',
  'POST /third-party-providers': 'a third-party provider refers to no other resource',
  'GET /third-party-providers': 'its filter is the status',
  'POST /machine-users': 'a machine user refers to no other resource',
  'GET /machine-users': 'its filters are fields of the machine user itself',
  'POST /webhook-subscriptions': 'a subscription names modules and types',
  'GET /webhook-subscriptions': 'its filter is the status',
  'GET /events': 'positions, modules and types',
};

export function nameOf({ contract }: Route): string {
  return `${contract.method} ${contract.path}`;
}

/** Guarantees of every route: run once for each. */
export function routeSuite(route: Route, api: () => TestApi): void {
  const { contract } = route;
  const { method } = contract;
  const roles = contract.roles ?? ROLES;
  const [role = 'admin'] = roles;
  const bodies = exampleBodies(route);
  const [firstBody] = bodies;
  const call = (
    path: string,
    body: unknown = firstBody,
    as: (typeof ROLES)[number] | null = role,
  ): Promise<ApiResponse> =>
    api().call(method, path, method === 'GET' || method === 'DELETE' ? undefined : body, { as });

  describe(`${method} ${contract.path}`, () => {
    test('is 401 without a token and 403 for every other role', async () => {
      expect((await call(examplePath(route), firstBody, null)).status).toBe(401);
      for (const other of ROLES.filter((candidate) => !roles.includes(candidate))) {
        expect((await call(examplePath(route), firstBody, other)).status).toBe(403);
      }
    });

    test('has examples that its own schemas accept', () => {
      for (const body of bodies) expect(() => parseBody(contract, JSON.stringify(body), new Date())).not.toThrow();
      expect(bodies).toHaveLength(Object.keys(contract.workflows ?? {}).length);
      const shown = check(contract.response, parseJson(JSON.stringify(contract.examples.response)), ['data']);
      expect(shown.problems).toEqual([]);
      if (contract.dryRun === undefined) return;
      const planned = check(contract.dryRun, parseJson(JSON.stringify(contract.examples.dryRun)), ['data']);
      expect(planned.problems).toEqual([]);
    });

    test('answers foreign ids with 404 and malformed ones with 400, or is listed as a route without ids', async () => {
      const ids = idNames(contract.params);
      const filters = idNames(contract.query);
      const naming = bodies.filter((body) => UUID.test(JSON.stringify(body.data)));
      const named = ids.length + filters.length + naming.length;
      expect(named === 0).toBe(Object.hasOwn(WITHOUT_IDS, nameOf(route)));

      for (const name of ids) {
        const foreign = await call(`${examplePath(route)}?${requiredQuery(contract).join('&')}`);
        expect([foreign.status, foreign.body.code]).toEqual([404, 'common.coding.internal.record_not_found']);
        for (const value of ['17', '%00', "'", 'null', `${randomUUID()}x`]) {
          const { status, body } = await call(examplePath(route, { [name]: value }));
          expect(status).toBe(400);
          expect(body.messageParameters.slice(0, 2)).toEqual(['path', name]);
        }
      }
      for (const name of filters) expect((await call(`${examplePath(route)}?${name}=17`)).status).toBe(400);
      // The service rejects a foreign id in the path before it looks up anything else.
      if (ids.length > 0) return;
      for (const body of naming) {
        const { status, body: error, text } = rejectionIn(await call(examplePath(route), body));
        expect([status, error.code], text).toEqual([404, 'common.coding.internal.record_not_found']);
        expect(JSON.stringify(body.data)).toContain(error.messageParameters[2]);
      }
      for (const name of filters) {
        const found = await call(`${examplePath(route)}?${name}=${randomUUID()}`);
        expect([found.status, found.body.metadata.page.totalElements], found.text).toEqual([200, 0]);
      }
    });

    test('rejects unknown and repeated parameters, and survives odd values of the known ones', async () => {
      const path = examplePath(route);
      const unknown = await call(`${path}?data.nonsense=1`);
      expect(unknown.status).toBe(400);
      expect(unknown.body.code).toBe('common.validation.field_unexpected');
      for (const name of Object.keys(contract.query ?? {})) {
        const query = encodeURIComponent(name);
        expect((await call(`${path}?${query}=a&${query}=b`)).status).toBe(400);
        for (const value of [
          '',
          '%00',
          "'%22%5C%25_",
          '%F0%9F%92%B6',
          '-1',
          '1e999',
          randomUUID(),
          'x'.repeat(2_000),
        ]) {
          expect((await call(`${path}?${query}=${value}`)).status).toBeLessThan(500);
        }
      }
    });

    test.runIf(bodies.length > 0)('rejects a connect of more than 4 kB', async () => {
      const words = (length: number) => ({ ...firstBody, connect: { words: 'x'.repeat(length) } });
      const rejected = await call(examplePath(route), words(4_096));
      expect(rejected.status).toBe(400);
      if (Object.values(contract.workflows ?? {}).some(({ connect }) => connect !== undefined)) return;
      expect(rejected.body.code).toBe('common.validation.limit_exceeded');
      expect(rejected.body.messageParameters).toEqual(['body', 'connect', '']);
      // Of maximum length, so that only the ids in the example are wrong.
      const taken = await call(examplePath(route), words(4_096 - '{"words":""}'.length));
      expect([taken.body, ...(taken.body.errors ?? [])].map(({ code }) => code)).not.toContain(rejected.body.code);
    });

    test.runIf(bodies.length > 0)('names every wrong type, missing field and unknown field with 400', async () => {
      for (const body of bodies) {
        const schema = requestSchema(route, body.workflow.code);
        const mutations = mutationsOf(schema, body);
        expect(mutations.length).toBeGreaterThan(10);
        for (const mutation of mutations) {
          const answer = rejectionIn(await call(examplePath(route), mutation.body));
          const seen = `${mutation.path} ${mutation.kind}: ${answer.status} ${answer.text}`;
          expect(answer.status, seen).toBe(400);
          const problems = [answer.body, ...(answer.body.errors ?? [])];
          const last = mutation.path.split('.').at(-1) ?? '';
          // An empty container is reported by its missing fields.
          const named = problems.some(
            ({ messageParameters: [entity, field] }) =>
              `.${field}`.endsWith(`.${last}`) || (mutation.path === 'connect' && entity === 'connect'),
          );
          expect(named, seen).toBe(true);
        }
      }
    });
  });
}

/** The rejection of a batch's first item that is rejected on its own, as the answer to that item as a single request; else the answer itself. */
function rejectionIn(answer: ApiResponse): ApiResponse {
  const results: readonly Json[] = answer.body?.data?.results ?? [];
  const rejected = results.find(({ result }) => result === 'rejected');
  if (rejected === undefined) return answer;
  return { ...answer, status: ERROR_STATUS[rejected.error.code as keyof typeof ERROR_STATUS], body: rejected.error };
}

export function exampleBodies({ contract }: Route): Json[] {
  return Object.entries(contract.examples.requests ?? {}).map(([code, example]) => ({
    workflow: { code, ...example?.workflow },
    data: example?.data,
    ...(example?.connect === undefined ? {} : { connect: example.connect }),
  }));
}

/** The path with unknown ids, unless `given` has others. */
function examplePath({ contract }: Route, given: Readonly<Record<string, string>> = {}): string {
  return contract.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (given[name] !== undefined) return given[name];
    const schema = contract.params?.[name];
    if (schema === undefined) throw new Error(`${contract.path} declares no parameter ${name}`);
    const value = [randomUUID(), ...CANDIDATES].find((candidate) => check(schema, candidate, []).problems.length === 0);
    if (value === undefined) throw new Error(`${contract.path}: no candidate for ${name} in route-suite.ts`);
    return value;
  });
}

/** A value for each required query parameter. */
export function requiredQuery({ query = {} }: Pick<Contract, 'query'>): string[] {
  return Object.entries(query).flatMap(([name, schema]) => {
    if (check(schema, undefined, []).problems.length === 0) return [];
    const value = [randomUUID(), ...CANDIDATES].find((candidate) => check(schema, candidate, []).problems.length === 0);
    if (value === undefined) throw new Error(`no candidate for ${name} in route-suite.ts`);
    return [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`];
  });
}

const UUID = /"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"/;

/** The parameters that are ids. */
function idNames(parameters: Contract['params'] | Contract['query'] = {}): string[] {
  const isId = (schema: Parameters<typeof check>[0]) =>
    check(schema, randomUUID(), []).problems.length === 0 && check(schema, 'no-id', []).problems.length > 0;
  return Object.entries(parameters).flatMap(([name, schema]) => (isId(schema) ? [name] : []));
}

/** The request's JSON Schema from the public document. */
function requestSchema(route: Route, code: string): Json {
  const operation = inlinedPaths([route])[route.contract.path][route.contract.method.toLowerCase()];
  const schema = operation.requestBody.content['application/json'].schema;
  return schema.oneOf?.find((variant: Json) => variant.properties.workflow.properties.code.const === code) ?? schema;
}

interface Mutation {
  readonly kind: 'missing' | 'wrong type' | 'unknown';
  readonly path: string;
  readonly body: Json;
}

/** Every field of the example in its schema: omitted if required, of a wrong type, and with an unknown neighbour. */
function mutationsOf(schema: Json, body: Json, path: readonly string[] = [], root: Json = body): Mutation[] {
  const own = plain(schema);
  if (own.type === 'array' && Array.isArray(body)) {
    return body.length === 0 ? [] : mutationsOf(own.items, body[0], [...path, '0'], root);
  }
  if (own.properties === undefined || typeof body !== 'object' || body === null) return [];
  const mutations: Mutation[] = [];
  const add = (kind: Mutation['kind'], name: string, change: (parent: Json) => void) => {
    const changed = structuredClone(root);
    change(path.reduce((parent, key) => parent[key], changed));
    mutations.push({ kind, path: [...path, name].join('.'), body: changed });
  };
  if (own.additionalProperties === false)
    add('unknown', 'stranger', (parent) => Object.assign(parent, { stranger: 1 }));
  for (const [name, property] of Object.entries<Json>(own.properties)) {
    if (own.required?.includes(name)) {
      add('missing', name, (parent) => {
        delete parent[name];
      });
      add('missing', name, (parent) => Object.assign(parent, { [name]: null }));
    }
    for (const wrong of wrongValues(plain(property)))
      add('wrong type', name, (parent) => Object.assign(parent, { [name]: wrong }));
    if (body[name] !== undefined) mutations.push(...mutationsOf(property, body[name], [...path, name], root));
  }
  return mutations;
}

// `anyOf: [x, null]`, or `type: [x, null]`, is how the document says "may be null".
function plain(schema: Json): Json {
  if (Array.isArray(schema?.type)) return { ...schema, type: schema.type[0] };
  return schema?.anyOf?.length === 2 && schema.anyOf[1].type === 'null' ? schema.anyOf[0] : schema;
}

function wrongValues(schema: Json): unknown[] {
  switch (schema.type) {
    case 'string':
      return [12_345, true, ['a'], { a: 1 }];
    case 'number':
    case 'integer':
      return ['1', true, [1], { a: 1 }];
    case 'boolean':
      return ['true', 1, {}];
    case 'array':
      return ['a', 1, { a: 1 }];
    case 'object':
      return ['a', 1, [1]];
    default:
      return [];
  }
}
