import type { Json } from '../../harness/api.ts';
import { referred } from '../../harness/http/openapi.ts';
import { methodPath, nameOf, quoted, typeOf } from './client-names.ts';
import { HEADER } from './client-types.ts';

/** An operation of the document, with what the client needs of it. */
export interface ClientOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Json;
  /** The schema of its answer; null for a file. */
  readonly answer: Json | null;
  /** The schema of what a dry run answers; null if there is none. */
  readonly dryRunAnswer: Json | null;
}

/** Those whose answers have the four containers, or are files. Others are for browsers, banks and probes. */
export function clientOperations(document: Json): ClientOperation[] {
  return Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).flatMap(([method, operation]) => {
      const { 200: first, 201: created } = operation.responses;
      const contentOf = (response: Json) => resolved(document, response ?? {}).content ?? {};
      const content = contentOf(created ?? first);
      const { schema } = content['application/json'] ?? {};
      const other = created === undefined ? undefined : contentOf(first)['application/json']?.schema;
      const dryRunAnswer = other !== undefined && other.$ref !== schema?.$ref ? other : null;
      const isFile = Object.keys(content).length > 0 && schema === undefined;
      const isOurs = schema !== undefined && resolved(document, schema).properties?.workflow !== undefined;
      if (!isOurs && !(isFile && operation.security === undefined)) return [];
      return [
        {
          id: operation.operationId,
          method: method.toUpperCase(),
          path,
          operation,
          answer: schema ?? null,
          dryRunAnswer,
        },
      ];
    }),
  );
}

/** The file client/generated/operations.ts: a method for each operation and workflow code, in groups by path. */
export function operationsSource(document: Json): string {
  const groups: Group = {};
  for (const operation of clientOperations(document)) {
    for (const { name, source } of methodsOf(document, operation)) {
      const names = name.split('.');
      const method = names.pop() ?? '';
      let group = groups;
      for (const part of names) {
        const next = group[part] ?? {};
        group[part] = next;
        if (typeof next === 'string') throw new Error(`${name}: ${part} is a method already`);
        group = next;
      }
      if (group[method] !== undefined) throw new Error(`Two operations are named ${name}`);
      group[method] = source;
    }
  }
  return [
    HEADER,
    "import type { Call, CallOptions, ListOptions, PostOptions, Send } from '../call.ts';",
    "import type { List, SendList } from '../list.ts';",
    "import type * as Types from './types.ts';",
    '',
    '/** Every operation, in groups by path. */',
    'export function operationsOf(send: Send, sendList: SendList) {',
    `  return ${groupSource(groups, '  ')};`,
    '}',
    '',
  ].join('\n');
}

interface Group {
  [name: string]: Group | string;
}

function groupSource(group: Group, indent: string): string {
  const lines = Object.entries(group).map(([name, inner]) =>
    typeof inner === 'string'
      ? inner.replaceAll(/^/gm, `${indent}  `)
      : `${indent}  ${name}: ${groupSource(inner, `${indent}  `)},`,
  );
  return ['{', ...lines, `${indent}}`].join('\n');
}

interface Method {
  /** With its groups, such as `accounts.create`. */
  readonly name: string;
  readonly source: string;
}

function methodsOf(document: Json, operation: ClientOperation): Method[] {
  const schema = operation.operation.requestBody?.content['application/json'].schema;
  if (schema === undefined) return [methodOf(document, operation, null)];
  const body = resolved(document, schema);
  const alternatives: Json[] = body.oneOf ?? body.anyOf ?? [schema];
  const methods = alternatives.map((alternative) => methodOf(document, operation, alternative));
  const { dryRunAnswer } = operation;
  if (dryRunAnswer === null) return methods;
  return [...methods, methodOf(document, { ...operation, answer: dryRunAnswer }, schema, true)];
}

function methodOf(document: Json, operation: ClientOperation, request: Json | null, isDryRun = false): Method {
  const body = request === null ? null : bodyOf(document, request);
  const ordinary = methodPath(operation, body?.code ?? null);
  const name = isDryRun ? ordinary.replace(/[a-z]+$/i, 'dryRun') : ordinary;
  const query = queryOf(operation, document);
  const isList = query.isPaged;
  const answer = answerOf(document, operation, isList);
  const parameters = [
    ...[...operation.path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => `${parameter}: string`),
    ...(body?.argument == null
      ? []
      : [`${body.argument.name}${body.isDataRequired ? '' : '?'}: ${body.argument.type}`]),
    ...(query.type === null ? [] : [`query${query.isRequired ? '' : '?'}: ${query.type}`]),
    `options${body?.isRequired === true ? '' : '?'}: ${optionsType(operation, isList, body)}`,
  ];
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
  const fields = [
    `operation: '${operation.id}'`,
    `method: '${operation.method}'`,
    `path: '${operation.path}'`,
    ...(names.length === 0 ? [] : [`parameters: { ${names.join(', ')} }`]),
    ...(query.type === null ? [] : ['query', `names: ${query.names}`]),
    ...(isDryRun ? ['workflow: { dryRun: true }'] : []),
    ...(body === null ? [] : [`code: '${body.code}'`, body.data === 'data' ? 'data' : `data: ${body.data}`]),
    ...(answer.resource === null ? [] : [`resource: '${answer.resource}'`]),
  ];
  const element = isList || !answer.isArray ? answer.type : `${answer.type}[]`;
  const result = `${isList ? 'List' : 'Call'}<${element}, ${answer.body}>`;
  const method = name.slice(name.lastIndexOf('.') + 1);
  const source = [
    `/** ${operation.operation.summary}: \`${operation.method} ${operation.path}\`${body === null ? '' : `, workflow \`${body.code}\``}. */`,
    `${method}: (${parameters.join(', ')}): ${result} =>`,
    `  ${isList ? 'sendList' : 'send'}({ ${fields.join(', ')} }, options),`,
  ].join('\n');
  return { name, source };
}

function optionsType({ method }: ClientOperation, isList: boolean, body: RequestBody | null): string {
  if (isList) return 'ListOptions';
  const common = method === 'POST' ? 'PostOptions' : 'CallOptions';
  return body === null ? common : `${common} & { ${body.options.join('; ')} }`;
}

interface RequestBody {
  readonly code: string;
  /** The resource that is sent, or all of `data` where it has several. */
  readonly argument: { readonly name: string; readonly type: string } | null;
  /** How `data` is made of the argument. */
  readonly data: string;
  /** The other containers and what else `data` may have, as options. */
  readonly options: readonly string[];
  readonly isRequired: boolean;
  /** Without it, `data` may be omitted. */
  readonly isDataRequired: boolean;
}

function bodyOf(document: Json, request: Json): RequestBody {
  const type = `Types.${nameOf(request.$ref)}`;
  const { properties, required } = resolved(document, request);
  const workflow = resolved(document, properties.workflow);
  const { code, ...settings } = workflow.properties;
  const isWorkflowRequired = workflow.required.length > 1;
  const isConnectRequired = required.includes('connect');
  const data = dataOf(document, properties);
  const only = onlyOf(data);
  const names = Object.keys(data.properties ?? {});
  const others = only === null ? [] : names.filter((name) => name !== only);
  return {
    code: code.const,
    argument: argumentOf(document, properties, type, only, names),
    data: only !== null ? `{ ${only} }` : names.length > 0 ? 'data' : '{}',
    options: [
      ...(Object.keys(settings).length === 0
        ? []
        : [`workflow${isWorkflowRequired ? '' : '?'}: Omit<${type}['workflow'], 'code' | 'dryRun'>`]),
      ...(others.length === 0 ? [] : [`data?: Omit<${type}['data'], '${only}'>`]),
      `connect${isConnectRequired ? '' : '?'}: ${type}['connect']`,
      `metadata?: ${type}['metadata']`,
    ],
    isRequired: isWorkflowRequired || isConnectRequired,
    isDataRequired: required.includes('data'),
  };
}

/** Data that may be omitted is also null. */
function dataOf(document: Json, { data }: Json): Json {
  if (data === undefined) return {};
  return resolved(document, data.anyOf?.find(({ type }: Json) => type !== 'null') ?? data);
}

function argumentOf(document: Json, properties: Json, type: string, only: string | null, names: readonly string[]) {
  if (only !== null) {
    const schema = dataOf(document, properties).properties[only];
    const data = properties.data.anyOf === undefined ? `${type}['data']` : `NonNullable<${type}['data']>`;
    return { name: only, type: schema.$ref === undefined ? `${data}['${only}']` : typeOf(schema) };
  }
  return names.length === 0 ? null : { name: 'data', type: `${type}['data']` };
}

/** The one field of `data` that is sent or answered by itself: its only one, or its only required one. */
function onlyOf({ properties = {}, required = [] }: Json): string | null {
  const names = Object.keys(properties);
  if (names.length === 1) return names[0] ?? null;
  return required.length === 1 ? required[0] : null;
}

/** The first array of `data`: what a list goes through. Others, as those of a timeline, are about it. */
function listedIn({ properties = {} }: Json): string | null {
  return Object.entries<Json>(properties).find(([, { type }]) => type === 'array')?.[0] ?? null;
}

function answerOf(document: Json, { answer, id }: ClientOperation, isList: boolean) {
  if (answer === null) return { type: 'string', body: 'string', resource: null, isArray: false };
  const body = `Types.${nameOf(answer.$ref)}`;
  const data = resolved(document, resolved(document, answer).properties.data);
  if (Object.keys(data.properties ?? {}).length === 0) return { type: 'void', body, resource: null, isArray: false };
  const only = isList ? listedIn(data) : onlyOf(data);
  if (isList && only === null) throw new Error(`${id}: its data has no array to go through`);
  if (only === null) return { type: `${body}['data']`, body, resource: null, isArray: false };
  const schema = data.properties[only];
  const isArray = schema.type === 'array';
  const item = isArray ? schema.items : schema;
  const type = item.$ref === undefined ? `${body}['data']['${only}']${isArray ? '[number]' : ''}` : typeOf(item);
  return { type, body, resource: only, isArray };
}

function queryOf({ operation, id }: ClientOperation, document: Json) {
  const all: Json[] = operation.parameters.map((parameter: Json) => resolved(document, parameter));
  const given = all.filter((parameter) => parameter.in === 'query');
  const isPaged = given.some(({ name }) => name.startsWith('metadata.page.'));
  const sent = given.filter(({ name }) => !name.startsWith('metadata.page.'));
  const shortened = sent.map(({ name, required, schema }) => ({
    name,
    short: name.slice(name.lastIndexOf('.') + 1),
    field: `${name.slice(name.lastIndexOf('.') + 1)}${required === true ? '' : '?'}: ${typeOf(schema)}`,
    isRequired: required === true,
  }));
  if (new Set(shortened.map(({ short }) => short)).size < shortened.length) {
    throw new Error(`Two query parameters of ${id} have the same last part`);
  }
  return {
    isPaged,
    isRequired: shortened.some(({ isRequired }) => isRequired),
    type: shortened.length === 0 ? null : `{ ${shortened.map(({ field }) => field).join('; ')} }`,
    names: `{ ${shortened.map(({ short, name }) => `${short}: ${quoted(name)}`).join(', ')} }`,
  };
}

/** The file client/generated/contract.ts: what is known of routes, and of the codes of their rejections. */
export function contractSource(document: Json): string {
  const operations = clientOperations(document);
  const routes = operations.map(({ method, path, operation, answer, dryRunAnswer }) => {
    const request = operation.requestBody?.content['application/json'].schema;
    const body = request === undefined ? 'undefined' : `Types.${nameOf(request.$ref)}`;
    const answers = [answer, dryRunAnswer].flatMap((schema) =>
      schema === null ? [] : [`Types.${nameOf(schema.$ref)}`],
    );
    const answered = answer === null ? 'string' : answers.join(' | ');
    return `  '${method} ${path}': { body: ${body}; answer: ${answered} };`;
  });
  const codes = operations.map(
    ({ id, operation }) => `  ${id}: ${codesOf(document, operation).map(quoted).join(' | ')};`,
  );
  return [
    HEADER,
    "import type * as Types from './types.ts';",
    '',
    '/** What each route takes and answers. */',
    'export interface Routes {',
    ...routes,
    '}',
    '',
    '/** The id of each operation. */',
    'export const OPERATIONS: Readonly<Record<string, string>> = {',
    ...operations.map(({ id, method, path }) => `  '${method} ${path}': '${id}',`),
    '};',
    '',
    '/** Those that answer files; all others answer JSON. */',
    `export const FILES: readonly string[] = [${operations.flatMap(({ id, answer }) => (answer === null ? [quoted(id)] : [])).join(', ')}];`,
    '',
    '/** The POSTs without an Idempotency-Key, of this client or not. */',
    'export const PATHS_WITHOUT_KEY: readonly string[] = [',
    ...pathsWithoutKey(document).map((path) => `  ${quoted(path)},`),
    '];',
    '',
    '/** The codes with which each operation may be rejected. */',
    'export interface ErrorCodes {',
    ...codes,
    '}',
    '',
  ].join('\n');
}

function pathsWithoutKey(document: Json): string[] {
  const named = (parameter: Json) => resolved(document, parameter).name === 'Idempotency-Key';
  return Object.entries<Json>(document.paths).flatMap(([path, { post }]) =>
    post === undefined || post.parameters?.some(named) ? [] : [path],
  );
}

/** The description of a rejection lists its codes. */
function codesOf(document: Json, { operationId, responses }: Json): string[] {
  const rejections = Object.entries<Json>(responses).filter(([status]) => !status.startsWith('2'));
  const codes = rejections.flatMap(([status, response]) => {
    const { description } = resolved(document, response);
    if (!/^`[a-z_.]+`(, `[a-z_.]+`)*$/.test(description)) {
      throw new Error(`${operationId}: the description of ${status} lists no codes`);
    }
    return description.replaceAll('`', '').split(', ');
  });
  return [...new Set<string>(codes)].sort();
}

/** The schema or response itself, if this is a reference to it. */
function resolved(document: Json, value: Json): Json {
  return value.$ref === undefined ? value : resolved(document, referred(document, value.$ref));
}
