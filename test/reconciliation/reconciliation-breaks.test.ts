import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { housekeepingActivities } from '../../activities/housekeeping.ts';
import type { StatementEntry } from '../../activities/providers/ports/statement-port.ts';
import { newId } from '../../db/common/ids.ts';
import { checkLedger } from '../../db/ledger/check.ts';
import { applyPaymentReport } from '../../db/outgoing-transfers/outgoing-transfers.ts';
import { recordBreaks } from '../../db/reconciliation/found-breaks.ts';
import { recordDifference } from '../../db/reconciliation/statements.ts';
import type { OutgoingTransferId } from '../../domain/common/ids.ts';
import { addDays, dateInUtc } from '../../domain/common/time/dates.ts';
import { totalsOf } from '../../domain/reconciliation/day-balance.ts';
import type { Json, TestApi } from '../harness/api.ts';
import { builtInAccounts } from '../harness/built-in-accounts.ts';
import type { MoneyWorld } from '../harness/money.ts';
import { type ReconciliationWorld, startReconciliationWorld } from '../harness/transfers/reconciliation-world.ts';

let service: ReconciliationWorld;
let api: TestApi;
let world: MoneyWorld;
let account: Json;
/** The entries of the bank's statement for an entry of its books. */
let asStated: (entry: StatementEntry) => readonly StatementEntry[];
/** When payments through the sandbox are booked. */
let today: string;
let tomorrow: string;

beforeAll(async () => {
  service = await startReconciliationWorld('reconciliation-breaks', (fetchStatement) => async (request, call) => {
    // What the bank has booked today may be on the statement of a later day.
    const from = new Date(Math.min(request.from.getTime(), Date.parse(today)));
    const page = await fetchStatement({ ...request, from }, call);
    const isAsked = ({ bookedAt }: StatementEntry) => bookedAt >= request.from && bookedAt < request.to;
    return { ...page, entries: page.entries.flatMap((entry) => asStated(entry)).filter(isAsked) };
  });
  ({ api, world } = service);
  today = dateInUtc(new Date());
  tomorrow = addDays(today, 1);
});

// The payments of all tests are on the statements of the same days: a test whose payments do not agree in the end comes last.
beforeEach(async () => {
  asStated = (entry) => [entry];
  service.moveTo(new Date().toISOString());
  await service.bank('DELETE', '/faults');
  const { reader } = api.database;
  for (const table of [
    'reconciliation_breaks',
    'reconciliations',
    'reconciliation_carry_overs',
    'statement_comparisons',
  ]) {
    await reader.statement(`DELETE FROM ${table}`, []);
  }
  account = await builtInAccounts(api).opened(await world.client());
  await service.paidIn(account, 100);
});

afterAll(async () => {
  await service?.stop();
});

/** A payment out of the account, carried out. */
async function paidOut(amount: number): Promise<OutgoingTransferId> {
  const id = await service.paidOut(account, amount);
  await service.becomes(id, ({ status }) => status === 'completed');
  return id;
}

/** A part of the payment comes back, which we book at an instant. */
async function givenBack(id: OutgoingTransferId, amount: number, instant: string, paid: number): Promise<void> {
  const returnReference = `${id} ${amount} ${Math.random()}`;
  await service.bank('POST', '/faults', { callbacks: 'held' });
  await service.bank('POST', `/payments/${id}/return`, { amount, code: 'AC06', returnReference });
  const minor = (units: number) => String(Math.round(units * 100));
  const returned = { reference: returnReference, amountMinor: minor(amount) };
  const report = {
    outcome: 'returned',
    serviceProviderId: null,
    serviceProviderReference: null,
    code: 'AC06',
    claim: { amountMinor: minor(paid), currency: 'GBP', returned },
  } as const;
  service.moveTo(instant);
  const { configuration } = api.services;
  const applied = service.moved.transaction((tx) =>
    applyPaymentReport(tx, { id, provider: 'sandbox-bank' }, report, configuration),
  );
  expect(await applied).toBe('applied');
  await service.bank('DELETE', '/faults');
}

/** `kind date expected/actual status` of the payment's breaks. */
async function breaksOf(reference: string): Promise<string[]> {
  const found = await service.listed('reconciliation-breaks', `&data.reconciliationBreak.reference=${reference}`);
  return found
    .map(({ kind, date, expected, actual, status }) =>
      [kind, date === today ? 'today' : date === tomorrow ? 'tomorrow' : date, expected?.amount ?? 'nothing']
        .concat([actual?.amount ?? 'nothing', status])
        .join(' ')
        .replace(/^statement-/, ''),
    )
    .sort();
}

const idsOf = async (reference: string): Promise<string[]> =>
  (await service.listed('reconciliation-breaks', `&data.reconciliationBreak.reference=${reference}`)).map(
    ({ id }) => id,
  );

async function resolve(reference: string, amount: number, kind: string): Promise<void> {
  const query = `&data.reconciliationBreak.reference=${reference}&data.reconciliationBreak.status=open`;
  const found = (await service.listed('reconciliation-breaks', query)).find(
    (one) => one.kind === kind && (one.expected ?? one.actual).amount === amount,
  );
  const body = {
    workflow: { code: 'direct' },
    data: { reconciliationBreak: { status: 'resolved', note: 'Explained.' } },
  };
  const { status, text } = await api.call('PATCH', `/reconciliation-breaks/${found?.id}`, body);
  expect(status, text).toBe(200);
}

const isOf = (id: string, kind: string, amountMinor?: bigint) => (entry: StatementEntry) =>
  entry.ourReference === id && entry.kind === kind && (amountMinor ?? entry.amountMinor) === entry.amountMinor;
const without = (...hidden: ((entry: StatementEntry) => boolean)[]) => {
  asStated = (entry) => (hidden.some((isHidden) => isHidden(entry)) ? [] : [entry]);
};

test('a payment and its return that two statements lack are two breaks: each day shows its own until that is resolved', async () => {
  const id = await paidOut(7);
  without(({ ourReference }) => ourReference === id);
  expect(await service.reconcileOn(tomorrow)).toBe('breaks-found');
  const [first] = await idsOf(id);
  await givenBack(id, 0.25, `${tomorrow}T12:00:00Z`, 7);
  expect(await service.reconcileOn(addDays(today, 2))).toBe('breaks-found');
  const both = ['payment-missing today 7 nothing open', 'payment-missing tomorrow 0.25 nothing open'];
  expect(await breaksOf(id)).toEqual(both);
  expect((await idsOf(id))[0]).toBe(first);
  expect(await service.dayOf(today)).toMatchObject({ status: 'breaks', openBreakCount: 1 });
  expect(await service.dayOf(tomorrow)).toMatchObject({ status: 'breaks', openBreakCount: 1 });

  // Whichever day is compared again.
  for (const day of [today, tomorrow, today]) expect(await service.operate(['sandbox-bank', day])).toBe(1);
  expect(await breaksOf(id)).toEqual(both);
  await resolve(id, 0.25, 'statement-payment-missing');
  expect(await service.dayOf(tomorrow)).toMatchObject({ status: 'balanced' });
  expect(await service.dayOf(today)).toMatchObject({ status: 'breaks', openBreakCount: 1 });
  expect(await service.reconcileOn(addDays(today, 3))).toBe('breaks-found');
  expect(await breaksOf(id)).toEqual([
    'payment-missing today 7 nothing open',
    'payment-missing tomorrow 0.25 nothing resolved',
  ]);
  expect(await checkLedger(api.database.reader)).toEqual([]);
});

test('an equal difference in a payment and in its returns on one day is a break each, and each is resolved on its own', async () => {
  const id = await paidOut(6);
  for (const amount of [1.5, 0.25]) await givenBack(id, amount, `${today}T23:00:00Z`, 6);
  const missing = (amount: number, status = 'open') => `payment-missing today ${amount} nothing ${status}`;
  without(({ ourReference }) => ourReference === id);
  expect(await service.reconcileOn(tomorrow)).toBe('breaks-found');
  expect(await breaksOf(id)).toEqual([missing(0.25), missing(1.5), missing(6)]);
  expect(await service.dayOf(today)).toMatchObject({ openBreakCount: 3 });
  const ids = await idsOf(id);

  await resolve(id, 1.5, 'statement-payment-missing');
  expect(await service.operate(['sandbox-bank', today])).toBe(1);
  expect(await breaksOf(id)).toEqual([missing(0.25), missing(1.5, 'resolved'), missing(6)]);
  // The bank corrects its statement, in part.
  without(isOf(id, 'payment-out-returned'));
  expect(await service.operate(['sandbox-bank', today])).toBe(1);
  expect(await breaksOf(id)).toEqual([missing(0.25), missing(1.5, 'resolved'), missing(6, 'resolved')]);
  // And takes it back: a break that was resolved automatically is open again, one that an operator resolved is not.
  without(({ ourReference }) => ourReference === id);
  expect(await service.operate(['sandbox-bank', today])).toBe(1);
  expect(await breaksOf(id)).toEqual([missing(0.25), missing(1.5, 'resolved'), missing(6)]);
  without();
  expect(await service.operate(['sandbox-bank', today])).toBe(0);
  expect(await idsOf(id)).toEqual(ids);
});

test('amounts that differ in a payment and in its returns are a break each, and found again', async () => {
  const id = await paidOut(6);
  await givenBack(id, 1.5, `${today}T23:00:00Z`, 6);
  asStated = (entry) => [entry.ourReference === id ? { ...entry, amountMinor: entry.amountMinor + 1n } : entry];
  await service.reconcileOn(tomorrow);
  const both = ['amount-differs today 1.5 1.51 open', 'amount-differs today 6 6.01 open'];
  expect(await breaksOf(id)).toEqual(both);
  const ids = await idsOf(id);
  expect(await service.operate(['sandbox-bank', today])).toBe(1);
  expect(await breaksOf(id)).toEqual(both);
  expect(await idsOf(id)).toEqual(ids);
  await resolve(id, 6, 'statement-amount-differs');
  expect(await service.operate(['sandbox-bank', today])).toBe(1);
  expect(await breaksOf(id)).toEqual([both[0], 'amount-differs today 6 6.01 resolved']);
});

/** Of a day that is compared again, what is booked late is not missing: the later day explains it. */
const EXPLAINED_BY_TOMORROW = 'day-differs today 0.25 nothing resolved';

test('of two missing parts, the one that is booked late is no longer missing, and the other still is', async () => {
  const id = await paidOut(6);
  for (const amount of [1.5, 0.25]) await givenBack(id, amount, `${today}T23:00:00Z`, 6);
  without(isOf(id, 'payment-out-returned'));
  await service.reconcileOn(tomorrow);
  const late = new Date(`${tomorrow}T09:00:00Z`);
  const isLate = isOf(id, 'payment-out-returned', 25n);
  const isMissing = isOf(id, 'payment-out-returned', 150n);
  asStated = (entry) => (isMissing(entry) ? [] : [isLate(entry) ? { ...entry, bookedAt: late } : entry]);
  const after = [
    'booked-late tomorrow 0.25 0.25 open',
    'payment-missing today 0.25 nothing resolved',
    'payment-missing today 1.5 nothing open',
  ];
  await service.reconcileOn(addDays(today, 2));
  expect(await breaksOf(id)).toEqual(after);
  await service.reconcileOn(addDays(today, 3));
  expect(await breaksOf(id)).toEqual([...after, EXPLAINED_BY_TOMORROW].sort());
});

test('of two missing parts of one amount, one is still missing after the other is booked late', async () => {
  const id = await paidOut(6);
  await givenBack(id, 0.25, `${today}T23:00:00Z`, 6);
  await givenBack(id, 0.25, `${today}T23:01:00Z`, 6);
  without(isOf(id, 'payment-out-returned'));
  await service.reconcileOn(tomorrow);
  const missing = (status: string) => `payment-missing today 0.25 nothing ${status}`;
  expect(await breaksOf(id)).toEqual([missing('open'), missing('open')]);
  const late = new Date(`${tomorrow}T09:00:00Z`);
  const seen: string[] = [];
  const isLate = isOf(id, 'payment-out-returned');
  asStated = (entry) => {
    if (!isLate(entry)) return [entry];
    if (!seen.includes(entry.entryId)) seen.push(entry.entryId);
    return entry.entryId === seen[0] ? [{ ...entry, bookedAt: late }] : [];
  };
  const after = ['booked-late tomorrow 0.25 0.25 open', missing('open'), missing('resolved')];
  await service.reconcileOn(addDays(today, 2));
  expect(await breaksOf(id)).toEqual(after);
  await service.reconcileOn(addDays(today, 3));
  const again = [...after, EXPLAINED_BY_TOMORROW].sort();
  expect(await breaksOf(id)).toEqual(again);
  expect(await service.operate(['sandbox-bank', tomorrow])).toBe(1);
  expect(await breaksOf(id)).toEqual(again);
  expect(await service.dayOf(today)).toMatchObject({ status: 'breaks', openBreakCount: 1 });
});

test('a difference on both sides of midnight is one, of the day of the statement’s entry', async () => {
  const id = await paidOut(6);
  await givenBack(id, 0.25, `${today}T23:58:00Z`, 6);
  const isPart = isOf(id, 'payment-out-returned');
  const bookedAt = new Date(`${tomorrow}T00:01:00Z`);
  asStated = (entry) => [isPart(entry) ? { ...entry, bookedAt, amountMinor: 26n } : entry];
  expect(await service.reconcileOn(tomorrow)).toBe('ok');
  expect(await breaksOf(id)).toEqual(['day-differs today 0.25 nothing resolved']);
  expect(await service.reconcileOn(addDays(today, 2))).toBe('breaks-found');
  const found = (status: string) => [
    `amount-differs tomorrow 0.25 0.26 ${status}`,
    'day-differs today 0.25 nothing resolved',
    'day-differs tomorrow nothing 0.26 resolved',
  ];
  expect(await breaksOf(id)).toEqual(found('open'));
  const ids = await idsOf(id);
  await resolve(id, 0.25, 'statement-amount-differs');
  for (const day of [today, tomorrow]) expect(await service.operate(['sandbox-bank', day])).toBe(0);
  expect(await breaksOf(id)).toEqual(found('resolved'));
  expect(await idsOf(id)).toEqual(ids);
});

test('a part that is just beyond midnight leaves another one of its amount missing', async () => {
  const id = await paidOut(6);
  await givenBack(id, 0.25, `${today}T23:00:00Z`, 6);
  await givenBack(id, 0.25, `${today}T23:58:00Z`, 6);
  const bookedAt = new Date(`${tomorrow}T00:01:00Z`);
  const seen: string[] = [];
  asStated = (entry) => {
    if (!isOf(id, 'payment-out-returned')(entry)) return [entry];
    if (!seen.includes(entry.entryId)) seen.push(entry.entryId);
    return entry.entryId === seen[0] ? [{ ...entry, bookedAt }] : [];
  };
  await service.reconcileOn(tomorrow);
  const missing = 'payment-missing today 0.25 nothing open';
  expect(await breaksOf(id)).toEqual(['day-differs today 0.25 nothing resolved', missing]);
  await service.reconcileOn(addDays(today, 2));
  expect(await breaksOf(id)).toContain(missing);
});

test('a difference is open again once its explanation is gone', async () => {
  const id = await paidOut(6);
  await givenBack(id, 0.25, `${today}T23:58:00Z`, 6);
  const isPart = isOf(id, 'payment-out-returned');
  const bookedAt = new Date(`${tomorrow}T00:01:00Z`);
  asStated = (entry) => [isPart(entry) ? { ...entry, bookedAt } : entry];
  await service.reconcileOn(tomorrow);
  expect(await service.reconcileOn(addDays(today, 2))).toBe('ok');
  const explained = ['day-differs today 0.25 nothing resolved', 'day-differs tomorrow nothing 0.25 resolved'];
  expect(await breaksOf(id)).toEqual(explained);
  // The bank takes it from its statement of the second day.
  without(isPart);
  expect(await service.operate(['sandbox-bank', tomorrow])).toBe(0);
  expect(await breaksOf(id)).toEqual([
    'day-differs today 0.25 nothing open',
    'day-differs tomorrow nothing 0.25 resolved',
  ]);
  expect(await service.dayOf(today)).toMatchObject({ status: 'breaks', openBreakCount: 1 });
  expect(await service.operate(['sandbox-bank', today])).toBe(1);
  expect(await breaksOf(id)).toContain('payment-missing today 0.25 nothing open');
  // And puts it back.
  asStated = (entry) => [isPart(entry) ? { ...entry, bookedAt } : entry];
  expect(await service.operate(['sandbox-bank', tomorrow])).toBe(0);
  expect(await service.operate(['sandbox-bank', today])).toBe(0);
  expect(await breaksOf(id)).toEqual([...explained, 'payment-missing today 0.25 nothing resolved'].sort());
});

test('a part that the statement repeats hides no other missing one', async () => {
  const id = await paidOut(6);
  await givenBack(id, 0.25, `${today}T23:00:00Z`, 6);
  const isPart = isOf(id, 'payment-out-returned');
  const again = (entry: StatementEntry, name: string, amountMinor = entry.amountMinor) => ({
    ...entry,
    entryId: `${entry.entryId}-${name}`,
    amountMinor,
  });
  asStated = (entry) => (isPart(entry) ? [entry, again(entry, 'again')] : [entry]);
  await service.reconcileOn(tomorrow);
  const doubled = 'payment-doubled today 0.25 0.5 open';
  expect(await breaksOf(id)).toEqual([doubled]);
  await service.bank('POST', '/faults', { callbacks: 'held' });
  await service.bank('POST', `/payments/${id}/return`, { amount: 2, code: 'AC06' });
  asStated = (entry) => (isOf(id, 'payment-out-returned', 25n)(entry) ? [entry, again(entry, 'again')] : [entry]);
  expect(await service.operate(['sandbox-bank', today])).toBe(1);
  expect(await breaksOf(id)).toEqual([expect.stringMatching(/^amount-differs today .* 2 open$/), doubled]);
});

test('the same difference found by both comparisons is one break, whichever was first', async () => {
  const foreign = 'f0000000-0000-4000-8000-000000000001';
  const party = { name: 'Sam Taylor', iban: null, accountNumber: '31926819', routingCodes: { 'sort-code': '601613' } };
  const debtor = { ...party, accountId: account.id };
  const unknown = {
    ourReference: foreign,
    amount: 3,
    currency: 'GBP',
    scheme: 'faster-payments',
    debtor,
    creditor: party,
  };
  await service.bank('POST', '/payments', unknown);
  const frequent = async () => {
    const tasks = housekeepingActivities({ ...service.dependencies, database: service.moved });
    await new MockActivityEnvironment().run(tasks.compareStatements);
  };
  service.moveTo(new Date(Date.now() + 6 * 60_000).toISOString());
  await frequent();
  expect(await breaksOf(foreign)).toEqual(['unknown-payment  nothing nothing open']);
  const ids = await idsOf(foreign);
  await service.reconcileOn(tomorrow);
  const found = 'unknown-payment today nothing 3 open';
  expect(await breaksOf(foreign)).toEqual([found]);
  await api.database.reader.statement('DELETE FROM statement_comparisons', []);
  await frequent();
  expect(await breaksOf(foreign)).toEqual([found]);
  // The bank books it a second time, on the next day.
  const isForeign = isOf(foreign, 'payment-out');
  const later = new Date(`${tomorrow}T09:00:00Z`);
  asStated = (entry) => (isForeign(entry) ? [entry, { ...entry, entryId: 'again', bookedAt: later }] : [entry]);
  await resolve(foreign, 3, 'statement-unknown-payment');
  await service.reconcileOn(addDays(today, 2));
  expect(await breaksOf(foreign)).toEqual([
    'unknown-payment today nothing 3 resolved',
    'unknown-payment tomorrow nothing 3 open',
  ]);
  expect((await idsOf(foreign))[0]).toBe(ids[0]);
});

test('comparisons at the same moment record a break once, in each currency', async () => {
  const reference = newId();
  const kind = 'statement-unknown-payment';
  const actual = { amountMinor: 300n, account: null, date: today };
  const traits = {
    direction: 'in',
    movement: 'payment-in',
    expected: null,
    actual,
    resourceId: null,
    effect: totalsOf(true, 1n, 300n),
    explanation: null,
  } as const;
  const positions = ['GBP', 'EUR'].map((currency) => ({ provider: 'sandbox-bank', currency }));
  const daily = (position: (typeof positions)[number]) =>
    api.database.transaction((tx) => {
      const run = { runId: newId(), day: today, recorded: new Set<string>() };
      return recordBreaks(tx, position, run, [{ ...traits, kind, reference }]);
    });
  const frequent = (position: (typeof positions)[number]) =>
    api.database.transaction((tx) => recordDifference(tx, position, { direction: 'in', reference }, kind));
  await Promise.all(
    [0, 1, 2].flatMap(() => positions.flatMap((position) => [daily(position), frequent(position), daily(position)])),
  );
  const found = await service.listed('reconciliation-breaks', `&data.reconciliationBreak.reference=${reference}`);
  expect(found.map(({ currency, date, actual: shown }) => [currency, date, shown.amount]).sort()).toEqual([
    ['EUR', today, 3],
    ['GBP', today, 3],
  ]);
});
