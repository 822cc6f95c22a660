import type { ExistingAddress, ExistingBeneficiary, ExistingClient, ExistingIdentity } from '../books.ts';

/** Clients and beneficiaries of every new sandbox bank; docs/sandbox.md lists them. */
const NO_IDENTITY: ExistingIdentity = {
  type: null,
  givenName: null,
  familyName: null,
  legalName: null,
  birthDate: null,
  incorporationDate: null,
  corporationType: null,
  country: null,
  identifications: [],
};

function person(givenName: string, familyName: string, more: Partial<ExistingIdentity> = {}): ExistingIdentity {
  return { ...NO_IDENTITY, type: 'individual', givenName, familyName, ...more };
}

function company(legalName: string, more: Partial<ExistingIdentity> = {}): ExistingIdentity {
  return { ...NO_IDENTITY, type: 'corporate', legalName, ...more };
}

function address(country: string, city: string, more: Partial<ExistingAddress> = {}): ExistingAddress {
  const empty = { region: null, street: null, houseNumber: null, postalCode: null, refinement: null };
  return { ...empty, country, city, ...more };
}

const NO_CONTACT = { address: null, phone: null, email: null };

function client(sourceId: string, identity: ExistingIdentity, more: Partial<ExistingClient>): ExistingClient {
  const reference = `SBC-${sourceId}`;
  return { sourceId, reference, status: 'open', identity, ...NO_CONTACT, relations: [], ...more };
}

const CLIENTS: readonly ExistingClient[] = [
  client(
    'client-individual',
    person('Mary', 'Somerville', {
      birthDate: '1980-12-26',
      country: 'GB',
      identifications: [
        {
          type: 'passport',
          identificationNumber: '509871234',
          issuingCountry: 'GB',
          issueDate: '2021-03-04',
          expirationDate: '2031-03-04',
        },
      ],
    }),
    {
      address: address('GB', 'Jedburgh', { street: 'High Street', houseNumber: '12', postalCode: 'TD8 6AR' }),
      phone: '+44 1835 555 0101',
      email: 'mary.somerville@example.com',
    },
  ),
  client(
    'client-corporate',
    company('Analytical Engines Ltd', {
      incorporationDate: '2014-02-28',
      corporationType: 'ltd',
      country: 'GB',
      identifications: [
        {
          type: 'registration-number',
          identificationNumber: '08912345',
          issuingCountry: 'GB',
          issueDate: null,
          expirationDate: null,
        },
      ],
    }),
    {
      address: address('GB', 'London', { street: 'Dorset Street', houseNumber: '1', postalCode: 'W1U 4EG' }),
      email: 'office@analytical-engines.example',
      relations: [
        {
          relation: 'director',
          identity: person('Charles', 'Babbage', { birthDate: '1971-12-26', country: 'GB' }),
          ...NO_CONTACT,
          address: address('GB', 'London'),
        },
        {
          relation: 'shareholder',
          identity: person('Luigi', 'Menabrea', { birthDate: '1969-09-04', country: 'IT' }),
          ...NO_CONTACT,
        },
        { relation: 'authorized-person', identity: person('Joseph', 'Clement'), ...NO_CONTACT },
      ],
    },
  ),
  client('client-accents', person('Zoë Ñusta', 'Đặng-Łukasiewicz', { birthDate: '1992-02-29', country: 'PL' }), {
    address: address('PL', 'Łódź', { street: 'ulica Żeromskiego', houseNumber: '7a', postalCode: '90-502' }),
    email: 'zoe@example.com',
  }),
  client('client-other-script', company('株式会社さくら貿易', { country: 'JP' }), {
    address: address('JP', '東京都', { street: '丸の内', houseNumber: '1-9-1', postalCode: '100-0005' }),
    relations: [{ relation: 'director', identity: person('太郎', '山田', { country: 'JP' }), ...NO_CONTACT }],
  }),
  client('client-without-address', person('Nellie', 'Bly', { country: 'US' }), { email: 'nellie@example.com' }),
  client('client-faulty', person('Ann', 'O’Nymous', { birthDate: '1990-02-30' }), {
    address: address('US', 'Reno', { region: 'Nevada' }),
    phone: 'ask at the desk',
  }),
  client('client-closed', person('Henry', 'Dale', { country: 'GB' }), {
    status: 'closed',
    address: address('GB', 'London'),
  }),
];

const NO_BANK_ACCOUNT = {
  accountHolderName: null,
  accountHolderType: null,
  bankName: null,
  alias: null,
  accountNumber: null,
  iban: null,
  routingCodes: {},
};

const STERLING_ACCOUNT = {
  ...NO_BANK_ACCOUNT,
  country: 'GB',
  currency: 'GBP',
  accountNumber: '31926819',
  routingCodes: { 'sort-code': '60-16-13' },
};

const EURO_ACCOUNT = { ...NO_BANK_ACCOUNT, country: 'DE', currency: 'EUR', iban: 'DE89 3704 0044 0532 0130 00' };

function beneficiary(
  sourceId: string,
  clientSourceId: string,
  more: Partial<ExistingBeneficiary>,
): ExistingBeneficiary {
  return {
    sourceId,
    reference: `SBB-${sourceId}`,
    clientReference: `SBC-${clientSourceId}`,
    identity: null,
    fullName: null,
    title: null,
    ...NO_CONTACT,
    bankAccounts: [],
    ...more,
  };
}

const BENEFICIARIES: readonly ExistingBeneficiary[] = [
  beneficiary('beneficiary-individual', 'client-individual', {
    identity: person('William', 'Wallace', { birthDate: '1968-09-23', country: 'GB' }),
    title: 'Dr',
    phone: '+44 131 555 0102',
    address: address('GB', 'Edinburgh', { postalCode: 'EH1 1AA' }),
    bankAccounts: [{ ...STERLING_ACCOUNT, alias: 'Household' }],
  }),
  beneficiary('beneficiary-corporate', 'client-corporate', {
    identity: company('Clement Precision Tools Ltd'),
    bankAccounts: [
      STERLING_ACCOUNT,
      { ...EURO_ACCOUNT, bankName: 'Commerzbank' },
      {
        ...NO_BANK_ACCOUNT,
        country: 'US',
        currency: 'USD',
        accountNumber: '000123456789',
        routingCodes: { bic: 'CHASUS33', aba: '021000021' },
      },
    ],
  }),
  beneficiary('beneficiary-accents', 'client-accents', {
    fullName: 'Renée Müller-Ångström',
    bankAccounts: [EURO_ACCOUNT],
  }),
  beneficiary('beneficiary-wrong-iban', 'client-individual', {
    fullName: 'Wrong Digits',
    bankAccounts: [{ ...EURO_ACCOUNT, iban: 'DE89 3704 0044 0532 0130 01' }],
  }),
  beneficiary('beneficiary-without-account', 'client-individual', { identity: person('Noah', 'Counter') }),
];

export const READY_MADE_CLIENTS: ReadonlyMap<string, ExistingClient> = bySourceId(CLIENTS);
export const READY_MADE_BENEFICIARIES: ReadonlyMap<string, ExistingBeneficiary> = bySourceId(BENEFICIARIES);

function bySourceId<Kept extends { readonly sourceId: string }>(all: readonly Kept[]): ReadonlyMap<string, Kept> {
  return new Map(all.map((one) => [one.sourceId, one]));
}
