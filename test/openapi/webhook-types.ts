import type { Json } from '../harness/api.ts';

const HEADER = `// What webhooks carry, as types. Written from the OpenAPI document by
// UPDATE_DOCUMENTS=1 npm test -- test/openapi/webhook-types.test.ts
`;

/** The file sdk/webhook-events.ts: a type for each schema that webhooks refer to, and the events by name. */
export function webhookTypes(document: Json): string {
  const { schemas } = document.components;
  const events = Object.entries<Json>(document.webhooks).map(
    ([name, { post }]) => [name, nameOf(post.requestBody.content['application/json'].schema.$ref)] as const,
  );
  const reached = new Set<string>();
  const open = events.map(([, event]) => event);
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (reached.has(name)) continue;
    reached.add(name);
    const { examples: _, ...schema } = schemas[name];
    open.push(...[...JSON.stringify(schema).matchAll(/"\$ref":"([^"]+)"/g)].map(([, $ref]) => nameOf($ref ?? '')));
  }
  const types = [...reached].sort().map((name) => declaration(name, schemas[name]));
  const byName = events.map(([name, event]) => `  readonly '${name}': ${event};`);
  const names = events.map(([name]) => `  '${name}',`);
  return [
    HEADER,
    '/** Each webhook by `<module>.<type>`. */',
    'export interface WebhookEvents {',
    ...byName,
    '}',
    '',
    'export const WEBHOOK_NAMES: readonly (keyof WebhookEvents)[] = [',
    ...names,
    '];',
    ...types,
    '',
  ].join('\n');
}

function nameOf($ref: string): string {
  return $ref.slice($ref.lastIndexOf('/') + 1);
}

function declaration(name: string, schema: Json): string {
  const description = schema.description === undefined ? '' : `/** ${schema.description} */\n`;
  const isInterface = schema.properties !== undefined && schema.allOf === undefined && typeof schema.type === 'string';
  const text = typeOf(schema, '');
  return `\n${description}${isInterface ? `export interface ${name} ${text}` : `export type ${name} = ${text};`}`;
}

function typeOf(schema: Json, indent: string): string {
  const { $ref, not, enum: values, anyOf, oneOf, allOf, type } = schema;
  if ($ref !== undefined) return nameOf($ref);
  if (not !== undefined) return 'never';
  if ('const' in schema) return literal(schema.const);
  if (values !== undefined) return values.map(literal).join(' | ');
  const alternatives: Json[] | undefined = anyOf ?? oneOf;
  if (alternatives !== undefined) return alternatives.map((one) => typeOf(one, indent)).join(' | ');
  if (allOf !== undefined) {
    const { allOf: bases, ...own } = schema;
    return [...bases, own].map((one: Json) => typeOf(one, indent)).join(' & ');
  }
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one }, indent)).join(' | ');
  if (type === 'array') return `readonly (${typeOf(schema.items, indent)})[]`;
  if (type === 'object') return objectType(schema, indent);
  return type === 'integer' ? 'number' : type;
}

function objectType({ properties, required = [], additionalProperties }: Json, indent: string): string {
  if (properties === undefined) {
    const values = typeof additionalProperties === 'object' ? typeOf(additionalProperties, indent) : 'unknown';
    return `Readonly<Record<string, ${values}>>`;
  }
  const lines = Object.entries<Json>(properties).map(([name, inner]) => {
    const mark = required.includes(name) ? '' : '?';
    const deprecated = inner.deprecated === true ? `${indent}  /** @deprecated */\n` : '';
    const key = /^\w+$/.test(name) ? name : literal(name);
    return `${deprecated}${indent}  readonly ${key}${mark}: ${typeOf(inner, `${indent}  `)};`;
  });
  return ['{', ...lines, `${indent}}`].join('\n');
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}
