import * as v from 'valibot';
import type { Problem } from '../../../domain/frame/errors.ts';
import { isJsonObject } from '../requests/json.ts';

/** A contradiction between fields of one object. The message may begin with its code, as in other schemas. */
export interface Disagreement {
  /** Path from the checked object to the field at fault. */
  readonly path: readonly [string, ...string[]];
  readonly value: unknown;
  readonly message: string;
}

export type Sent = Readonly<Record<string, unknown>>;

/**
 * Checks fields of an object against each other, in a pipe after `fields`. It also runs when single fields are wrong,
 * so that callers see all problems at once: `find` must not assume valid values.
 */
export function crossCheck<Value>(find: (sent: Sent) => readonly Disagreement[]) {
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

/** A problem found by domain/: its code, and words that complete the field's path. */
export function disagreement(problem: Problem, path: Disagreement['path'], value: unknown): Disagreement {
  const begin = problem.code === 'common.validation.field_required' ? 'is required' : 'is refused';
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
