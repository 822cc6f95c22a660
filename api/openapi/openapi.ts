import { CURRENCIES } from '../../domain/common/money.ts';
import { COUNTRIES } from '../../domain/common/parties/countries.ts';
import { ROLES } from '../../domain/machine-users/roles.ts';
import type { OpenBody } from '../http/requests/body.ts';
import { PAGE_NUMBER_MAX, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from '../http/requests/request.ts';
import type { Contract, Entries, OpenRoute, Route } from '../http/route.ts';
import { TEXT_PATTERN } from '../http/schemas/schemas.ts';
import { TAGS } from '../http/tags.ts';
import type { AnyRoute, ThirdPartyRoute } from '../http/third-party-route.ts';
import { jsonSchemaOf, pascalCase, requestBodyOf, responseSchema } from './bodies.ts';
import { Components } from './components.ts';
import type {
  Content,
  Described,
  OpenApiDocument,
  Operation,
  Parameter,
  Reference,
  ResponseObject,
} from './document.ts';
import { addErrorSchemas, errorResponses } from './errors.ts';
import { proofParameters, SECURITY_SCHEMES, securityOf } from './security.ts';
import { type WebhookContract, webhooksOf } from './webhooks.ts';

/** Builds the OpenAPI 3.1 document from the schemas that validate the routes' requests, and those of the webhooks sent. */
export function openApiDocument(
  served: readonly AnyRoute[],
  version: string,
  sent: readonly WebhookContract[] = [],
): OpenApiDocument {
  const routes = served.filter((route) => route.kind !== 'open' || route.contract.undocumented !== true);
  const components = new Components();
  components.add('schemas', 'Text', {
    type: 'string',
    description: 'Text without control characters',
    minLength: 1,
    pattern: TEXT_PATTERN,
  });
  components.add('schemas', 'Currency', { type: 'string', description: 'An active ISO 4217 code', enum: CURRENCIES });
  components.add('schemas', 'Country', {
    type: 'string',
    description: 'An ISO 3166-1 alpha-2 code, or XK for Kosovo',
    enum: COUNTRIES,
  });
  addErrorSchemas(components);
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of routes) {
    const operation = route.kind === 'open' ? openOperationOf(route, components) : operationOf(route, components);
    paths[route.contract.path] = { ...paths[route.contract.path], [route.contract.method.toLowerCase()]: operation };
  }
  const webhooks = webhooksOf(sent, components);
  const used = new Set<string>(routes.map(({ contract }) => contract.tag));
  const tags = Object.entries(TAGS).filter(([name]) => used.has(name));
  return {
    openapi: '3.1.0',
    info: { title: 'Financial Accounts Service', version, description: INTRODUCTION },
    servers: [{ url: '/' }, { url: '/v1' }],
    security: [{ machineUser: [] }],
    tags: tags.map(([name, description]) => ({ name, description })),
    paths,
    webhooks,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      ...components.toObject(),
    },
  };
}

const INTRODUCTION = `Clients, accounts and transfers. Later releases may add fields and values to responses.

Bodies have four containers: \`workflow\`, \`data\`, \`connect\` and \`metadata\`. A rejection is an \`Error\` with a
machine-readable \`code\`; \`errors\` lists the other problems. [Guides](/docs/guides) show each task, [error codes](/docs/errors)
what to do about a rejection, and [llms.txt](/llms.txt) has all of it for language models.

Date-times are in UTC and have no zone: \`2026-11-26T09:30:00.123\`.

The token is a JWT that a machine user signs with its own private key. An operation is open to every role of machine users
unless it names its roles. A POST repeated with the same \`Idempotency-Key\` has one effect and one response.`;

function operationOf(route: Route | ThirdPartyRoute, components: Components): Operation {
  const { contract } = route;
  return {
    operationId: contract.operationId,
    tags: [contract.tag],
    summary: contract.summary,
    ...descriptionOf(contract),
    ...(contract.deprecated === undefined ? {} : { deprecated: true }),
    ...securityOf(route),
    parameters: parametersOf(route, components),
    ...(contract.workflows === undefined
      ? {}
      : { requestBody: requestBodyOf(contract, contract.workflows, components) }),
    responses: { ...successesOf(contract, components), ...errorResponses(contract, components) },
  };
}

function descriptionOf({ description, roles = ROLES, dryRun }: Contract): { readonly description?: string } {
  const restriction =
    roles.length === ROLES.length
      ? []
      : [`Roles: ${roles.join(', ')}${dryRun === undefined ? '' : '; every role for a dry run'}.`];
  const parts = [...(description === undefined ? [] : [description]), ...restriction];
  return parts.length === 0 ? {} : { description: parts.join('\n\n') };
}

/** By status. A creation is also answered with 200: if nothing was created, or as a dry run, which has an answer of its own. */
function successesOf(contract: Contract, components: Components): Readonly<Record<string, Described>> {
  const { dryRun, examples, method, operationId, status = method === 'POST' ? 201 : 200 } = contract;
  if (status === 200) return { '200': successOf(contract, components) };
  const name = pascalCase(operationId);
  const created = components.add('responses', name, successOf(contract, components));
  if (dryRun === undefined) return { '200': created, '201': created };
  const planned = successOf({ ...contract, response: dryRun, examples: { response: examples.dryRun } }, components);
  return { '200': components.add('responses', `${name}DryRun`, planned), '201': created };
}

function successOf(contract: Contract, components: Components): ResponseObject {
  return {
    description: 'Success',
    headers: {
      'Request-Id': { schema: { type: 'string' } },
      ...(contract.method === 'POST'
        ? { 'X-Idempotency-Status': { schema: { type: 'string', enum: ['processed', 'replayed'] } } }
        : {}),
      ...deprecationHeaders(contract),
    },
    content: contentOf(contract, components),
  };
}

function deprecationHeaders({ deprecated }: Contract) {
  if (deprecated === undefined) return {};
  const header = { schema: { type: 'string' } };
  return { Deprecation: header, Link: header, ...(deprecated.sunset === undefined ? {} : { Sunset: header }) };
}

function contentOf(contract: Contract, components: Components): Content {
  const { files } = contract;
  if (files === undefined) return { 'application/json': { schema: responseSchema(contract, components) } };
  const content = Object.entries(files).map(([mediaType, value]) => [mediaType, { examples: { file: { value } } }]);
  return Object.fromEntries(content);
}

function openOperationOf({ contract }: OpenRoute, components: Components): Operation {
  const descriptions = { ...(contract.body === undefined ? {} : bodyRejections(contract.body)), ...contract.responses };
  const responses = Object.entries(descriptions).map(([status, description]) => [status, { description }]);
  return {
    operationId: contract.operationId,
    tags: [contract.tag],
    summary: contract.summary,
    ...(contract.description === undefined ? {} : { description: contract.description }),
    security: [],
    parameters: pathNames(contract.path).map((name) =>
      components.add('parameters', pascalCase(name), openParameter(contract, name, components)),
    ),
    ...(contract.body === undefined
      ? {}
      : { requestBody: openBodyOf(contract.operationId, contract.body, components) }),
    responses: Object.fromEntries(responses),
  };
}

function openBodyOf(operationId: string, { mediaType, schema }: OpenBody, components: Components) {
  const reference = components.add('schemas', `${pascalCase(operationId)}Request`, schema);
  return { required: true, content: { [mediaType]: { schema: reference } } };
}

function openParameter({ params = {} }: OpenRoute['contract'], name: string, components: Components): Parameter {
  const own = Object.entries(params).filter(([declaredName]) => declaredName === name);
  const [declared] = entryParameters(Object.fromEntries(own), 'path', components);
  return declared ?? { name, in: 'path', required: true, schema: { type: 'string' } };
}

/** Rejections while reading the body of a route without a token. */
function bodyRejections({ bytesMax }: OpenBody): Record<number, string> {
  return {
    408: 'The body did not arrive in time',
    413: `The body is larger than ${bytesMax / 1024} kB`,
    429: 'Too many bodies are being sent at once; see Retry-After',
  };
}

function pathNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
}

function parametersOf(route: Route | ThirdPartyRoute, components: Components): (Parameter | Reference)[] {
  const { contract } = route;
  const shared = (parameter: Parameter) => components.add('parameters', pascalCase(parameter.name), parameter);
  return [
    ...entryParameters(contract.params ?? {}, 'path', components).map(shared),
    ...entryParameters(contract.query ?? {}, 'query', components),
    ...(contract.paged ? [shared(PAGE_NUMBER), shared(PAGE_SIZE)] : []),
    ...(contract.include === undefined ? [] : [listParameter('metadata.include', contract.include)]),
    ...(contract.expand === undefined ? [] : [listParameter('metadata.expand', contract.expand)]),
    ...(contract.method === 'POST' ? [shared(IDEMPOTENCY_KEY)] : []),
    ...proofParameters(route).map(shared),
  ];
}

const PAGE_NUMBER: Parameter = {
  name: 'metadata.page.number',
  in: 'query',
  description: `A page after the last one is empty; a number above ${PAGE_NUMBER_MAX} is rejected with \`common.validation.limit_exceeded\`.`,
  schema: { type: 'integer', minimum: 0, maximum: PAGE_NUMBER_MAX, default: 0 },
};

const PAGE_SIZE: Parameter = {
  name: 'metadata.page.size',
  in: 'query',
  schema: { type: 'integer', minimum: 1, maximum: PAGE_SIZE_MAX, default: PAGE_SIZE_DEFAULT },
};

const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'The same request with the same key gets the first response again, for 30 days. The order of fields and query parameters and the notation of numbers (`1.50` for `1.5`) make no difference; texts are compared as sent.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

/** Unknown names are ignored, so the schema does not enumerate them. */
function listParameter(name: string, known: readonly string[]): Parameter {
  return {
    name,
    in: 'query',
    description: `Separated by commas or repeated; unknown values are ignored: ${known.join(', ')}`,
    style: 'form',
    explode: false,
    schema: { type: 'array', items: { type: 'string' } },
  };
}

function entryParameters(entries: Entries, where: 'path' | 'query', components: Components): Parameter[] {
  return Object.entries(entries).map(([name, schema]) => ({
    name,
    in: where,
    ...(where === 'path' || schema.type !== 'optional' ? { required: true } : {}),
    schema: components.referring(jsonSchemaOf(schema), 'input'),
  }));
}
