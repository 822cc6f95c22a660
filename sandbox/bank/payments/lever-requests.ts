import * as v from 'valibot';
import { amountDigits, maybe, reference, text } from '../wire.ts';

// Levers reject unknown fields: ignoring one would suggest that it had an effect.
export const NO_FIELD = 'is not a field of this lever';

export const NO_FIELDS_REQUEST = v.strictObject({}, NO_FIELD);

/** What the levers of a payment are given. `codeLengthMax`: of the bank's reason codes. */
export function leverRequests(codeLengthMax: number) {
  const code = maybe(v.pipe(text(codeLengthMax), v.minLength(1, 'must not be empty')));
  return {
    reject: v.strictObject({ code }, NO_FIELD),
    return: v.strictObject({ code, amount: maybe(amountDigits()), returnReference: maybe(reference()) }, NO_FIELD),
  };
}
