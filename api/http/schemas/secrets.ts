import type { Contract } from '../route.ts';
import type { Schema } from './schemas.ts';

const SECRETS = new WeakSet<object>();

/**
 * Marks a field whose value is never shown in an error: a password, or a public key, in place of which a
 * caller may send the private one. Only the schema checks its text, which may have any characters.
 */
export function secret<const Wrapped extends Schema<unknown, unknown>>(schema: Wrapped): Wrapped {
  const marked = { ...schema };
  SECRETS.add(marked);
  return marked;
}

export interface FieldOfSchema {
  /** Dotted, with `*` for the items of a list and the values of a map. */
  readonly path: string;
  readonly isSecret: boolean;
}

/** All values of a schema at `path`, secret or not. A secret may be an object. */
export function fieldsOf(schema: unknown, path: string): readonly FieldOfSchema[] {
  if (typeof schema !== 'object' || schema === null) return [];
  if (SECRETS.has(schema)) return [{ path, isSecret: true }];
  const parts = partsOf(schema);
  if (parts === null) return [{ path, isSecret: false }];
  return parts.flatMap(([name, part]) => fieldsOf(part, name === '' ? path : `${path}.${name}`));
}

type Parts = readonly (readonly [name: string, schema: unknown])[];

/** The parts of a schema, by field name ('' for the field itself); null for a plain value. */
function partsOf(schema: object): Parts | null {
  // A pipe is a copy of its first schema, and only that has the mark.
  if ('pipe' in schema && Array.isArray(schema.pipe)) return [['', schema.pipe[0]]];
  if ('entries' in schema) return Object.entries(schema.entries ?? {});
  if ('wrapped' in schema) return [['', schema.wrapped]];
  if ('item' in schema) return [['*', schema.item]];
  if ('value' in schema && 'key' in schema) return [['*', schema.value]];
  if (!('options' in schema && Array.isArray(schema.options))) return null;
  const options = schema.options.filter((option) => typeof option === 'object');
  return options.length === 0 ? null : options.map((option) => ['', option]);
}

/** The fields of every body that a route takes, by the code of its workflow. */
export function fieldsSent({ workflows = {} }: Pick<Contract, 'workflows'>) {
  return Object.entries(workflows).flatMap(([code, { workflow = {}, data, connect }]) => {
    const ofWorkflow = Object.entries(workflow).flatMap(([name, schema]) => fieldsOf(schema, `workflow.${name}`));
    const ofConnect = connect === undefined ? [] : fieldsOf(connect, 'connect');
    return [...ofWorkflow, ...fieldsOf(data, 'data'), ...ofConnect].map((field) => ({ ...field, code }));
  });
}
