import { CURRENCIES } from '../../../domain/frame/money.ts';
import { COUNTRIES } from '../../../domain/frame/parties/countries.ts';
import { ROLES } from '../../../domain/machine-users/roles.ts';
import { PAGE_NUMBER_MAX, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from '../requests/request.ts';
import type { Contract, Entries, Method, OpenBody, OpenRoute, Route } from '../route.ts';
import { jsonSchemaOf, requestBodyOf, responseExample, responseSchema } from './bodies.ts';
import { ERROR_EXAMPLES, ERROR_SCHEMA, errorResponses } from './errors.ts';

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

/** Builds the OpenAPI 3.1 document from the schemas that validate the routes' requests. */
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
      schemas: {
        Error: ERROR_SCHEMA,
        Currency: { type: 'string', description: 'An active ISO 4217 code', enum: CURRENCIES },
        Country: { type: 'string', description: 'An ISO 3166-1 alpha-2 code', enum: COUNTRIES },
      },
      examples: ERROR_EXAMPLES,
    },
  };
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
  const descriptions = { ...(contract.body === undefined ? {} : bodyRefusals(contract.body)), ...contract.responses };
  const responses = Object.entries(descriptions).map(([status, description]) => [status, { description }]);
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
    ...(contract.body === undefined
      ? {}
      : { requestBody: { required: true, content: { [contract.body.mediaType]: {} } } }),
    responses: Object.fromEntries(responses),
  };
}

/** Refusals while the frame reads the body of a route without a token. */
function bodyRefusals({ bytesMax }: OpenBody): Record<number, string> {
  return {
    408: 'The body did not arrive in time',
    413: `The body is larger than ${bytesMax / 1024} kB`,
    429: 'Too many bodies are being sent at once; see Retry-After',
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
        description: `A page behind the last is empty; beyond ${PAGE_NUMBER_MAX} it is refused with common.validation.limit_exceeded.`,
        schema: { type: 'integer', minimum: 0, maximum: PAGE_NUMBER_MAX, default: 0 },
      },
      {
        name: 'metadata.page.size',
        in: 'query',
        schema: { type: 'integer', minimum: 1, maximum: PAGE_SIZE_MAX, default: PAGE_SIZE_DEFAULT },
      },
    );
  }
  if (contract.include !== undefined) parameters.push(listParameter('metadata.include', contract.include));
  if (contract.expand !== undefined) parameters.push(listParameter('metadata.expand', contract.expand));
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

/** Unknown names are ignored, so the schema does not enumerate them. */
function listParameter(name: string, known: readonly string[]): Parameter {
  return {
    name,
    in: 'query',
    description: `By commas or repeated; unknown ones are ignored: ${known.join(', ')}`,
    style: 'form',
    explode: false,
    schema: { type: 'array', items: { type: 'string' } },
  };
}

function entryParameters(entries: Entries, where: 'path' | 'query'): Parameter[] {
  return Object.entries(entries).map(([name, schema]) => ({
    name,
    in: where,
    ...(where === 'path' || schema.type !== 'optional' ? { required: true } : {}),
    schema: jsonSchemaOf(schema),
  }));
}
