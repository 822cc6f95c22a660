import * as v from 'valibot';
import { parseWrittenId, paymentReferenceOf } from '../../../domain/common/payment-references.ts';
import { hint, pattern } from './schemas.ts';

const DESCRIPTION =
  'The transfer’s id without dashes. It identifies the payment in bank messages, for example as EndToEndId, which has at most 35 characters.';

export const paymentReferenceShown = v.pipe(
  pattern(/^[0-9a-f]{32}$/, 'a payment reference'),
  v.description(DESCRIPTION),
);

/** A filter: the reference in any case, with or without the dashes of the id, parsed to the id. */
export function paymentReference() {
  return v.pipe(
    v.string('must be a payment reference'),
    v.check((text) => parseWrittenId(text) !== null, 'must be a payment reference, 32 letters and digits'),
    hint<string>({ pattern: '^[0-9A-Fa-f]{32}$|^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$' }),
    v.transform((text) => parseWrittenId(text) ?? paymentReferenceOf(text)),
  );
}
