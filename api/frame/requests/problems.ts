import * as v from 'valibot';
import { ERROR_CODES, type ErrorCode, type Problem } from '../../../domain/frame/errors.ts';
import type { Schema } from '../schemas/schemas.ts';
import { entityAndField, isJsonNumber, shownText } from './json.ts';

/** Most problems in one answer, to keep it small. */
const PROBLEMS_LIMIT = 100;

// Never echoes the values of these fields; a JWK sent by mistake has its private part in `d`.
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

/** Builds the problem of a field of the request, by its dotted path. */
export function problem(code: ErrorCode, path: readonly string[], value: unknown, message: string): Problem {
  const [entity, field] = entityAndField(path);
  return {
    code,
    message: `${shownText(path.join('.'))} ${message}.`,
    messageParameters: [shownText(entity), shownText(field), SECRET_FIELD.test(field) ? '' : shownValue(value)],
  };
}

/** Those of the further problems whose fields, and what these are in, have none of their own: each field is named once. */
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
