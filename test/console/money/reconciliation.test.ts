import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StatementEntry } from '../../../activities/providers/ports/statement-port.ts';
import { addDays, dateInUtc } from '../../../domain/common/time/dates.ts';
import type { Json } from '../../harness/api.ts';
import { auditOf } from '../../harness/audit.ts';
import { builtInAccounts } from '../../harness/built-in-accounts.ts';
import { statementXml, writeBankFile } from '../../harness/transfers/bank-files.ts';
import { type ReconciliationWorld, startReconciliationWorld } from '../../harness/transfers/reconciliation-world.ts';
import { type ConsoleCaller, type ConsoleUnderTest, startConsole } from '../console-under-test.ts';

// Days that agree and days that do not, with a real bank's statement: what the pages show, and what people do about it.

let service: ReconciliationWorld;
let underTest: ConsoleUnderTest;
let operator: ConsoleCaller;
let second: ConsoleCaller;
let viewer: ConsoleCaller;
let today: string;
/** Payments in, by the bank's ids. */
let payments: string[];
/** What the bank's statement leaves out. */
let omitted: readonly string[] = [];

beforeAll(async () => {
  service = await startReconciliationWorld('console-reconciliation', (fetchStatement) => async (request, call) => {
    const page = await fetchStatement(request, call);
    const isThere = ({ serviceProviderId }: StatementEntry) => !omitted.includes(serviceProviderId);
    return { ...page, entries: page.entries.filter(isThere) };
  });
  const { url, clockOffset, dependencies } = service;
  underTest = await startConsole({ url }, { clockOffset, providers: dependencies.providers });
  today = dateInUtc(new Date());
  const account = await builtInAccounts(service.api).opened(await service.world.client());
  payments = [await service.paidIn(account, 100), await service.paidIn(account, 25)];
  [operator, second, viewer] = [
    await underTest.signIn('operator'),
    await underTest.signIn('second-operator'),
    await underTest.signIn('viewer'),
  ];
});

afterAll(async () => {
  await underTest?.stop();
  await service?.stop();
});

const calendar = (by = operator) => by.get(`/reconciliation?month=${today.slice(0, 7)}`);
const dayOf = async (): Promise<Json> => service.dayOf(today);
const compareAgain = async (by = operator) =>
  by.post(`/reconciliation/${(await dayOf()).id}/compare-again`, { reason: 'the bank has answered' });

/** Sends a file as the browser's form does. */
async function upload(
  path: string,
  content: string | Uint8Array<ArrayBuffer>,
  fields: Readonly<Record<string, string>> = {},
) {
  const form = new FormData();
  for (const [name, value] of Object.entries({ csrf: operator.csrfToken, reason: 'sent by the bank', ...fields })) {
    form.append(name, value);
  }
  form.append('file', new Blob([content]), 'statement.xml');
  return operator.browser.request(`${underTest.url}${path}`, { form, headers: { origin: underTest.url } });
}

test('a day that is due and not compared is shown as such, and one that is not over cannot be compared', async () => {
  const early = await operator.post('/reconciliation/compare-day', {
    provider: 'sandbox-bank',
    day: today,
    reason: 'to see',
  });
  expect([early.status, early.text]).toEqual([409, expect.stringContaining('cannot be compared yet')]);
  service.moveTo(`${addDays(today, 1)}T06:00:00Z`);
  expect((await calendar()).text).toContain('1 day not compared.');
  const wrong = { provider: 'sandbox-bank', day: '2026-02-30', reason: 'to see' };
  expect((await operator.post('/reconciliation/compare-day', wrong)).text).toContain('Day is no date');
});

test('a person compares a day, and it agrees', async () => {
  const fields = { provider: 'sandbox-bank', day: today, reason: 'to see' };
  const answer = await operator.post('/reconciliation/compare-day', fields);
  const { id } = await dayOf();
  expect([answer.status, answer.headers.get('location')], answer.text).toEqual([303, `/reconciliation/${id}`]);
  const page = await operator.get(`/reconciliation/${id}`);
  expect(page.text).toContain('The day agrees');
  expect(page.text).toContain('£125.00 GBP');
  expect((await calendar()).text).toContain('Every day agrees.');
  const [entry] = await underTest.database.reader.statement<Json>(
    `SELECT actor, role, reason, action FROM audit_entries WHERE resource_id = $1`,
    [id],
  );
  expect(entry).toEqual({ actor: operator.personId, role: 'operator', reason: 'to see', action: 'compared' });
});

describe('a day that does not agree', () => {
  let breakId: string;

  test('shows both sums, its breaks and what to do about them, and in the calendar', async () => {
    omitted = [payments[1] ?? ''];
    const answer = await compareAgain();
    expect(answer.status, answer.text).toBe(303);
    const day = await dayOf();
    expect(day).toMatchObject({ status: 'breaks', openBreakCount: 1 });
    const page = await operator.get(`/reconciliation/${day.id}`);
    expect(page.text).toContain('1 of 1 breaks are open');
    expect(page.text).toContain('-£25.00 GBP');
    expect((await calendar()).text).toContain('1 day differs');
    const csv = (await operator.get(`/reconciliation?month=${today.slice(0, 7)}&format=csv`)).text;
    expect(csv).toContain(`sandbox-bank,GBP,${today},differs,1,statement`);
    const [found] = await service.listed('reconciliation-breaks');
    breakId = found?.id;
    expect((await operator.get('/reconciliation-breaks')).text).toContain(breakId);
    expect((await operator.get(`/reconciliation-breaks?status=all&day=${today}`)).text).toContain(breakId);
    expect((await operator.get('/reconciliation-breaks?day=2020-01-01')).text).toContain('No such break.');
    for (const wrong of ['2026-02-30', '0000-01-01', 'x']) {
      const { status, text } = await operator.get(`/reconciliation-breaks?day=${wrong}`);
      expect([status, text]).toEqual([200, expect.stringContaining('Day is no date')]);
    }
    for (const month of ['0000-01', '2026-13', '9999-12', 'x']) {
      expect((await operator.get(`/reconciliation?month=${month}`)).text).toContain('Month is none');
    }
  });

  test('has breaks with a page of both sides, which hides the reference from a viewer', async () => {
    const page = await operator.get(`/reconciliation-breaks/${breakId}`);
    expect(page.text).toContain('Ours: £25.00 GBP');
    expect(page.text).toContain('The bank’s: nothing');
    expect(page.text).toMatch(/\/incoming-transfers\/[0-9a-f-]+/);
    expect(page.text).toContain('it resolves itself if the provider books the payment later');
    expect(page.text).not.toContain('npm run');
    const masked = await viewer.get(`/reconciliation-breaks/${breakId}`);
    expect(masked.status).toBe(200);
    expect(masked.text).not.toContain(payments[1]);
    expect((await viewer.get('/reconciliation-breaks?format=csv')).text).not.toContain(payments[1]);
  });

  test('is compared with a bank’s file, and with the file its break disappears', async () => {
    const entries = [
      { amount: '100.00', direction: 'credit', date: today },
      { amount: '25.00', direction: 'credit', date: today },
    ] as const;
    const [first, other] = payments;
    const named = (reference = '') => `<TxDtls><Refs><AcctSvcrRef>${reference}</AcctSvcrRef></Refs></TxDtls>`;
    const xml = statementXml([
      { ...entries[0], details: named(first) },
      { ...entries[1], details: named(other) },
    ]);
    const content = readFileSync(writeBankFile(service.directory, xml), 'utf8');
    const { id } = await dayOf();
    const answer = await upload(`/reconciliation/${id}/compare-with-file`, content);
    expect(answer.status, answer.text).toBe(303);
    expect(await dayOf()).toMatchObject({ status: 'balanced' });
    expect(await auditOf(underTest.database.reader, id)).toContainEqual(
      expect.objectContaining({ action: 'compared', after: expect.objectContaining({ source: 'camt.053' }) }),
    );
  });

  test('keeps what it is when a file cannot be read, and says where and why', async () => {
    const before = await dayOf();
    const path = `/reconciliation/${before.id}/compare-with-file`;
    const torn = await upload(
      path,
      '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08">\n<BkToCstmrStmt><',
    );
    expect([torn.status, torn.text]).toEqual([409, expect.stringMatching(/not well-formed XML: 2:\d+/)]);
    const entry = { amount: '1.00', direction: 'credit', date: 'someday' } as const;
    const wrong = await upload(path, readFileSync(writeBankFile(service.directory, statementXml([entry])), 'utf8'));
    expect([wrong.status, wrong.text]).toEqual([409, expect.stringContaining('Entry 1 of the file')]);
    expect(wrong.text).toContain('BookgDt');
    const other = await upload(
      '/reconciliation/upload-bank-file',
      readFileSync(writeBankFile(service.directory, statementXml([{ ...entry, date: '2020-01-01' }])), 'utf8'),
      { provider: 'sandbox-bank', day: today },
    );
    expect([other.status, other.text]).toEqual([409, expect.stringContaining('The file has no booked entry of')]);
    expect((await upload(path, '')).status).toBe(422);
    expect(await dayOf()).toEqual(before);
  });

  test.each([
    ['CSV', 'date;amount;currency\n2026-11-26;12.50;GBP\n'],
    ['CSV with a byte order mark', '\uFEFF"Date","Amount"\n'],
    ['MT940', ':20:STATEMENT\n:25:GB33BUKB20201555555555\n:60F:C261126GBP1000,00\n'],
    ['PDF', '%PDF-1.7\n1 0 obj\n'],
    [
      'camt.054',
      '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.054.001.08"><BkToCstmrDbtCdtNtfctn/></Document>',
    ],
  ])('keeps what it is when the file is %s, and says which kind it takes', async (_, content) => {
    const before = await dayOf();
    const answer = await upload(`/reconciliation/${before.id}/compare-with-file`, content);
    expect(answer.status, answer.text).toBe(409);
    expect(answer.text).toMatch(/no camt\.053 message|not a camt\.053 message/);
    expect(answer.text).toMatch(/Only camt\.053.* can be read/);
    expect(await dayOf()).toEqual(before);
  });

  test('takes a file of some megabytes, and none without an end', async () => {
    const path = `/reconciliation/${(await dayOf()).id}/compare-with-file`;
    const large = await upload(path, `<?xml version="1.0"?>${' '.repeat(3 * 1024 * 1024)}<Document/>`);
    expect(large.status, large.text.slice(0, 200)).toBe(409);
    const endless = await upload(path, new Uint8Array(33 * 1024 * 1024));
    expect([endless.status, endless.text]).toEqual([413, expect.stringContaining('Nothing was changed')]);
    const form = await upload(`/reconciliation-breaks/${breakId}/resolve-break`, new Uint8Array(3 * 1024 * 1024));
    expect(form.status).toBe(413);
  });
});

describe('a break', () => {
  let breakId: string;
  const resolve = (by: ConsoleCaller, note = 'The bank\nbooks it tomorrow.') =>
    by.post(`/reconciliation-breaks/${breakId}/resolve-break`, { note, reason: 'the bank has called' });

  test('is resolved with a note by one of two people who do it at once', async () => {
    omitted = [payments[1] ?? ''];
    expect((await compareAgain()).status).toBe(303);
    breakId = (await service.listed('reconciliation-breaks', '&data.reconciliationBreak.status=open'))[0]?.id;
    const form = await operator.get(`/reconciliation-breaks/${breakId}/resolve-break`);
    expect(form.text).toContain('The bank’s sums of its day stay -£25.00 GBP in apart from ours');
    const answers = await Promise.all([resolve(operator), resolve(second)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 409]);
    const resolved = (await auditOf(underTest.database.reader, breakId)).filter(({ action }) => action === 'resolved');
    expect(resolved).toHaveLength(1);
    const page = await operator.get(`/reconciliation-breaks/${breakId}`);
    expect(page.text).toContain('The bank books it tomorrow.');
    expect(page.text).toContain('The break is already resolved.');
    expect((await viewer.get(`/reconciliation-breaks/${breakId}`)).text).not.toContain('books it tomorrow');
    expect(await dayOf()).toMatchObject({ status: 'balanced', breakCount: 1 });
  });

  test('is resolved by operators only', async () => {
    for (const role of ['viewer', 'approver', 'compliance', 'admin'] as const) {
      expect((await resolve(await underTest.signIn(role))).status, role).toBe(403);
    }
  });
});

test('a bank that does not answer is said, and what was compared before stays', async () => {
  const before = await dayOf();
  await service.bank('POST', '/faults', { errorRate: 1 });
  const answer = await compareAgain();
  await service.bank('DELETE', '/faults');
  expect([answer.status, answer.text]).toEqual([409, expect.stringContaining('does not give its statement now')]);
  expect(await dayOf()).toEqual(before);
});
