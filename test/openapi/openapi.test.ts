import { describe, expect, test } from 'vitest';
import { type Route, route } from '../../api/http/route.ts';
import { named } from '../../api/http/schemas/named.ts';
import { fields, text } from '../../api/http/schemas/schemas.ts';
import { openApiDocument } from '../../api/openapi/openapi.ts';
import { ROUTES } from '../../api/routes.ts';
import { documentOf } from '../../api/system.ts';
import type { Json } from '../harness/api.ts';
import { inlinedPaths, referred } from '../harness/http/openapi.ts';

const document: Json = documentOf(ROUTES, 'test');
const inlined = inlinedPaths(ROUTES);

/** A third of what an operation weighed when every schema stood inline. */
const OPERATION_BYTES_MAX = 3_720;

/** A webhook has an entry, and the schemas of its event next to those of its resource. */
const WEBHOOK_BYTES_MAX = 1_600;

type Found = readonly [at: string, schema: Json];

/** Every JSON Schema in the value, except in examples, with its path. */
function schemasIn(value: Json, at: string): Found[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries<Json>(value).filter(([key]) => key !== 'examples');
  return [[at, value], ...inner.flatMap(([key, item]) => schemasIn(item, `${at}/${key}`))];
}

/** Objects with fields, and alternatives that are not just something or null. */
function needsName(schema: Json): boolean {
  const alternatives: Json[] = schema.oneOf ?? schema.anyOf ?? [];
  // A list of fields may have a field called `properties`.
  const isObject = typeof schema.properties === 'object' && typeof schema.properties.type !== 'string';
  return Array.isArray(alternatives) && (isObject || alternatives.filter(({ type }) => type !== 'null').length > 1);
}

/** The paths of objects without a name. */
function unnamedIn({ paths, components }: Json): string[] {
  const nested = Object.entries<Json>(components.schemas).flatMap(([name, schema]) =>
    Object.entries<Json>(schema).flatMap(([keyword, inner]) =>
      keyword === 'examples' ? [] : schemasIn(inner, `${name}/${keyword}`),
    ),
  );
  const elsewhere = [...schemasIn(paths, ''), ...schemasIn(components.responses, 'responses')];
  return [...nested, ...elsewhere].filter(([, schema]) => needsName(schema)).map(([at]) => at);
}

const operations = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
  Object.entries<Json>(methods).map(([method, operation]) => ({ at: `${method} ${path}`, operation })),
);

test('every object that a request or an answer contains is a component with a name', () => {
  expect(unnamedIn(document)).toEqual([]);
  expect(Object.keys(document.components.schemas)).toEqual(
    expect.arrayContaining(['OutgoingTransfer', 'CreateOutgoingTransferRequest', 'OutgoingTransferResponse', 'Error']),
  );
});

describe('a route that joins', () => {
  const joining = (response: Parameters<typeof fields>[0]) =>
    route(
      {
        method: 'GET',
        path: '/strangers',
        operationId: 'listStrangers',
        summary: 'UnauthenticatedConnections',
        tag: 'System',
        response: fields(response),
        examples: { response: {} },
      },
      async () => ({ data: {} }),
    );

  test('is found where it shows an object without a name', () => {
    const nameless = openApiDocument([joining({ stranger: fields({ name: text(10) }) })], 'test');
    expect(unnamedIn(nameless)).toEqual(['ListStrangersResponseData/properties/stranger']);
  });

  test('cannot give its object a name that another has', () => {
    const taken = joining({ client: named('Client', fields({ name: text(10) })) });
    expect(() => openApiDocument([...ROUTES, taken], 'test')).toThrow('are called Client');
  });
});

test('every reference leads somewhere, and every component is referred to', () => {
  const references = schemasIn(document, '').flatMap(([, { $ref }]) => (typeof $ref === 'string' ? [$ref] : []));
  for (const reference of references) referred(document, reference);
  const mapped = schemasIn(document, '').flatMap(([, { mapping }]) => (mapping ? Object.values<string>(mapping) : []));
  for (const reference of mapped) referred(document, reference);
  const { securitySchemes, ...parts } = document.components;
  const components = Object.entries<Json>(parts).flatMap(([part, names]) =>
    Object.keys(names).map((name) => `#/components/${part}/${name}`),
  );
  expect(components.filter((component) => !references.includes(component))).toEqual([]);
});

test('every constant and every enumeration names its type', () => {
  const valued = schemasIn(document, '').filter(([, schema]) => 'const' in schema || Array.isArray(schema.enum));
  expect(valued.length).toBeGreaterThan(200);
  expect(valued.filter(([, { type }]) => type === undefined).map(([at]) => at)).toEqual([]);
});

test('every body that an operation takes has a schema', () => {
  const bodies = operations.flatMap(({ at, operation }) =>
    Object.values<Json>(operation.requestBody?.content ?? {}).map(({ schema }) => ({ at, schema })),
  );
  expect(bodies.length).toBeGreaterThan(40);
  expect(bodies.filter(({ schema }) => schema === undefined).map(({ at }) => at)).toEqual([]);
});

test('a discriminator, or the workflow code, distinguishes the alternatives of an object', () => {
  const unions = Object.entries<Json>(document.components.schemas).filter(([, { oneOf }]) => oneOf !== undefined);
  expect(unions.length).toBeGreaterThan(8);
  for (const [name, { oneOf, discriminator }] of unions) {
    const values = oneOf.map(({ $ref }: Json) => {
      const { properties } = referred(document, $ref);
      if (discriminator !== undefined) return properties[discriminator.propertyName].const;
      return referred(document, properties.workflow.$ref).properties.code.const;
    });
    expect(
      values.every((value: unknown) => typeof value === 'string'),
      name,
    ).toBe(true);
    expect(new Set(values).size, name).toBe(oneOf.length);
    const mapping = oneOf.map(({ $ref }: Json, index: number) => [values[index], $ref]);
    if (discriminator !== undefined) expect(discriminator.mapping, name).toEqual(Object.fromEntries(mapping));
  }
});

test('module and type, which are its name, distinguish a webhook’s event from all others', () => {
  const names = Object.entries<Json>(document.webhooks).map(([name, { post }]) => {
    const event = referred(document, post.requestBody.content['application/json'].schema.$ref);
    const { module, type } = referred(document, event.properties.webhook.$ref).properties;
    return [name, `${module.const}.${type.const}`];
  });
  expect(names.length).toBeGreaterThan(30);
  expect(names.filter(([name, own]) => name !== own)).toEqual([]);
  const ids = [
    ...operations.map(({ operation }) => operation),
    ...Object.values<Json>(document.webhooks).map(({ post }) => post),
  ];
  expect(new Set(ids.map(({ operationId }) => operationId)).size).toBe(ids.length);
});

test('operations are unique names of a verb and a resource, in a group that is described', () => {
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => !/^[a-z]+([A-Z][a-z]+)+$/.test(id))).toEqual([]);
  const groups = document.tags.map(({ name, description }: Json) => (description.length > 20 ? name : `${name}?`));
  expect([...new Set(operations.flatMap(({ operation }) => operation.tags))].sort()).toEqual(groups.sort());
});

test('the document stays small: it has every shared part once', () => {
  const bytes = Buffer.byteLength(JSON.stringify(document));
  const webhooks = Object.keys(document.webhooks).length;
  expect(bytes).toBeLessThan(operations.length * OPERATION_BYTES_MAX + webhooks * WEBHOOK_BYTES_MAX);
});

test('each operation lists every code that its contract names, under its status', () => {
  for (const { contract } of ROUTES) {
    if (!('errors' in contract)) continue;
    const { responses } = inlined[contract.path][contract.method.toLowerCase()];
    const listed = Object.values<Json>(responses).map(({ description }) => description);
    for (const code of contract.errors ?? [])
      expect(listed.join(), `${contract.method} ${contract.path}`).toContain(`\`${code}\``);
  }
});

test('the document names metadata.include and metadata.expand wherever a route knows names for them, and nowhere else', () => {
  for (const { kind, contract } of ROUTES) {
    if (kind !== 'route') continue;
    const { parameters } = inlined[contract.path][contract.method.toLowerCase()];
    for (const [parameter, known] of [
      ['metadata.include', contract.include],
      ['metadata.expand', contract.expand],
    ] as const) {
      const described = parameters.find(({ name }: Json) => name === parameter)?.description ?? '';
      for (const name of known ?? []) expect(described, `${contract.path} ${parameter}`).toContain(name);
      expect(described === '', `${contract.path} ${parameter}`).toBe(known === undefined);
    }
  }
  const account = inlined['/accounts/{accountId}'].get.parameters;
  expect(account.find(({ name }: Json) => name === 'metadata.expand')?.description).toContain('data.account.clientId');
});

test('the document marks identificationNumbers as deprecated wherever it occurs', () => {
  const found = schemasIn(inlined, '').filter(([at]) => at.endsWith('/properties/identificationNumbers'));
  expect(found.length).toBeGreaterThan(5);
  expect(found.filter(([, schema]) => schema.deprecated !== true).map(([at]) => at)).toEqual([]);
});

test('exactly the deprecated operations are marked so, with the headers that their answers have', () => {
  const routes = ROUTES.filter((one): one is Route => one.kind === 'route');
  expect(routes.filter(({ contract }) => contract.deprecated !== undefined).length).toBeGreaterThan(1);
  for (const { contract } of routes) {
    const operation = inlined[contract.path][contract.method.toLowerCase()];
    const { headers } = operation.responses[contract.status ?? (contract.method === 'POST' ? 201 : 200)];
    const expected = contract.deprecated === undefined ? [] : ['Deprecation', 'Link'];
    if (contract.deprecated?.sunset !== undefined) expected.push('Sunset');
    expect(operation.deprecated ?? false, contract.operationId).toBe(expected.length > 0);
    const found = ['Deprecation', 'Link', 'Sunset'].filter((name) => headers[name] !== undefined);
    expect(found, contract.operationId).toEqual(expected);
  }
});
