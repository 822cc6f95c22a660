import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadConfiguration } from '../../config/configuration.ts';
import { schemaProblems } from '../../test/bank-files/messages/iso-schemas.ts';
import { leavesOf, PROFILES_WITH_SUBSETS, subsetBreaches } from '../../test/bank-files/messages/profile-subsets.ts';
import { shortOrLong } from '../../test/tools/run/length.ts';
import { minorUnits } from '../common/money.ts';
import type { Address } from '../common/parties/addresses.ts';
import { writeCancellationFile } from './cancellation-file.ts';
import type { InstructedCreditor, InstructingParty, PaymentFile, PaymentInstruction } from './instructions.ts';
import { writePaymentFile } from './payment-file.ts';
import { problemOf } from './profile-rules.ts';
import type { BankProfile } from './profiles.ts';

const PROFILES = [...loadConfiguration({}).bankProfiles.values()];
const RUNS = shortOrLong(40, 80);

const PARTY: InstructingParty = {
  name: 'Fintech GmbH & Co',
  id: 'SENDER-1',
  country: 'DE',
  iban: 'DE89370400440532013000',
  accountNumber: '12345678',
  routingCodes: { bic: 'COBADEFFXXX', 'sort-code': '04-00-75' },
};

const currencyOf = (scheme: string, { code }: BankProfile) =>
  scheme === 'swift' ? ['USD', 'JPY', 'KWD', 'EUR'] : code === 'uk' ? ['GBP'] : ['EUR'];

/** Mostly what a bank takes, so that whole files come about; sometimes what it does not. */
function mostly<Value>(good: fc.Arbitrary<Value>, bad: fc.Arbitrary<Value>): fc.Arbitrary<Value> {
  return fc.oneof({ weight: 9, arbitrary: good }, { weight: 1, arbitrary: bad });
}

/** Names as people and companies have them, with all that a writer could trip over. */
const name = mostly(
  fc.constantFrom('Müller & Söhne <GmbH>', `O'Brien "x"`, 'Ærø', 'Ивaнoв', 'Αθήνα', 'A', 'x'.repeat(70)),
  fc.oneof(
    fc.constantFrom('李小龍', 'y'.repeat(141), ' '),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
  ),
);
const text = mostly(fc.constantFrom('', 'Invoice 5 & 6'), fc.string({ maxLength: 150 }));
const reference = fc.stringMatching(/^[0-9a-f]{32}$/);
const address: fc.Arbitrary<Address | null> = fc.option(
  fc.record({
    country: fc.constantFrom('DE', 'US', 'CH'),
    region: fc.constantFrom(null, 'NY'),
    city: mostly<string | null>(fc.constant('Köln'), fc.constantFrom(null, 'c'.repeat(36))),
    street: mostly<string | null>(fc.constantFrom(null, 'Am Dom'), fc.constant('s'.repeat(71))),
    houseNumber: fc.constantFrom(null, '12a'),
    postalCode: fc.constantFrom(null, '50667'),
    refinement: fc.constantFrom(null, 'c/o Größe'),
  }),
  { nil: null },
);

function creditorOf({ code }: BankProfile): fc.Arbitrary<InstructedCreditor> {
  const iban = code === 'uk' ? 'GB29NWBK60161331926819' : 'FR1420041010050500013M02606';
  return fc.record({
    name,
    country: fc.constant(null),
    iban: mostly<string | null>(fc.constant(iban), fc.constant(null)),
    accountNumber: fc.constantFrom(null, '87654321'),
    routingCodes: mostly<Record<string, string>>(
      fc.constant({ bic: 'BNPAFRPP', 'sort-code': '60-16-13' }),
      fc.constantFrom<Record<string, string>[]>({}, { bic: 'BNPAFRPP' }),
    ),
    address,
  });
}

function paymentOf(profile: BankProfile): fc.Arbitrary<PaymentInstruction> {
  return fc.constantFrom(...Object.keys(profile.schemes)).chain((scheme) =>
    fc.record({
      id: reference.map((digits) => `${digits}-12`),
      paymentReference: reference,
      amountMinor: mostly(fc.bigInt({ min: 1n, max: 99_999_999_999n }), fc.constant(0n)),
      currency: fc.constantFrom(...currencyOf(scheme, profile)),
      scheme: mostly(fc.constant(scheme), fc.constant('internal')),
      executionDate: fc.constantFrom('2026-10-01', '2026-11-27'),
      ultimateDebtorName: mostly(fc.constant(''), name),
      creditor: creditorOf(profile),
      remittanceText: text,
      attributes: mostly<Record<string, string>>(
        fc.constantFrom<Record<string, string>[]>({}, { 'purpose-code': 'SALA' }),
        fc.constantFrom<Record<string, string>[]>({ 'trade-name': 'x' }, { 'purpose-code': 'salary' }),
      ),
    }),
  );
}

function fileOf(payments: readonly PaymentInstruction[]): PaymentFile {
  const schemes = [...new Set(payments.map(({ scheme }) => scheme))];
  return {
    messageId: 'FILE-1',
    createdAt: new Date('2026-11-26T18:00:00.123Z'),
    party: PARTY,
    batches: schemes.map((scheme, at) => ({
      id: `FILE-1-${at + 1}`,
      scheme,
      executionDate: '2026-11-27',
      instructions: payments.filter((payment) => payment.scheme === scheme),
    })),
  };
}

/** The sum of decimal texts, in ten thousandths. */
function sumOf(texts: readonly string[]): bigint {
  return texts.reduce((sum, text) => {
    const [whole = '', fraction = ''] = text.split('.');
    return sum + BigInt(whole + fraction.padEnd(4, '0'));
  }, 0n);
}

test('every shipped profile has a subset to be checked by', () => {
  expect(PROFILES.map(({ code }) => code)).toEqual(PROFILES_WITH_SUBSETS);
});

describe.each(PROFILES)('$code', (profile) => {
  test('whatever is accepted validates by ISO’s schema and the profile’s subset, with exact control figures', () => {
    let written = 0;
    fc.assert(
      fc.property(fc.array(paymentOf(profile), { minLength: 1, maxLength: 12 }), (drawn) => {
        const payments = drawn.filter((payment) => problemOf(payment, profile) === null);
        if (payments.length === 0) return;
        const bytes = writePaymentFile(fileOf(payments), profile);
        expect(schemaProblems(bytes)).toEqual([]);
        expect(subsetBreaches(bytes, profile.code)).toEqual([]);
        const leaves = leavesOf(bytes);
        const texts = (path: string) => leaves.filter((leaf) => leaf.path === path).map(({ text }) => text);
        const amounts = texts('PmtInf/CdtTrfTxInf/Amt/InstdAmt');
        expect([...amounts].sort()).toEqual(payments.map(inFull).sort());
        expect(texts('GrpHdr/NbOfTxs')).toEqual([String(payments.length)]);
        expect(sumOf(texts('PmtInf/NbOfTxs'))).toBe(sumOf(texts('GrpHdr/NbOfTxs')));
        expect(sumOf(texts('GrpHdr/CtrlSum'))).toBe(sumOf(amounts));
        expect(sumOf(texts('PmtInf/CtrlSum'))).toBe(sumOf(amounts));
        expect(writePaymentFile(fileOf(payments), profile).equals(bytes)).toBe(true);
        written += payments.length;
      }),
      { numRuns: RUNS },
    );
    expect(written).toBeGreaterThan(RUNS);
  });

  test('what is rejected names field and rule, and is never written', () => {
    const rules = new Set<string>();
    fc.assert(
      fc.property(paymentOf(profile), (payment) => {
        const problem = problemOf(payment, profile);
        if (problem === null) return;
        rules.add(problem.rule);
        const [field = ''] = problem.field.split('.');
        expect(Object.keys(payment)).toContain(field);
        expect(problem.message).not.toContain(payment.creditor.name.length > 3 ? payment.creditor.name : '\0');
        expect(() => writePaymentFile(fileOf([payment]), profile)).toThrow(RangeError);
      }),
      { numRuns: RUNS * 5 },
    );
    expect(rules.size).toBeGreaterThan(2);
  });

  test('requests to cancel validate by ISO’s schema', () => {
    const original = { id: 'ref-1', paymentReference: 'ref', amountMinor: 1_234n, currency: 'JPY' };
    const cancellation = (id: string, batch: string) => ({
      id,
      originalMessageId: 'FILE-1',
      originalMessageCreatedAt: new Date(0),
      originalBatchId: batch,
      originalInstruction: original,
      reason: 'DUPL',
    });
    for (const party of [PARTY, { ...PARTY, id: null, routingCodes: {} }]) {
      const cancellations = [cancellation('C-1', 'B-1'), cancellation('C-2', 'B-2'), cancellation('C-3', 'B-1')];
      const bytes = writeCancellationFile({ messageId: 'X-1', createdAt: new Date(0), party, cancellations }, profile);
      expect(schemaProblems(bytes)).toEqual([]);
      const leaves = leavesOf(bytes);
      const texts = (path: string) => leaves.filter((leaf) => leaf.path === path).map(({ text }) => text);
      expect(texts('CtrlData/NbOfTxs')).toEqual(['3']);
      expect(texts('CtrlData/CtrlSum')).toEqual(['3702']);
      expect(texts('Undrlyg/OrgnlPmtInfAndCxl/OrgnlPmtInfId')).toEqual(['B-1', 'B-2']);
      expect(texts('Undrlyg/OrgnlPmtInfAndCxl/TxInf/CxlId')).toEqual(['C-1', 'C-3', 'C-2']);
      expect(new Set(texts('Undrlyg/OrgnlPmtInfAndCxl/OrgnlGrpInf/OrgnlMsgNmId'))).toEqual(
        new Set([profile.paymentMessage]),
      );
    }
  });
});

function inFull({ amountMinor, currency }: PaymentInstruction): string {
  const units = minorUnits(currency);
  const digits = String(amountMinor).padStart(units + 1, '0');
  return units === 0 ? digits : `${digits.slice(0, -units)}.${digits.slice(-units)}`;
}

test('ids that no bank would take, and files without a payment, are never written', () => {
  const [profile] = PROFILES;
  if (profile === undefined) throw new Error('the shipped profiles are missing');
  const file = { messageId: 'M', createdAt: new Date(0), party: PARTY };
  for (const messageId of ['', 'x'.repeat(36), 'a//b', 'ä']) {
    expect(() => writePaymentFile({ ...file, messageId, batches: [] }, profile)).toThrow(/is no reference/);
    expect(() => writeCancellationFile({ ...file, messageId, cancellations: [] }, profile)).toThrow(/is no reference/);
  }
  expect(() => writePaymentFile({ ...file, batches: [] }, profile)).toThrow(/needs a payment/);
});

describe('addresses', () => {
  const [sepa, swift] = [
    PROFILES.find(({ code }) => code === 'sepa'),
    PROFILES.find(({ code }) => code === 'swift-cgi'),
  ];
  if (sepa === undefined || swift === undefined) throw new Error('the shipped profiles are missing');
  const place = {
    country: 'DE',
    region: null,
    city: 'Köln',
    street: 'Am Dom',
    houseNumber: '1',
    postalCode: '50667',
    refinement: null,
  };
  const payment: PaymentInstruction = {
    id: 'ref-1',
    paymentReference: 'ref',
    amountMinor: 1n,
    currency: 'EUR',
    scheme: 'sepa',
    executionDate: '2026-11-27',
    ultimateDebtorName: '',
    creditor: {
      name: 'A',
      country: null,
      iban: 'FR1420041010050500013M02606',
      accountNumber: null,
      routingCodes: { bic: 'BNPAFRPP' },
      address: place,
    },
    remittanceText: '',
    attributes: {},
  };
  const written = (profile: BankProfile, of: Partial<PaymentInstruction>) => {
    const bytes = writePaymentFile(fileOf([{ ...payment, ...of }]), profile);
    expect(schemaProblems(bytes)).toEqual([]);
    return leavesOf(bytes).flatMap(({ path, text }) => {
      const [, element] = path.split('/PstlAdr/');
      return element === undefined ? [] : [`${element} ${text}`];
    });
  };

  test('are structured, or hybrid, or lines, as the version and the profile have them', () => {
    expect(written(sepa, {})).toEqual(['StrtNm Am Dom', 'BldgNb 1', 'PstCd 50667', 'TwnNm Koln', 'Ctry DE']);
    expect(written(swift, { scheme: 'swift' })).toEqual(['PstCd 50667', 'TwnNm Koln', 'Ctry DE', 'AdrLine Am Dom 1']);
    const lines: BankProfile = { ...sepa, paymentMessage: 'pain.001.001.03', addresses: 'lines' };
    expect(written(lines, { executionDate: '2026-11-21' })).toEqual([
      'Ctry DE',
      'AdrLine Am Dom 1',
      'AdrLine 50667 Koln',
    ]);
    expect(problemOf({ ...payment, executionDate: '2026-11-22' }, lines)).toMatchObject({
      field: 'creditor.address',
      rule: 'structured-address',
    });
    const { addresses: _, ...none } = sepa;
    expect(written(none, {})).toEqual([]);
  });
});
