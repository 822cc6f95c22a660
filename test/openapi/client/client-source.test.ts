import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ROUTES } from '../../../api/routes.ts';
import { documentOf } from '../../../api/system.ts';
import type { Json } from '../../harness/api.ts';
import { referred } from '../../harness/http/openapi.ts';
import { clientOperations, contractSource, operationsSource } from './client-operations.ts';
import { clientTypes, dateTimesSource, webhooksSource } from './client-types.ts';

const GENERATED = fileURLToPath(new URL('../../../client/generated/', import.meta.url));
const document = documentOf(ROUTES, 'test');

test.each([
  ['types.ts', clientTypes],
  ['date-times.ts', dateTimesSource],
  ['operations.ts', operationsSource],
  ['contract.ts', contractSource],
  ['webhooks.ts', webhooksSource],
])('client/generated/%s is that of the OpenAPI document', async (name, sourceOf) => {
  const source = await sourceOf(document);
  if (process.env.UPDATE_DOCUMENTS === '1') writeFileSync(`${GENERATED}${name}`, source);
  expect(readFileSync(`${GENERATED}${name}`, 'utf8')).toBe(source);
});

test('every list of the document is one of the client, and goes through an array of its answer', () => {
  const resolved = (value: Json): Json => (value.$ref === undefined ? value : referred(document, value.$ref));
  const paged = clientOperations(document).filter(({ operation }) =>
    operation.parameters.some((parameter: Json) => resolved(parameter).name === 'metadata.page.number'),
  );
  const source = operationsSource(document);
  for (const { id, answer } of paged) {
    const field = new RegExp(`sendList\\(\\{ operation: '${id}', .* resource: '(\\w+)' \\}`).exec(source)?.[1];
    const data = resolved(resolved(answer).properties.data).properties;
    expect(data[field ?? ''], `${id}: ${field}`).toMatchObject({ type: 'array' });
  }
  expect(source.match(/ sendList\(/g)).toHaveLength(paged.length);
});

test('the client has every operation but those of browsers, banks, probes and readers of documents', () => {
  const known = new Set(clientOperations(document).map(({ id }) => id));
  const all = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  expect(all.flatMap(({ operationId }) => (known.has(operationId) ? [] : [operationId])).sort()).toEqual([
    'exchangeConsentCode',
    'getDocumentation',
    'getKeySet',
    'getLiveness',
    'getOpenApiDocument',
    'getReadiness',
    'getServiceAddresses',
    'receiveProviderCallback',
    'showSignUp',
    'submitSignUp',
  ]);
});
