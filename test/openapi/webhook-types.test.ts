import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ROUTES } from '../../api/routes.ts';
import { documentOf } from '../../api/system.ts';
import { webhookTypes } from './webhook-types.ts';

const PATH = fileURLToPath(new URL('../../sdk/webhook-events.ts', import.meta.url));

test('the types that receivers copy are those of the OpenAPI document', () => {
  const types = webhookTypes(documentOf(ROUTES, 'test'));
  if (process.env.UPDATE_DOCUMENTS === '1') writeFileSync(PATH, types);
  expect(readFileSync(PATH, 'utf8')).toBe(types);
});
