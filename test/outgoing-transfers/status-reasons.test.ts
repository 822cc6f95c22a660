import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { moneyReturn } from '../../db/incoming-transfers/requested-changes.ts';
import { advanceOutgoingTransfer, applyPaymentReport } from '../../db/outgoing-transfers/outgoing-transfers.ts';
import { changeUnderLocks } from '../../db/transfers/requested-changes.ts';
import { asId, type IncomingTransferId, type OutgoingTransferId } from '../../domain/common/ids.ts';
import type { PaymentReport } from '../../domain/outgoing-transfers/reports.ts';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { auditOf, TESTER } from '../harness/audit.ts';
import { type BuiltInAccounts, builtInAccounts } from '../harness/built-in-accounts.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { eventsOf } from '../harness/webhooks/events.ts';

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let builtIn: BuiltInAccounts;
let payer: string;
let plugIn: string;
let atTheBank: Json;
let bankAccount: string;

/** Noon of a Wednesday, a business day of every scheme. */
const NOON = Date.parse('2027-06-16T12:00:00Z');

beforeAll(async () => {
  database = await createTestDatabase('status-reasons');
  api = await startApi(database, {
    clockOffset: () => `${Math.round((NOON - Date.now()) / 1000)} seconds`,
    configuration: (configuration) => ({ ...configuration, prices: [] }),
  });
  world = moneyWorld(api);
  builtIn = builtInAccounts(api);
  payer = await world.client('Ada');
  plugIn = await world.account(payer, { amount: 1000 });
  atTheBank = await builtIn.opened(payer);
  await builtIn.payIn(atTheBank, randomUUID(), 100_000n);
  bankAccount = await world.beneficiary(payer);
});

afterEach(() => world.invariantsHold());

afterAll(async () => {
  await api.stop();
  await database.drop();
});

async function sent(change: Json = {}): Promise<Json> {
  const outgoingTransfer = {
    clientId: payer,
    currency: 'GBP',
    amount: 10,
    scope: 'external',
    scheme: 'faster-payments',
    source: { type: 'client-account', accountId: plugIn },
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount },
    ...change,
  };
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
  const answer = await api.call('POST', '/outgoing-transfers', body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.outgoingTransfer;
}

const fromTheBank = (change: Json = {}) =>
  sent({ source: { type: 'client-account', accountId: atTheBank.id }, ...change });

async function patch(path: string, data: Json): Promise<ApiResponse> {
  return api.call('PATCH', path, { workflow: { code: 'client.direct' }, data });
}

const report = (id: string, outgoingTransfer: Json) => patch(`/outgoing-transfers/${id}`, { outgoingTransfer });

/** What the bank of a built-in account calls back. */
async function called(id: string, outcome: PaymentReport['outcome'], code: string | null): Promise<void> {
  const payment = { id: asId<OutgoingTransferId>(id), provider: 'sandbox-bank', claim: null };
  const said = { outcome, serviceProviderId: 'pay-1', serviceProviderReference: 'ref-1', code };
  const { configuration } = api.services;
  expect(await api.database.transaction((tx) => applyPaymentReport(tx, payment, said, configuration))).toBe('applied');
}

async function outgoing(id: string): Promise<Json> {
  return (await api.call('GET', `/outgoing-transfers/${id}`)).body.data.outgoingTransfer;
}

async function incoming(id: string): Promise<Json> {
  return (await api.call('GET', `/incoming-transfers/${id}`)).body.data.incomingTransfer;
}

async function listed(kind: 'outgoing' | 'incoming', id: string): Promise<Json> {
  const { body } = await api.call('GET', `/${kind}-transfers?metadata.page.size=100`);
  return body.data[`${kind}Transfers`].find((transfer: Json) => transfer.id === id);
}

/** A field of the transfer in each of its events, oldest first. */
async function inEvents(kind: 'outgoing' | 'incoming', id: string, field = 'statusReason'): Promise<Json[]> {
  const events = await eventsOf(api, id);
  return events.map(({ data }) => data[`${kind}Transfer`][field]);
}

describe('why an outgoing transfer failed or came back is in its answers, lists and events', () => {
  test('in the words of the bank, from the event of it on', async () => {
    const rejected = await fromTheBank();
    expect(rejected.statusReason).toBeNull();
    await called(rejected.id, 'failed', 'AC03');
    const reason = { code: 'AC03', message: 'The beneficiary account number is invalid.' };
    expect((await outgoing(rejected.id)).statusReason).toEqual(reason);
    expect((await listed('outgoing', rejected.id)).statusReason).toEqual(reason);
    expect(await inEvents('outgoing', rejected.id)).toEqual([null, null, reason]);

    const returned = await fromTheBank();
    await called(returned.id, 'returned', 'AC06');
    const came = { code: 'AC06', message: 'The beneficiary account is blocked.' };
    expect(await outgoing(returned.id)).toMatchObject({ status: 'completed', returned: true, statusReason: came });
    expect(await inEvents('outgoing', returned.id)).toEqual([null, null, null, null, came]);
  });

  test('also where the bank’s code is unknown, or it gives none', async () => {
    const reasons = [
      [await fromTheBank(), 'failed', 'ZZ99', { code: 'ZZ99', message: 'The service provider gave the reason ZZ99.' }],
      [await fromTheBank(), 'failed', null, { code: 'provider.rejected', message: expect.stringMatching(/rejected/) }],
      [
        await fromTheBank(),
        'returned',
        null,
        { code: 'provider.returned', message: expect.stringMatching(/returned/) },
      ],
    ] as const;
    for (const [{ id }, outcome, code, reason] of reasons) {
      await called(id, outcome, code);
      expect((await outgoing(id)).statusReason).toEqual(reason);
    }
  });

  test('as the caller of a plug-in account reports it', async () => {
    const own = { code: 'LIMIT-7', message: 'Above the limit of the day.' };
    const failed = (await sent()).id;
    const answer = await report(failed, { status: 'failed', statusReason: own });
    expect(answer.body.data.outgoingTransfer.statusReason).toEqual(own);
    expect(await inEvents('outgoing', failed)).toEqual([null, null, own]);

    const silent = (await sent()).id;
    await report(silent, { status: 'failed' });
    expect((await outgoing(silent)).statusReason).toEqual({
      code: 'caller.reported',
      message: expect.stringMatching(/\w/),
    });

    const returned = (await sent()).id;
    await report(returned, { status: 'completed' });
    const back = await report(returned, { returned: true, statusReason: { code: 'AC04' } });
    expect(back.body.data.outgoingTransfer.statusReason).toEqual({
      code: 'AC04',
      message: 'The beneficiary account is closed.',
    });
    expect((await auditOf(api.database.reader, returned)).at(-1)).toMatchObject({
      before: { returned: false },
      after: { returned: true, statusReasonCode: 'AC04' },
    });
  });

  test('when it was rolled too often, and when its receiver was closed; a cancelled one has none', async () => {
    const rolled = await fromTheBank({ transferDate: '2027-06-17' });
    await api.database.reader.statement(
      `UPDATE outgoing_transfers SET roll_count = 5, scheme = 'chaps', transfer_date = '2027-06-15', cut_off_at = '2027-06-15T17:00+01' WHERE id = $1`,
      [rolled.id],
    );
    await advance(rolled.id);
    const limit = 'transfer.roll.limit_exceeded';
    expect((await outgoing(rolled.id)).statusReason).toEqual({ code: limit, message: expect.stringMatching(/often/) });

    const receiver = await world.account(payer);
    const to = { type: 'client-account', accountId: receiver };
    const internal = { scope: 'internal', scheme: null, destination: to, transferDate: '2027-06-20' };
    const gone = await sent(internal);
    const cancelled = await sent(internal);
    await report(cancelled.id, { status: 'cancelled' });
    expect((await outgoing(cancelled.id)).statusReason).toBeNull();
    const withdrawn = { code: 'transfer.cancelled', message: 'The sender cancelled the transfer.' };
    expect((await incoming(cancelled.incomingTransferId)).statusReason).toEqual(withdrawn);
    await api.database.reader.statement(`UPDATE accounts SET status = 'closed' WHERE id = $1`, [receiver]);
    await advance(gone.id);
    const closed = { code: 'account.closed', message: 'The account is closed.' };
    expect((await outgoing(gone.id)).statusReason).toEqual(closed);
    expect((await incoming(gone.incomingTransferId)).statusReason).toEqual(closed);
    expect(await inEvents('incoming', gone.incomingTransferId)).toEqual([null, closed]);
  });

  test('and nothing else may be sent with it: a reason needs a failure or a return, an id a release', async () => {
    const { id } = await sent();
    const statusReason = { code: 'AC04' };
    const wrong: readonly [Json, string][] = [
      [{ status: 'completed', statusReason }, 'statusReason'],
      [{ status: 'cancelled', statusReason }, 'statusReason'],
      [{ status: 'failed', statusReason: { message: 'without a code' } }, 'statusReason.code'],
      [{ status: 'failed', statusReason: { code: 'Ada Lovelace' } }, 'statusReason.code'],
      [{ status: 'failed', serviceProviderId: 'x' }, 'serviceProviderId'],
      [{ returned: true, serviceProviderReference: 'x' }, 'serviceProviderReference'],
    ];
    for (const [sentChange, field] of wrong) {
      const answer = await report(id, sentChange);
      expect([answer.status, answer.body.messageParameters[1]], answer.text).toEqual([400, field]);
    }
    expect((await outgoing(id)).status).toBe('processing');
  });
});

async function advance(id: string): Promise<void> {
  await api.database.transaction((tx) =>
    advanceOutgoingTransfer(tx, asId<OutgoingTransferId>(id), api.services.configuration),
  );
}

describe('why an incoming transfer is held or failed is in its answers, lists and events', () => {
  async function arrivalOf(serviceProviderId: string): Promise<Json> {
    const query = `data.incomingTransfer.serviceProviderId=${serviceProviderId}`;
    return (await api.call('GET', `/incoming-transfers?${query}`)).body.data.incomingTransfers[0];
  }

  test('while it names no account; when an operator returns it, also that', async () => {
    const providerId = randomUUID();
    await builtIn.payIn({ ledgerNumber: 'no number' }, providerId, 500n);
    const { id, status, statusReason } = await arrivalOf(providerId);
    const unmatched = { code: 'incoming.match.none', message: 'The payment matches no account.' };
    expect({ status, statusReason }).toEqual({ status: 'on-hold', statusReason: unmatched });
    expect((await incoming(id)).statusReason).toEqual(unmatched);
    await api.database.transaction((tx) =>
      changeUnderLocks(tx, moneyReturn({ id: asId<IncomingTransferId>(id), initiator: TESTER })),
    );
    const given = { code: 'operator.returned', message: 'An operator returned the payment to its sender.' };
    expect(await incoming(id)).toMatchObject({ status: 'failed', statusReason: given });
    // Its first event was pending, before it was held: that has no reason.
    expect(await inEvents('incoming', id)).toEqual([null, unmatched, given]);
  });

  test('while its account is not active, and no longer once the money is there', async () => {
    const account = await builtIn.opened(payer);
    const setStatus = (status: string) =>
      api.database.reader.statement('UPDATE accounts SET status = $2 WHERE id = $1', [account.id, status]);
    await setStatus('suspended');
    const providerId = randomUUID();
    await builtIn.payIn(account, providerId, 500n);
    expect((await arrivalOf(providerId)).statusReason).toEqual({
      code: 'account.status.not_active',
      message: 'The account, or its client, is not active.',
    });
    expect((await incoming((await arrivalOf(providerId)).id)).status).toBe('on-hold');
  });

  test('when its account is closed', async () => {
    const account = await builtIn.opened(payer);
    await api.database.reader.statement(`UPDATE accounts SET status = 'closed' WHERE id = $1`, [account.id]);
    const providerId = randomUUID();
    await builtIn.payIn(account, providerId, 500n);
    const closed = { code: 'account.closed', message: 'The account is closed.' };
    const found = await arrivalOf(providerId);
    expect(found).toMatchObject({ status: 'failed', statusReason: closed });
    expect(await inEvents('incoming', found.id)).toEqual([null, closed]);
  });
});

describe('the provider’s own id and reference of an outgoing transfer are shown', () => {
  test('of a bank’s payment, in its events from its release on', async () => {
    const transfer = await fromTheBank();
    expect(transfer).toMatchObject({ serviceProviderId: null, serviceProviderReference: null });
    await called(transfer.id, 'completed', null);
    const ids = { serviceProviderId: 'pay-1', serviceProviderReference: 'ref-1' };
    expect(await outgoing(transfer.id)).toMatchObject(ids);
    expect(await listed('outgoing', transfer.id)).toMatchObject(ids);
    expect(await inEvents('outgoing', transfer.id, 'serviceProviderId')).toEqual([null, null, 'pay-1', 'pay-1']);
    expect(await inEvents('outgoing', transfer.id, 'serviceProviderReference')).toEqual([null, null, 'ref-1', 'ref-1']);
  });

  test('as the caller of a plug-in account sends them with a release or a completion, and found by them', async () => {
    const ids = { serviceProviderId: `own-${randomUUID()}`, serviceProviderReference: 'STATEMENT-7' };
    const released = (await sent()).id;
    const answer = await report(released, { status: 'released', serviceProviderId: ids.serviceProviderId });
    expect(answer.body.data.outgoingTransfer).toMatchObject({ ...ids, serviceProviderReference: null });
    const completed = await report(released, { status: 'completed', ...ids });
    expect(completed.body.data.outgoingTransfer).toMatchObject(ids);
    expect(await inEvents('outgoing', released, 'serviceProviderReference')).toEqual([null, null, null, 'STATEMENT-7']);
    const query = `data.outgoingTransfer.serviceProviderId=${ids.serviceProviderId}`;
    const { body } = await api.call('GET', `/outgoing-transfers?${query}`);
    expect(body.data.outgoingTransfers.map(({ id }: Json) => id)).toEqual([released]);
  });

  test('and another id than the one that was reported is rejected', async () => {
    const { id } = await sent();
    expect((await report(id, { status: 'released', serviceProviderId: 'first' })).status).toBe(200);
    const other = await report(id, { status: 'completed', serviceProviderId: 'second' });
    expect([other.status, other.body.code]).toEqual([409, 'common.state.illegal_transition']);
    expect(other.body.messageParameters).toEqual(['outgoingTransfer', 'serviceProviderId', 'second']);
    expect(await outgoing(id)).toMatchObject({ status: 'released', serviceProviderId: 'first' });
  });

  const FIRST = { serviceProviderId: 'first', serviceProviderReference: 'STATEMENT-1' };

  /** A payment whose release was reported with only an id, and its completion without any. */
  async function completed(names: Json = { serviceProviderId: FIRST.serviceProviderId }): Promise<string> {
    const { id } = await sent();
    for (const sentNames of [{ status: 'released', ...names }, { status: 'completed' }]) {
      expect((await report(id, sentNames)).status).toBe(200);
    }
    return id;
  }

  test.each(['released', 'completed'])('%s again, with the same ids or with none, changes nothing', async (status) => {
    const id = await completed(FIRST);
    const before = [await outgoing(id), await eventsOf(api, id), await auditOf(api.database.reader, id)];
    for (const names of [{}, FIRST, { serviceProviderId: FIRST.serviceProviderId }]) {
      const again = await report(id, { status, ...names });
      expect([again.status, again.body.data.outgoingTransfer]).toEqual([200, before[0]]);
    }
    expect([await outgoing(id), await eventsOf(api, id), await auditOf(api.database.reader, id)]).toEqual(before);
  });

  test.each([
    ['another id', 'released', { serviceProviderId: 'second' }, 'serviceProviderId'],
    ['another id', 'completed', { serviceProviderId: 'second' }, 'serviceProviderId'],
    ['an id that no report had before', 'released', FIRST, 'serviceProviderReference'],
    ['an id that no report had before', 'completed', FIRST, 'serviceProviderReference'],
  ])('%s, with a repeated %s, is rejected and not kept', async (_, status, names: Json, field) => {
    const id = await completed();
    const before = [await outgoing(id), await eventsOf(api, id), await auditOf(api.database.reader, id)];
    const again = await report(id, { status, ...names });
    expect([again.status, again.body.code]).toEqual([409, 'common.state.illegal_transition']);
    expect(again.body.messageParameters).toEqual(['outgoingTransfer', field, names[field]]);
    expect([await outgoing(id), await eventsOf(api, id), await auditOf(api.database.reader, id)]).toEqual(before);
  });

  test('after a failure: a release that came before it may be repeated, one that never came contradicts it', async () => {
    const [reversed, rejected] = [(await sent()).id, (await sent()).id];
    expect((await report(reversed, { status: 'released', ...FIRST })).status).toBe(200);
    for (const id of [reversed, rejected]) expect((await report(id, { status: 'failed' })).status).toBe(200);
    const [repeated, other, never] = [
      await report(reversed, { status: 'released', ...FIRST }),
      await report(reversed, { status: 'released', serviceProviderId: 'second' }),
      await report(rejected, { status: 'released' }),
    ];
    expect([repeated.status, other.status, never.status]).toEqual([200, 409, 409]);
    expect(repeated.body.data.outgoingTransfer).toMatchObject({ status: 'failed', ...FIRST });
    expect(await outgoing(rejected)).toMatchObject({ status: 'failed', serviceProviderId: null });
  });
});
