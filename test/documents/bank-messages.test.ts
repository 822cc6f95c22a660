import { expect, test } from 'vitest';
import { READABLE_MESSAGES } from '../../activities/bank-files/read-bank-message.ts';
import { loadConfiguration } from '../../config/configuration.ts';
import { CANCELLATION_MESSAGE, writeCancellationFile } from '../../domain/bank-files/cancellation-file.ts';
import {
  MEANINGS,
  PARTLY,
  PAYEE_CHECKS,
  REPEATED,
  type StatusMeaning,
} from '../../domain/bank-files/exchange/progress.ts';
import type { InstructingParty, PaymentInstruction } from '../../domain/bank-files/instructions.ts';
import { writePaymentFile } from '../../domain/bank-files/payment-file.ts';
import type { BankProfile } from '../../domain/bank-files/profiles.ts';
import { leavesOf } from '../bank-files/messages/profile-subsets.ts';
import { rejectedPayments, rejections } from '../bank-files/messages/rejected.ts';
import { filesBelow } from '../layout/files.ts';
import { expectPrinted, list, ROOT, readDocument } from './printed.ts';

// docs/reference/bank-messages.md, printed from the readers, the writers and the profiles themselves.

/** Inner parts of elements that the page names, and the roots of messages. */
const PARTS: ReadonlySet<string> = new Set(
  'BkToCstmrStmt CstmrPmtStsRpt RsltnOfInvstgtn Document Id Cd Prtry Nm Pty Agt Othr IBAN FinInstnId Dbtr DbtrAcct CdtrAcct DbtrAgt Ref Strd CdtrRefInf Ustrd'.split(
    ' ',
  ),
);

/** What is read, in words, with the elements that it comes from. */
const READ: Readonly<Record<string, readonly (readonly [what: string, elements: string])[]>> = {
  'pain.002': [
    ['the message', 'GrpHdr MsgId CreDtTm'],
    ['status and reasons of the file', 'OrgnlGrpInfAndSts OrgnlMsgId GrpSts StsRsnInf Rsn'],
    ['of each batch', 'OrgnlPmtInfId PmtInfSts'],
    ['of each payment, with the bank’s reference', 'TxInfAndSts OrgnlInstrId OrgnlEndToEndId TxSts AcctSvcrRef'],
    ['the name of a close match (RVMC)', 'AddtlInf'],
  ],
  'camt.053': [
    ['the message and its statement', 'GrpHdr MsgId CreDtTm Stmt'],
    ['account, balances and summary', 'Acct Bal TxsSummry'],
    ['entries', 'Ntry Amt CdtDbtInd Sts BookgDt ValDt RvslInd AcctSvcrRef NtryRef Chrgs'],
    ['batches', 'Btch PmtInfId NbOfTxs TtlAmt'],
    ['details', 'NtryDtls TxDtls Refs InstrId EndToEndId AmtDtls RltdPties RltdAgts RmtInf RtrInf AddtlTxInf'],
  ],
  'camt.054': [['as camt.053, without balances', 'BkToCstmrDbtCdtNtfctn Ntfctn']],
  'camt.029': [
    ['the message', 'Assgnmt CreDtTm'],
    ['the answer to each requested cancellation', 'RslvdCase Sts Conf CxlDtls CxlStsId TxCxlSts CxlStsRsnInf'],
    ['or to a whole file or batch', 'OrgnlGrpInfAndSts GrpCxlSts OrgnlPmtInfCxlId PmtInfCxlSts'],
  ],
};

const PARTY: InstructingParty = {
  name: 'Fintech',
  id: 'SENDER-1',
  country: 'DE',
  iban: 'DE89370400440532013000',
  accountNumber: '12345678',
  routingCodes: { bic: 'COBADEFFXXX', 'sort-code': '040075' },
};
const CREATED = new Date('2026-11-26T18:00:00Z');

/** A payment with everything that a profile writes. */
function fullPayment(scheme: string): PaymentInstruction {
  return {
    id: 'ref-1',
    paymentReference: 'ref',
    amountMinor: 100n,
    currency: 'EUR',
    scheme,
    executionDate: '2026-11-27',
    ultimateDebtorName: 'Client',
    creditor: {
      name: 'Payee',
      country: 'GB',
      iban: 'GB29NWBK60161331926819',
      accountNumber: null,
      routingCodes: { bic: 'NWBKGB2L' },
      address: {
        country: 'GB',
        region: null,
        city: 'Leeds',
        street: 'High St',
        houseNumber: '1',
        postalCode: 'LS1',
        refinement: null,
      },
    },
    remittanceText: 'Invoice 1',
    attributes: { 'purpose-code': 'SALA' },
  };
}

const batchOf = (scheme: string, instruction: PaymentInstruction) => ({
  id: 'B',
  scheme,
  executionDate: instruction.executionDate,
  instructions: [instruction],
});

/** The elements that a message has, below its root, each once. */
const elementsOf = (file: Buffer) =>
  [...new Set(leavesOf(file).map(({ path }) => path))].map((path) => `\`${path}\``).join(', ');

function writtenPayment(profile: BankProfile): string {
  const { purposeCodes } = profile;
  const batches = Object.keys(profile.schemes).map((scheme) => {
    const payment = fullPayment(scheme);
    return batchOf(scheme, purposeCodes === true ? payment : { ...payment, attributes: {} });
  });
  return elementsOf(writePaymentFile({ messageId: 'M', createdAt: CREATED, party: PARTY, batches }, profile));
}

const codes = (list: Iterable<string>) => [...list].map((code) => `\`${code}\``).join(', ');

/** What a status of pain.002 does to its payment. */
const FOLLOWS: Readonly<Record<Exclude<StatusMeaning, 'confirmation'>, string>> = {
  received: 'nothing yet: the bank has the payment',
  accepted: 'the payment is released',
  settled: 'it is released, and completed where pain.002 ends payments',
  rejected:
    'this submission is rejected: for BE08 and MS03 the payment goes again in another file, else it fails, also after its release; after its debit the rejection is a break',
};

function statusLines(): readonly (readonly [string, string])[] {
  const byMeaning = Object.entries(FOLLOWS).map(([meaning, follows]) => {
    const own = Object.entries(MEANINGS).flatMap(([code, of]) => (of === meaning ? [code] : []));
    return [codes(own), follows] as const;
  });
  return [
    ...byMeaning,
    [codes(PARTLY), 'nothing: the payments in it have statuses of their own'],
    [
      codes(PAYEE_CHECKS),
      'answers of the payee check: where the profile has one, all but the first may wait for a person at the bank',
    ],
    [
      `a rejection with ${codes(REPEATED)}`,
      'nothing, as it is about a second copy: the file is set aside for a person',
    ],
    ['any other', 'nothing: the file is set aside for a person, after the rest of it is applied'],
  ];
}

function profileLine({ code, ...profile }: BankProfile): readonly [string, string] {
  const { paymentMessage, schemes, releasedBy, endsBy, silenceHours, payeeCheck, takesCancellations } = profile;
  const released = releasedBy === 'delivery' ? 'the file’s delivery' : 'pain.002';
  const check = {
    none: 'none',
    'opted-out': 'opted out, files of several only',
    confirmed: 'a person confirms at the bank',
  };
  const cancels = takesCancellations ? CANCELLATION_MESSAGE : 'not by file';
  return [
    `\`${code}\``,
    `${paymentMessage}; ${Object.keys(schemes).join(', ')}. Released by ${released}, ended by ${endsBy}; alarm after ${silenceHours} hours of silence. Payee check: ${check[payeeCheck]}. Cancellation: ${cancels}.`,
  ];
}

test('docs/reference/bank-messages.md says what is written and read, what is rejected, and what each profile waits for', () => {
  const profiles = [...loadConfiguration({}).bankProfiles.values()];
  const [sepa, german, swift, older] = ['sepa', 'de-gbic', 'swift-cgi', 'swift-cgi-03'].map((code) =>
    profiles.find((one) => one.code === code),
  );
  if (sepa === undefined || german === undefined || swift === undefined || older === undefined)
    throw new Error('a shipped profile is missing');
  const cancellation = {
    id: 'C',
    originalMessageId: 'M',
    originalMessageCreatedAt: CREATED,
    originalBatchId: 'B',
    originalInstruction: fullPayment('sepa'),
    reason: 'DUPL',
  };
  const cancelled = { messageId: 'X', createdAt: CREATED, party: PARTY, cancellations: [cancellation] };
  expectPrinted(
    'docs/reference/bank-messages.md',
    'Bank messages',
    [
      'Messages of ISO 20022 between the service and banks that take files. What is written validates by [ISO’s schemas](../../sandbox/bank/iso20022/NOTICE.txt).',
      '',
      '## Profiles',
      '',
      'Silence is an alarm, never an outcome. A bank’s own profile is one more file in `bankProfiles` ([configuration](configuration.md)).',
      '',
      ...list(profiles.map(profileLine)),
      '',
      '## Read',
      '',
      ...READABLE_MESSAGES.map(({ name, versions }) => {
        const [first, last] = versions.map((version) => `001.${String(version).padStart(2, '0')}`);
        const parts = (READ[name] ?? []).map(
          ([what, elements]) =>
            `${what} (${elements
              .split(' ')
              .map((one) => `\`${one}\``)
              .join(', ')})`,
        );
        return `- ${name}, versions ${first} to ${last}: ${parts.join('; ')}.`;
      }),
      '',
      'Anything else in them is not read, supplementary data neither. A reason that is no code is told as NARR.',
      '',
      '## Statuses of pain.002',
      '',
      ...list(statusLines()),
      '',
      '## Rejected, whole',
      '',
      ...list(rejections()),
      '',
      '## Rejected before any file is written',
      '',
      'What the profile of a bank does not take, by rule; here that of `de-gbic`.',
      '',
      ...list(rejectedPayments(fullPayment('sepa'), german)),
      '',
      '## Written',
      '',
      `- pain.001.001.09: by \`sepa\` ${writtenPayment(sepa)}; by \`swift-cgi\` an address in town, country and lines.`,
      '- pain.001.001.03: the same, but `ReqdExctnDt` without `Dt`, `BIC` for `BICFI`, and an address, if any, in lines, which no bank takes since November 2026.',
      `- ${CANCELLATION_MESSAGE}: ${elementsOf(writeCancellationFile(cancelled, sepa))}.`,
    ],
    'test/documents/bank-messages.test.ts',
  );
  expect(writtenPayment(older)).toContain('`PmtInf/ReqdExctnDt`,');
  expect(writtenPayment(older)).toContain('FinInstnId/BIC`');
  expect(writtenPayment(swift)).toContain('`PmtInf/CdtTrfTxInf/Cdtr/PstlAdr/AdrLine`');
});

test('what the page says to be read is what the readers name', () => {
  expect(Object.keys(READ)).toEqual(READABLE_MESSAGES.map(({ name }) => name));
  const readers = ['activities/bank-files', 'activities/common/iso20022']
    .flatMap((folder) => filesBelow(ROOT, folder))
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'));
  const sources = readers.map(readDocument).join('\n');
  const elements = Object.values(READ).flatMap((parts) => parts.flatMap(([, names]) => names.split(' ')));
  expect(elements.filter((name) => !new RegExp(`\\b${name}\\b`).test(sources))).toEqual([]);
  const own = readers.filter((path) => /^activities\/bank-files\/[^/]+$/.test(path)).map(readDocument);
  const paths = own.flatMap((text) => [...text.matchAll(/'((?:[A-Z][A-Za-z]+\/)*[A-Z][A-Za-z]*[a-z][A-Za-z]*)'/g)]);
  const read = new Set(paths.flatMap(([, path = '']) => path.split('/')));
  expect(read.size).toBeGreaterThan(40);
  const page = readDocument('docs/reference/bank-messages.md');
  expect([...read].filter((name) => !PARTS.has(name) && !page.includes(`\`${name}\``))).toEqual([]);
});
