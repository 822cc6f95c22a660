import * as v from 'valibot';
import { named } from './named.ts';
import { fields, type Schema } from './schemas.ts';

/** A named object that narrows `base`: the given fields are required, with the given schemas. */
export function narrowed<const Entries extends v.ObjectEntries>(
  name: string,
  base: Schema<unknown, unknown>,
  entries: Entries,
) {
  return named(name, v.intersect([base, fields(entries)]));
}
