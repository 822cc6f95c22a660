import entries from './operations.json' with { type: 'json' };
import { barePath, isSecret, operandNames } from './paths.ts';

/**
 * An operation of the OpenAPI document, with one of its workflow codes if it has any. operations.json is printed from the document by
 * test/documents/reference.test.ts.
 */
export interface OperationEntry {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly noun: string;
  readonly name: string;
  readonly summary: string;
  readonly query?: readonly string[];
  /** It takes no token. */
  readonly isOpen?: true;
  readonly code?: string;
  /** The properties of `data`, and those that must be there. */
  readonly keys?: readonly string[];
  readonly required?: readonly string[];
  /** The type of a body that is no envelope. */
  readonly mediaType?: string;
}

export const OPERATION_ENTRIES: readonly OperationEntry[] = entries.map(({ isOpen, ...entry }) =>
  isOpen === true ? { ...entry, isOpen } : entry,
);

/** The operation that a method and a path are, as they are typed. */
export function entryAt(method: string, path: string): OperationEntry | undefined {
  return OPERATION_ENTRIES.find((entry) => entry.method === method && patternOf(entry.path).test(barePath(path)));
}

export function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '([^/]+)')}$`);
}

/** The operations to which a path with a secret may belong, whatever follows the secret. */
export function entriesWithSecretAt(path: string): readonly OperationEntry[] {
  return OPERATION_ENTRIES.filter((entry) => {
    const secret = operandNames(entry.path).find(isSecret);
    return secret !== undefined && barePath(path).startsWith(entry.path.split(`{${secret}}`)[0] ?? '');
  });
}
