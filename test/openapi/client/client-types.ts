import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateSource } from 'oazapfts';
import type { Json } from '../../harness/api.ts';
import { nameOf } from './client-names.ts';

export const HEADER = `// Written from the OpenAPI document by
// UPDATE_DOCUMENTS=1 npm test -- test/openapi/client/client-source.test.ts
`;

/** The file client/generated/types.ts: a type for each schema, in which a date-time is a \`Date\`. */
export async function clientTypes(document: Json): Promise<string> {
  const source = await generated(withDates(withWebhooks(document)));
  const functions = source.indexOf('export function ');
  if (source.lastIndexOf('export type ') > functions) throw new Error('The generator mixes types and functions');
  const types = source.slice(source.indexOf('export type '), source.lastIndexOf('};\n', functions) + 3);
  return `${HEADER}\n${types.replace('export type DateTime = string;', 'export type DateTime = Date;')}`;
}

async function generated(document: Json): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'client-types-'));
  try {
    const file = join(directory, 'openapi.json');
    writeFileSync(file, JSON.stringify(document));
    return await generateSource(file, { useUnknown: true });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The generator reads paths only: each webhook becomes one. */
function withWebhooks(document: Json): Json {
  const sent = Object.entries<Json>(document.webhooks).map(([name, { post }]) => [
    `/webhooks/${name}`,
    { post: { ...post, operationId: name.replaceAll(/[.-]/g, '_') } },
  ]);
  return { ...document, paths: { ...document.paths, ...Object.fromEntries(sent) } };
}

/** Every field that holds a date-time refers to the schema `DateTime`. */
function withDates(document: Json): Json {
  const names = dateTimeFields(document);
  const changed = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(changed);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries<Json>(value).map(([key, inner]) => [
        key,
        key === 'properties' ? withDateTimes(inner) : changed(inner),
      ]),
    );
  };
  const withDateTimes = (properties: Json): Json =>
    Object.fromEntries(
      Object.entries<Json>(properties).map(([name, schema]) => [
        name,
        names.includes(name) && hasDateTimePattern(schema) ? dateTimeSchema(schema) : changed(schema),
      ]),
    );
  const { schemas } = document.components;
  const { DateTime, ...others } = schemas;
  return { ...document, components: { ...document.components, schemas: { DateTime, ...changed(others) } } };
}

function dateTimeSchema({ type }: Json): Json {
  const $ref = '#/components/schemas/DateTime';
  return Array.isArray(type) ? { anyOf: [{ $ref }, { type: 'null' }] } : { $ref };
}

/** The file client/generated/webhooks.ts. */
export function webhooksSource(document: Json): string {
  const events = Object.entries<Json>(document.webhooks).map(([name, { post }]) => ({
    name,
    type: nameOf(post.requestBody.content['application/json'].schema.$ref),
  }));
  return [
    HEADER,
    "import type * as Types from './types.ts';",
    '',
    '/** What each webhook carries, by `<module>.<type>`. */',
    'export interface WebhookEvents {',
    ...events.map(({ name, type }) => `  '${name}': Types.${type};`),
    '}',
    '',
    'export const WEBHOOK_NAMES: readonly (keyof WebhookEvents)[] = [',
    ...events.map(({ name }) => `  '${name}',`),
    '];',
    '',
  ].join('\n');
}

/** The file client/generated/date-times.ts. */
export function dateTimesSource(document: Json): string {
  return [
    HEADER,
    '/** The fields that hold date-times. */',
    'export const DATE_TIME_FIELDS: ReadonlySet<string> = new Set([',
    ...dateTimeFields(document).map((name) => `  '${name}',`),
    ']);',
    '',
  ].join('\n');
}

/** The names of all fields that hold date-times. No field of such a name holds another text. */
function dateTimeFields(document: Json): string[] {
  const found = new Map<string, Set<boolean>>();
  const search = (value: Json): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries<Json>(value)) {
      if (key !== 'examples') search(inner);
      if (key !== 'properties') continue;
      for (const [name, schema] of Object.entries<Json>(inner)) {
        if (schema.type === 'null') continue;
        found.set(name, (found.get(name) ?? new Set()).add(isDateTime(schema)));
      }
    }
  };
  search(document.components.schemas);
  const mixed = [...found].filter(([, kinds]) => kinds.size > 1).map(([name]) => name);
  if (mixed.length > 0) throw new Error(`Some fields of these names hold date-times, others do not: ${mixed}`);
  return [...found].flatMap(([name, kinds]) => (kinds.has(true) ? [name] : [])).sort();
}

function isDateTime(schema: Json): boolean {
  if (schema.$ref !== undefined) return schema.$ref.endsWith('/DateTime');
  if (schema.anyOf !== undefined) return schema.anyOf.some(isDateTime);
  return hasDateTimePattern(schema);
}

function hasDateTimePattern({ pattern, format }: Json): boolean {
  return format === 'date-time' || (typeof pattern === 'string' && pattern.includes('T') && pattern.includes(':'));
}
