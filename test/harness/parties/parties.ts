import { type FieldRule, invalid, rejected, same, shownAs } from './field-rules.ts';

/** Rules of specification 2.1 that hold wherever a party has the field. */
const NO_ADDRESS = {
  country: 'GB',
  region: null,
  city: null,
  street: null,
  houseNumber: null,
  postalCode: null,
  refinement: null,
};

export const IDENTIFICATION_TYPES = [
  'registration-number',
  'passport',
  'identity-card',
  'driving-licence',
  'national-id-number',
  'tax-identification-number',
  'vat-number',
  'lei',
  'residence-permit',
  'other',
];

const rule = '2.1 Address';

/** The address at `path`; answers also show the keys that `more` derives from it. */
export function addressRules(
  path: string,
  need: 'required' | 'optional',
  more: (address: Record<string, string | null>) => object = () => ({}),
): FieldRule[] {
  const whole = (sent: Record<string, string>) => {
    const address = { ...NO_ADDRESS, ...sent };
    return shownAs(sent, { ...address, ...more(address) });
  };
  return [
    {
      rule,
      path,
      need,
      takes: [
        whole({ country: 'GB' }),
        whole({ country: 'US', region: 'CA', city: 'San Francisco', street: 'Market Street', houseNumber: '1' }),
        whole({ country: 'CA', region: 'QC' }),
        whole({ country: 'MX', region: 'CMX' }),
        whole({ country: 'DE', region: 'Freistaat Bayern', postalCode: '80331', refinement: 'c/o Müller' }),
      ],
      rejects: [
        ...invalid('London', ['London'], 12),
        rejected({}, 'field_required', 'country'),
        rejected({ country: 'GB', zip: '1' }, 'field_unexpected', 'zip'),
        ...['US', 'CA', 'MX'].map((country) => rejected({ country }, 'field_required', 'region')),
        rejected({ country: 'US', region: 'California' }, 'field_invalid', 'region'),
        rejected({ country: 'US', region: 'US-CA' }, 'field_invalid', 'region'),
        rejected({ country: 'US', region: 'ca' }, 'field_invalid', 'region'),
        rejected({ country: 'CA', region: 'CA' }, 'field_invalid', 'region'),
        rejected({ country: 'MX', region: 'DF' }, 'field_invalid', 'region'),
      ],
    },
    { rule, path: `${path}.country`, need: 'required', ...countryValues, moves: [path] },
    ...['region', 'city', 'street', 'houseNumber', 'postalCode', 'refinement'].map(
      (field): FieldRule => ({
        rule,
        path: `${path}.${field}`,
        need: 'optional',
        takes: same('Ø'.repeat(70), '7'),
        rejects: invalid('x'.repeat(71), '', 7, 'a\nb'),
        moves: [path],
      }),
    ),
  ];
}

export const countryValues = {
  takes: same('GB', 'DE', 'JP'),
  rejects: invalid('XX', 'gb', 'GBR', 826),
} satisfies Partial<FieldRule>;

export const dateValues = {
  takes: same('1990-12-10', '2000-02-29'),
  rejects: invalid('2023-02-29', '1990-13-01', '10.12.1990', '1990-12-10T00:00:00', 19901210),
} satisfies Partial<FieldRule>;

/** Companies and registers are older than payments. */
export const historicDateValues = {
  takes: same('1990-12-10', '1863-08-01', '1288-06-16'),
  rejects: invalid('1863-02-29', '0999-12-31', '0000-01-01', 18630801),
} satisfies Partial<FieldRule>;

export const nameValues = {
  takes: same('Ada', 'Jean-Luc', '李', 'Ñ'.repeat(140)),
  rejects: invalid('', ' ', 'a'.repeat(141), 12, ['Ada'], 'A\u202eda'),
} satisfies Partial<FieldRule>;

export const phoneValues = {
  takes: same('+44 20 7946 0000', '(020) 7946-0000'),
  rejects: invalid('call me', '+44', `+${'1'.repeat(31)}`, 442079460000),
} satisfies Partial<FieldRule>;

export const emailValues = {
  takes: same('ada@example.com', 'Ada.Lovelace+bank@mail.example.co.uk'),
  rejects: invalid('ada', 'ada@', '@example.com', 'ada@example', 'a b@example.com', 12),
} satisfies Partial<FieldRule>;

/** The list of identifications of an identity at `path`, and its deprecated view. */
export function identificationRules(path: string): FieldRule[] {
  const list = `${path}.identifications`;
  const map = `${path}.identificationNumbers`;
  const moves = [list, map];
  const bare = { type: 'passport', identificationNumber: '925665416' };
  const empty = { issuingCountry: null, issueDate: null, expirationDate: null };
  const full = { ...bare, issuingCountry: 'GB', issueDate: '2020-01-01', expirationDate: '2030-01-01' };
  const one = `${list}.0`;
  const identification = '2.1 Identification';
  return [
    {
      rule: identification,
      path: list,
      need: 'optional',
      absent: [],
      moves,
      takes: [
        shownAs([], []),
        shownAs([bare], [{ ...bare, ...empty }]),
        ...same([full]),
        shownAs(
          [full, { type: 'lei', identificationNumber: 'L1' }],
          [full, { type: 'lei', identificationNumber: 'L1', ...empty }],
        ),
      ],
      rejects: [
        ...invalid('passport', { passport: '1' }),
        rejected(
          Array.from({ length: 21 }, () => bare),
          'limit_exceeded',
        ),
        rejected([{ ...bare, colour: 'red' }], 'field_unexpected', '0.colour'),
      ],
    },
    {
      rule: identification,
      path: `${one}.type`,
      need: 'required',
      takes: same(...IDENTIFICATION_TYPES),
      rejects: invalid('library-card', 'Passport', 12),
      moves,
    },
    {
      rule: identification,
      path: `${one}.identificationNumber`,
      need: 'required',
      takes: same('1', 'N'.repeat(64)),
      rejects: invalid('', 'N'.repeat(65), 1),
      moves,
    },
    { rule: identification, path: `${one}.issuingCountry`, need: 'optional', ...countryValues, moves },
    { rule: identification, path: `${one}.issueDate`, need: 'optional', ...historicDateValues, moves },
    { rule: identification, path: `${one}.expirationDate`, need: 'optional', ...dateValues, moves },
    {
      rule: '2.1 Identification, deprecated map',
      path: map,
      need: 'optional',
      absent: {},
      moves,
      takes: same({ passport: '1', 'driving-licence': '2' }),
      rejects: [...invalid('1', ['1']), rejected({ 'library-card': '1' }, 'field_unexpected', 'library-card')],
    },
    ...IDENTIFICATION_TYPES.map(
      (type): FieldRule => ({
        rule: '2.1 Identification, deprecated map',
        path: `${map}.${type}`,
        need: 'optional',
        absent: undefined,
        moves,
        takes: same('N1'),
        rejects: invalid('', 1),
      }),
    ),
  ];
}

/** Callers cannot send fields that the service generates. */
export function readOnly(name: string, values: Readonly<Record<string, unknown>>): FieldRule[] {
  return Object.entries(values).map(([path, value]) => ({
    rule: `${name}, read-only`,
    path,
    need: 'read-only',
    rejects: [rejected(value, 'field_unexpected')],
  }));
}
