import * as v from 'valibot';
import { DomainError, ERROR_CODES, type ErrorCode, type Problem } from '../../../domain/common/errors.ts';
import type { Contract } from '../route.ts';
import type { Schema } from '../schemas/schemas.ts';
import { fieldsSent } from '../schemas/secrets.ts';
import { entityAndField, isJsonNumber, shownText, withoutIndexes } from './json.ts';

/** Most problems in one answer, to keep it small. */
const PROBLEMS_LIMIT = 100;

// Values of fields with these names are never shown, wherever they are sent by mistake; the private part of a JWK is in `d`.
const SECRET_FIELD = /password|secret|private|credential|token|\bjwks?\b|\bpem\b/i;

export type Checked<Output> = { readonly value: Output; readonly problems: readonly Problem[] };

/** Validates a value at `path` of the request. With problems, the value is the raw input and must not be used. */
export function check<Output>(
  schema: Schema<unknown, Output>,
  value: unknown,
  path: readonly string[],
): Checked<Output> {
  const result = v.safeParse(schema, value);
  if (result.success) return { value: result.output, problems: [] };
  const problems = result.issues.slice(0, PROBLEMS_LIMIT).map((issue) => problemOf(issue, path));
  return { value: result.output as Output, problems };
}

function problemOf(issue: v.BaseIssue<unknown>, prefix: readonly string[]): Problem {
  const path = [...prefix, ...(issue.path ?? []).map((item) => String(item.key))];
  const [code, message] = codeAndMessage(issue);
  return problem(code, path, issue.input, message);
}

/** Builds the problem of one field of the request. */
export function problem(code: ErrorCode, path: readonly string[], value: unknown, message: string): Problem {
  const [entity, field] = entityAndField(path);
  return {
    code,
    message: `${shownText(path.join('.'))} ${message}.`,
    messageParameters: [shownText(entity), shownText(field), SECRET_FIELD.test(field) ? '' : shownValue(value)],
  };
}

/** The further problems whose fields, and their parents, have no problem yet, so that each field is named once. */
export function furtherProblems(problems: readonly Problem[], further: readonly Problem[]): readonly Problem[] {
  const fieldOf = ({ messageParameters: [entity, field] }: Problem) => `${entity}.${field}`;
  const named = new Set(problems.map(fieldOf));
  const isNamed = (field: string) => {
    const parts = field.split('.');
    return parts.some((_, index) => named.has(parts.slice(0, index + 1).join('.')));
  };
  return further.filter((one) => !isNamed(fieldOf(one)));
}

function codeAndMessage(issue: v.BaseIssue<unknown>): [ErrorCode, string] {
  if (issue.type === 'strict_object' && issue.expected === 'never') {
    return ['common.validation.field_unexpected', 'is not a field that can be sent here'];
  }
  const separator = issue.message.indexOf(': ');
  const code = ERROR_CODES.find((candidate) => candidate === issue.message.slice(0, separator));
  if (code !== undefined) return [code, issue.message.slice(separator + 2)];
  if (issue.input === undefined || issue.input === null) return ['common.validation.field_required', 'is required'];
  return ['common.validation.field_invalid', issue.message];
}

function shownValue(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return shownText(value);
  if (isJsonNumber(value)) return shownText(value.value);
  if (typeof value === 'object') return Array.isArray(value) ? '[…]' : '{…}';
  return shownText(String(value));
}

interface BodySecrets {
  readonly secretFields: ReadonlySet<string>;
  /** Entity and field of the values that errors may show; any other value may be a secret sent in the wrong field. */
  readonly shown: ReadonlySet<string>;
}

const secretsByContract = new WeakMap<object, BodySecrets>();

// Contracts are constants, so each is searched once.
function bodySecretsOf(contract: Contract): BodySecrets {
  let secrets = secretsByContract.get(contract);
  if (secrets === undefined) {
    const fields = fieldsSent(contract);
    const known = fields
      .filter(({ isSecret }) => !isSecret)
      .map(({ path }) => entityAndField(path.split('.')).join('.'));
    const secretFields = new Set(fields.filter(({ isSecret }) => isSecret).map(({ path }) => path));
    secrets = { secretFields, shown: new Set([...known, 'workflow.code']) };
    secretsByContract.set(contract, secrets);
  }
  return secrets;
}

/** Parses a body so that no problem shows a secret: if the body may contain one, only values of known non-secret fields are shown. */
export function hidingSecrets<Parsed>(
  contract: Contract,
  parse: (secretFields: ReadonlySet<string>) => Parsed,
): Parsed {
  const { secretFields, shown } = bodySecretsOf(contract);
  try {
    return parse(secretFields);
  } catch (error) {
    if (secretFields.size === 0 || !(error instanceof DomainError)) throw error;
    const [first, ...rest] = error.problems;
    throw new DomainError([hidden(first, shown), ...rest.map((one) => hidden(one, shown))]);
  }
}

function hidden(one: Problem, shown: ReadonlySet<string>): Problem {
  const [entity, field] = one.messageParameters;
  return shown.has(withoutIndexes(`${entity}.${field}`)) ? one : { ...one, messageParameters: [entity, field, ''] };
}
