import * as v from 'valibot';
import { checkAddress } from '../../../domain/common/parties/addresses.ts';
import { isCountry } from '../../../domain/common/parties/countries.ts';
import { isEmail } from '../../../domain/common/parties/emails.ts';
import {
  IDENTIFICATION_NUMBER_LENGTH_MAX,
  IDENTIFICATION_TYPES,
} from '../../../domain/common/parties/identifications.ts';
import { ADDRESS_LINE_LENGTH_MAX, NAME_LENGTH_MAX } from '../../../domain/common/parties/names.ts';
import { isDate, type LocalDate } from '../../../domain/common/time/dates.ts';
import { fieldConflict, rejectConflicts } from './cross-checks.ts';
import { named } from './named.ts';
import { clearable, country, date, fields, hint, list, nullable, optional, picklist, text } from './schemas.ts';

/** Common to all parties: clients, related entities, users, beneficiaries (specification 2.1). */
const IDENTIFICATIONS_MAX = 20;

const addressLine = () => clearable(text(ADDRESS_LINE_LENGTH_MAX));

/** A date that may precede any payment, such as an incorporation: `YYYY-MM-DD` from the year 1000 on. */
export const historicDate = () =>
  v.pipe(
    v.string('must be a date'),
    v.check((value) => isDate(value, 1000), 'must be a calendar date, as YYYY-MM-DD'),
    hint<string>({ title: 'HistoricDate', format: 'date', pattern: '^[1-9]\\d{3}-' }),
    v.transform((value): LocalDate => value),
  );

/**
 * An address as sent. Missing parts are stored as null and null counts as missing, so that a change can resend what
 * was read.
 */
export const addressSent = v.pipe(
  named(
    'Address',
    fields({
      country: country(),
      region: addressLine(),
      city: addressLine(),
      street: addressLine(),
      houseNumber: addressLine(),
      postalCode: addressLine(),
      refinement: addressLine(),
    }),
  ),
  rejectConflicts(({ country: code, region: sent }) => {
    const region = sent ?? undefined;
    if (typeof code !== 'string' || !isCountry(code) || (typeof region !== 'string' && region !== undefined)) return [];
    const problems = checkAddress({ country: code, region }, { entity: '', field: '' });
    return problems.map((problem) => fieldConflict(problem, ['region'], region));
  }),
  v.transform((address) => ({
    country: address.country,
    region: address.region ?? null,
    city: address.city ?? null,
    street: address.street ?? null,
    houseNumber: address.houseNumber ?? null,
    postalCode: address.postalCode ?? null,
    refinement: address.refinement ?? null,
  })),
);

const addressLineShown = () => nullable(text(ADDRESS_LINE_LENGTH_MAX));

export const addressShown = named(
  'Address',
  fields({
    country: country(),
    region: addressLineShown(),
    city: addressLineShown(),
    street: addressLineShown(),
    houseNumber: addressLineShown(),
    postalCode: addressLineShown(),
    refinement: addressLineShown(),
  }),
);

const identification = {
  type: named('IdentificationType', picklist(IDENTIFICATION_TYPES)),
  identificationNumber: text(IDENTIFICATION_NUMBER_LENGTH_MAX),
};

export const identificationsSent = list(
  v.pipe(
    named(
      'Identification',
      fields({
        ...identification,
        issuingCountry: clearable(country()),
        issueDate: clearable(historicDate()),
        expirationDate: clearable(date()),
      }),
    ),
    v.transform((sent) => ({
      type: sent.type,
      identificationNumber: sent.identificationNumber,
      issuingCountry: sent.issuingCountry ?? null,
      issueDate: sent.issueDate ?? null,
      expirationDate: sent.expirationDate ?? null,
    })),
  ),
  0,
  IDENTIFICATIONS_MAX,
);

export const identificationsShown = list(
  named(
    'Identification',
    fields({
      ...identification,
      issuingCountry: nullable(country()),
      issueDate: nullable(historicDate()),
      expirationDate: nullable(date()),
    }),
  ),
  0,
  2 * IDENTIFICATIONS_MAX,
);

const byIdentificationType = <Value>(value: Value) => ({
  'registration-number': value,
  passport: value,
  'identity-card': value,
  'driving-licence': value,
  'national-id-number': value,
  'tax-identification-number': value,
  'vat-number': value,
  lei: value,
  'residence-permit': value,
  other: value,
});

/** The deprecated map of type to number, with the same data as the list. */
export const identificationNumbers = named(
  'IdentificationNumbers',
  fields(byIdentificationType(optional(text(IDENTIFICATION_NUMBER_LENGTH_MAX)))),
);

/** Likewise in a change, where null removes the identifications of that type. */
export const identificationNumbersChange = named(
  'IdentificationNumbers',
  fields(byIdentificationType(clearable(text(IDENTIFICATION_NUMBER_LENGTH_MAX)))),
);

export const partyName = () => text(NAME_LENGTH_MAX);

/** Digits with an optional plus, and common separators. */
export const phone = () =>
  v.pipe(
    v.string('must be text'),
    v.regex(/^\+?\(?[0-9][0-9 ().-]{3,29}$/, 'must be a telephone number'),
    v.title('Phone'),
  );

export const email = () =>
  v.pipe(
    v.string('must be an e-mail address'),
    hint<string>({ title: 'Email', format: 'email', maxLength: 254 }),
    v.check(isEmail, 'must be an e-mail address'),
  );
