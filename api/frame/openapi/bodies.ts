import { toJsonSchema } from '@valibot/to-json-schema';
import { hasFields } from '../requests/request.ts';
import type { Contract, WorkflowContract } from '../route.ts';
import { fields, type Schema } from '../schemas/schemas.ts';
import type { JsonSchema } from './openapi.ts';

/** The JSON Schema of a building block, with its hints. */
export function jsonSchemaOf(schema: Schema<unknown, unknown>): JsonSchema {
  // Valibot copies a pipe's metadata into the JSON Schema, which carries the hints. Other checks do not appear there.
  const { $schema: _, ...converted } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    typeMode: 'input',
    errorMode: 'ignore',
  });
  return converted;
}

/** The body of a write: one schema per workflow code. */
export function requestBodyOf(contract: Contract, workflows: Readonly<Record<string, WorkflowContract>>) {
  const schemas = Object.entries(workflows).map(([code, workflow]) => requestSchema(contract, code, workflow));
  const examples = Object.keys(workflows).flatMap((code) => {
    const example = contract.examples.requests?.[code];
    if (example === undefined) return [];
    const { workflow = {}, data, connect = {} } = example;
    return [[code, { value: { workflow: { code, ...workflow }, data, connect, metadata: {} } }]];
  });
  const [only] = schemas;
  const schema = schemas.length === 1 && only !== undefined ? only : { oneOf: schemas };
  return { required: true, content: { 'application/json': { schema, examples: Object.fromEntries(examples) } } };
}

function requestSchema(contract: Contract, code: string, workflow: WorkflowContract): JsonSchema {
  const inner = jsonSchemaOf(fields(workflow.workflow ?? {}));
  const properties = typeof inner.properties === 'object' ? inner.properties : {};
  const required = Array.isArray(inner.required) ? inner.required : [];
  const connect = workflow.connect === undefined ? { type: 'object' } : jsonSchemaOf(workflow.connect);
  const connectRequired = Array.isArray(connect.required) && connect.required.length > 0;
  const schema = {
    type: 'object',
    title: code,
    required: ['workflow', ...(hasFields(workflow.data) ? ['data'] : []), ...(connectRequired ? ['connect'] : [])],
    properties: {
      workflow: {
        type: 'object',
        required: ['code', ...required],
        properties: { code: { const: code }, ...properties },
        additionalProperties: false,
      },
      data: jsonSchemaOf(workflow.data),
      connect,
      metadata: { type: 'object' },
    },
    additionalProperties: false,
  };
  if (contract.method === 'POST') return withNullForAbsent(schema);
  // Null for a whole container leaves it out, on PATCH too; within `data` it clears.
  const { properties: containers, required: needed } = schema;
  const entries = Object.entries(containers).map(([name, container]) => [
    name,
    needed.includes(name) ? container : { anyOf: [container, NULL] },
  ]);
  return { ...schema, properties: Object.fromEntries(entries) };
}

const NULL = { type: 'null' } as const;

/** On POST null omits a field, so every optional field may be null. */
function withNullForAbsent(schema: JsonSchema): JsonSchema {
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    const variants = schema[keyword];
    if (Array.isArray(variants)) {
      return {
        ...schema,
        [keyword]: variants.map((variant) => (isSchema(variant) ? withNullForAbsent(variant) : variant)),
      };
    }
  }
  const items = schema.items;
  if (isSchema(items)) return { ...schema, items: withNullForAbsent(items) };
  const values = schema.additionalProperties;
  if (isSchema(values)) return { ...schema, additionalProperties: { anyOf: [withNullForAbsent(values), NULL] } };
  const properties = schema.properties;
  if (!isSchema(properties)) return schema;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const entries = Object.entries(properties).map(([name, property]) => {
    if (!isSchema(property)) return [name, property];
    const inner = withNullForAbsent(property);
    if (required.includes(name)) return [name, inner];
    // The field's description belongs beside the alternatives, where readers look for it.
    const { deprecated, ...value } = inner;
    return [name, { anyOf: [value, NULL], ...(deprecated === undefined ? {} : { deprecated }) }];
  });
  return { ...schema, properties: Object.fromEntries(entries) };
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The answer: the envelope around the contract's `data`. */
export function responseSchema(contract: Contract): JsonSchema {
  const page = {
    type: 'object',
    required: ['size', 'number', 'totalElements', 'totalPages'],
    properties: Object.fromEntries(
      ['size', 'number', 'totalElements', 'totalPages'].map((name) => [name, { type: 'integer' }]),
    ),
  };
  return {
    type: 'object',
    required: ['workflow', 'data', 'connect', 'metadata'],
    properties: {
      workflow: { type: 'object' },
      data: jsonSchemaOf(contract.response),
      connect: contract.responseConnect === undefined ? { type: 'object' } : jsonSchemaOf(contract.responseConnect),
      metadata: contract.paged ? { type: 'object', required: ['page'], properties: { page } } : { type: 'object' },
    },
    additionalProperties: false,
  };
}

export function responseExample(contract: Contract): unknown {
  const [code] = Object.keys(contract.workflows ?? {});
  const page = { size: 10, number: 0, totalElements: 1, totalPages: 1 };
  return {
    workflow: code === undefined ? {} : { code, ...contract.examples.requests?.[code]?.workflow },
    data: contract.examples.response,
    connect: code === undefined ? {} : { ...contract.examples.requests?.[code]?.connect },
    metadata: contract.paged ? { page } : {},
  };
}
