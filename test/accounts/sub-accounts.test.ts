import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { patchAccount } from '../../db/accounts/accounts.ts';
import { applyProviderStatusChange } from '../../db/accounts/provider-status-changes.ts';
import { advanceIncomingTransfer } from '../../db/incoming-transfers/incoming-transfers.ts';
import { admitWaitingTransfers } from '../../db/outgoing-transfers/admissions.ts';
import { advanceOutgoingTransfer } from '../../db/outgoing-transfers/outgoing-transfers.ts';
import type { ProviderAccountStatus } from '../../domain/accounts/connections.ts';
import { type AccountId, asId, type IncomingTransferId, type OutgoingTransferId } from '../../domain/common/ids.ts';
import { isLedgerNumber } from '../../domain/common/numbers/numbers.ts';
import { type ApiResponse, type CallOptions, type Json, startApi, type TestApi } from '../harness/api.ts';
import { auditOf, TESTER } from '../harness/audit.ts';
import { type BuiltInAccounts, builtInAccounts, OPENED } from '../harness/built-in-accounts.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let bank: BuiltInAccounts;
let clientId: string;

beforeAll(async () => {
  database = await createTestDatabase('sub-accounts');
  api = await startApi(database);
  world = moneyWorld(api);
  bank = builtInAccounts(api);
  clientId = await world.client();
});

afterEach(async () => {
  await world.invariantsHold();
  expect(await deadlocks()).toBe(0);
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

async function deadlocks(): Promise<number | undefined> {
  const [row] = await api.database.reader.statement<{ count: number }>(
    'SELECT deadlocks::integer AS count FROM pg_stat_database WHERE datname = current_database()',
    [],
  );
  return row?.count;
}

const NOT_FOUND = [404, 'common.coding.internal.record_not_found'];
const NOT_ACTIVE = [422, 'account.status.not_active'];
const ILLEGAL = [409, 'common.state.illegal_transition'];

const rejection = ({ status, body }: ApiResponse) => [status, body.code, body.messageParameters?.[1]];

function create(account: Json, options: CallOptions = {}): Promise<ApiResponse> {
  return api.call('POST', '/accounts', { workflow: { code: 'client.sub-account' }, data: { account } }, options);
}

/** As the answer shows it. */
async function subAccount(mainAccountId: string, fields: Json = {}): Promise<Json> {
  const { status, body, text } = await create({ mainAccountId, ...fields });
  expect(status, text).toBe(201);
  return body.data.account;
}

async function read(id: string): Promise<Json> {
  return (await api.call('GET', `/accounts/${id}`)).body.data.account;
}

function patch(id: string, account: Json): Promise<ApiResponse> {
  return api.call('PATCH', `/accounts/${id}`, { workflow: { code: 'client.direct' }, data: { account } });
}

async function becomes(id: string, status: string): Promise<void> {
  const answer = await patch(id, { status });
  expect(answer.status, answer.text).toBe(200);
}

async function issued(): Promise<Json> {
  const answer = await api.call('POST', '/accounts', {
    workflow: { code: 'client.issuing' },
    data: { account: { clientId, currency: 'GBP' } },
    connect: { method: 'plug-in', type: 'explicit', serviceProvider: 'custom-bank' },
  });
  return answer.body.data.account;
}

const internal = (source: string, destination: string, fields: Json = {}): Json => ({
  clientId,
  currency: 'GBP',
  amount: 10,
  scope: 'internal',
  source: { type: 'client-account', accountId: source },
  destination: { type: 'client-account', accountId: destination },
  ...fields,
});

const external = (source: string, bankAccount: string): Json => ({
  ...internal(source, source),
  scope: 'external',
  scheme: 'faster-payments',
  destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount },
});

function pay(outgoingTransfer: Json): Promise<ApiResponse> {
  return api.call('POST', '/outgoing-transfers', {
    workflow: { code: 'client.direct' },
    data: { outgoingTransfer },
  });
}

/** With a date, which keeps it from the one statement, and a fee, so that the payer's account is written twice. */
function payUnderLocks(outgoingTransfer: Json): Promise<ApiResponse> {
  const transferDate = new Date().toISOString().slice(0, 10);
  const pricing = { sourcingMethod: 'explicit', enabled: true };
  return api.call('POST', '/outgoing-transfers', {
    workflow: { code: 'client.direct', pricing },
    data: { outgoingTransfer: { ...outgoingTransfer, transferDate }, pricing: { type: 'ratio', ratio: '0.01' } },
  });
}

async function transferStatus(id: string): Promise<string> {
  return (await api.call('GET', `/outgoing-transfers/${id}`)).body.data.outgoingTransfer.status;
}

async function settles(outgoingTransfer: Json): Promise<void> {
  const answer = await pay(outgoingTransfer);
  expect(answer.status, answer.text).toBe(201);
  expect(await transferStatus(answer.body.data.outgoingTransfer.id)).toBe('completed');
}

async function isWoken(workflowId: string): Promise<boolean> {
  const rows = await api.database.reader.statement('SELECT FROM workflow_wakeups WHERE workflow_id = $1', [workflowId]);
  return rows.length > 0;
}

describe('POST /accounts with client.sub-account', () => {
  test('answers a pending account with its own number, without a connection, which is active in the next event', async () => {
    const mainAccountId = await world.account(clientId, { amount: 25 });
    const main = await read(mainAccountId);
    const sub = await subAccount(mainAccountId, { alias: 'Savings' });
    const pending = { ...main, id: sub.id, mainAccountId, alias: 'Savings', ledgerNumber: sub.ledgerNumber };
    expect(sub).toEqual({ ...pending, status: 'pending', availableBalance: 0, connection: null });
    expect(isLedgerNumber(sub.ledgerNumber)).toBe(true);
    expect(sub.ledgerNumber).not.toBe(main.ledgerNumber);
    expect(await read(sub.id)).toEqual({ ...sub, status: 'active' });
    expect(await world.events(sub.id)).toEqual(['account-activated']);
    const another = await subAccount(mainAccountId);
    expect(another.alias).toBe('GBP Account');
    const listed = await api.call('GET', `/accounts?data.account.mainAccountId=${mainAccountId}`);
    expect(listed.body.data.accounts.map(({ id }: Json) => id)).toEqual([sub.id, another.id]);
  });

  test('records who requested it, and calls no provider', async () => {
    const mainAccountId = await world.account(clientId);
    const sub = await subAccount(mainAccountId);
    expect(await auditOf(api.database.reader, sub.id)).toMatchObject([
      { action: 'created', actor: api.users.operator.id, after: { clientId, mainAccountId, status: 'pending' } },
    ]);
    expect(await isWoken(`account-connection/${sub.id}`)).toBe(false);
  });

  test('with the same key opens one account', async () => {
    const mainAccountId = await world.account(clientId);
    const options = { headers: { 'idempotency-key': randomUUID() } };
    const [first, second] = [await create({ mainAccountId }, options), await create({ mainAccountId }, options)];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
  });

  test('takes the client and the currency of the main account, and no others', async () => {
    const mainAccountId = await world.account(clientId);
    expect(await subAccount(mainAccountId, { clientId, currency: 'GBP' })).toMatchObject({ clientId, currency: 'GBP' });
    const other = await world.client('Grace');
    const all = { mainAccountId, clientId: other, currency: 'EUR' };
    expect(rejection(await create(all))).toEqual([422, 'account.client.mismatch', 'clientId']);
    expect(rejection(await create({ ...all, clientId }))).toEqual([422, 'account.currency.mismatch', 'currency']);
    expect(rejection(await create({ ...all, clientId: randomUUID() }))).toEqual([...NOT_FOUND, 'clientId']);
    expect(rejection(await create({ ...all, mainAccountId: randomUUID() }))).toEqual([...NOT_FOUND, 'mainAccountId']);
    expect((await create({ clientId })).status).toBe(400);
    const connect = { method: 'plug-in', type: 'explicit', serviceProvider: 'custom-bank' };
    const code = 'client.sub-account';
    const named = { workflow: { code }, data: { account: { mainAccountId, country: 'FR' } }, connect };
    expect(rejection(await api.call('POST', '/accounts', named))).toEqual([
      400,
      'common.validation.field_unexpected',
      'country',
    ]);
  });

  test('of a sub-account is rejected: there is one level', async () => {
    const { id } = await subAccount(await world.account(clientId));
    expect(rejection(await create({ mainAccountId: id }))).toEqual([
      422,
      'account.sub_account.nested',
      'mainAccountId',
    ]);
  });

  test.each(['inactive', 'suspended', 'closed', 'declined'])(
    'under a main account that is %s is rejected',
    async (status) => {
      const { id } = await issued();
      if (status !== 'declined') await becomes(id, 'active');
      await becomes(id, status);
      expect(rejection(await create({ mainAccountId: id }))).toEqual([...NOT_ACTIVE, 'mainAccountId']);
    },
  );

  test('under a main account that its provider is closing is rejected', async () => {
    const { id } = await bank.opened(clientId);
    await becomes(id, 'closed');
    expect((await read(id)).status).toBe('active');
    expect(rejection(await create({ mainAccountId: id }))).toEqual([...NOT_ACTIVE, 'mainAccountId']);
  });

  test('of a client that is not active is rejected', async () => {
    const owner = await world.client('Suspended');
    const mainAccountId = await world.account(owner);
    await setClientStatus(owner, 'suspended');
    expect(rejection(await create({ mainAccountId }))).toEqual([422, 'client.status.not_active', 'clientId']);
  });
});

async function setClientStatus(id: string, status: string): Promise<void> {
  const body = { workflow: { code: 'direct' }, data: { client: { status } } };
  expect((await api.call('PATCH', `/clients/${id}`, body, { as: 'compliance' })).status).toBe(200);
}

describe('a sub-account of a pending main account', () => {
  test('becomes active with it, in the country in which the provider opens it', async () => {
    const main = await bank.issued(clientId);
    const sub = await subAccount(main.id);
    expect([(await read(sub.id)).status, await world.events(sub.id)]).toEqual(['pending', []]);
    const details = { country: 'JE', iban: null, accountNumber: '31926819', routingCodes: { 'sort-code': '601613' } };
    expect(await bank.report(main.id, 'open', 1, { outcome: 'opened', reference: 'SBA-1', details })).toBe('applied');
    expect(await read(sub.id)).toMatchObject({ status: 'active', country: 'JE', iban: null, accountNumber: null });
    expect(await world.events(sub.id)).toEqual(['account-activated']);
  });

  test('is declined with it', async () => {
    const main = await bank.issued(clientId);
    const sub = await subAccount(main.id);
    const error = { category: 'functional', origin: 'provider', code: 'no', message: 'No.', attributes: {} } as const;
    expect(await bank.report(main.id, 'open', 1, { outcome: 'rejected', error })).toBe('applied');
    expect((await read(sub.id)).status).toBe('declined');
    expect(await world.events(sub.id)).toEqual(['account-declined']);
  });

  test('follows it with all others, in as many statements as a single one', async () => {
    // The provider knows the client from now on, so that neither activation records it.
    await world.account(clientId);
    const counts: number[] = [];
    for (const number of [1, 12]) {
      const main = await issued();
      const subs: Json[] = [];
      for (let made = 0; made < number; made += 1) subs.push(await subAccount(main.id));
      const closed = await subAccount(main.id);
      await becomes(closed.id, 'closed');
      let statements = 0;
      await api.database.transaction((tx) => {
        const counted = new Proxy(tx, {
          get: (target, name) => {
            if (['execute', 'statement', 'run', 'first', 'find'].includes(String(name))) statements += 1;
            const member: unknown = Reflect.get(target, name);
            return typeof member === 'function' ? member.bind(target) : member;
          },
        });
        return patchAccount(counted, asId<AccountId>(main.id), { status: 'active' }, TESTER);
      });
      counts.push(statements);
      for (const { id } of subs) {
        expect(await read(id)).toMatchObject({ status: 'active' });
        expect(await world.events(id)).toEqual(['account-activated']);
      }
      expect((await read(closed.id)).status).toBe('closed');
    }
    expect(counts[1]).toBe(counts[0]);
  });

  test('waits for the main account only: its caller can close it, not open or decline it', async () => {
    const main = await issued();
    const [sub, closed] = [await subAccount(main.id), await subAccount(main.id)];
    for (const status of ['active', 'declined', 'inactive']) {
      expect(rejection(await patch(sub.id, { status }))).toEqual([...ILLEGAL, 'status']);
    }
    await becomes(closed.id, 'closed');
    await becomes(main.id, 'active');
    expect([(await read(sub.id)).status, (await read(closed.id)).status]).toEqual(['active', 'closed']);
  });

  test('stays pending while its provider opens the main account only to stop it', async () => {
    const main = await bank.issued(clientId);
    const sub = await subAccount(main.id);
    expect(await move(main.id, 'suspended', 1n)).toBe('applied');
    expect(await bank.report(main.id, 'open', 1, OPENED)).toBe('applied');
    expect([(await read(main.id)).status, (await read(sub.id)).status]).toEqual(['suspended', 'pending']);
    expect(await move(main.id, 'active', 2n)).toBe('applied');
    expect((await read(sub.id)).status).toBe('active');
  });
});

function move(id: string, status: ProviderAccountStatus, number: bigint) {
  return api.database.transaction((tx) =>
    applyProviderStatusChange(tx, { accountId: asId<AccountId>(id), status, number }, 'sandbox-bank'),
  );
}

describe('while the main account is not active', () => {
  const STOPPED = ['inactive', 'suspended'] as const;

  test.each(STOPPED)(
    '(%s), its sub-account neither sends nor receives at once, and keeps its own status',
    async (status) => {
      const main = await world.account(clientId, { amount: 100 });
      const other = await world.account(clientId, { amount: 100 });
      const [sub, sister] = [await subAccount(main), await subAccount(main)];
      await settles(internal(main, sub.id));
      await becomes(main, status);
      const dated = { transferDate: new Date(Date.now() + 86_400_000 * 7).toISOString().slice(0, 10) };
      for (const fields of [{}, dated]) {
        expect(rejection(await pay(internal(sub.id, other, fields)))).toEqual([...NOT_ACTIVE, 'source.accountId']);
        expect(rejection(await pay(internal(other, sub.id, fields)))).toEqual([...NOT_ACTIVE, 'destination.accountId']);
        expect(rejection(await pay(internal(sub.id, sister.id, fields)))).toEqual([...NOT_ACTIVE, 'source.accountId']);
      }
      expect((await read(sub.id)).status).toBe('active');
      await becomes(main, 'active');
      await settles(internal(sub.id, other));
      await settles(internal(other, sub.id));
      expect(await world.balance(sub.id)).toEqual({ available: 10, receivable: 0 });
      expect(await world.events(sub.id)).toEqual(['account-activated']);
    },
  );

  test('a payment out of its sub-account waits, and goes out once it is active', async () => {
    const main = await world.account(clientId, { amount: 100 });
    const sub = await subAccount(main);
    await pay(internal(main, sub.id));
    const bankAccount = await world.beneficiary(clientId);
    await becomes(main, 'suspended');
    const answer = await pay(external(sub.id, bankAccount));
    expect(answer.status, answer.text).toBe(201);
    const { id } = answer.body.data.outgoingTransfer;
    expect(await advance(id)).toEqual(['pending', 10]);
    await forget(`outgoing-transfer/${id}`);
    await becomes(main, 'active');
    expect(await isWoken(`outgoing-transfer/${id}`)).toBe(true);
    expect(await advance(id)).toEqual(['processing', 0]);
    // What is already under way continues.
    await becomes(main, 'suspended');
    expect(await advance(id)).toEqual(['processing', 0]);

    async function advance(transfer: string): Promise<unknown[]> {
      await api.database.transaction((tx) =>
        advanceOutgoingTransfer(tx, asId<OutgoingTransferId>(transfer), api.services.configuration),
      );
      const { body } = await api.call('GET', `/outgoing-transfers/${transfer}`);
      return [body.data.outgoingTransfer.status, (await world.balance(sub.id)).available];
    }
  });

  test('a payment dated for later waits for it on both sides', async () => {
    const [main, other] = [
      await world.account(clientId, { amount: 100 }),
      await world.account(clientId, { amount: 9 }),
    ];
    const sub = await subAccount(main);
    await pay(internal(main, sub.id));
    const transferDate = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    const sent: string[] = [];
    for (const [from, to, amount] of [
      [sub.id, other, 4],
      [other, sub.id, 3],
    ]) {
      sent.push((await pay(internal(from, to, { amount, transferDate }))).body.data.outgoingTransfer.id);
    }
    await becomes(main, 'inactive');
    await api.database.reader.statement(
      `UPDATE outgoing_transfers SET transfer_date = transfer_date - 1 WHERE id = ANY ($1::uuid[])`,
      [sent],
    );
    expect(await advanceAll()).toEqual(['pending', 'pending']);
    for (const id of sent) await forget(`outgoing-transfer/${id}`);
    await becomes(main, 'active');
    for (const id of sent) expect(await isWoken(`outgoing-transfer/${id}`)).toBe(true);
    expect(await advanceAll()).toEqual(['completed', 'completed']);
    expect((await world.balance(sub.id)).available).toBe(9);

    async function advanceAll(): Promise<string[]> {
      const statuses: string[] = [];
      for (const id of sent) {
        await api.database.transaction((tx) =>
          advanceOutgoingTransfer(tx, asId<OutgoingTransferId>(id), api.services.configuration),
        );
        statuses.push((await api.call('GET', `/outgoing-transfers/${id}`)).body.data.outgoingTransfer.status);
      }
      return statuses;
    }
  });

  test('money for its sub-account is held, and credited once it is active', async () => {
    const main = await world.account(clientId);
    const sub = await subAccount(main);
    await becomes(main, 'suspended');
    await world.credit(sub.id, 40);
    const [held] = await incomingOf(sub.id);
    expect(held).toMatchObject({ status: 'on-hold', statusReason: { code: 'account.status.not_active' } });
    expect(await world.balance(sub.id)).toEqual({ available: 0, receivable: 40 });
    await letGo(held.id, main);
    expect(await world.balance(sub.id)).toEqual({ available: 40, receivable: 0 });
  });

  test('money that its provider reports for its sub-account is held, and nothing is assigned to it', async () => {
    const main = await bank.opened(clientId);
    const sub = await subAccount(main.id);
    expect(await move(main.id, 'inactive', 1n)).toBe('applied');
    await bank.payIn(await read(sub.id), 'to-a-sub-account', 2_500n);
    const [held] = await incomingOf(sub.id);
    expect(held).toMatchObject({ status: 'on-hold', statusReason: { code: 'account.status.not_active' } });
    await bank.payIn({ ledgerNumber: 'unknown' }, 'to-no-account', 700n);
    const [unmatched] = (
      await api.call('GET', '/incoming-transfers?data.incomingTransfer.serviceProviderId=to-no-account')
    ).body.data.incomingTransfers;
    const body = { workflow: { code: 'direct' }, data: { incomingTransfer: { accountId: sub.id } } };
    const path = `/incoming-transfers/${unmatched.id}/assign`;
    expect(rejection(await api.call('POST', path, body))).toEqual([...NOT_ACTIVE, 'accountId']);
    await forget(`incoming-transfer/${held.id}`);
    expect(await move(main.id, 'active', 2n)).toBe('applied');
    expect(await isWoken(`incoming-transfer/${held.id}`)).toBe(true);
    await advanceIncoming(held.id);
    expect((await api.call('POST', path, body)).status).toBe(200);
    expect(await world.balance(sub.id)).toEqual({ available: 32, receivable: 0 });
  });

  test('a transfer that waits for money in its sub-account is not admitted', async () => {
    const main = await world.account(clientId, { amount: 100 });
    const sub = await subAccount(main);
    const answer = await pay(external(sub.id, await world.beneficiary(clientId)));
    const { id } = answer.body.data.outgoingTransfer;
    expect(answer.body.data.outgoingTransfer.status).toBe('pending');
    await pay(internal(main, sub.id));
    await becomes(main, 'suspended');
    const admit = () =>
      api.database.transaction((tx) => admitWaitingTransfers(tx, asId<AccountId>(sub.id), api.services.configuration));
    await admit();
    const status = async () => (await api.call('GET', `/outgoing-transfers/${id}`)).body.data.outgoingTransfer.status;
    expect(await status()).toBe('pending');
    await becomes(main, 'active');
    await api.database.transaction((tx) =>
      advanceOutgoingTransfer(tx, asId<OutgoingTransferId>(id), api.services.configuration),
    );
    expect(await status()).toBe('processing');
  });

  test('a sub-account stopped on its own stays stopped when the main account resumes', async () => {
    const main = await world.account(clientId, { amount: 100 });
    const sub = await subAccount(main);
    await becomes(sub.id, 'suspended');
    await becomes(main, 'inactive');
    await becomes(main, 'active');
    expect((await read(sub.id)).status).toBe('suspended');
    expect(rejection(await pay(internal(main, sub.id)))).toEqual([...NOT_ACTIVE, 'destination.accountId']);
  });

  test('a client that is not active stops its sub-accounts too', async () => {
    const owner = await world.client('Stopped');
    const main = await world.account(owner);
    const sub = await subAccount(main);
    await setClientStatus(owner, 'suspended');
    await world.credit(sub.id, 5);
    const [held] = await incomingOf(sub.id);
    expect(held.status).toBe('on-hold');
    await forget(`incoming-transfer/${held.id}`);
    await setClientStatus(owner, 'active');
    expect(await isWoken(`incoming-transfer/${held.id}`)).toBe(true);
    await advanceIncoming(held.id);
    expect(await world.balance(sub.id)).toEqual({ available: 5, receivable: 0 });
  });

  async function letGo(id: string, main: string): Promise<void> {
    await forget(`incoming-transfer/${id}`);
    await becomes(main, 'active');
    expect(await isWoken(`incoming-transfer/${id}`)).toBe(true);
    await advanceIncoming(id);
  }
});

async function incomingOf(accountId: string): Promise<Json[]> {
  const { body } = await api.call('GET', `/incoming-transfers?data.incomingTransfer.accountId=${accountId}`);
  return body.data.incomingTransfers;
}

async function forget(workflowId: string): Promise<void> {
  await api.database.reader.statement('DELETE FROM workflow_wakeups WHERE workflow_id = $1', [workflowId]);
}

function advanceIncoming(id: string) {
  return api.database.transaction((tx) =>
    advanceIncomingTransfer(tx, asId<IncomingTransferId>(id), api.services.configuration),
  );
}

describe('PATCH of a sub-account', () => {
  test('takes an alias; its bank details are those of its main account', async () => {
    const sub = await subAccount(await world.account(clientId));
    expect((await patch(sub.id, { alias: 'Holiday' })).body.data.account.alias).toBe('Holiday');
    for (const [field, value] of Object.entries({
      iban: 'GB29NWBK60161331926819',
      accountNumber: '31926819',
      routingCodes: { 'sort-code': '601613' },
      connection: { state: 'completed-up-to-date' },
    })) {
      const unexpected = [400, 'common.validation.field_unexpected', field];
      expect(rejection(await patch(sub.id, { [field]: value }))).toEqual(unexpected);
    }
  });

  test('closes an empty one, and a main account only after its sub-accounts', async () => {
    for (const main of [await world.account(clientId), (await bank.opened(clientId)).id]) {
      const sub = await subAccount(main);
      expect(rejection(await patch(main, { status: 'closed' }))).toEqual([422, 'account.close.not_empty', 'status']);
      const other = await world.account(clientId, { amount: 10 });
      await pay(internal(other, sub.id));
      expect(rejection(await patch(sub.id, { status: 'closed' }))).toEqual([422, 'account.close.not_empty', 'status']);
      await pay(internal(sub.id, other));
      await becomes(sub.id, 'closed');
      expect((await read(sub.id)).status).toBe('closed');
      expect((await patch(main, { status: 'closed' })).status).toBe(200);
    }
  });

  test('a main account that its provider closes is suspended while a sub-account is open, and closes after it', async () => {
    const main = await bank.opened(clientId);
    const sub = await subAccount(main.id);
    expect(await move(main.id, 'closed', 1n)).toBe('applied');
    expect(await read(main.id)).toMatchObject({ status: 'suspended', connection: { status: 'closed' } });
    const breaks = await api.database.reader.statement<{ kind: string }>(
      'SELECT kind FROM reconciliation_breaks WHERE our_reference = $1',
      [main.id],
    );
    expect(breaks.map(({ kind }) => kind)).toEqual(['account-closed-with-money']);
    expect((await read(sub.id)).status).toBe('active');
    await becomes(sub.id, 'closed');
    await becomes(main.id, 'closed');
    expect((await read(main.id)).status).toBe('closed');
  });

  test('one whose main account the provider closed before it opened can be closed while it is pending', async () => {
    const main = await bank.issued(clientId);
    const sub = await subAccount(main.id);
    expect(await move(main.id, 'closed', 1n)).toBe('applied');
    expect(await bank.report(main.id, 'open', 1, OPENED)).toBe('applied');
    expect([(await read(main.id)).status, (await read(sub.id)).status]).toEqual(['suspended', 'pending']);
    await becomes(sub.id, 'closed');
    await becomes(main.id, 'closed');
  });
});

describe('a payment out of a sub-account that comes back', () => {
  async function completed(from: string): Promise<string> {
    const { body } = await pay(external(from, await world.beneficiary(clientId)));
    const { id } = body.data.outgoingTransfer;
    expect((await report(id, { status: 'completed' })).status).toBe(200);
    return id;
  }

  function report(id: string, outgoingTransfer: Json): Promise<ApiResponse> {
    return api.call('PATCH', `/outgoing-transfers/${id}`, {
      workflow: { code: 'client.direct' },
      data: { outgoingTransfer },
    });
  }

  test('is held while the main account is not active, and then credited', async () => {
    const main = await world.account(clientId, { amount: 10 });
    const sub = await subAccount(main);
    await settles(internal(main, sub.id));
    const id = await completed(sub.id);
    await becomes(main, 'suspended');
    expect((await report(id, { returned: true })).status).toBe(200);
    const back = (await incomingOf(sub.id)).find(({ status }) => status === 'on-hold');
    expect(back?.statusReason.code).toBe('account.status.not_active');
    expect(await world.balance(sub.id)).toEqual({ available: 0, receivable: 10 });
    await becomes(main, 'active');
    await advanceIncoming(back?.id);
    expect(await world.balance(sub.id)).toEqual({ available: 10, receivable: 0 });
  });

  test('after it was closed is held for an operator, who gives it to the main account', async () => {
    const main = await world.account(clientId, { amount: 10 });
    const sub = await subAccount(main);
    await settles(internal(main, sub.id));
    const id = await completed(sub.id);
    await becomes(sub.id, 'closed');
    const returned = await report(id, { returned: true });
    expect(returned.status, returned.text).toBe(200);
    const { body } = await api.call('GET', '/incoming-transfers?data.incomingTransfer.status=on-hold');
    const back = body.data.incomingTransfers.find(({ accountId }: Json) => accountId === null);
    expect(back).toMatchObject({ amount: 10, statusReason: { code: 'incoming.match.none' } });
    const assigned = await api.call('POST', `/incoming-transfers/${back.id}/assign`, {
      workflow: { code: 'direct' },
      data: { incomingTransfer: { accountId: main } },
    });
    expect(assigned.status, assigned.text).toBe(200);
    expect(await world.balance(main)).toEqual({ available: 10, receivable: 0 });
  });
});

describe('at one moment', () => {
  async function repeated(id: string): Promise<unknown> {
    const [row] = await api.database.reader.statement(
      `SELECT count(*)::integer AS subs, count(*) FILTER (WHERE sub.main_account_status = main.status)::integer AS right
       FROM accounts AS main JOIN accounts AS sub ON sub.main_account_id = main.id WHERE main.id = $1`,
      [id],
    );
    return row;
  }

  test('sub-accounts open while their main account is stopped and resumed, and each takes its status', async () => {
    const main = await world.account(clientId);
    let opened = 0;
    const opening = async () => {
      for (let turn = 0; turn < 15; turn += 1) {
        const { status } = await create({ mainAccountId: main });
        expect([201, 422]).toContain(status);
        if (status === 201) opened += 1;
      }
    };
    const moving = async () => {
      for (let turn = 0; turn < 30; turn += 1) await becomes(main, turn % 2 === 0 ? 'suspended' : 'active');
    };
    await Promise.all([opening(), opening(), opening(), moving()]);
    await subAccount(main);
    const subs = opened + 1;
    expect(await repeated(main)).toEqual({ subs, right: subs });
    await becomes(main, 'suspended');
    expect(await repeated(main)).toEqual({ subs, right: subs });
  });

  test('payments in every direction, opening and stopping end without a deadlock, and no money moves while stopped', async () => {
    const main = await world.account(clientId, { amount: 1_000 });
    const subs = [await subAccount(main), await subAccount(main), await subAccount(main)].map(({ id }) => id);
    for (const sub of subs) await pay(internal(main, sub, { amount: 100 }));
    const bankAccount = await world.beneficiary(clientId);
    const all = [main, ...subs];
    const paying = async (from: number) => {
      for (let turn = 0; turn < 24; turn += 1) {
        const [source = main, destination = main] = [all[from], all[(from + 1 + (turn % 3)) % 4]];
        const request = turn % 4 === 3 ? external(source, bankAccount) : internal(source, destination, { amount: 1 });
        const answer = turn % 2 === 0 ? await payUnderLocks(request) : await pay(request);
        expect([201, 422]).toContain(answer.status);
      }
    };
    const moving = async () => {
      for (let turn = 0; turn < 12; turn += 1) await becomes(main, turn % 2 === 0 ? 'suspended' : 'active');
    };
    const opening = async () => {
      for (let turn = 0; turn < 6; turn += 1) await create({ mainAccountId: main });
    };
    await Promise.all([0, 1, 2, 3, 0, 1, 2, 3].map(paying));
    await Promise.all([0, 1, 2, 3].map(paying).concat([moving(), opening()]));
    await becomes(main, 'suspended');
    for (const sub of subs) {
      expect(rejection(await pay(internal(sub, main)))).toEqual([...NOT_ACTIVE, 'source.accountId']);
    }
  });

  test('closing the main account and opening a sub-account: one of them is rejected', async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      const main = await world.account(clientId);
      const [opened, closed] = await Promise.all([create({ mainAccountId: main }), patch(main, { status: 'closed' })]);
      expect([
        [201, 422],
        [422, 200],
      ]).toContainEqual([opened.status, closed.status]);
    }
  });
});
