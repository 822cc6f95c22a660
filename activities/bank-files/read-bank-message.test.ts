import { describe, expect, test } from 'vitest';
import { type BankMessage, UnreadableMessage } from '../../domain/bank-files/messages.ts';
import { schemaProblems } from '../../test/bank-files/messages/iso-schemas.ts';
import { readAtOnce } from '../../test/bank-files/messages/read-at-once.ts';
import {
  NO_DETAIL,
  type RenderedDetail,
  type RenderedEntry,
  type RenderedReport,
  type RenderedStatusReport,
  renderCancellationAnswer,
  renderReport,
  renderStatusReport,
} from '../../test/bank-files/messages/rendered-messages.ts';

const CREATED = new Date('2026-11-26T18:00:00.000Z');
const OURS = 'DE89370400440532013000';
const THEIRS = 'FR1420041010050500013M02606';

const read = (text: string) => readAtOnce(Buffer.from(text));

/** Reads what ISO's schema allows. */
function readValid(bytes: Buffer): BankMessage {
  expect(schemaProblems(bytes)).toEqual([]);
  return readAtOnce(bytes);
}

function rejection(content: string | Uint8Array): string {
  try {
    readAtOnce(typeof content === 'string' ? Buffer.from(content) : content);
  } catch (error) {
    if (error instanceof UnreadableMessage) return error.message;
    throw error;
  }
  return 'read';
}

const INCOMING: RenderedDetail = {
  ...NO_DETAIL,
  reference: 'D-1',
  paymentReference: 'INVOICE-1',
  amountMinor: 12_050n,
  debtorName: 'Ærø Færgerne <A/S> & "Co"',
  debtorIban: THEIRS,
  debtorBic: 'BNPAFRPP',
  creditorIban: OURS,
  remittanceText: 'Invoice 1, thanks',
};
const CREDIT: RenderedEntry = {
  reference: 'E-1',
  direction: 'credit',
  amountMinor: 12_050n,
  currency: 'EUR',
  bookedOn: '2026-11-26',
  status: 'BOOK',
  isReversal: false,
  batch: null,
  details: [INCOMING],
};
const payment = (number: number, amountMinor: bigint): RenderedDetail => ({
  ...NO_DETAIL,
  reference: `D-${number}`,
  instructionId: `ref${number}-1`,
  paymentReference: `ref${number}`,
  amountMinor,
});
const DEBIT: RenderedEntry = {
  ...CREDIT,
  reference: 'E-2',
  direction: 'debit',
  amountMinor: 3_000n,
  batch: { id: 'BATCH-1', count: 2 },
  details: [payment(1, 1_000n), payment(2, 2_000n)],
};
const RETURNED: RenderedEntry = {
  ...CREDIT,
  reference: 'E-3',
  amountMinor: 1_000n,
  isReversal: true,
  details: [{ ...payment(1, 1_000n), reference: 'D-9', returnReason: 'AC04' }],
};
const UNTOLD: RenderedEntry = {
  ...CREDIT,
  reference: 'E-4',
  direction: 'debit',
  amountMinor: 7_777n,
  batch: { id: 'BATCH-7', count: 50 },
  details: [],
};
const PENDING: RenderedEntry = { ...CREDIT, reference: 'E-5', status: 'PDNG', amountMinor: 5n, details: [] };

const reportOf = (entries: readonly RenderedEntry[], of: Partial<RenderedReport> = {}): RenderedReport => ({
  message: 'camt.054',
  version: '08',
  messageId: 'M-1',
  createdAt: CREATED,
  account: OURS,
  entries,
  ...of,
});

describe.each([
  ['camt.053', '02'],
  ['camt.053', '08'],
  ['camt.054', '02'],
  ['camt.054', '08'],
] as const)('%s.001.%s', (message, version) => {
  const readEntries = (entries: readonly RenderedEntry[]) => {
    const found = readValid(renderReport(reportOf(entries, { message, version })));
    expect(found).toMatchObject({
      message,
      version: `${message}.001.${version}`,
      messageId: 'M-1',
      createdAt: CREATED,
    });
    return found.message === message ? found.entries : [];
  };

  test('a credit is read with who paid and what for', () => {
    const [entry, ...others] = readEntries([CREDIT]);
    expect(others).toEqual([]);
    expect(entry).toEqual({
      key: expect.stringMatching(/^[0-9a-f]{40}-1$/),
      account: OURS,
      direction: 'credit',
      amountMinor: 12_050n,
      currency: 'EUR',
      bookedOn: '2026-11-26',
      isPending: false,
      bankReference: 'E-1',
      instructionId: null,
      paymentReference: 'INVOICE-1',
      returnReason: null,
      isReversal: false,
      debtor: { name: 'Ærø Færgerne <A/S> & "Co"', iban: THEIRS, accountNumber: null, bic: 'BNPAFRPP' },
      creditorIban: OURS,
      remittanceText: 'Invoice 1, thanks',
      references: expect.arrayContaining(['D-1', 'INVOICE-1', 'Invoice 1, thanks', 'E-1']),
      batch: null,
    });
  });

  test('each payment of a batch with details is a movement, and they sum to the entry', () => {
    expect(readEntries([DEBIT])).toMatchObject([
      { amountMinor: 1_000n, instructionId: 'ref1-1', paymentReference: 'ref1', bankReference: 'D-1', batch: null },
      { amountMinor: 2_000n, instructionId: 'ref2-1', paymentReference: 'ref2', bankReference: 'D-2', batch: null },
    ]);
  });

  test('a payment that came back says so, with the reason', () => {
    expect(readEntries([RETURNED])).toMatchObject([
      { direction: 'credit', instructionId: 'ref1-1', returnReason: 'AC04', isReversal: true },
    ]);
  });

  test('an entry whose only detail has the side of the payment that it takes back counts on its own side', () => {
    const text = renderReport(reportOf([CREDIT], { message, version })).toString();
    const other = text.replace(/(<TxDtls>[\s\S]*?<CdtDbtInd>)CRDT/, '$1DBIT');
    expect(read(other)).toMatchObject({ entries: [{ direction: 'credit', amountMinor: 12_050n }] });
    expect(rejection(other.replace(/(<TxDtls>[\s\S]*?)120\.50/, '$1120.51'))).toMatch(/differs from the sum/);
  });

  test('what a bank adds after the entries is no reason to reject them', () => {
    const name = message === 'camt.053' ? 'Stmt' : 'Ntfctn';
    const text = renderReport(reportOf([CREDIT], { message, version })).toString();
    const added = text.replace(`</${name}>`, `<Addtl${name}Inf>x</Addtl${name}Inf></${name}>`);
    expect(readValid(Buffer.from(added))).toMatchObject({ entries: [{ amountMinor: 12_050n }] });
  });

  test('a batch without details is one movement, which waits for them', () => {
    expect(readEntries([UNTOLD])).toMatchObject([
      { amountMinor: 7_777n, instructionId: null, batch: { originalBatchId: 'BATCH-7', count: 50 } },
    ]);
  });

  test('what is pending moves no money, and has another key than the same once booked', () => {
    const [pending, booked] = readEntries([PENDING, { ...PENDING, status: 'BOOK' }]);
    expect([pending?.isPending, booked?.isPending]).toEqual([true, false]);
    expect(pending?.key).not.toBe(booked?.key);
  });

  test('details without references of their own do not collide, even if they are equal', () => {
    const same = { ...payment(1, 1_000n), reference: null, instructionId: null, paymentReference: null };
    const entries = readEntries([{ ...DEBIT, batch: null, amountMinor: 3_000n, details: [same, same, same] }]);
    expect(new Set(entries.map(({ key }) => key)).size).toBe(3);
    const repeated = readEntries([
      { ...DEBIT, details: [1, 2].map((at) => ({ ...payment(at, 1_500n), reference: 'E-2' })) },
    ]);
    expect(new Set(repeated.map(({ key }) => key)).size).toBe(2);
  });

  test.each([
    ['details short of their entry', { ...DEBIT, amountMinor: 3_001n }, /\(reference 1\).*Amt differs from the sum/],
    ['a batch of another number', { ...DEBIT, batch: { id: 'B', count: 3 } }, /NtryDtls\/Btch contradicts/],
  ])('%s: the file is rejected', (_, entry, message_) => {
    const file = renderReport(reportOf([entry], { message, version }));
    expect(rejection(file)).toMatch(message_);
  });

  test('an entry is named by its number in the file, however many movements those before it have, and before its statement', () => {
    const file = renderReport(reportOf([DEBIT, { ...CREDIT, amountMinor: 1n }], { message, version })).toString();
    expect(rejection(file)).toMatch(/Entry 2 of the file/);
    expect(rejection(file.replace('<Sum>30.01<', '<Sum>30.02<'))).toMatch(/Entry 2 of the file/);
  });

  test('a summary or balance of other entries: the file is rejected', () => {
    const text = renderReport(reportOf([CREDIT, DEBIT], { message, version })).toString();
    expect(rejection(text.replace('<Sum>150.50<', '<Sum>150.51<'))).toMatch(/TxsSummry contradicts/);
    if (message === 'camt.054') return;
    expect(rejection(text.replace('>1000.00<', '>1000.01<'))).toMatch(/Bal contradicts/);
  });

  test('each element that counts must be there, once, and be readable', () => {
    const text = renderReport(reportOf([CREDIT], { message, version })).toString();
    const without = (pattern: RegExp) => rejection(text.replace(pattern, ''));
    expect(without(/<MsgId>.*?<\/MsgId>/)).toMatch(/GrpHdr cannot be read: MsgId is missing/);
    expect(without(/<GrpHdr>[\s\S]*?<\/GrpHdr>/)).toMatch(/GrpHdr is missing/);
    expect(without(/<Acct>[\s\S]*?<\/Acct>/)).toMatch(/Statement 1 of the file cannot be read: Acct\/Id is missing/);
    expect(without(/<Amt Ccy="EUR">120.50<\/Amt>/)).not.toBe('read');
    expect(without(/<BookgDt>[\s\S]*?<\/BookgDt>/)).toMatch(/BookgDt is missing/);
    expect(without(/<Sts>[\s\S]*?<\/Sts>/)).toMatch(/Sts is missing/);
    expect(rejection(text.replace(/(<BookgDt>[\s\S]*?<\/BookgDt>)/, '$1$1'))).toMatch(
      /BookgDt\/Dt is there more than once/,
    );
    expect(rejection(text.replaceAll('120.50', '120.505'))).toMatch(/more decimals than EUR/);
  });
});

const STATUS: RenderedStatusReport = {
  version: '10',
  messageId: 'S-1',
  createdAt: CREATED,
  originalMessageId: 'FILE-1',
  file: { status: 'PART', reasons: [] },
  batches: [
    {
      originalBatchId: 'BATCH-1',
      status: null,
      reasons: [],
      payments: [
        { status: 'RJCT', reasons: ['AC04'], instructionId: 'ref1-1', paymentReference: 'ref1', bankReference: null },
        { status: 'ACSC', reasons: [], instructionId: 'ref2-1', paymentReference: null, bankReference: 'BR-2' },
      ],
    },
    { originalBatchId: 'BATCH-2', status: 'RJCT', reasons: ['FF01'], payments: [] },
  ],
};

describe.each(['03', '10'] as const)('pain.002.001.%s', (version) => {
  const report = { ...STATUS, version };

  test('file, batches and payments are read with their statuses and reasons', () => {
    const { version: _, batches, ...stated } = report;
    expect(readValid(renderStatusReport(report))).toEqual({
      message: 'pain.002',
      ...stated,
      version: `pain.002.001.${version}`,
      batches: batches.map((batch) => ({
        ...batch,
        payments: batch.payments.map((one) => ({ ...one, matchedName: null })),
      })),
    });
  });

  test('a close match of the payee check has the name that the payee’s bank holds; other texts stay unread', () => {
    const checked = (status: string) =>
      renderStatusReport({
        ...report,
        file: { status: null, reasons: ['RVNM'], additional: ['Anna Meier has no such account'] },
        batches: [
          {
            originalBatchId: 'B',
            status: null,
            reasons: [],
            payments: [
              {
                status: version === '10' ? status : null,
                reasons: [status],
                additional: ['Anna Maria', 'Meyer'],
                instructionId: 'ref1-1',
                paymentReference: null,
                bankReference: null,
              },
            ],
          },
        ],
      });
    const close = readValid(checked('RVMC'));
    expect(close).toMatchObject({ batches: [{ payments: [{ reasons: ['RVMC'], matchedName: 'Anna Maria Meyer' }] }] });
    const none = readValid(checked('RVNM'));
    expect(JSON.stringify(none)).not.toMatch(/Anna/);
  });

  test('what names no payment, or one twice with two statuses, or has no code, is rejected', () => {
    const text = renderStatusReport(report).toString();
    expect(rejection(text.replace(/<OrgnlInstrId>ref2-1<\/OrgnlInstrId>/, ''))).toMatch(
      /TxInfAndSts 2 of batch 1 cannot be read: it has neither OrgnlInstrId nor OrgnlEndToEndId/,
    );
    expect(rejection(text.replace('ref2-1', 'ref1-1'))).toMatch(/names one payment twice/);
    expect(rejection(text.replace('>RJCT<', '>rejected<'))).toMatch(/TxSts is no code/);
    expect(rejection(text.replace(/<OrgnlPmtInfId>BATCH-2.*>/, ''))).toMatch(/Batch 2.*OrgnlPmtInfId is missing/);
    expect(rejection(text.replace(/<OrgnlGrpInfAndSts>[\s\S]*<\/OrgnlGrpInfAndSts>/, ''))).toMatch(
      /OrgnlGrpInfAndSts is missing/,
    );
    expect(rejection(text.replace(/(<OrgnlGrpInfAndSts>[\s\S]*<\/OrgnlGrpInfAndSts>)/, '$1$1'))).toMatch(
      /more than once/,
    );
  });

  test('a reason that is no code is told as NARR, as it may be about a person', () => {
    const text = renderStatusReport(report).toString();
    const found = read(text.replace('<Cd>AC04</Cd>', '<Prtry>Konto von Anna Meier aufgelöst</Prtry>'));
    expect(found).toMatchObject({ batches: [{ payments: [{ reasons: ['NARR'] }, {}] }, {}] });
  });

  test.each([
    ['AM05 Duplication', 'AM05'],
    ['DU01: Duplicate Message ID', 'DU01'],
    ['Duplicate payment', 'DUPL'],
    ['FICHIER EN DOUBLE', 'DUPL'],
    ['Doppelte Einreichung', 'DUPL'],
  ])('a text that says that the bank had it before is no plain rejection: %s', (prose, code) => {
    const text = renderStatusReport(report).toString();
    const found = read(text.replace('<Cd>AC04</Cd>', `<Prtry>${prose}</Prtry>`));
    expect(found).toMatchObject({ batches: [{ payments: [{ reasons: [code] }, {}] }, {}] });
  });
});

describe('camt.029.001.09', () => {
  const answer = {
    messageId: 'R-1',
    createdAt: CREATED,
    caseId: null,
    status: 'RJCR',
    answers: [
      { status: 'RJCR', reasons: ['LEGL'], caseId: 'C-1', instructionId: 'ref1-1', paymentReference: 'ref1' },
      { status: null, reasons: [], caseId: null, instructionId: 'ref2-1', paymentReference: null },
    ],
  };

  test('each payment has its answer; one without a status has that of the message', () => {
    expect(readValid(renderCancellationAnswer(answer))).toEqual({
      message: 'camt.029',
      version: 'camt.029.001.09',
      messageId: 'R-1',
      createdAt: CREATED,
      answers: [
        { cancellationId: 'C-1', instructionId: 'ref1-1', paymentReference: 'ref1', status: 'RJCR', reasons: ['LEGL'] },
        { cancellationId: null, instructionId: 'ref2-1', paymentReference: null, status: 'RJCR', reasons: [] },
      ],
    });
  });

  test('an answer without details is about its case, and without a case about nothing', () => {
    const whole = { ...answer, answers: [], caseId: 'C-9', status: 'CNCL' };
    expect(readValid(renderCancellationAnswer(whole))).toMatchObject({
      answers: [{ cancellationId: 'C-9', instructionId: null, status: 'CNCL' }],
    });
    expect(rejection(renderCancellationAnswer({ ...whole, caseId: null }))).toMatch(/names no payment and no case/);
  });
});

describe('of every message', () => {
  const every: readonly (readonly [string, string])[] = [
    ['pain.002', renderStatusReport(STATUS).toString()],
    ['camt.053', renderReport(reportOf([CREDIT, DEBIT, RETURNED], { message: 'camt.053' })).toString()],
    ['camt.054', renderReport(reportOf([CREDIT, DEBIT, UNTOLD])).toString()],
    [
      'camt.029',
      renderCancellationAnswer({
        messageId: 'R-1',
        createdAt: CREATED,
        caseId: null,
        status: 'CNCL',
        answers: [{ status: 'ACCR', reasons: [], caseId: 'C', instructionId: 'I', paymentReference: null }],
      }).toString(),
    ],
  ];

  test.each(every)('%s cut off anywhere is rejected', (_, text) => {
    const end = text.lastIndexOf('</Document>');
    for (let length = 0; length < end + '</Document>'.length; length += 101) {
      expect(rejection(text.slice(0, length))).not.toBe('read');
    }
  });

  test.each(every)('%s of a version to come, of another namespace or without one is rejected by name', (name, text) => {
    const namespace = /urn:iso:std:iso:20022:tech:xsd:[a-z0-9.]+/;
    expect(rejection(text.replace(namespace, `urn:iso:std:iso:20022:tech:xsd:${name}.001.99`))).toMatch(
      new RegExp(`The file is ${name}.001.99, but only versions 001\\.0[23] to 001\\.1[45] of ${name}`),
    );
    expect(rejection(text.replace(namespace, 'http://www.six-interbank-clearing.com/de/x'))).toMatch(
      /its namespace is http/,
    );
    expect(rejection(text.replace(` xmlns="${namespace.exec(text)?.[0]}"`, ''))).toMatch(/its namespace is missing/);
    expect(rejection(text.replace(namespace, 'urn:iso:std:iso:20022:tech:xsd:pacs.008.001.08'))).toMatch(
      /Only pain\.002/,
    );
  });

  test.each(every)('%s twice in one file is rejected, and in an envelope it is read', (_, text) => {
    const document = text.slice(text.indexOf('<Document'));
    expect(rejection(`<Envelope>${document}${document}</Envelope>`)).toMatch(/more than one message/);
    expect(read(`<Envelope xmlns="urn:bank">${document}</Envelope>`)).toEqual(read(text));
  });

  test.each(every)('%s with a document type is rejected before any entity is expanded', (_, text) => {
    const bomb = Array.from({ length: 20 }, (_value, at) => `<!ENTITY e${at + 1} "${`&e${at};`.repeat(20)}">`);
    const doctype = `<!DOCTYPE Document [<!ENTITY e0 "x">${bomb.join('')}]>`;
    expect(rejection(text.replace('<Document', `${doctype}<Document`))).toMatch(/document type/);
    expect(rejection(text.replace(/>M-1<|>S-1<|>R-1</, '>&e20;<'))).toMatch(/not well-formed/);
  });

  test.each(every)('%s in another encoding is rejected', (_, text) => {
    const latin = Buffer.from(
      text.replace('UTF-8', 'ISO-8859-1').replace('</Document>', '<!-- \u00e9 --></Document>'),
      'latin1',
    );
    expect(rejection(latin)).toMatch(/not UTF-8/);
    expect(rejection(Buffer.from(text, 'utf16le'))).not.toBe('read');
  });

  test('50 MB are rejected before they are read', () => {
    expect(rejection(Buffer.alloc(50 * 1024 * 1024, ' '))).toMatch(/more than 32 MiB/);
  });

  test.each([
    ['nothing', '', /not a pain\.002.* message|unclosed|well-formed/],
    ['a CSV file', 'date;amount\n2026-11-26;1', /no XML/],
    ['another document', '<html/>', /not a pain\.002/],
  ])('%s is rejected', (_, text, message) => {
    expect(rejection(text)).toMatch(message);
  });
});
