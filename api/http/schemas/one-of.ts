import * as v from 'valibot';
import { isJsonObject } from '../requests/json.ts';

/** One of several objects, discriminated by the field `key`; `kinds` completes "must be of …". */
export function oneOf<const Key extends string, const Options extends v.VariantOptions<Key>>(
  key: Key,
  options: Options,
  kinds: string,
) {
  const known = v.variant(key, options, `must be of ${kinds}`);
  const run: (typeof known)['~run'] = (dataset, config) => {
    const input = dataset.value;
    if (isJsonObject(input)) return known['~run'](dataset, config);
    const issue: v.VariantIssue = {
      kind: 'schema',
      type: 'variant',
      input,
      expected: 'Object',
      received: typeof input,
      message: 'must be an object',
    };
    return { typed: false, value: input, issues: [issue] };
  };
  return { ...known, '~run': run };
}

/** The one value that a field can have. */
export function only<const Value extends string>(value: Value) {
  return v.literal(value, `must be ${value}`);
}
