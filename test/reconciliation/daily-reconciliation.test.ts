import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StatementEntry } from '../../activities/providers/ports/statement-port.ts';
import { newId } from '../../db/common/ids.ts';
import { receivePayment } from '../../db/incoming-transfers/provisioned-account-credits.ts';
import { checkLedger } from '../../db/ledger/check.ts';
import { listDaysWithBreaks } from '../../db/reconciliation/days.ts';
import { recordBreaks, resolveGoneBreaks } from '../../db/reconciliation/found-breaks.ts';
import { carryOver, forgetCarriedOver, listCarriedOver } from '../../db/reconciliation/movements.ts';
import { findNamedPayments } from '../../db/reconciliation/references.ts';
import { addDays, dateInUtc } from '../../domain/common/time/dates.ts';
import { totalsOf } from '../../domain/reconciliation/day-balance.ts';
import type { Movement } from '../../domain/reconciliation/movements.ts';
import type { Json, TestApi } from '../harness/api.ts';
import { auditOf } from '../harness/audit.ts';
import { builtInAccounts, PAYMENT_IN } from '../harness/built-in-accounts.ts';
import type { MoneyWorld } from '../harness/money.ts';
import { eventually } from '../harness/servers/sandbox.ts';
import { type ReconciliationWorld, startReconciliationWorld } from '../harness/transfers/reconciliation-world.ts';

let service: ReconciliationWorld;
let api: TestApi;
let world: MoneyWorld;
let account: Json;
/** What the bank's statement has in currencies in which nothing goes through the sandbox. */
const scripted = new Map<string, StatementEntry[]>();
/** What its statement in sterling has beyond that of the sandbox. */
const further: StatementEntry[] = [];
/** When the payments through the sandbox are booked. */
let today: string;

beforeAll(async () => {
  service = await startReconciliationWorld('daily-reconciliation', (fetchStatement) => async (request, call) => {
    const isAsked = ({ bookedAt }: StatementEntry) => bookedAt >= request.from && bookedAt < request.to;
    const entries = scripted.get(request.currency);
    if (entries !== undefined) return { entries: entries.filter(isAsked), unreadable: [], next: null };
    const page = await fetchStatement(request, call);
    return { ...page, entries: [...page.entries, ...further.filter(isAsked)] };
  });
  ({ api, world } = service);
  account = await builtInAccounts(api).opened(await world.client());
});

afterAll(async () => {
  await service?.stop();
});

const breaks = (query = '') => service.listed('reconciliation-breaks', query);

/** `kind reference` of each break, with its status where it is not open. */
async function found(query = ''): Promise<string[]> {
  const all = await breaks(query);
  return all.map(({ kind, reference, status }) => `${kind} ${reference}${status === 'open' ? '' : ' resolved'}`).sort();
}

const resolution = (note: string) => ({
  workflow: { code: 'direct' },
  data: { reconciliationBreak: { status: 'resolved', note } },
});

/** The bank's payments, by the fault of its statement. */
const payments: Record<string, string> = {};

test('a day whose books agree is balanced, with the counts and sums of both sides', async () => {
  today = dateInUtc(new Date());
  payments.true = await service.paidIn(account, 10.5);
  for (const [index, fault] of ['missing', 'denied', 'amount', 'account', 'doubled', 'late'].entries()) {
    payments[fault] = await service.paidIn(account, 20 + index);
  }
  expect(await service.reconcileOn(addDays(today, 1))).toBe('ok');
  const side = { creditCount: 7, creditAmount: 145.5, debitCount: 0, debitAmount: 0 };
  const day = await service.dayOf(today);
  expect(day).toMatchObject({ serviceProvider: 'sandbox-bank', status: 'balanced', statement: side, ledger: side });
  expect((await api.call('GET', `/reconciliations/${day.id}`)).body.data.reconciliation).toEqual(day);
  expect(await breaks()).toEqual([]);
});

test('payments out agree, also those that failed or came back in part, and statement faults about them are found', async () => {
  const paid = await service.paidOut(account, 5);
  const back = await service.paidOut(account, 6);
  for (const amount of [1.5, 0.25]) {
    await service.bank('POST', `/payments/${back}/return`, { amount, code: 'AC06' });
    const sum = BigInt(amount === 1.5 ? 150 : 175);
    await eventually('the return', async () => {
      const query = 'SELECT returned_minor AS sum FROM outgoing_transfers WHERE id = $1';
      const [row] = await api.database.reader.statement<{ sum: bigint }>(query, [back]);
      return row?.sum === sum ? true : undefined;
    });
  }
  const failed = await service.paidOut(account, 7.1);
  await service.bank('POST', `/payments/${failed}/reject`, { code: 'AC07' });
  await service.becomes(failed, ({ status }) => status === 'failed');
  service.moveTo(`${addDays(today, 1)}T06:00:00Z`);
  expect(await operate('sandbox-bank', today)).toMatchObject({ status: 0 });
  const side = { creditCount: 10, creditAmount: 154.35, debitCount: 3, debitAmount: 18.1 };
  expect(await service.dayOf(today)).toMatchObject({ status: 'balanced', statement: side, ledger: side });

  const about = (fault: string, payment: string) => ({ fault, payment });
  const faults = [about('denied-payment', paid), about('other-amount', back), about('missing-payment', failed)];
  await service.bank('POST', '/faults', { statement: faults });
  expect(await operate('sandbox-bank', today)).toMatchObject({ status: 1 });
  const kinds = [
    // The payment and both returns.
    ...Array.from({ length: 3 }, () => `statement-amount-differs ${back}`),
    `statement-not-at-provider ${paid}`,
    // The payment and its failure.
    ...Array.from({ length: 2 }, () => `statement-payment-missing ${failed}`),
  ];
  expect(await found()).toEqual(kinds);
  expect(await found(`&data.reconciliationBreak.resourceId=${paid}`)).toEqual([`statement-not-at-provider ${paid}`]);
  await service.bank('DELETE', '/faults');
  expect(await operate('sandbox-bank', today)).toMatchObject({ status: 0 });
  expect(await found('&data.reconciliationBreak.status=open')).toEqual([]);
  await api.database.reader.statement('DELETE FROM reconciliation_breaks', []);
});

test('each fault of the bank’s statement gives its break, whose sides show amount, account and date', async () => {
  const about = (fault: string, name: string) => ({ fault, payment: payments[name] });
  const { statement } = await service.bank('POST', '/faults', {
    statement: [
      'unknown-payment',
      about('missing-payment', 'missing'),
      about('denied-payment', 'denied'),
      about('other-amount', 'amount'),
      about('other-account', 'account'),
      about('doubled-payment', 'doubled'),
      about('late-booking', 'late'),
    ],
  });
  expect(statement).toHaveLength(7);
  const before = await service.dayOf(today);
  // Compared again by hand, as the day has no open break.
  expect(await operate('sandbox-bank', today)).toMatchObject({ status: 1 });
  const [unknown] = await breaks('&data.reconciliationBreak.kind=statement-unknown-payment');
  payments.unknown = unknown.reference;
  const expected = [
    `statement-account-differs ${payments.account}`,
    `statement-amount-differs ${payments.amount}`,
    `statement-not-at-provider ${payments.denied}`,
    `statement-payment-doubled ${payments.doubled}`,
    `statement-payment-missing ${payments.late}`,
    `statement-payment-missing ${payments.missing}`,
    `statement-unknown-payment ${payments.unknown}`,
  ].sort();
  expect(await found()).toEqual(expected);
  expect(await service.dayOf(today)).toMatchObject({
    id: before.id,
    status: 'breaks',
    openBreakCount: 7,
    statement: { creditCount: 9 },
    ledger: { creditCount: 10 },
  });

  const of = async (name: string) => (await breaks(`&data.reconciliationBreak.reference=${payments[name]}`))[0];
  const ours = { currency: 'GBP', account: account.id, date: today };
  expect(await of('amount')).toMatchObject({
    expected: { ...ours, amount: 22 },
    actual: { amount: 22.01, date: today },
  });
  expect(await of('missing')).toMatchObject({ expected: { ...ours, amount: 20 }, actual: null, date: today });
  expect(await of('unknown')).toMatchObject({
    expected: null,
    actual: { amount: 77.77, account: null },
    resourceId: null,
  });
  expect(await of('doubled')).toMatchObject({ expected: { amount: 24 }, actual: { amount: 48 } });
  const { expected: expectedAccount, actual, resourceId } = await of('account');
  expect(actual.account).not.toBe(expectedAccount.account);
  expect((await api.call('GET', `/incoming-transfers/${resourceId}`)).body.data.incomingTransfer.accountId).toBe(
    account.id,
  );
  const transfer = `&data.reconciliationBreak.resourceId=${resourceId}&data.reconciliationBreak.status=open`;
  expect(await found(transfer)).toEqual([`statement-account-differs ${payments.account}`]);
});

test('a payment that is booked late is reported as late, no longer as missing', async () => {
  expect(await service.reconcileOn(addDays(today, 2))).toBe('breaks-found');
  const late = await breaks(`&data.reconciliationBreak.reference=${payments.late}`);
  expect(late).toMatchObject([
    { kind: 'statement-payment-missing', status: 'resolved', note: null, resolvedBy: null },
    { kind: 'statement-booked-late', status: 'open', expected: { date: today }, actual: { date: addDays(today, 1) } },
  ]);
  expect(await breaks()).toHaveLength(8);
});

test('an operator resolves each break, once, with a note that the audit log does not repeat', async () => {
  const open = await breaks('&data.reconciliationBreak.status=open');
  expect(open).toHaveLength(7);
  for (const { id } of open) {
    const path = `/reconciliation-breaks/${id}`;
    const { status, body } = await api.call('PATCH', path, resolution('Explained by Xanthippe.'));
    expect(status).toBe(200);
    expect(body.data.reconciliationBreak).toMatchObject({ status: 'resolved', note: 'Explained by Xanthippe.' });
    expect((await api.call('GET', path)).body.data.reconciliationBreak).toEqual(body.data.reconciliationBreak);
    const again = await api.call('PATCH', path, resolution('Again.'));
    expect([again.status, again.body.code]).toEqual([409, 'common.state.illegal_transition']);
    const entries = await auditOf(api.database.reader, id);
    expect(entries).toMatchObject([
      { resource: 'reconciliation-break', action: 'resolved', before: { status: 'open' } },
    ]);
    expect(JSON.stringify(entries)).not.toContain('Xanthippe');
  }
  const wrong = { ...resolution('x'), data: { reconciliationBreak: { status: 'open', note: 'x' } } };
  expect((await api.call('PATCH', `/reconciliation-breaks/${open[0].id}`, wrong)).status).toBe(400);
  expect(await service.dayOf(today)).toMatchObject({ status: 'balanced', breakCount: 7, openBreakCount: 0 });
});

test('a break that an operator has resolved stays resolved, however often the day is compared, until its facts change', async () => {
  expect(await operate('sandbox-bank', today)).toMatchObject({ status: 0 });
  expect(await breaks('&data.reconciliationBreak.status=open')).toEqual([]);
  const { doubled } = payments;
  const faults = ['doubled-payment', 'other-amount'].map((fault) => ({ fault, payment: doubled }));
  await service.bank('POST', '/faults', { statement: faults });
  expect(await operate('sandbox-bank', today)).toMatchObject({ status: 1 });
  expect(await found('&data.reconciliationBreak.status=open')).toEqual([
    `statement-amount-differs ${doubled}`,
    `statement-payment-doubled ${doubled}`,
  ]);
  const reopened = await breaks(`&data.reconciliationBreak.reference=${doubled}`);
  expect(reopened[0]).toMatchObject({ note: null, resolvedBy: null, actual: { amount: 48.02 } });
});

test('a break is resolved automatically once the bank corrects its statement, and missed days are compared later, once', async () => {
  await service.bank('DELETE', '/faults');
  const before = await service.listed('reconciliations');
  expect(await service.reconcileOn(addDays(today, 6))).toBe('ok');
  expect(await breaks('&data.reconciliationBreak.status=open')).toEqual([]);
  const days = await service.listed('reconciliations', '&data.reconciliation.currency=GBP');
  const dates = days.map(({ date }) => date).filter((date) => date >= today);
  expect(dates).toEqual([0, 1, 2, 3, 4, 5].map((later) => addDays(today, later)));
  expect(days.slice(0, before.length).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  expect(new Set(days.map(({ status }) => status))).toEqual(new Set(['balanced']));
  const compared = days.map(({ comparedDateTime }) => comparedDateTime);
  expect(await service.reconcileOn(addDays(today, 6))).toBe('ok');
  const after = await service.listed('reconciliations', '&data.reconciliation.currency=GBP');
  expect(after.map(({ comparedDateTime }) => comparedDateTime)).toEqual(compared);
  const seconds = Date.parse(addDays(today, 5)) / 1_000;
  expect(await (await fetch(api.metricsUrl)).text()).toContain(
    `reconciliation_compared_day_timestamp_seconds{provider="sandbox-bank",currency="GBP"} ${seconds}`,
  );
});

test('a payment that the bank books again on a later day is doubled, whatever has become of the transfer since', async () => {
  const id = await service.paidOut(account, 8);
  await service.becomes(id, ({ status }) => status === 'completed');
  const tomorrow = addDays(today, 1);
  // As if it had been released on one day and completed on the next.
  await api.database.reader.statement(`UPDATE outgoing_transfers SET updated_at = $2 WHERE id = $1`, [
    id,
    `${tomorrow}T08:00:00Z`,
  ]);
  further.push({
    kind: 'payment-out',
    direction: 'debit',
    entryId: 'once more',
    serviceProviderId: 'once-more',
    ourReference: id,
    accountId: null,
    bookedAt: new Date(`${tomorrow}T09:00:00Z`),
    amountMinor: 800n,
    currency: 'GBP',
  });
  service.moveTo(`${addDays(today, 7)}T06:00:00Z`);
  expect(await operate('sandbox-bank', tomorrow)).toMatchObject({ status: 1 });
  expect(await found(`&data.reconciliationBreak.reference=${id}`)).toEqual([`statement-payment-doubled ${id}`]);
  further.length = 0;
  expect(await operate('sandbox-bank', tomorrow)).toMatchObject({ status: 0 });
});

/** Books a payment in as of an instant, as its callback would; false if the statement does not have it. */
async function bookedAt(instant: string, currency: string, serviceProviderId: string, amountMinor: bigint) {
  service.moveTo(instant);
  const payment = {
    ...PAYMENT_IN,
    currency,
    scheme: 'swift',
    amountMinor,
    serviceProviderId,
    remittanceText: 'unknown',
  };
  await service.moved.transaction((tx) => receivePayment(tx, payment, { ...api.services.configuration, prices: [] }));
}

function stated(instant: string, currency: string, serviceProviderId: string, amountMinor: bigint): StatementEntry {
  const entry = { kind: 'payment-in', direction: 'credit', ourReference: null, accountId: null } as const;
  const at = new Date(instant);
  return { ...entry, entryId: `e-${serviceProviderId}`, bookedAt: at, amountMinor, currency, serviceProviderId };
}

test('a payment on both sides of midnight belongs to either day', async () => {
  const [yesterday, midnight] = [addDays(today, -3), addDays(today, -2)];
  await bookedAt(`${yesterday}T23:59:40Z`, 'DKK', 'bank-after', 100n);
  await bookedAt(`${midnight}T00:00:20Z`, 'DKK', 'bank-before', 200n);
  await bookedAt(`${midnight}T09:00:00Z`, 'DKK', 'bank-day-before', 300n);
  scripted.set('DKK', [
    stated(`${midnight}T00:00:10Z`, 'DKK', 'bank-after', 100n),
    stated(`${yesterday}T23:59:50Z`, 'DKK', 'bank-before', 200n),
    stated(`${yesterday}T18:00:00Z`, 'DKK', 'bank-day-before', 300n),
  ]);
  expect(await service.reconcileOn(addDays(today, -1))).toBe('ok');
  const explained = await breaks('&data.reconciliationBreak.currency=DKK');
  expect(
    explained.map(({ reference, date, difference, note }) => [reference, date, difference.creditAmount, note]),
  ).toEqual([
    ['bank-after', yesterday, -1, `The statement has it on ${midnight}.`],
    ['bank-before', yesterday, 2, `Our ledger has it on ${midnight}.`],
    ['bank-day-before', yesterday, 3, `Our ledger has it on ${midnight}.`],
    ['bank-after', midnight, 1, `Our ledger has it on ${yesterday}.`],
    ['bank-before', midnight, -2, `The statement has it on ${yesterday}.`],
    ['bank-day-before', midnight, -3, `The statement has it on ${yesterday}.`],
  ]);
  for (const { kind, status, resolvedBy } of explained) {
    expect([kind, status, resolvedBy]).toEqual(['statement-day-differs', 'resolved', null]);
  }
  expect(await service.dayOf(yesterday, 'DKK')).toMatchObject({
    statement: { creditCount: 2, creditAmount: 5 },
    ledger: { creditCount: 1, creditAmount: 1 },
  });
});

/** `operate reconcile … --json`, in the morning a week from now. */
async function operate(...given: string[]): Promise<Json> {
  const lines: string[] = [];
  const status = await service.operate([...given, '--json'], (line) => lines.push(line));
  return { status, answer: JSON.parse(lines.at(-1) ?? 'null') };
}

test('a bank’s camt.053 file is compared with the ledger', async () => {
  const file = join(import.meta.dirname, '../fixtures/bank-statement.camt.053.xml');
  scripted.set('CHF', []);
  await bookedAt('2026-11-10T11:00:00Z', 'CHF', 'ZV20261110/000011', 15_000n);
  await bookedAt('2026-11-10T11:00:00Z', 'CHF', 'ZV20261110/000012-1', 12_550n);
  await bookedAt('2026-11-10T11:00:00Z', 'CHF', 'ZV20261110/000012-2', 20_001n);
  await bookedAt('2026-11-10T11:00:00Z', 'CHF', 'ours-only', 700n);
  service.moveTo(`${addDays(today, 7)}T06:00:00Z`);
  const { status, answer } = await operate('sandbox-bank', '2026-11-10', '--camt-053', file);
  expect(status).toBe(1);
  expect(answer.reconciliations).toMatchObject([
    {
      currency: 'CHF',
      status: 'breaks',
      statement: { creditCount: 4, creditAmount: '555.5', debitCount: 0, debitAmount: '0' },
      ledger: { creditCount: 4, creditAmount: '482.51', debitCount: 0, debitAmount: '0' },
    },
  ]);
  expect(await found('&data.reconciliationBreak.currency=CHF')).toEqual([
    'statement-amount-differs ZV20261110/000012-2',
    'statement-not-at-provider ours-only',
    'statement-unknown-payment ZV20261110/000013',
  ]);
  expect(await auditOf(api.database.reader, answer.reconciliations[0].id)).toMatchObject([
    { resource: 'reconciliation', action: 'compared', after: { source: 'camt.053', openBreakCount: 3 } },
  ]);
  // The bank has corrected it.
  const corrected = join(mkdtempSync(join(service.directory, 'camt-')), 'corrected.xml');
  const text = readFileSync(file, 'utf8').replace('>200<', '>200.01<').replace('>325.50<', '>325.51<');
  writeFileSync(corrected, text);
  await operate('sandbox-bank', '2026-11-10', '--camt-053', corrected);
  expect(await found('&data.reconciliationBreak.currency=CHF&data.reconciliationBreak.status=open')).toHaveLength(2);
  // The schedule, which has the provider's own statement, leaves what a file has shown to people.
  const again = () =>
    listDaysWithBreaks(api.database.reader, { provider: 'sandbox-bank', currency: 'CHF' }, '2026-11-10');
  expect(await again()).toEqual([]);
  expect(await operate('sandbox-bank', '2026-11-10')).toMatchObject({ status: 1 });
  expect(await again()).toMatchObject([{ day: '2026-11-10' }]);
});

test('our own camt.053 export is a statement that agrees', async () => {
  const instant = '2026-11-12T10:00:00Z';
  const { id } = await builtInAccounts(api).opened(await world.client());
  await api.database.reader.statement(`UPDATE accounts SET currency = 'NOK' WHERE id = $1`, [id]);
  const { ledgerNumber } = (await api.call('GET', `/accounts/${id}`)).body.data.account;
  service.moveTo(instant);
  for (const amountMinor of [1_000n, 2_550n]) {
    const names = {
      currency: 'NOK',
      scheme: 'swift',
      serviceProviderId: `nok-${amountMinor}`,
      remittanceText: ledgerNumber,
    };
    const rules = { ...api.services.configuration, prices: [] };
    await service.moved.transaction((tx) => receivePayment(tx, { ...PAYMENT_IN, ...names, amountMinor }, rules));
  }
  const range = ['From=2026-11-12T00:00:00.000', 'To=2026-11-12T23:59:59.999'];
  const query = range.map((bound) => `data.accountStatement.entryDateTime${bound}`).join('&');
  const exported = await api.call('GET', `/accounts/${id}/account-statements/export?format=camt.053&${query}`);
  expect(exported.text).toContain('camt.053.001.08');
  const file = join(mkdtempSync(join(service.directory, 'camt-')), 'own.xml');
  writeFileSync(file, exported.text);
  service.moveTo(`${addDays(today, 7)}T06:00:00Z`);
  const { status, answer } = await operate('sandbox-bank', '2026-11-12', '--camt-053', file);
  expect(answer.reconciliations).toMatchObject([
    { currency: 'NOK', status: 'balanced', statement: { creditCount: 2, creditAmount: '35.5' }, openBreaks: [] },
  ]);
  expect(status).toBe(0);
});

test('a file of some clients’ accounts, who share the position with others, is rejected, and nothing is recorded', async () => {
  const instant = '2026-11-13T10:00:00Z';
  const { id } = await builtInAccounts(api).opened(await world.client());
  const iban = 'SE4550000000058398257466';
  await api.database.reader.statement(`UPDATE accounts SET currency = 'SEK', iban = $2 WHERE id = $1`, [id, iban]);
  const { ledgerNumber } = (await api.call('GET', `/accounts/${id}`)).body.data.account;
  await bookedAt(instant, 'SEK', 'sek-of-another', 500n);
  const { id: other } = await builtInAccounts(api).opened(await world.client());
  await api.database.reader.statement(`UPDATE accounts SET currency = 'SEK' WHERE id = $1`, [other]);
  const entry = `<Ntry><Amt Ccy="SEK">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>
    <BookgDt><DtTm>${instant}</DtTm></BookgDt><AcctSvcrRef>sek-of-another</AcctSvcrRef></Ntry>`;
  const statementOf = (account: string) => `<Stmt><Acct><Id>${account}</Id></Acct>${entry}</Stmt>`;
  const compare = (...statements: string[]) => {
    const file = join(mkdtempSync(join(service.directory, 'camt-')), 'accounts.xml');
    const namespace = 'urn:iso:std:iso:20022:tech:xsd:camt.053.001.08';
    writeFileSync(
      file,
      `<Document xmlns="${namespace}"><BkToCstmrStmt>${statements.join('')}</BkToCstmrStmt></Document>`,
    );
    service.moveTo(`${addDays(today, 7)}T06:00:00Z`);
    return operate('sandbox-bank', '2026-11-13', '--camt-053', file);
  };
  for (const account of [`<IBAN>${iban}</IBAN>`, `<Othr><Id>${ledgerNumber}</Id></Othr>`]) {
    const { status, answer } = await compare(statementOf(account));
    expect([status, answer.rejected]).toEqual([1, expect.stringMatching(/some clients' accounts/)]);
  }
  expect(await service.dayOf('2026-11-13', 'SEK')).toBeUndefined();
  // The bank's account of the position, which is none of ours.
  expect(await compare(statementOf('<IBAN>CH9300762011623852957</IBAN>'))).toMatchObject({ status: 0 });
  expect(await service.dayOf('2026-11-13', 'SEK')).toMatchObject({ status: 'balanced', statement: { creditCount: 1 } });
});

test('each part of a payment that came back is named by its transaction number', async () => {
  const { reader } = api.database;
  const parts = await reader.statement<{ name: string; reference: string }>(
    `SELECT transaction_number AS name, return_of::text AS reference FROM incoming_transfers
     WHERE return_of IN (SELECT return_of FROM incoming_transfers GROUP BY 1 HAVING count(*) > 1) ORDER BY 1`,
    [],
  );
  expect(parts).toHaveLength(2);
  const position = { provider: 'sandbox-bank', currency: 'GBP' };
  const named = await findNamedPayments(
    reader,
    position,
    parts.map(({ name }) => name),
  );
  const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1);
  expect([...named].sort(byName)).toMatchObject(parts.map((part) => ({ ...part, direction: 'out' })));
});

test('two concurrent comparisons of a day do not resolve what the other has found', async () => {
  const { reader } = api.database;
  const position = { provider: 'sandbox-bank', currency: 'CZK' };
  const day = '2026-11-12';
  const movement: Movement = {
    side: 'provider',
    direction: 'in',
    reference: 'czk',
    movement: 'payment-in',
    amountMinor: 100n,
    bookedAt: new Date(`${day}T10:00:00Z`),
    ofDay: true,
    accounts: [],
    resourceId: null,
  };
  const facts = { amountMinor: 100n, account: null, date: day };
  const unknown = {
    ...movement,
    kind: 'statement-unknown-payment' as const,
    expected: null,
    actual: facts,
    effect: totalsOf(true, 1n, 100n),
    explanation: null,
  };
  const record = async (runId: string) => {
    const run = { runId, day, recorded: new Set<string>() };
    await api.database.transaction((tx) => recordBreaks(tx, position, run, [unknown]));
    await carryOver(reader, position, day, runId, [movement], []);
  };
  const finish = async (runId: string) => {
    await resolveGoneBreaks(reader, position, day, runId);
    await forgetCarriedOver(reader, position, day, runId);
  };
  const left = async () => [
    await found('&data.reconciliationBreak.currency=CZK'),
    (await listCarriedOver(reader, position, addDays(day, 1), [movement])).length,
  ];
  const [first, second, third] = [newId(), newId(), newId()];
  for (const order of [
    [first, second],
    [second, first],
  ]) {
    for (const runId of order) await record(runId);
    for (const runId of order) await finish(runId);
    expect(await left()).toEqual([['statement-unknown-payment czk'], 1]);
  }
  await finish(third);
  expect(await left()).toEqual([['statement-unknown-payment czk resolved'], 0]);
});

test.each<readonly [string, string, RegExp]>([
  ['no XML', 'amount;currency', /Only camt.053.* can be read: no CSV/],
  ['another document', '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"/>', /not a camt.053 message/],
  ['entities of its own', '<!DOCTYPE x [<!ENTITY y "z">]><x/>', /document type/],
  ...[
    '<GrpHdr><MsgPgntn><PgNb>1</PgNb><LastPgInd>false</LastPgInd></MsgPgntn></GrpHdr>',
    '<GrpHdr><MsgPgntn><PgNb>2</PgNb><LastPgInd>true</LastPgInd></MsgPgntn></GrpHdr>',
    '<Stmt><StmtPgntn><PgNb>00001</PgNb><LastPgInd>0</LastPgInd></StmtPgntn></Stmt>',
  ].map((page): [string, string, RegExp] => [
    'one of several pages',
    `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"><BkToCstmrStmt>${page}</BkToCstmrStmt></Document>`,
    /one of several pages/,
  ]),
])('a file that is %s is rejected, and nothing is recorded', async (_, text, reason) => {
  const file = join(mkdtempSync(join(service.directory, 'camt-')), 'wrong.xml');
  writeFileSync(file, text);
  const { status, answer } = await operate('sandbox-bank', '2026-11-11', '--camt-053', file);
  expect([status, answer.rejected]).toEqual([1, expect.stringMatching(reason)]);
  expect(await service.dayOf('2026-11-11', 'CHF')).toBeUndefined();
});

test('the command rejects another provider, a day that has not ended, and one before which another is due', async () => {
  service.moveTo(`${addDays(today, 7)}T06:00:00Z`);
  const rejected = async (...given: string[]) => (await operate(...given)).answer.rejected;
  expect(await rejected('custom-bank', today)).toMatch(/statements of custom-bank are not compared/);
  expect(await rejected('sandbox-bank', addDays(today, 7))).toMatch(/cannot be compared yet/);
  expect(await rejected('sandbox-bank', addDays(today, 6))).toMatch(/^Compare .* first/);
  expect(await checkLedger(api.database.reader)).toEqual([]);
});
