import * as v from 'valibot';
import { idWritten, paymentReferenceOf } from '../../../domain/frame/payment-references.ts';
import { hint, pattern } from './schemas.ts';

const DESCRIPTION =
  'Names the payment in the messages of banks, such as an EndToEndId, which hold at most 35 characters: the transfer’s id without dashes.';

export const paymentReferenceShown = v.pipe(
  pattern(/^[0-9a-f]{32}$/, 'a payment reference'),
  v.description(DESCRIPTION),
);

/** A filter: the reference in any case, with or without the dashes of the id, parsed to the id. */
export function paymentReference() {
  return v.pipe(
    v.string('must be a payment reference'),
    v.check((text) => idWritten(text) !== null, 'must be a payment reference, 32 letters and digits'),
    hint<string>({ pattern: '^[0-9A-Fa-f]{32}$|^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$' }),
    v.transform((text) => idWritten(text) ?? paymentReferenceOf(text)),
  );
}
