import { expect, test } from 'vitest';
import { type OpenApiDocument, type Operation, openApiDocument } from '../../api/frame/openapi/openapi.ts';
import { ROUTES } from '../../api/routes.ts';

const document: OpenApiDocument = openApiDocument(ROUTES, 'test');

type Property = readonly [name: string, schema: Readonly<Record<string, unknown>>, at: string];

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every property of every schema in the document, except in examples, with its place. */
function propertiesIn(value: unknown, at: string): Property[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => propertiesIn(item, `${at}/${index}`));
  if (!isObject(value)) return [];
  const own =
    isObject(value.properties) && ('type' in value || 'allOf' in value) ? Object.entries(value.properties) : [];
  return [
    ...own.flatMap(([name, schema]): Property[] => (isObject(schema) ? [[name, schema, `${at}/${name}`]] : [])),
    ...Object.entries(value).flatMap(([key, inner]) => (key === 'examples' ? [] : propertiesIn(inner, `${at}/${key}`))),
  ];
}

function operation(method: string, path: string): Operation {
  const found = document.paths[path]?.[method];
  if (found === undefined) throw new Error(`${method} ${path} is not in the document`);
  return found;
}

test('the document names metadata.include and metadata.expand wherever a route knows names for them, and nowhere else', () => {
  for (const { kind, contract } of ROUTES) {
    if (kind !== 'route') continue;
    const { parameters = [] } = operation(contract.method.toLowerCase(), contract.path);
    for (const [parameter, known] of [
      ['metadata.include', contract.include],
      ['metadata.expand', contract.expand],
    ] as const) {
      const described = parameters.find(({ name }) => name === parameter)?.description ?? '';
      for (const name of known ?? []) expect(described, `${contract.path} ${parameter}`).toContain(name);
      expect(described === '', `${contract.path} ${parameter}`).toBe(known === undefined);
    }
  }
  const account = operation('get', '/accounts/{accountId}').parameters ?? [];
  expect(account.find(({ name }) => name === 'metadata.expand')?.description).toContain('data.account.clientId');
});

test('the document marks identificationNumbers as deprecated wherever it stands', () => {
  const found = propertiesIn(document, '').filter(([name]) => name === 'identificationNumbers');
  expect(found.length).toBeGreaterThan(5);
  expect(found.filter(([, schema]) => schema.deprecated !== true).map(([, , at]) => at)).toEqual([]);
});
