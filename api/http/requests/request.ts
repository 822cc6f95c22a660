import { DomainError, type Problem, rejection } from '../../../domain/common/errors.ts';
import type { Contract, Entries, Page, WorkflowContract } from '../route.ts';
import { implausibleFields } from '../schemas/plausible-dates.ts';
import { fields, type Schema } from '../schemas/schemas.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson, stringify } from './json.ts';
import { type Checked, check, furtherProblems, hidingSecrets, problem } from './problems.ts';

export const PAGE_SIZE_DEFAULT = 10;
export const PAGE_SIZE_MAX = 100;

/**
 * A million rows at the largest size. Rows before a page are read and discarded, so callers should filter for later rows.
 */
export const PAGE_NUMBER_MAX = 9_999;

const PAGE_PARAMETERS: readonly string[] = ['metadata.page.number', 'metadata.page.size'];

const CONTAINERS: readonly string[] = ['workflow', 'data', 'connect', 'metadata'];

export interface ParsedQuery {
  readonly query: Record<string, unknown>;
  readonly page: Page;
  readonly include: ReadonlySet<string>;
  readonly expand: ReadonlySet<string>;
}

export interface ParsedBody {
  readonly body: { code: string; workflow: unknown; data: unknown; connect: unknown };
  /** As sent, for echoing. */
  readonly workflow: JsonObject;
  readonly connect: JsonObject;
  /** The whole body as sent, to recognize a repeated request. */
  readonly sent: JsonObject;
}

/** Throws all problems together, if there are any. */
export function reject(problems: readonly Problem[]): void {
  const [first, ...rest] = problems;
  if (first !== undefined) throw new DomainError([first, ...rest]);
}

const entrySchemas = new WeakMap<Entries, ReturnType<typeof fields>>();

// Contracts are constants, so each set of entries becomes a schema once.
function entriesSchema(entries: Entries) {
  let schema = entrySchemas.get(entries);
  if (schema === undefined) {
    schema = fields(entries);
    entrySchemas.set(entries, schema);
  }
  return schema;
}

export function parseParams(contract: Contract, raw: Readonly<Record<string, string>>): Record<string, unknown> {
  if (contract.params === undefined) return {};
  const checked = check(entriesSchema(contract.params), raw, ['path']);
  reject(checked.problems);
  return checked.value;
}

const NOTHING_ASKED: ParsedQuery = {
  query: Object.freeze({}),
  page: { number: 0, size: PAGE_SIZE_DEFAULT, offset: 0 },
  include: new Set(),
  expand: new Set(),
};

/** Validates the query: known names, each once; include and expand, separated by commas or repeated; the page. */
export function parseQuery(contract: Contract, parameters: URLSearchParams): ParsedQuery {
  if (parameters.size === 0 && contract.query === undefined) return NOTHING_ASKED;
  const problems: Problem[] = [];
  const values: Record<string, string> = {};
  const known = contract.query ?? {};
  for (const name of new Set(parameters.keys())) {
    if (name === 'metadata.include' || name === 'metadata.expand') continue;
    const all = parameters.getAll(name);
    const isPage = contract.paged === true && PAGE_PARAMETERS.includes(name);
    if (all.length > 1) {
      problems.push(problem('common.validation.field_invalid', queryPath(name), all[1], 'is given more than once'));
    } else if (Object.hasOwn(known, name) || isPage) {
      values[name] = all[0] ?? '';
    } else if (!name.startsWith('metadata.')) {
      problems.push(problem('common.validation.field_unexpected', queryPath(name), all[0], 'is not a known parameter'));
    }
  }
  const page = parsePage(values, problems);
  const query = parseQueryValues(known, values, problems);
  reject(problems);
  return {
    query,
    page,
    include: parseList(parameters, 'metadata.include', contract.include),
    expand: parseList(parameters, 'metadata.expand', contract.expand),
  };
}

function parseQueryValues(
  known: Entries,
  values: Record<string, string>,
  problems: Problem[],
): Record<string, unknown> {
  const query: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(known)) {
    // Most requests use one or two of a dozen filters.
    if (values[name] === undefined && schema.type === 'optional') continue;
    const checked = check(schema, values[name], queryPath(name));
    problems.push(...checked.problems);
    query[name] = checked.value;
  }
  return query;
}

function queryPath(name: string): string[] {
  return name.includes('.') ? name.split('.') : ['query', name];
}

function parsePage(values: Record<string, string>, problems: Problem[]): Page {
  const number = parsePageValue(values, 'metadata.page.number', 0, PAGE_NUMBER_MAX, 0, problems);
  const size = parsePageValue(values, 'metadata.page.size', 1, PAGE_SIZE_MAX, PAGE_SIZE_DEFAULT, problems);
  return { number, size, offset: number * size };
}

function parsePageValue(
  values: Record<string, string>,
  name: string,
  minimum: number,
  maximum: number,
  fallback: number,
  problems: Problem[],
): number {
  const value = values[name];
  if (value === undefined) return fallback;
  const number = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= minimum && number <= maximum) return number;
  if (name === 'metadata.page.number' && /^\d+$/.test(value)) {
    const rule = `is at most ${maximum}: ask for less by a filter`;
    problems.push(problem('common.validation.limit_exceeded', name.split('.'), value, rule));
    return fallback;
  }
  const message = `must be a whole number from ${minimum} to ${maximum}`;
  problems.push(problem('common.validation.field_invalid', name.split('.'), value, message));
  return fallback;
}

/** Handlers see only names of the contract, so the OpenAPI document has them all. */
function parseList(parameters: URLSearchParams, name: string, known: readonly string[] = []): ReadonlySet<string> {
  const items = parameters.getAll(name).flatMap((value) => value.split(','));
  return new Set(items.map((item) => item.trim()).filter((item) => known.includes(item)));
}

/** Validates a write's body: containers, workflow code, then their contents. Reports all problems at once. */
export function parseBody(contract: Contract, text: string, now: Date): ParsedBody {
  return hidingSecrets(contract, (secretFields) => {
    return checkBody(contract, parseJson(text, contract.multilineFields, contract.bodyLimit?.nodes, secretFields), now);
  });
}

function checkBody(contract: Contract, parsed: JsonValue, now: Date): ParsedBody {
  if (!isJsonObject(parsed)) {
    throw rejection('common.validation.field_invalid', ['body', 'body', ''], 'The body must be a JSON object.');
  }
  const problems: Problem[] = [];
  for (const [key, value] of Object.entries(parsed)) {
    if (!CONTAINERS.includes(key)) {
      problems.push(
        problem('common.validation.field_unexpected', [key], value, 'is none of workflow, data, connect and metadata'),
      );
    }
  }
  const workflow = container(parsed, 'workflow', true, problems);
  const data = container(parsed, 'data', needsData(contract, workflow), problems);
  const connect = container(parsed, 'connect', false, problems);
  container(parsed, 'metadata', false, problems);
  const { code, chosen } = chooseWorkflow(contract, workflow, parsed.workflow !== undefined, problems);
  if (chosen === null) {
    reject(problems);
    throw new Error('a body without a workflow has a problem');
  }
  // On POST null omits a field; on PATCH it clears it.
  const meaning = contract.method === 'POST' ? withoutNulls : (value: JsonObject): JsonObject => value;
  const { code: _, ...workflowFields } = meaning(workflow);
  const checkedWorkflow = check(entriesSchema(chosen.workflow ?? NO_ENTRIES), workflowFields, ['workflow']);
  const sentData = meaning(data);
  const checkedData = checkData(chosen, sentData, parsed.data !== undefined);
  const checkedConnect: Checked<unknown> =
    chosen.connect === undefined ? checkFreeConnect(connect) : check(chosen.connect, meaning(connect), ['connect']);
  problems.push(...checkedWorkflow.problems, ...checkedData.problems, ...checkedConnect.problems);
  const dates = implausibleFields(sentData, ['data'], now).map(({ path, value, rule }) =>
    problem('common.validation.field_invalid', path, value, rule),
  );
  problems.push(...furtherProblems(problems, dates));
  if (chosen.across !== undefined && isJsonObject(parsed.data)) {
    problems.push(...furtherProblems(problems, chosen.across(workflowFields, sentData)));
  }
  reject(problems);
  return {
    body: {
      code,
      workflow: { code, ...checkedWorkflow.value },
      data: checkedData.value,
      connect: checkedConnect.value,
    },
    workflow,
    connect,
    sent: parsed,
  };
}

const NO_ENTRIES: Entries = {};

/** An action such as a recall has no data and may omit the container. Without a known code data is required. */
function needsData(contract: Contract, { code }: JsonObject): boolean {
  const workflows = contract.workflows ?? {};
  const chosen = typeof code === 'string' && Object.hasOwn(workflows, code) ? workflows[code] : undefined;
  return chosen === undefined || requiresData(chosen);
}

/** Whether a request must have the container `data`. */
export function requiresData({ data, isDataOptional }: WorkflowContract): boolean {
  return isDataOptional !== true && hasFields(data);
}

/** Whether an object's schema has any field. */
function hasFields(schema: Schema<unknown, unknown>): boolean {
  const entries: unknown = 'entries' in schema ? schema.entries : null;
  return typeof entries !== 'object' || entries === null || Object.keys(entries).length > 0;
}

function checkData(chosen: WorkflowContract, data: JsonObject, present: boolean): Checked<unknown> {
  // A missing container is one problem, not one for each of its fields.
  return present ? check(chosen.data, data, ['data']) : { value: {}, problems: [] };
}

/**
 * Free-form containers are stored and echoed: enough for a provider's parameters, not for a caller's documents.
 */
export const CONNECT_BYTES_MAX = 4_096;

function checkFreeConnect(connect: JsonObject): Checked<unknown> {
  const tooLarge = Buffer.byteLength(stringify(connect)) > CONNECT_BYTES_MAX;
  const message = `must not be larger than ${CONNECT_BYTES_MAX} bytes`;
  return {
    value: connect,
    problems: tooLarge ? [problem('common.validation.limit_exceeded', ['connect'], '', message)] : [],
  };
}

function container(body: JsonObject, name: string, required: boolean, problems: Problem[]): JsonObject {
  const value = body[name];
  if (isJsonObject(value)) return value;
  if (value === undefined || value === null) {
    if (required) problems.push(problem('common.validation.field_required', [name], value, 'is required'));
  } else {
    problems.push(problem('common.validation.field_invalid', [name], value, 'must be an object'));
  }
  return {};
}

function chooseWorkflow(
  contract: Contract,
  workflow: JsonObject,
  present: boolean,
  problems: Problem[],
): { code: string; chosen: WorkflowContract | null } {
  const workflows = contract.workflows ?? {};
  const code = workflow.code;
  if (typeof code === 'string' && Object.hasOwn(workflows, code)) return { code, chosen: workflows[code] ?? null };
  const path = ['workflow', 'code'];
  const allowed = `must be one of ${Object.keys(workflows).join(', ')}`;
  if (code === undefined || code === null) {
    if (present) problems.push(problem('common.validation.field_required', path, code, `is required and ${allowed}`));
  } else if (typeof code === 'string') {
    problems.push(problem('common.workflow.unknown_code', path, code, allowed));
  } else {
    problems.push(problem('common.validation.field_invalid', path, code, 'must be text'));
  }
  return { code: '', chosen: null };
}

function withoutNulls(value: JsonObject): JsonObject {
  const kept: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    if (item !== null) kept[key] = withoutNullsIn(item);
  }
  return kept;
}

function withoutNullsIn(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutNullsIn);
  return isJsonObject(value) ? withoutNulls(value) : value;
}
