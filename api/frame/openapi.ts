import { toJsonSchema } from '@valibot/to-json-schema';
import type { ErrorCode } from '../../domain/errors.ts';
import { ROLES } from '../../domain/roles.ts';
import { ERROR_STATUS } from './errors.ts';
import { PAGE_NUMBER_MAX, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from './request.ts';
import type { Contract, Entries, Method, OpenRoute, Route, WorkflowContract } from './route.ts';
import { fields, type Schema } from './schemas.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly security?: readonly unknown[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
  readonly [keyword: string]: unknown;
}

export type Content = Readonly<Record<string, { readonly schema?: JsonSchema; readonly examples?: JsonSchema }>>;

export interface ResponseObject {
  readonly description: string;
  readonly headers?: JsonSchema;
  readonly content?: Content;
}

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly unknown[];
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, unknown>>;
}

/** Makes the OpenAPI 3.1 document of the routes, from the schemas that check their requests. */
export function openApiDocument(routes: readonly (Route | OpenRoute)[], version: string): OpenApiDocument {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of routes) {
    const operation = route.kind === 'route' ? operationOf(route) : openOperationOf(route);
    paths[route.contract.path] = { ...paths[route.contract.path], [route.contract.method.toLowerCase()]: operation };
  }
  const tags = [...new Set(routes.map(({ contract }) => contract.tag))].map((name) => ({ name }));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Financial Accounts Service',
      version,
      description:
        'Clients, accounts, beneficiaries and transfers. Bodies carry workflow, data, connect and metadata; the token is a JWT that a machine user signs with its own private key.',
    },
    servers: [{ url: '/' }, { url: '/v1' }],
    tags,
    paths,
    components: {
      securitySchemes: { machineUser: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      schemas: { Error: ERROR_SCHEMA },
    },
  };
}

const PROBLEM_PROPERTIES = {
  timestamp: { type: 'string', description: 'UTC, with fractional seconds' },
  message: { type: 'string' },
  code: { type: 'string', enum: Object.keys(ERROR_STATUS) },
  messageParameters: { type: 'array', items: { type: 'string' }, minItems: 3, maxItems: 3 },
} as const;

const PROBLEM_REQUIRED = ['timestamp', 'message', 'code', 'messageParameters'];

const ERROR_SCHEMA: JsonSchema = {
  type: 'object',
  required: PROBLEM_REQUIRED,
  properties: {
    ...PROBLEM_PROPERTIES,
    errors: {
      type: 'array',
      description: 'The other problems of the same request',
      items: {
        type: 'object',
        required: PROBLEM_REQUIRED,
        properties: PROBLEM_PROPERTIES,
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
};

/** The JSON Schema of a building block, with what its hints say. */
export function jsonSchemaOf(schema: Schema<unknown, unknown>): JsonSchema {
  // Metadata of a pipe is copied into the JSON Schema, which is how hints arrive there; checks beyond it are ours alone.
  const { $schema: _, ...converted } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    typeMode: 'input',
    errorMode: 'ignore',
  });
  return converted;
}

function operationOf({ contract }: Route): Operation {
  const status = String(contract.status ?? (contract.method === 'POST' ? 201 : 200));
  const success: ResponseObject = {
    description: contract.summary,
    headers: {
      'Request-Id': { schema: { type: 'string' } },
      ...(contract.method === 'POST'
        ? { 'X-Idempotency-Status': { schema: { type: 'string', enum: ['processed', 'replayed'] } } }
        : {}),
      ...(contract.deprecated === undefined ? {} : { Deprecation: { schema: { type: 'string' } } }),
    },
    content: {
      'application/json': {
        schema: responseSchema(contract),
        examples: { answer: { value: responseExample(contract) } },
      },
    },
  };
  return {
    operationId: operationId(contract.method, contract.path),
    tags: [contract.tag],
    summary: contract.summary,
    description: [contract.description, `Roles: ${(contract.roles ?? ROLES).join(', ')}.`].filter(Boolean).join('\n\n'),
    ...(contract.deprecated === undefined ? {} : { deprecated: true }),
    security: [{ machineUser: [] }],
    parameters: parametersOf(contract),
    ...(contract.workflows === undefined ? {} : { requestBody: requestBodyOf(contract, contract.workflows) }),
    responses: { ...(status === '201' ? { '200': success } : {}), [status]: success, ...errorResponses(contract) },
  };
}

function openOperationOf({ contract }: OpenRoute): Operation {
  const responses = Object.entries(contract.responses).map(([status, description]) => [status, { description }]);
  return {
    operationId: operationId(contract.method, contract.path),
    tags: [contract.tag],
    summary: contract.summary,
    ...(contract.description === undefined ? {} : { description: contract.description }),
    security: [],
    parameters: pathNames(contract.path).map((name) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    })),
    ...(contract.requestType === undefined
      ? {}
      : { requestBody: { required: true, content: { [contract.requestType]: {} } } }),
    responses: Object.fromEntries(responses),
  };
}

function operationId(method: Method, path: string): string {
  return `${method.toLowerCase()}${path.replaceAll(/[/{}-]+(\w?)/g, (_, letter: string) => letter.toUpperCase())}`;
}

function pathNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
}

function parametersOf(contract: Contract): Parameter[] {
  const parameters = [
    ...entryParameters(contract.params ?? {}, 'path'),
    ...entryParameters(contract.query ?? {}, 'query'),
  ];
  if (contract.paged) {
    parameters.push(
      {
        name: 'metadata.page.number',
        in: 'query',
        schema: { type: 'integer', minimum: 0, maximum: PAGE_NUMBER_MAX, default: 0 },
      },
      {
        name: 'metadata.page.size',
        in: 'query',
        schema: { type: 'integer', minimum: 1, maximum: PAGE_SIZE_MAX, default: PAGE_SIZE_DEFAULT },
      },
    );
  }
  if (contract.include !== undefined) {
    parameters.push({
      name: 'metadata.include',
      in: 'query',
      description: `By commas or repeated; unknown ones are ignored: ${contract.include.join(', ')}`,
      style: 'form',
      explode: false,
      schema: { type: 'array', items: { type: 'string' } },
    });
  }
  if (contract.method === 'POST') {
    const description = 'The same key with the same body answers as the first time, for 30 days.';
    parameters.push({
      name: 'Idempotency-Key',
      in: 'header',
      description,
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    });
  }
  return parameters;
}

function entryParameters(entries: Entries, where: 'path' | 'query'): Parameter[] {
  return Object.entries(entries).map(([name, schema]) => ({
    name,
    in: where,
    ...(where === 'path' || schema.type !== 'optional' ? { required: true } : {}),
    schema: jsonSchemaOf(schema),
  }));
}

function requestBodyOf(contract: Contract, workflows: Readonly<Record<string, WorkflowContract>>) {
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
    required: ['workflow', 'data', ...(connectRequired ? ['connect'] : [])],
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
  return contract.method === 'POST' ? withNullForAbsent(schema) : schema;
}

/** On POST null is another way to leave a field out: every field that is not required may be null. */
function withNullForAbsent(schema: JsonSchema): JsonSchema {
  const items = schema.items;
  if (isSchema(items)) return { ...schema, items: withNullForAbsent(items) };
  const properties = schema.properties;
  if (!isSchema(properties)) return schema;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const entries = Object.entries(properties).map(([name, property]) => {
    if (!isSchema(property)) return [name, property];
    const inner = withNullForAbsent(property);
    return [name, required.includes(name) ? inner : { anyOf: [inner, { type: 'null' }] }];
  });
  return { ...schema, properties: Object.fromEntries(entries) };
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function responseSchema(contract: Contract): JsonSchema {
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

function responseExample(contract: Contract): unknown {
  const [code] = Object.keys(contract.workflows ?? {});
  const page = { size: 10, number: 0, totalElements: 1, totalPages: 1 };
  return {
    workflow: code === undefined ? {} : { code, ...contract.examples.requests?.[code]?.workflow },
    data: contract.examples.response,
    connect: code === undefined ? {} : { ...contract.examples.requests?.[code]?.connect },
    metadata: contract.paged ? { page } : {},
  };
}

/** The codes that every route can answer with, by what the frame does for it. */
function errorCodesOf(contract: Contract): ErrorCode[] {
  const codes: ErrorCode[] = [
    'common.validation.field_invalid',
    'common.validation.field_unexpected',
    'common.security.unauthenticated',
    'common.security.access_denied',
    'common.rate.limited',
    'common.internal.error',
    'common.dependency.unavailable',
  ];
  if (contract.workflows !== undefined) codes.push('common.validation.field_required', 'common.workflow.unknown_code');
  if (contract.method === 'POST') codes.push('common.idempotency.key_reused', 'common.idempotency.in_progress');
  if (contract.params !== undefined || contract.workflows !== undefined) {
    codes.push('common.coding.internal.record_not_found');
  }
  return [...new Set([...codes, ...(contract.errors ?? [])])];
}

function errorResponses(contract: Contract): Record<string, ResponseObject> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorCodesOf(contract)) {
    const status = ERROR_STATUS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  if (contract.workflows !== undefined) {
    byStatus.set(413, ['common.validation.limit_exceeded']);
    byStatus.set(415, ['common.validation.field_invalid']);
  }
  const responses: Record<string, ResponseObject> = {};
  for (const [status, codes] of byStatus) {
    const example = (code: ErrorCode) => ({
      value: {
        timestamp: '2026-03-02T09:30:00.123',
        message: MESSAGE_EXAMPLE,
        code,
        messageParameters: ['account', 'id', ''],
      },
    });
    responses[String(status)] = {
      description: codes.join(', '),
      ...(status === 429 || status === 503 ? { headers: { 'Retry-After': { schema: { type: 'integer' } } } } : {}),
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Error' },
          examples: Object.fromEntries(codes.map((code) => [code, example(code)])),
        },
      },
    };
  }
  return responses;
}

const MESSAGE_EXAMPLE = 'What was wrong, in one sentence.';
