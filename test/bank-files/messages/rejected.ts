import type { PaymentInstruction } from '../../../domain/bank-files/instructions.ts';
import { UnreadableMessage } from '../../../domain/bank-files/messages.ts';
import { type ProfileRule, problemOf } from '../../../domain/bank-files/profile-rules.ts';
import type { BankProfile } from '../../../domain/bank-files/profiles.ts';
import { readAtOnce } from './read-at-once.ts';
import { NO_DETAIL, type RenderedReport, renderReport, renderStatusReport } from './rendered-messages.ts';

/** What is rejected, as docs/reference/bank-messages.md shows it: files of banks, and payments that a bank's profile does not take. */
const CREATED = new Date('2026-11-26T18:00:00Z');

const ENTRY = {
  reference: 'E-1',
  direction: 'credit' as const,
  amountMinor: 100n,
  currency: 'EUR',
  bookedOn: '2026-11-26',
  status: 'BOOK' as const,
  isReversal: false,
  batch: { id: 'B', count: 1 },
  details: [{ ...NO_DETAIL, amountMinor: 100n }],
};
const REPORT: RenderedReport = {
  message: 'camt.053',
  version: '08',
  messageId: 'M',
  createdAt: CREATED,
  account: 'DE89370400440532013000',
  entries: [ENTRY],
};

/** What is done to a valid file, and what the reader then says. */
export function rejections(): readonly (readonly [string, string])[] {
  const report = renderReport(REPORT).toString();
  const status = renderStatusReport({
    version: '10',
    messageId: 'S',
    createdAt: CREATED,
    originalMessageId: 'M',
    file: { status: 'PART', reasons: [] },
    batches: [
      {
        originalBatchId: 'B',
        status: null,
        reasons: [],
        payments: [{ status: 'RJCT', reasons: [], instructionId: 'I', paymentReference: null, bankReference: null }],
      },
    ],
  }).toString();
  const cases: readonly (readonly [string, string])[] = [
    ['another format', 'a;b'],
    ['a document type', report.replace('<Document', '<!DOCTYPE Document><Document')],
    ['a version to come', report.replace('camt.053.001.08', 'camt.053.001.15')],
    ['a namespace of others', report.replace(/urn:iso[^"]+/, 'http://example.com/pain.002.001.03.ch.02')],
    ['cut off', report.slice(0, -12)],
    [
      'one page of several',
      report.replace('</GrpHdr>', '<MsgPgntn><PgNb>2</PgNb><LastPgInd>false</LastPgInd></MsgPgntn></GrpHdr>'),
    ],
    ['two messages', `<x>${report.replace(/<\?.*\?>/, '').repeat(2)}</x>`],
    ['no account', report.replace(/<Acct>[\s\S]*<\/Acct>/, '')],
    ['an element missing', report.replace(/<BookgDt>[\s\S]*?<\/BookgDt>/, '')],
    ['an amount that is none', report.replace('<Amt Ccy="EUR">1.00<', '<Amt Ccy="EUR">1,00<')],
    ['details of another sum', report.replace(/(<TxDtls>[\s\S]*?)>1\.00</, '$1>0.99<')],
    ['a batch of another number', report.replace('<NbOfTxs>1<', '<NbOfTxs>2<')],
    ['a summary of other entries', report.replace('<Sum>1.00<', '<Sum>2.00<')],
    ['balances of other entries', report.replace('>1001.00<', '>1002.00<')],
    ['a status that is no code', status.replace('>RJCT<', '>rejected<')],
    ['a payment without a name', status.replace('<OrgnlInstrId>I</OrgnlInstrId>', '')],
  ];
  return cases.map(([name, file]) => [name, rejectionOf(file)]);
}

function rejectionOf(file: string): string {
  try {
    readAtOnce(Buffer.from(file));
  } catch (error) {
    if (error instanceof UnreadableMessage) return error.message;
    throw error;
  }
  throw new Error('read, although it is no message that can be');
}

/** What is wrong with a payment, by the rule that finds it; `sound` is one that the profile takes. */
const WRONG: Readonly<Record<ProfileRule, (sound: PaymentInstruction) => PaymentInstruction>> = {
  scheme: (sound) => ({ ...sound, scheme: 'chaps' }),
  amount: (sound) => ({ ...sound, amountMinor: 0n }),
  account: ({ creditor, ...sound }) => ({ ...sound, creditor: { ...creditor, iban: null } }),
  bic: ({ creditor, ...sound }) => ({ ...sound, scheme: 'target2', creditor: { ...creditor, routingCodes: {} } }),
  characters: (sound) => ({ ...sound, remittanceText: '漢字' }),
  length: (sound) => ({ ...sound, remittanceText: 'x'.repeat(141) }),
  'structured-address': ({ creditor, ...sound }) => ({
    ...sound,
    creditor: { ...creditor, address: creditor.address == null ? null : { ...creditor.address, city: null } },
  }),
  attribute: (sound) => ({ ...sound, attributes: { 'trade-name': 'Advertising' } }),
  'purpose-code': (sound) => ({ ...sound, attributes: { 'purpose-code': 'salary' } }),
};

export function rejectedPayments(
  sound: PaymentInstruction,
  profile: BankProfile,
): readonly (readonly [string, string])[] {
  return Object.entries(WRONG).map(([rule, wrong]) => {
    const problem = problemOf(wrong(sound), profile);
    if (problem?.rule !== rule) throw new Error(`${profile.code} takes what breaks ${rule}`);
    return [`\`${rule}\``, `\`${problem.field}\`: ${problem.message}`];
  });
}
