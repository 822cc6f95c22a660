import * as v from 'valibot';
import { CLEARING_SYSTEMS } from '../../domain/bank-files/party-elements.ts';
import type { BankProfile } from '../../domain/bank-files/profiles.ts';
import { ConfigurationError, readJson } from '../files.ts';
import { describeIssues } from '../schema/schema.ts';

/** ISO 20022's external codes of service levels, local instruments and such. */
const isoCode = v.pipe(
  v.string(),
  v.regex(/^[A-Z0-9]{1,4}$/, 'must be a code of up to four capital letters or digits'),
);
const localInstrument = v.pipe(v.string(), v.regex(/^[A-Z0-9]{1,35}$/, 'must be a code in capital letters or digits'));

function oneOf<const Names extends readonly string[]>(names: Names) {
  return v.picklist(names, `must be one of ${names.join(', ')}`);
}

function upTo(maximum: number) {
  const message = `must be a whole number from 1 to ${maximum}`;
  return v.pipe(v.number(message), v.integer(message), v.minValue(1, message), v.maxValue(maximum, message));
}

const scheme = v.strictObject({
  serviceLevel: v.nullable(isoCode),
  localInstrument: v.nullable(localInstrument),
  chargeBearer: oneOf(['SLEV', 'SHAR', 'DEBT', 'CRED']),
  clearingSystem: v.nullable(oneOf(CLEARING_SYSTEMS)),
  needsIban: v.optional(v.boolean('must be true or false')),
  needsBic: v.optional(v.boolean('must be true or false')),
});

const profile = v.pipe(
  v.strictObject({
    paymentMessage: oneOf(['pain.001.001.03', 'pain.001.001.09']),
    schemes: v.pipe(
      v.record(v.string(), scheme),
      v.check((schemes) => Object.keys(schemes).length > 0, 'must have a scheme'),
    ),
    characters: oneOf(['sepa', 'swift-x', 'utf-8']),
    // ISO's own limits are the upper ones.
    lengths: v.strictObject({ name: upTo(140), remittance: upTo(140), reference: upTo(35) }),
    endsBy: oneOf(['pain.002', 'camt.054', 'camt.053']),
    releasedBy: oneOf(['pain.002', 'delivery']),
    silenceHours: upTo(24 * 31),
    payeeCheck: oneOf(['none', 'opted-out', 'confirmed']),
    takesCancellations: v.boolean('must be true or false'),
    addresses: v.optional(oneOf(['lines', 'structured', 'hybrid'])),
    purposeCodes: v.optional(v.boolean('must be true or false')),
  }),
  v.check(
    ({ addresses, paymentMessage }) =>
      addresses === undefined || (addresses === 'lines') === (paymentMessage === 'pain.001.001.03'),
    'must have addresses in lines with pain.001.001.03, structured or hybrid with pain.001.001.09',
  ),
);

/** Reads and checks the file of a bank's profile. Throws a ConfigurationError with one line for each problem. */
export function readBankProfile(code: string, path: string): BankProfile {
  const parsed = v.safeParse(profile, readJson(path));
  if (!parsed.success) throw new ConfigurationError(describeIssues(parsed.issues).map((line) => `${path}: ${line}`));
  return { code, ...parsed.output };
}

/** Every configured profile by its code. */
export function readBankProfiles(paths: Readonly<Record<string, string>>): ReadonlyMap<string, BankProfile> {
  return new Map(Object.entries(paths).map(([code, path]) => [code, readBankProfile(code, path)]));
}
