import * as v from 'valibot';
import { named } from './named.ts';
import { fields, type Schema } from './schemas.ts';

/** An object with a name of its own that is `base` with less freedom: these fields are there, and as narrow as these. */
export function narrowed<const Entries extends v.ObjectEntries>(
  name: string,
  base: Schema<unknown, unknown>,
  entries: Entries,
) {
  return named(name, v.intersect([base, fields(entries)]));
}
