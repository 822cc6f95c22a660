import * as v from 'valibot';
import type { Problem } from '../../../domain/common/errors.ts';
import { isJsonObject } from '../requests/json.ts';

/** A contradiction between fields of one object. The message may begin with its code, as in other schemas. */
export interface FieldConflict {
  /** Path from the checked object to the invalid field. */
  readonly path: readonly [string, ...string[]];
  readonly value: unknown;
  readonly message: string;
}

export type Sent = Readonly<Record<string, unknown>>;

/**
 * Checks fields of an object against each other, in a pipe after `fields`. It also runs when single fields are invalid,
 * so that callers see all problems at once: `find` must not assume valid values.
 */
export function rejectConflicts<Value>(find: (sent: Sent) => readonly FieldConflict[]) {
  return v.rawCheck<Value>(({ dataset, addIssue }) => {
    const sent: unknown = dataset.value;
    if (!isSent(sent)) return;
    const blamed = new Set((dataset.issues ?? []).map((issue) => v.getDotPath(issue)));
    for (const { path, value, message } of find(sent)) {
      if (blamed.has(path.join('.'))) continue;
      const [first, ...rest] = path;
      addIssue({ message, input: value ?? null, path: [item(sent, first), ...rest.map((key) => item(sent, key))] });
    }
  });
}

/** A problem found by domain/: its code, and a message that continues the field's path. */
export function fieldConflict(problem: Problem, path: FieldConflict['path'], value: unknown): FieldConflict {
  const begin = problem.code === 'common.validation.field_required' ? 'is required' : 'is rejected';
  const { message } = problem;
  const sentence = `${message.charAt(0).toLowerCase()}${message.slice(1).replace(/\.$/, '')}`;
  return { path, value, message: `${problem.code}: ${begin}: ${sentence}` };
}

function item(input: Sent, key: string): v.IssuePathItem {
  return { type: 'object', origin: 'value', input: { ...input }, key, value: input[key] };
}

export function isSent(value: unknown): value is Sent {
  return isJsonObject(value);
}
