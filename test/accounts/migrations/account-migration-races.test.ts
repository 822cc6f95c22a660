import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { assignment } from '../../../db/incoming-transfers/requested-changes.ts';
import { findViolationsSince } from '../../../db/ledger/check.ts';
import { changeUnderLocks } from '../../../db/transfers/requested-changes.ts';
import { type AccountId, asId, type IncomingTransferId } from '../../../domain/common/ids.ts';
import type { Json } from '../../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../../harness/money.ts';
import {
  type MigrationStage,
  migrateAccount,
  migrateClient,
  rejectionIn,
  startMigrationStage,
} from '../../harness/parties/migration.ts';
import { lockWaiters } from '../../harness/servers/locks.ts';
import { eventually } from '../../harness/servers/sandbox.ts';

// What else may happen here while an account is migrated: another request for it, and an operator's command.

let stage: MigrationStage;
let world: MoneyWorld;
let clientId: string;

beforeAll(async () => {
  stage = await startMigrationStage('account-migration-races');
  world = moneyWorld(stage.api);
  const answer = await migrateClient(stage.api, 'client-individual');
  expect(answer.status, answer.text).toBe(201);
  clientId = answer.body.data.client.id;
});

afterEach(async () => {
  stage.handOvers.after = async () => {};
  stage.lookUps.after = async () => {};
  await world.invariantsHold();
  expect(await findViolationsSince(stage.api.database.reader)).toEqual([]);
});

afterAll(() => stage?.close());

let accountNumbers = 82_000_000;

async function existing(change: Json = {}): Promise<Json> {
  accountNumbers += 1;
  const { status, body } = await stage.bank('POST', '/existing-accounts', {
    sourceId: randomUUID(),
    clientSourceId: 'client-individual',
    currency: 'GBP',
    country: 'GB',
    balance: 50,
    accountNumber: String(accountNumbers),
    routingCodes: { 'sort-code': '040075' },
    ...change,
  });
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

const NUMBERLESS = { accountNumber: null, routingCodes: {} };

const asked = ({ sourceId, currency }: Json) => ({ sourceId, clientId, currency });

async function migrated(account: Json): Promise<Json> {
  const answer = await migrateAccount(stage.api, asked(account));
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.account;
}

const delivered = () =>
  eventually('the bank has delivered its callbacks', async () =>
    (await stage.bank('GET', '/callbacks')).body.pending === 0 ? true : undefined,
  );

/** The incoming transfer of a payment to the account. */
async function payIn({ accountNumber, routingCodes }: Json, amount: number, reference?: string): Promise<Json> {
  const payment = { amount, reference, currency: 'GBP', scheme: 'faster-payments', accountNumber, routingCodes };
  const { status, body } = await stage.bank('POST', '/payments-in', payment);
  expect(status, JSON.stringify(body)).toBe(201);
  await delivered();
  const path = `/incoming-transfers?data.incomingTransfer.serviceProviderId=${body.paymentId}`;
  return (await stage.api.call('GET', path)).body.data.incomingTransfers[0];
}

const transfer = async (id: string): Promise<Json> =>
  (await stage.api.call('GET', `/incoming-transfers/${id}`)).body.data.incomingTransfer;

describe('a request whose account another request migrates after its look-up', () => {
  const overtaken = async (iban: string, keys: readonly [string, string]) => {
    const account = await existing({ iban, ...NUMBERLESS });
    const others: Json[] = [];
    stage.lookUps.after = async () => {
      stage.lookUps.after = async () => {};
      others.push(await migrateAccount(stage.api, asked(account), { key: keys[1] }));
    };
    const answer = await migrateAccount(stage.api, asked(account), { key: keys[0] });
    expect(others.map(({ status }) => status)).toEqual([201]);
    return { answer, other: others[0] ?? {} };
  };

  test('gets the same answer under the same Idempotency-Key', async () => {
    const { answer, other } = await overtaken('GB82WEST12345698765432', ['same', 'same']);
    expect([answer.status, answer.text]).toEqual([201, other.text]);
  });

  test('gets 409 for the source id under another key, naming the account', async () => {
    const { answer, other } = await overtaken('GB33BUKB20201555555555', ['one', 'another']);
    expect(rejectionIn(answer)).toEqual({
      status: 409,
      problems: ['common.state.illegal_transition account.sourceId'],
    });
    expect(answer.body.message).toContain(other.body.data.account.id);
  });
});

test('an account that its provider knows by two source ids is migrated once', async () => {
  const account = await existing();
  const { id } = await migrated(account);
  const rename = "UPDATE account_migrations SET source_id = 'the other one' WHERE account_id = $1";
  await stage.api.database.reader.statement(rename, [id]);
  const again = await migrateAccount(stage.api, asked(account));
  expect(rejectionIn(again)).toEqual({ status: 409, problems: ['common.state.illegal_transition account.sourceId'] });
  expect(again.body.message).toContain(id);
});

test('an IBAN of the provider that is taken appears neither in the rejection nor in the log', async () => {
  const iban = 'GB29NWBK60161331926819';
  await migrated(await existing({ iban, ...NUMBERLESS }));
  const answer = await migrateAccount(stage.api, asked(await existing({ iban, ...NUMBERLESS })));
  expect(rejectionIn(answer)).toEqual({ status: 409, problems: ['common.state.illegal_transition account.iban'] });
  expect(answer.text).not.toContain(iban);
  expect(stage.logged.join('')).not.toContain(iban);
});

test('payments to a number of seven digits reach the account before and after the commit, written in either way', async () => {
  const account = await existing({ accountNumber: '7123456', routingCodes: { 'sort-code': '04-00-75' } });
  const inFull = { ...account, accountNumber: '07123456' };
  stage.handOvers.after = async () => {
    await payIn(account, 1);
    await payIn(inFull, 2);
  };
  const { id, availableBalance } = await migrated(account);
  expect(availableBalance).toBe(53);
  await payIn(account, 4);
  await payIn(inFull, 8);
  expect((await world.balance(id)).available).toBe(65);
});

test('a payment whose reference names two other accounts is the migrated one’s, too', async () => {
  const account = await existing();
  const others = [await migrated(await existing()), await migrated(await existing())];
  const reference = others.map(({ ledgerNumber }) => ledgerNumber).join(' ');
  stage.handOvers.after = async () => {
    const payment = await payIn(account, 1, reference);
    expect(payment.statusReason.code).toBe('incoming.match.ambiguous');
  };
  expect((await migrated(account)).availableBalance).toBe(51);
});

test('a payment that an operator assigns at the same moment is the other account’s', async () => {
  const account = await existing();
  const elsewhere = (await migrated(await existing())).id;
  const payments: Json[] = [];
  let assigned: { readonly ended?: Promise<unknown> } = {};
  stage.handOvers.after = async () => {
    payments.push(await payIn(account, 1), await payIn(account, 2));
    assigned = await assignedOnceAnotherWaits(payments[0]?.id, elsewhere);
  };
  const { id, availableBalance } = await migrated(account);
  await assigned.ended;
  expect(availableBalance).toBe(52);
  const owners = await Promise.all(payments.map(async (payment) => (await transfer(payment.id)).accountId));
  expect(owners).toEqual([elsewhere, id]);
});

/** Assigns a payment in a transaction that ends when another one waits for a lock; the answer comes with the assignment. */
function assignedOnceAnotherWaits(id: string, accountId: string): Promise<{ readonly ended: Promise<unknown> }> {
  return new Promise((resolve, reject) => {
    const initiator = { actor: 'tester', requestId: null };
    const ended = stage.api.database.transaction(async (tx) => {
      await changeUnderLocks(
        tx,
        assignment({ id: asId<IncomingTransferId>(id), accountId: asId<AccountId>(accountId), initiator }),
      );
      resolve({ ended });
      await eventually('the migration waits', async () => ((await lockWaiters(tx)) > 0 ? true : undefined));
    });
    ended.catch(reject);
  });
}

test.each<[string, number, string]>([
  ['with money', 50, 'suspended'],
  ['without money', 0, 'closed'],
])('an account %s that the bank closes between hand-over and commit holds %s and is %s', async (_, balance, status) => {
  const account = await existing({ balance });
  stage.handOvers.after = async () => {
    const { body } = await stage.bank('GET', '/existing-accounts');
    const { ourReference } = body.accounts.find(({ sourceId }: Json) => sourceId === account.sourceId);
    await stage.bank('POST', `/accounts/${ourReference}/status`, { status: 'closed' });
    await delivered();
  };
  expect(await migrated(account)).toMatchObject({ status, availableBalance: balance });
  expect((await migrateAccount(stage.api, asked(account))).status).toBe(409);
});

test.each<[string, string, string, number]>([
  ['without decimals', 'KRW', 'KR', 1_234_567],
  ['with three decimals', 'BHD', 'BH', 1234.567],
  ['as large as an amount can be', 'USD', 'US', 9_999_999_999_999.99],
])('a balance %s is stored to the last digit', async (_, currency, country, balance) => {
  const account = await existing({ currency, country, balance, routingCodes: { bic: 'SBXBUS2L' } });
  const { id, availableBalance } = await migrated(account);
  expect(availableBalance).toBe(balance);
  expect((await world.statement(id)).map(({ amount }) => amount)).toEqual([balance]);
});
