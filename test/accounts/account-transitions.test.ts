import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AccountRow, patchAccount } from '../../db/accounts/accounts.ts';
import { advanceAccountConnection, recordAccountOutcome } from '../../db/accounts/connections.ts';
import { createAccount } from '../../db/accounts/creation.ts';
import { findAccount } from '../../db/accounts/reads.ts';
import { createDatabase } from '../../db/client.ts';
import { findClientConnection, recordClientConnection } from '../../db/clients/connections.ts';
import { newId } from '../../db/common/ids.ts';
import { wakeOverdue } from '../../db/common/open-work.ts';
import { post } from '../../db/ledger/ledger.ts';
import type { Database } from '../../db/query/database.ts';
import type { Account } from '../../domain/accounts/accounts.ts';
import type { AccountOutcome } from '../../domain/accounts/connections.ts';
import type { AccountId, ClientId } from '../../domain/common/ids.ts';
import { TESTER } from '../harness/audit.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

// Account transitions only, on real Postgres with a clock that the test moves: calls from a workflow and a bank in
// any order, late and repeated.
let testDatabase: TestDatabase;
let database: Database;
let offsetSeconds = 0;
let numbers = 0;

beforeAll(async () => {
  testDatabase = await createTestDatabase('account-transitions');
  database = createDatabase({
    url: testDatabase.url,
    maxConnections: 10,
    applicationName: 'transitions',
    deadlineMs: 60_000,
    clockOffset: () => `${offsetSeconds} seconds`,
  });
});

afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

const OPENED: AccountOutcome = {
  outcome: 'opened',
  reference: 'SBA-1',
  details: { country: 'GB', iban: null, accountNumber: '31926819', routingCodes: { 'sort-code': '601613' } },
};
const REJECTED: AccountOutcome = {
  outcome: 'rejected',
  error: { category: 'technical', origin: 'provider', code: 'no', message: 'No.', attributes: {} },
};

async function newClient(): Promise<ClientId> {
  const id = newId<ClientId>();
  numbers += 1;
  await database.reader.execute(sql`
    INSERT INTO clients (id, client_number, status, identity_type, identity, profile, full_name, created_at)
    VALUES (${id}, ${String(numbers).padStart(10, '0')}, 'active', 'individual',
      '{"type":"individual","givenName":"Ada","familyName":"Lovelace","identifications":[]}', '{}', 'Ada Lovelace', service_now())`);
  return id;
}

async function newAccount(clientId?: ClientId): Promise<Account> {
  const owner = clientId ?? (await newClient());
  return database.transaction((tx) =>
    createAccount(
      tx,
      {
        clientId: owner,
        method: 'built-in',
        provider: 'sandbox-bank',
        country: 'GB',
        currency: 'GBP',
        alias: 'GBP Account',
      },
      TESTER,
    ),
  );
}

const advance = (id: AccountId) => database.transaction((tx) => advanceAccountConnection(tx, id));
const say = (accountId: AccountId, outcome: AccountOutcome, change: 'open' | 'close' = 'open', attempt = 1) =>
  database.transaction((tx) => recordAccountOutcome(tx, { accountId, change, attempt, outcome }));
const close = (id: AccountId) => database.transaction((tx) => patchAccount(tx, id, { status: 'closed' }, TESTER));
const connect = (clientId: ClientId) =>
  database.transaction((tx) =>
    recordClientConnection(tx, {
      clientId,
      provider: 'sandbox-bank',
      outcome: { outcome: 'connected', reference: 'SBC-1' },
    }),
  );

async function status(id: AccountId): Promise<string | undefined> {
  return (await findAccount(database.reader, id))?.status;
}

async function row(
  id: AccountId,
): Promise<Pick<AccountRow, 'changeAttempt' | 'requestedChange'> & { revision: bigint }> {
  const [found] = await database.reader.execute<AccountRow>(sql`
    SELECT change_attempt AS "changeAttempt", requested_change AS "requestedChange", revision FROM accounts WHERE id = ${id}`);
  if (found === undefined) throw new Error('no such account');
  return found;
}

async function eventTypes(id: string): Promise<string[]> {
  const rows = await database.reader.execute<{ entries: { type: string }[] }>(
    sql`SELECT entries FROM events WHERE resource_id = ${id} ORDER BY first_sequence`,
  );
  return rows.flatMap(({ entries }) => entries.map(({ type }) => type));
}

async function active(): Promise<Account> {
  const account = await newAccount();
  await connect(account.clientId);
  await advance(account.id);
  await say(account.id, OPENED);
  expect(await status(account.id)).toBe('active');
  return account;
}

test('first the client, then the account, then a wait until the first look-up', async () => {
  const { id, clientId } = await newAccount();
  expect(await advance(id)).toEqual({ do: 'connect-client', clientId });
  expect(await advance(id)).toEqual({ do: 'connect-client', clientId });
  await connect(clientId);
  expect(await advance(id)).toEqual({ do: 'open-account', attempt: 1 });
  const step = await advance(id);
  expect(step).toMatchObject({ do: 'wait', for: 'provider' });
  await say(id, { outcome: 'accepted', reference: 'SBA-1' });
  expect(await advance(id)).toEqual(step);
  await say(id, OPENED);
  expect(await advance(id)).toEqual({ do: 'end' });
});

test('a look-up is due 10 s after the submission; an unknown outcome schedules the next one and fails nothing', async () => {
  const { id, clientId } = await newAccount();
  await connect(clientId);
  await advance(id);
  offsetSeconds += 11;
  expect(await advance(id)).toEqual({ do: 'look-up', count: 1 });
  await say(id, { outcome: 'unknown' });
  expect(await advance(id)).toMatchObject({ do: 'wait' });
  offsetSeconds += 10;
  expect(await advance(id)).toEqual({ do: 'look-up', count: 2 });
  await say(id, { outcome: 'accepted', reference: 'SBA-1' });
  expect(await advance(id)).toMatchObject({ do: 'wait' });
  expect(await status(id)).toBe('pending');
  expect(await eventTypes(id)).toEqual(['connection-creation-instructed']);
});

test('a request that the provider never received is sent again unchanged', async () => {
  const { id, clientId } = await newAccount();
  await connect(clientId);
  expect(await advance(id)).toEqual({ do: 'open-account', attempt: 1 });
  await say(id, { outcome: 'not-found' });
  expect(await advance(id)).toEqual({ do: 'open-account', attempt: 1 });
  expect(await status(id)).toBe('pending');
});

test('a report that is repeated or out of order changes nothing', async () => {
  const { id } = await active();
  const before = await row(id);
  const events = await eventTypes(id);
  for (const outcome of [OPENED, { outcome: 'not-found' }, { outcome: 'unknown' }] as const) {
    expect(await say(id, outcome)).toBe('no-effect');
  }
  // A contradiction: nothing moves, and it is recorded for an operator.
  expect(await say(id, REJECTED)).toBe('break');
  const breaks = await database.reader.execute(sql`SELECT kind FROM reconciliation_breaks WHERE our_reference = ${id}`);
  expect(breaks).toEqual([{ kind: 'account-outcome-contradicts' }]);
  expect(await row(id)).toEqual(before);
  expect(await eventTypes(id)).toEqual(events);
});

test('only one of many identical concurrent reports is applied', async () => {
  const { id, clientId } = await newAccount();
  await connect(clientId);
  await advance(id);
  const outcomes = await Promise.all(
    Array.from({ length: 8 }, (_, index) => say(id, index % 2 === 0 ? OPENED : REJECTED)),
  );
  expect(outcomes.filter((outcome) => outcome === 'applied')).toHaveLength(1);
  expect(await eventTypes(id)).toHaveLength(3);
});

test('a client is connected once however often it is reported, with one event', async () => {
  const clientId = await newClient();
  await newAccount(clientId);
  await newAccount(clientId);
  await Promise.all([connect(clientId), connect(clientId), connect(clientId)]);
  const connection = await database.transaction((tx) => findClientConnection(tx, clientId, 'sandbox-bank'));
  expect(connection).toMatchObject({ state: 'completed-up-to-date', reference: 'SBC-1' });
  expect(await eventTypes(clientId)).toEqual(['connection-created']);
});

test('a rejection of an earlier close does not fail a later one', async () => {
  const { id } = await active();
  await close(id);
  const first = await row(id);
  expect(await advance(id)).toEqual({ do: 'close-account', attempt: first.changeAttempt });
  await say(id, REJECTED, 'close', first.changeAttempt);
  await close(id);
  const second = await row(id);
  expect(second.changeAttempt).toBe(first.changeAttempt + 1);
  expect(await say(id, REJECTED, 'close', first.changeAttempt)).toBe('no-effect');
  expect(await say(id, { outcome: 'closed' }, 'close', second.changeAttempt)).toBe('applied');
  expect(await status(id)).toBe('closed');
  expect((await eventTypes(id)).slice(3)).toEqual([
    'connection-update-instructed',
    'connection-update-failed',
    'connection-update-instructed',
    'connection-updated',
    'account-closed',
  ]);
});

test('an account that gets money while its bank closes it is suspended, not closed with money, and recorded for an operator', async () => {
  const { id } = await active();
  await close(id);
  await database.transaction(async (tx) => {
    await tx.execute(sql`SELECT id FROM accounts WHERE id = ${id} FOR UPDATE`);
    const debit = { provider: 'sandbox-bank', kind: 'settlement' } as const;
    const shared = { debitNumber: '20261121-M00001', debitType: 'incoming-transfer', entryType: 'principal' } as const;
    await post(tx, { now: new Date(), debit, credit: id, amountMinor: 100n, currency: 'GBP', ...shared });
  });
  const { changeAttempt } = await row(id);
  expect(await say(id, { outcome: 'closed' }, 'close', changeAttempt)).toBe('applied');
  expect(await findAccount(database.reader, id)).toMatchObject({
    status: 'suspended',
    postedMinor: 100n,
    connection: { status: 'closed' },
  });
  const breaks = await database.reader.execute(sql`SELECT kind FROM reconciliation_breaks WHERE our_reference = ${id}`);
  expect(breaks).toEqual([{ kind: 'account-closed-with-money' }]);
});

test('an IBAN that another account has is a break: nothing changes and an operator decides', async () => {
  const iban = 'GB29NWBK60161331926819';
  const withIban = { ...OPENED, details: { country: 'GB', iban, accountNumber: null, routingCodes: null } } as const;
  const [first, second] = [await newAccount(), await newAccount()];
  for (const { id, clientId } of [first, second]) {
    await connect(clientId);
    await advance(id);
  }
  expect(await say(first.id, withIban)).toBe('applied');
  expect(await say(second.id, withIban)).toBe('break');
  expect(await status(second.id)).toBe('pending');
});

test('held money and payments waiting for an account are rechecked when its status changes', async () => {
  const { id, clientId } = await newAccount();
  const held = newId();
  await database.reader.execute(sql`
    INSERT INTO incoming_transfers (id, transaction_number, client_id, account_id, status, scope, currency, amount_minor,
      provider, method, waiting_for, created_at, updated_at)
    VALUES (${held}, '20261121-MHELD1', ${clientId}, ${id}, 'on-hold', 'external', 'GBP', 1, 'sandbox-bank', 'built-in',
      'account', service_now(), service_now())`);
  const wakes = () =>
    database.reader.execute(
      sql`SELECT workflow_type FROM workflow_wakeups WHERE workflow_id = ${`incoming-transfer/${held}`}`,
    );
  expect(await wakes()).toHaveLength(0);
  await connect(clientId);
  await advance(id);
  await say(id, OPENED);
  expect(await wakes()).toHaveLength(1);
});

test('accounts of one client that are issued while its connection is recorded never lock each other out', async () => {
  const clientId = await newClient();
  await newAccount(clientId);
  // A deadlock would be answered by doing the work again.
  let attempts = 0;
  const account = {
    clientId,
    method: 'built-in',
    provider: 'sandbox-bank',
    country: 'GB',
    currency: 'GBP',
    alias: 'x',
  } as const;
  const connected = {
    clientId,
    provider: 'sandbox-bank',
    outcome: { outcome: 'connected', reference: 'SBC-1' },
  } as const;
  const work = Array.from({ length: 40 }, (_, index) =>
    database.transaction(async (tx) => {
      attempts += 1;
      await (index % 2 === 0 ? createAccount(tx, account, TESTER) : recordClientConnection(tx, connected));
    }),
  );
  await Promise.all(work);
  expect(attempts).toBe(work.length);
});

test('a look-up that the workflow has missed is made as soon as the sweep wakes it, not when the sweep would come again', async () => {
  const { id, clientId } = await newAccount();
  await connect(clientId);
  expect(await advance(id)).toMatchObject({ do: 'open-account' });
  offsetSeconds += 3_600;
  await database.transaction((tx) => wakeOverdue(tx, 'account-connection', 100));
  expect(await advance(id)).toMatchObject({ do: 'look-up' });
  await say(id, { outcome: 'unknown' });
  expect(await advance(id)).toMatchObject({ do: 'wait', for: 'provider' });
});
