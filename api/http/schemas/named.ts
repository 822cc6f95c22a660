import * as v from 'valibot';
import type { Schema } from './schemas.ts';

/**
 * Gives an object its name in the OpenAPI document, in the specification's words: `named('Client', fields({…}))`. The
 * document uses the name for the object in answers, and adds `Input` where POST takes it and `Change`
 * where PATCH does. Wrap `fields` and `oneOf` directly, before any check or transformation.
 */
export function named<const Wrapped extends Schema<unknown, unknown>>(name: string, schema: Wrapped) {
  return v.pipe(schema, v.title(name));
}
