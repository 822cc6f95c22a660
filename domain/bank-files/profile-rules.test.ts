import { describe, expect, test } from 'vitest';
import type { InstructingParty, PaymentInstruction } from './instructions.ts';
import { problemOf, problemOfParty } from './profile-rules.ts';
import type { BankProfile } from './profiles.ts';

const PROFILE: BankProfile = {
  code: 'bank',
  paymentMessage: 'pain.001.001.09',
  schemes: {
    sepa: { serviceLevel: 'SEPA', localInstrument: null, chargeBearer: 'SLEV', clearingSystem: null, needsIban: true },
    swift: { serviceLevel: 'URGP', localInstrument: null, chargeBearer: 'SHAR', clearingSystem: null },
    target2: {
      serviceLevel: 'URGP',
      localInstrument: null,
      chargeBearer: 'SHAR',
      clearingSystem: null,
      needsBic: true,
    },
    chaps: { serviceLevel: 'URGP', localInstrument: null, chargeBearer: 'SHAR', clearingSystem: 'GBDSC' },
  },
  characters: 'sepa',
  lengths: { name: 70, remittance: 140, reference: 35 },
  endsBy: 'camt.054',
  releasedBy: 'pain.002',
  silenceHours: 24,
  payeeCheck: 'none',
  takesCancellations: true,
  addresses: 'structured',
  purposeCodes: true,
};
const ADDRESS = {
  country: 'DE',
  region: null,
  city: 'Köln',
  street: null,
  houseNumber: null,
  postalCode: null,
  refinement: null,
};
const CREDITOR: PaymentInstruction['creditor'] = {
  name: 'Müller',
  country: 'DE',
  iban: 'DE89370400440532013000',
  accountNumber: null,
  routingCodes: {},
};
const PAYMENT: PaymentInstruction = {
  id: 'ref-1',
  paymentReference: 'ref',
  amountMinor: 1n,
  currency: 'EUR',
  scheme: 'sepa',
  executionDate: '2026-11-27',
  ultimateDebtorName: '',
  creditor: CREDITOR,
  remittanceText: '',
  attributes: {},
};
const withCreditor = (of: Partial<PaymentInstruction['creditor']>, scheme = 'sepa') => ({
  scheme,
  creditor: { ...CREDITOR, ...of },
});

describe('a bank’s profile', () => {
  test.each<[string, Partial<PaymentInstruction>]>([
    ['a payment', {}],
    ['70 letters that are written as they are', withCreditor({ name: 'ü'.repeat(70) })],
    ['a purpose code', { attributes: { 'purpose-code': 'SALA' } }],
    ['a British IBAN in place of sort code and number', withCreditor({ iban: 'GB29NWBK60161331926819' }, 'chaps')],
    [
      'a number with a BIC',
      withCreditor({ iban: null, accountNumber: '1', routingCodes: { bic: 'BNPAFRPP' } }, 'swift'),
    ],
    ['an address with its town', withCreditor({ address: ADDRESS })],
  ])('takes %s', (_, of) => {
    expect(problemOf({ ...PAYMENT, ...of }, PROFILE)).toBeNull();
  });

  test.each<[string, string, Partial<PaymentInstruction>]>([
    ['scheme', 'scheme', { scheme: 'faster-payments' }],
    ['scheme', 'scheme', { scheme: 'constructor' }],
    ['amountMinor', 'amount', { amountMinor: 0n }],
    ['id', 'length', { id: 'x'.repeat(36) }],
    ['paymentReference', 'characters', { paymentReference: 'a//b' }],
    ['creditor.iban', 'account', withCreditor({ iban: null, accountNumber: '1' })],
    ['creditor.iban', 'account', withCreditor({ iban: null }, 'swift')],
    ['creditor.routingCodes.bic', 'bic', withCreditor({ iban: null, accountNumber: '1' }, 'swift')],
    ['creditor.routingCodes.bic', 'bic', withCreditor({}, 'target2')],
    ['creditor.accountNumber', 'account', withCreditor({ routingCodes: { 'sort-code': '040075' } }, 'chaps')],
    ['creditor.name', 'characters', withCreditor({ name: '李小龍' })],
    ['creditor.name', 'length', withCreditor({ name: 'ß'.repeat(36) })],
    ['ultimateDebtorName', 'length', { ultimateDebtorName: 'x'.repeat(71) }],
    ['remittanceText', 'length', { remittanceText: 'x'.repeat(141) }],
    ['remittanceText', 'characters', { remittanceText: 'ありがとう' }],
    ['creditor.address.city', 'structured-address', withCreditor({ address: { ...ADDRESS, city: null } })],
    ['creditor.address.street', 'length', withCreditor({ address: { ...ADDRESS, street: 'x'.repeat(71) } })],
    ['attributes.purpose-code', 'purpose-code', { attributes: { 'purpose-code': 'salary' } }],
    ['attributes.trade-name', 'attribute', { attributes: { 'trade-name': 'x' } }],
  ])('rejects by field and rule: %s, %s', (field, rule, of) => {
    expect(problemOf({ ...PAYMENT, ...of }, PROFILE)).toEqual({ field, rule, message: expect.stringMatching(/\.$/) });
  });

  test('checks no address and takes no purpose code if it has no place for them', () => {
    const { addresses: _, purposeCodes: __, ...plain } = PROFILE;
    const payment = { ...PAYMENT, ...withCreditor({ address: { ...ADDRESS, city: null } }) };
    expect(problemOf(payment, plain)).toBeNull();
    expect(problemOf({ ...payment, attributes: { 'purpose-code': 'SALA' } }, plain)).toMatchObject({
      rule: 'attribute',
    });
  });
});

describe('the sender of a bank’s files', () => {
  const PARTY: InstructingParty = {
    name: 'Fintech GmbH',
    id: 'SENDER-1',
    country: 'GB',
    iban: 'GB29NWBK60161331926819',
    accountNumber: null,
    routingCodes: {},
  };

  test('has a name and an account by which each scheme of the profile can debit it', () => {
    expect(problemOfParty(PARTY, PROFILE)).toBeNull();
    expect(problemOfParty({ ...PARTY, id: null }, PROFILE)).toBeNull();
  });

  test.each<[string, string, Partial<InstructingParty>]>([
    ['name', 'length', { name: 'x'.repeat(71) }],
    ['name', 'characters', { name: '株式会社' }],
    ['id', 'characters', { id: 'a//b' }],
    ['iban', 'account', { iban: null, accountNumber: '12345678', routingCodes: { 'sort-code': '040075' } }],
    ['accountNumber', 'account', { iban: 'DE89370400440532013000' }],
  ])('is checked with the configuration: %s, %s', (field, rule, of) => {
    expect(problemOfParty({ ...PARTY, ...of }, PROFILE)).toMatchObject({ field, rule });
  });
});
