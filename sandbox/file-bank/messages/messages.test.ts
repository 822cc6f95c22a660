import { expect, test } from 'vitest';
import type { Booking, StatusNotice } from '../records.ts';
import { type AccountReport, writeAccountReport } from './account-report.ts';
import { writeCancellationAnswer } from './cancellation-answer.ts';
import { readCancellationFile } from './cancellation-file.ts';
import { readPaymentFile } from './payment-file.ts';
import { statusOfAll, writeStatusReport } from './status-report.ts';
import { InvalidMessage, readMessage, schemaProblem } from './xml.ts';

const AT = new Date('2026-11-26T10:20:30.456Z');
const PLACE = {
  customer: 'acme',
  fileId: 'f',
  messageId: 'MSG-1',
  version: 'pain.001.001.09',
  batchId: 'MSG-1-1',
  instructionId: 'E1-1',
  endToEndId: 'E1',
};

function statusOf(status: string, more: Partial<StatusNotice> = {}): StatusNotice {
  return { kind: 'status', place: PLACE, status, reasons: [], additional: null, bankReference: 'SBO1', ...more };
}

test.each(['pain.001.001.03', 'pain.001.001.09'])(
  'a pain.002 about a %s is valid by ISO’s schema, whatever it tells',
  (version) => {
    const file = { messageId: 'MSG-1', version, count: '2', controlSum: '3.00' };
    const head = { messageId: 'SBM1', createdAt: AT, file };
    const payments = ['ACCP', 'ACSP', 'ACSC', 'RJCT', 'RCVC', 'RVMC', 'RVNM', 'RVNA'].map((status, index) =>
      statusOf(status, {
        place: {
          ...PLACE,
          version,
          batchId: `B${index % 2}`,
          endToEndId: `E${index}`,
          instructionId: index === 1 ? null : `I${index}`,
        },
        reasons: status === 'RJCT' ? ['AC03'] : [],
        additional: status === 'RVMC' ? `Müller & Söhne <${'x'.repeat(250)}>` : null,
      }),
    );
    for (const isWhole of [true, false]) {
      expect(schemaProblem(writeStatusReport({ ...head, rejection: null, isWhole, payments }))).toBeNull();
      for (const payment of payments) {
        expect(schemaProblem(writeStatusReport({ ...head, rejection: null, isWhole, payments: [payment] }))).toBeNull();
      }
    }
    const rejection = { code: 'FF01', problem: `Element 'x': ${'long '.repeat(60)}` };
    expect(schemaProblem(writeStatusReport({ ...head, rejection, isWhole: true, payments: [] }))).toBeNull();
  },
);

test('the status of a file is that of all its payments, or PART, and a message about some of them says nothing of batches', () => {
  expect(statusOfAll(['ACSC', 'ACSC'])).toBe('ACSC');
  expect(statusOfAll(['ACSC', 'RJCT'])).toBe('PART');
  expect(statusOfAll(['ACCP', 'ACSC'])).toBe('ACSP');
  expect(statusOfAll(['RCVC', 'RVNM'])).toBe('RVCM');
  expect(statusOfAll(['RVNM', 'RVNM'])).toBe('RVCM');
  expect(statusOfAll(['RCVC', 'RCVC'])).toBe('RCVC');
  const file = { messageId: 'MSG-1', version: PLACE.version, count: '2', controlSum: null };
  const head = { messageId: 'SBM1', createdAt: AT, file, rejection: null, isWhole: false };
  const some = writeStatusReport({ ...head, payments: [statusOf('RJCT', { reasons: ['AC03'] })] });
  expect(some).toContain('<GrpSts>PART</GrpSts>');
  expect(some).not.toContain('PmtInfSts');
  expect(writeStatusReport({ ...head, payments: [statusOf('ACSC')] })).not.toContain('GrpSts');
});

function bookingOf(more: Partial<Booking> = {}): Booking {
  return {
    id: 'b',
    customer: 'acme',
    account: 'DE89370400440532013000',
    currency: 'EUR',
    sequence: 1,
    bookedAt: AT.toISOString(),
    kind: 'payment-out',
    direction: 'debit',
    amountMinor: 1_250n,
    balanceMinor: -1_250n,
    entryReference: 'SBO1',
    bankReference: 'SBO1',
    isOfBatch: false,
    place: PLACE,
    returnCode: null,
    party: { name: 'Zoë & Co', account: 'FR1420041010050500013M02606', bic: 'BNPAFRPP' },
    remittanceText: 'invoice <7>',
    ...more,
  };
}

test.each(['02', '08'] as const)(
  'camt.054 and camt.053 of version %s are valid by ISO’s schema: debits, returns, credits, batches, accounts without IBAN',
  (camtVersion) => {
    const bookings = [
      bookingOf(),
      bookingOf({ kind: 'payment-out-returned', direction: 'credit', returnCode: 'AC06', entryReference: 'R' }),
      bookingOf({
        kind: 'payment-in',
        direction: 'credit',
        place: null,
        party: { name: null, account: '12345678', bic: null },
        remittanceText: null,
      }),
    ];
    const batch = [
      bookingOf({ isOfBatch: true, entryReference: 'B' }),
      bookingOf({ isOfBatch: true, entryReference: 'B' }),
    ] as const;
    const entries = [
      ...bookings.map((one) => ({ bookings: [one] as const, hasDetails: true })),
      ...[true, false].map((hasDetails) => ({ bookings: batch, hasDetails })),
    ];
    const statement = { number: 7, date: '2026-11-26', openingMinor: -5n, closingMinor: 100n };
    const report = { messageId: 'SBM1', createdAt: AT, camtVersion, currency: 'EUR' };
    for (const account of ['DE89370400440532013000', '12345678']) {
      for (const part of [null, statement]) {
        const written = { ...report, account, statement: part, entries: entries.map(writable) };
        expect(schemaProblem(writeAccountReport(written))).toBeNull();
      }
    }
  },
);

function writable({
  bookings: [first, ...others],
  hasDetails,
}: {
  bookings: readonly [Booking, ...Booking[]];
  hasDetails: boolean;
}) {
  const entry: AccountReport['entries'][number] = { bookings: [first, ...others], hasDetails };
  return entry;
}

test('a camt.029 is valid by ISO’s schema, accepted or not', () => {
  const head = { messageId: 'SBM1', createdAt: AT, bic: 'SBNKDE2LXXX', customer: 'acme' };
  const answer = { kind: 'cancellation' as const, cancellationId: 'C1', place: PLACE, isAccepted: true, reason: null };
  const rejected = { ...answer, isAccepted: false, reason: 'CUST' };
  for (const answers of [[answer], [rejected], [answer, rejected]]) {
    expect(schemaProblem(writeCancellationAnswer({ ...head, answers }))).toBeNull();
  }
});

const PAYMENT = `<?xml version="1.0"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn>
<GrpHdr><MsgId>M1</MsgId><CreDtTm>2026-11-26T10:00:00Z</CreDtTm><NbOfTxs>1</NbOfTxs><CtrlSum>12.50</CtrlSum><InitgPty><Nm>Acme</Nm></InitgPty></GrpHdr>
<PmtInf><PmtInfId>M1-1</PmtInfId><PmtMtd>TRF</PmtMtd><BtchBookg>true</BtchBookg><PmtTpInf><SvcLvl><Cd>SEPA</Cd></SvcLvl></PmtTpInf><ReqdExctnDt><Dt>2026-11-26</Dt></ReqdExctnDt>
<Dbtr><Nm>Acme</Nm></Dbtr><DbtrAcct><Id><IBAN>DE89370400440532013000</IBAN></Id></DbtrAcct><DbtrAgt><FinInstnId><BICFI>SBNKDE2L</BICFI></FinInstnId></DbtrAgt>
<CdtTrfTxInf><PmtId><InstrId>E1-1</InstrId><EndToEndId>E1</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">12.50</InstdAmt></Amt>
<Cdtr><Nm>Zo&#235; &amp; Co</Nm><PstlAdr><TwnNm>Paris</TwnNm><Ctry>FR</Ctry></PstlAdr></Cdtr><CdtrAcct><Id><IBAN>FR1420041010050500013M02606</IBAN></Id></CdtrAcct>
<RmtInf><Ustrd>invoice</Ustrd></RmtInf></CdtTrfTxInf></PmtInf></CstmrCdtTrfInitn></Document>`;

test('a pain.001 is read as it stands', () => {
  expect(readPaymentFile(readMessage(Buffer.from(PAYMENT)))).toMatchObject({
    version: 'pain.001.001.09',
    messageId: 'M1',
    count: '1',
    controlSum: '12.50',
    batches: [
      {
        id: 'M1-1',
        executionDate: '2026-11-26',
        account: 'DE89370400440532013000',
        payments: [
          {
            instructionId: 'E1-1',
            endToEndId: 'E1',
            amount: '12.50',
            currency: 'EUR',
            serviceLevel: 'SEPA',
            creditorName: 'Zoë & Co',
            address: { town: 'Paris', country: 'FR' },
            iban: 'FR1420041010050500013M02606',
            remittanceText: 'invoice',
          },
        ],
      },
    ],
  });
});

test('what is no message, or not by ISO’s schema, is rejected with what is known of it', () => {
  const problemOf = (text: string) => {
    try {
      readMessage(Buffer.from(text));
    } catch (error) {
      if (error instanceof InvalidMessage) return error;
      throw error;
    }
    return null;
  };
  expect(problemOf('Dear bank')).toMatchObject({ version: null, messageId: null });
  expect(problemOf(PAYMENT.slice(0, 400))).toMatchObject({ version: null });
  expect(problemOf('<Document xmlns="urn:other"><a/></Document>')).toMatchObject({ version: null });
  const wrong = problemOf(PAYMENT.replace('<PmtMtd>TRF</PmtMtd>', '<PmtMtd>CASH</PmtMtd>'));
  expect(wrong).toMatchObject({ version: 'pain.001.001.09', messageId: 'M1' });
  expect(wrong?.message).toContain('PmtMtd');
  expect(problemOf(PAYMENT.replaceAll('pain.001.001.09', 'pain.001.001.12'))?.message).toContain('does not take');
  const entity = `<?xml version="1.0"?><!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>${PAYMENT.slice(21).replace('>invoice<', '>&x;<')}`;
  expect(problemOf(entity)?.message).toContain('document type');
});

test('a camt.055 names each payment by its file and batch', () => {
  const request = `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.055.001.08"><CstmrPmtCxlReq>
<Assgnmt><Id>C-1</Id><Assgnr><Pty><Nm>Acme</Nm></Pty></Assgnr><Assgne><Agt><FinInstnId><BICFI>SBNKDE2L</BICFI></FinInstnId></Agt></Assgne><CreDtTm>2026-11-26T10:00:00Z</CreDtTm></Assgnmt>
<Undrlyg><OrgnlPmtInfAndCxl><OrgnlPmtInfId>M1-1</OrgnlPmtInfId><OrgnlGrpInf><OrgnlMsgId>M1</OrgnlMsgId><OrgnlMsgNmId>pain.001.001.09</OrgnlMsgNmId></OrgnlGrpInf>
<TxInf><CxlId>C-1-1</CxlId><OrgnlInstrId>E1-1</OrgnlInstrId><OrgnlEndToEndId>E1</OrgnlEndToEndId></TxInf></OrgnlPmtInfAndCxl></Undrlyg></CstmrPmtCxlReq></Document>`;
  expect(readCancellationFile(readMessage(Buffer.from(request)))).toEqual({
    version: 'camt.055.001.08',
    messageId: 'C-1',
    requests: [
      {
        cancellationId: 'C-1-1',
        messageId: 'M1',
        version: 'pain.001.001.09',
        batchId: 'M1-1',
        instructionId: 'E1-1',
        endToEndId: 'E1',
      },
    ],
  });
});
