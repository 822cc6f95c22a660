import { isDeepStrictEqual } from 'node:util';
import { toJsonSchema } from '@valibot/to-json-schema';
import { PAGE_SIZE_DEFAULT, requiresData } from '../http/requests/request.ts';
import type { Contract, RequestExample, WorkflowContract } from '../http/route.ts';
import { fields, type Schema } from '../http/schemas/schemas.ts';
import { type Components, isReference, isSchema } from './components.ts';
import type { JsonSchema, Reference } from './document.ts';

/** The JSON Schema of a building block, with its hints. */
export function jsonSchemaOf(schema: Schema<unknown, unknown>): JsonSchema {
  // Valibot copies a pipe's metadata into the JSON Schema, which carries the hints. Other checks do not appear there.
  const { $schema: _, ...converted } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    typeMode: 'input',
    errorMode: 'ignore',
    overrideSchema: ({ valibotSchema, jsonSchema }) => {
      if ('key' in valibotSchema && 'oneOf' in jsonSchema) {
        return { ...jsonSchema, discriminator: { propertyName: valibotSchema.key } };
      }
      if (valibotSchema.type === 'literal') return { ...jsonSchema, ...constant(jsonSchema.const) };
      if (valibotSchema.type !== 'intersect' || jsonSchema.allOf === undefined) return null;
      // The narrowing schema is merged with the reference to the object.
      const [base, narrower] = jsonSchema.allOf;
      return base !== undefined && isSchema(narrower) ? { ...narrower, allOf: [base] } : null;
    },
  });
  return converted;
}

/** A value with its type, without which generators for Python and Go cannot name it. */
export function constant(value: unknown): JsonSchema {
  return { type: Number.isInteger(value) ? 'integer' : typeof value, const: value };
}

/** `createClient` as `CreateClient`, `client.direct` as `ClientDirect`. */
export function pascalCase(text: string): string {
  return text.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

const NULL = { type: 'null' } as const;
/** A free-form container; null omits it. */
const FREE = { type: ['object', 'null'], additionalProperties: true } as const;

/** The body of a write: one schema per workflow code. */
export function requestBodyOf(
  contract: Contract,
  workflows: Readonly<Record<string, WorkflowContract>>,
  components: Components,
) {
  const name = pascalCase(contract.operationId);
  const codes = Object.entries(workflows);
  const references = codes.map(([code, workflow]) => {
    const own = codes.length === 1 ? name : `${name}${pascalCase(code)}`;
    return addRequest(components, contract, own, code, workflow);
  });
  const examples = Object.keys(workflows).flatMap((code) => {
    const example = contract.examples.requests?.[code];
    return example === undefined ? [] : [[code, exampleOf(code, example)]];
  });
  for (const [title, { code, ...example }] of Object.entries(contract.examples.moreRequests ?? {})) {
    examples.push([title, exampleOf(code, example)]);
  }
  const [only] = references;
  // The code is inside `workflow`, where OpenAPI's discriminator cannot point.
  const schema =
    references.length === 1 && only !== undefined
      ? only
      : components.add('schemas', `${name}Request`, { oneOf: references });
  return { required: true, content: { 'application/json': { schema, examples: Object.fromEntries(examples) } } };
}

function exampleOf(code: string, { workflow = {}, data, connect }: RequestExample) {
  return { value: { workflow: { code, ...workflow }, data, ...(connect === undefined ? {} : { connect }) } };
}

function addRequest(
  components: Components,
  contract: Contract,
  name: string,
  code: string,
  workflow: WorkflowContract,
): JsonSchema {
  const isPost = contract.method === 'POST';
  const use = isPost ? 'input' : 'change';
  const referring = (schema: JsonSchema) => components.referring(isPost ? withNullForAbsent(schema) : schema, use);
  const workflowName = workflow.workflow === undefined ? `${pascalCase(code)}Workflow` : `${name}Workflow`;
  const connect = workflow.connect === undefined ? undefined : jsonSchemaOf(workflow.connect);
  const needsConnect = Array.isArray(connect?.required) && connect.required.length > 0;
  const required = ['workflow', ...(requiresData(workflow) ? ['data'] : []), ...(needsConnect ? ['connect'] : [])];
  // Null omits a whole container, on PATCH too; inside `data` it clears a field.
  const container = (part: 'data' | 'connect', schema: JsonSchema) => {
    const reference = components.add('schemas', `${name}Request${pascalCase(part)}`, referring(schema));
    return required.includes(part) ? reference : { anyOf: [reference, NULL] };
  };
  return components.add('schemas', `${name}Request`, {
    type: 'object',
    required,
    properties: {
      workflow: components.add('schemas', workflowName, referring(workflowSchema(code, workflow))),
      data: container('data', jsonSchemaOf(workflow.data)),
      connect: connect === undefined ? components.add('schemas', 'ConnectInput', FREE) : container('connect', connect),
      metadata: components.add('schemas', 'MetadataInput', FREE),
    },
    additionalProperties: false,
  });
}

function workflowSchema(code: string, workflow: WorkflowContract): JsonSchema {
  const inner = jsonSchemaOf(fields(workflow.workflow ?? {}));
  const properties = isSchema(inner.properties) ? inner.properties : {};
  const required = Array.isArray(inner.required) ? inner.required : [];
  return {
    type: 'object',
    required: ['code', ...required],
    properties: { code: constant(code), ...properties },
    additionalProperties: false,
  };
}

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
  if (isSchema(values)) return { ...schema, additionalProperties: orNull(withNullForAbsent(values)) };
  const properties = schema.properties;
  if (!isSchema(properties)) return schema;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const entries = Object.entries(properties).map(([name, property]) => {
    if (!isSchema(property)) return [name, property];
    const inner = withNullForAbsent(property);
    return [name, required.includes(name) ? inner : orNull(inner)];
  });
  return { ...schema, properties: Object.fromEntries(entries) };
}

function orNull(schema: JsonSchema): JsonSchema {
  if (Array.isArray(schema.anyOf) && schema.anyOf.some((variant) => isDeepStrictEqual(variant, NULL))) return schema;
  // The field's description belongs next to the alternatives, where readers look for it.
  const { deprecated, ...value } = schema;
  return { anyOf: [value, NULL], ...(deprecated === undefined ? {} : { deprecated }) };
}

/** The answer: the envelope around the contract's `data`. Operations with the same answer share a schema. */
export function responseSchema(contract: Contract, components: Components): JsonSchema {
  const data = components.referring(jsonSchemaOf(contract.response), 'answer');
  const name = responseName(contract, data);
  const dataReference = components.add('schemas', `${name}Data`, data);
  addExamples(components, contract, dataReference, data);
  const connect = contract.responseConnect;
  return components.add('schemas', name, {
    type: 'object',
    required: ['workflow', 'data', 'connect', 'metadata'],
    properties: {
      workflow: addAnything(components, 'Workflow'),
      data: dataReference,
      connect:
        connect === undefined
          ? addAnything(components, 'Connect')
          : components.add('schemas', `${name}Connect`, components.referring(jsonSchemaOf(connect), 'answer')),
      metadata: contract.paged ? addPagedMetadata(components) : addAnything(components, 'Metadata'),
    },
  });
}

/** `ClientResponse` for one client, `ClientListResponse` for a page; otherwise named after the operation. */
function responseName(contract: Contract, data: JsonSchema): string {
  const properties = isSchema(data.properties) ? Object.values(data.properties).filter(isSchema) : [];
  const [only] = properties;
  if (only !== undefined && properties.length === 1 && contract.responseConnect === undefined) {
    if (isReference(only)) return `${nameOf(only)}Response`;
    if (contract.paged && isSchema(only.items) && isReference(only.items)) return `${nameOf(only.items)}ListResponse`;
  }
  return `${pascalCase(contract.operationId)}Response`;
}

function nameOf({ $ref }: Reference): string {
  return $ref.slice($ref.lastIndexOf('/') + 1);
}

/** A container that echoes the request's. */
function addAnything(components: Components, name: 'Workflow' | 'Connect' | 'Metadata'): Reference {
  const reference = components.add('schemas', name, { type: 'object', additionalProperties: true });
  components.addExample(reference, {});
  return reference;
}

const COUNT = { type: 'integer' } as const;

function addPagedMetadata(components: Components): Reference {
  const page = components.add('schemas', 'Page', {
    type: 'object',
    required: ['size', 'number', 'totalElements', 'totalPages'],
    properties: { size: COUNT, number: COUNT, totalElements: COUNT, totalPages: COUNT },
  });
  components.addExample(page, { size: PAGE_SIZE_DEFAULT, number: 0, totalElements: 1, totalPages: 1 });
  return components.add('schemas', 'PagedMetadata', { type: 'object', required: ['page'], properties: { page } });
}

/**
 * A resource has one example, at its schema: preferably what GET shows, not the result of a change.
 * Other values have their example in the answer.
 */
function addExamples(components: Components, contract: Contract, reference: Reference, data: JsonSchema): void {
  const { response } = contract.examples;
  const properties = isSchema(data.properties) ? data.properties : {};
  const resources = Object.entries(isSchema(response) ? response : {}).map(([name, shown]) => {
    const property = properties[name];
    if (!isSchema(property)) return null;
    if (isReference(property)) return { resource: property, shown };
    const { items } = property;
    const isList = isSchema(items) && isReference(items) && Array.isArray(shown) && shown.length > 0;
    return isList ? { resource: items, shown: shown[0] } : null;
  });
  if (resources.includes(null)) components.addExample(reference, response);
  else {
    for (const found of resources) {
      if (found !== null) components.addExample(found.resource, found.shown, contract.method === 'GET');
    }
  }
}
