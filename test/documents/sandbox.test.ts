import { expect, test } from 'vitest';
import { directoryResult, unreadableResult } from '../../domain/beneficiaries/directories.ts';
import { formatAmount } from '../../domain/common/money.ts';
import { BREAK_KINDS } from '../../domain/reconciliation/reconciliation.ts';
import { READY_MADE_ACCOUNTS } from '../../sandbox/bank/existing-clients/ready-made-accounts.ts';
import {
  READY_MADE_BENEFICIARIES,
  READY_MADE_CLIENTS,
} from '../../sandbox/bank/existing-clients/ready-made-clients.ts';
import { OTHER_AMOUNTS, SCENARIOS } from '../../sandbox/bank/payments/scenarios.ts';
import { STATEMENT_FAULT_EFFECTS } from '../../sandbox/bank/payments/statement-faults.ts';
import { MAGIC_CODES, MAGIC_IBANS } from '../../sandbox/directory/magic-accounts.ts';
import { FILE_FAULT_EFFECTS } from '../../sandbox/file-bank/faults.ts';
import { PAYEE_ANSWERS } from '../../sandbox/file-bank/intake/payee-check.ts';
import { FILE_OUTCOMES, OTHER_FILE_AMOUNTS } from '../../sandbox/file-bank/outcomes.ts';
import { SETTING_VALUES, USUAL_SETTINGS } from '../../sandbox/file-bank/records.ts';
import { expectPrintedPart, list, readDocument } from './printed.ts';

// What docs/sandbox.md says of values that choose an outcome, printed from the tables of the sandbox.

const PAGE = 'docs/sandbox.md';
const BANK_PAGE = 'docs/reference/sandbox/bank.md';
const FILE_BANK_PAGE = 'docs/reference/sandbox/file-bank.md';
type Row = readonly [name: string, text: string];

test('docs/sandbox.md has every amount that chooses an outcome', () => {
  const endings = Object.entries(SCENARIOS).map(
    ([ending, { shows }]): Row => [`\`.${ending.padStart(2, '0')}\``, shows],
  );
  expectPrintedPart(PAGE, 'amounts', list([...endings, ['all others', OTHER_AMOUNTS.shows]]));
});

test('docs/reference/sandbox/bank.md has every fault of the statement, with the break that follows', () => {
  const rows = Object.entries(STATEMENT_FAULT_EFFECTS).map(
    ([kind, { shows, leadsTo }]): Row => [`\`${kind}\``, `${shows}; \`${leadsTo}\``],
  );
  expectPrintedPart(BANK_PAGE, 'statement-faults', list(rows));
  const kinds: readonly string[] = BREAK_KINDS;
  expect(Object.values(STATEMENT_FAULT_EFFECTS).filter(({ leadsTo }) => !kinds.includes(leadsTo))).toEqual([]);
});

test('docs/sandbox.md has every account number that chooses the answer of the directory, with the reason of the service', () => {
  const rows = [...MAGIC_CODES].map(([number, code]): Row => {
    const reason = directoryResult('pay-uk', code, null)?.reason;
    expect(reason, code).toBeTypeOf('string');
    return [`\`${number}\``, `\`${code}\`, \`${reason}\``];
  });
  expectPrintedPart(PAGE, 'directory', list(rows));
});

test('docs/sandbox.md has every IBAN that chooses the answer of the directory, with the reason of the service', () => {
  const rows = [...MAGIC_IBANS].map(([iban, { partyNameMatch: code, shows }]): Row => {
    const reason = (directoryResult('eu-vop', code, null) ?? unreadableResult('eu-vop'))?.reason;
    expect(reason, code).toBeTypeOf('string');
    return [`\`${iban}\``, `${shows}; \`${code}\`, \`${reason}\``];
  });
  expectPrintedPart(PAGE, 'ibans', list(rows));
});

test('docs/reference/sandbox/bank.md has every account, client and beneficiary of a new bank', () => {
  const rows = [...READY_MADE_ACCOUNTS.values()].map(
    ({ sourceId, clientReference, currency, country, balanceMinor }): Row => [
      `\`${sourceId}\``,
      `${formatAmount(balanceMinor, currency)} ${currency} in ${country}, \`${clientReference.replace('SBC-', '')}\``,
    ],
  );
  expectPrintedPart(BANK_PAGE, 'accounts', list(rows));
  const page = readDocument(BANK_PAGE);
  const named = [...READY_MADE_CLIENTS.keys(), ...READY_MADE_BENEFICIARIES.keys()];
  expect(named.filter((sourceId) => !page.includes(`\`${sourceId}\``))).toEqual([]);
  expect(named.length).toBeGreaterThan(10);
});

test('docs/reference/sandbox/file-bank.md has what the file bank does: by amount, payee, setting and fault', () => {
  const endings = Object.entries(FILE_OUTCOMES).map(
    ([ending, { shows }]): Row => [`\`.${ending.padStart(2, '0')}\``, shows],
  );
  expect(Object.keys(FILE_OUTCOMES)).toEqual(Object.keys(SCENARIOS));
  expectPrintedPart(FILE_BANK_PAGE, 'file-amounts', list([...endings, ['all others', OTHER_FILE_AMOUNTS.shows]]));

  const settings = Object.entries(SETTING_VALUES).map(([name, { values, means }]): Row => {
    const usual: unknown = Reflect.get(USUAL_SETTINGS, name);
    const sorted = [...values].sort((one, other) => Number(other === usual) - Number(one === usual));
    return [`\`${name}\``, `${means}: ${sorted.map((value) => `\`${value}\``).join(', ')}`];
  });
  expectPrintedPart(FILE_BANK_PAGE, 'file-settings', list(settings));

  const answers = Object.entries(PAYEE_ANSWERS).map(
    ([name, answer]): Row => [`\`${name}\``, answer === null ? 'none, ever' : `\`${answer}\``],
  );
  expectPrintedPart(FILE_BANK_PAGE, 'payee-answers', list([...answers, ['all others', '`RCVC`']]));
  expectPrintedPart(
    FILE_BANK_PAGE,
    'file-faults',
    list(Object.entries(FILE_FAULT_EFFECTS).map(([name, effect]): Row => [`\`${name}\``, effect])),
  );
});
