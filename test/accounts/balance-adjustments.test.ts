import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { checkLedgerSince, findViolationsSince } from '../../db/ledger/check.ts';
import { lockAccounts } from '../../db/ledger/ledger.ts';
import { admitWaitingTransfers, listAdmissionsDue } from '../../db/outgoing-transfers/admissions.ts';
import { type AccountId, asId } from '../../domain/common/ids.ts';
import { transactionKindOf } from '../../domain/common/numbers/numbers.ts';
import { type CallOptions, type Json, startApi, type TestApi } from '../harness/api.ts';
import { auditOf } from '../harness/audit.ts';
import { builtInAccounts } from '../harness/built-in-accounts.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { lockWaiters } from '../harness/servers/locks.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { until } from '../harness/stage.ts';

// The money of balance adjustments: what each workflow posts, and what no race may do. What is rejected: balance-adjustments-rules.test.ts.

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let clientId: string;

beforeAll(async () => {
  database = await createTestDatabase('balance-adjustments');
  api = await startApi(database, { configuration: (configuration) => ({ ...configuration, prices: [] }) });
  world = moneyWorld(api);
  clientId = await world.client();
});

afterEach(async () => {
  await world.invariantsHold();
  expect(await findViolationsSince(api.database.reader)).toEqual([]);
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

const OUTSIDE = 'unconnected-service-provider';
const OTHER_BANK = 'Other Bank Ltd';
const UNKNOWN = { code: 'correction', type: 'unknown', transactionType: 'incoming-transfer' };

function adjust(accountId: string, change: Json, workflow: Json = UNKNOWN, options: CallOptions = {}) {
  const balanceAdjustment = { accountId, direction: 'credit', amount: 1, currency: 'GBP', ...change };
  const body = { workflow, data: { balanceAdjustment } };
  return api.call('POST', `/accounts/${accountId}/balance-adjustments`, body, { as: 'admin', ...options });
}

const debit = (accountId: string, amount: number, options: CallOptions = {}) =>
  adjust(accountId, { direction: 'debit', amount }, UNKNOWN, options);

const statusOf = ({ status }: { status: number }) => status;

/** What each system account of the provider holds, in minor units. */
async function systemBalances(provider = 'custom-bank'): Promise<Record<string, bigint>> {
  const rows = await api.database.reader.statement<{ kind: string; minor: bigint }>(
    `SELECT account.kind || ' ' || account.currency AS kind,
       sum(CASE WHEN credit_account_id = account.id THEN amount_minor ELSE -amount_minor END)::bigint AS minor
     FROM system_accounts account JOIN postings ON account.id IN (debit_account_id, credit_account_id)
     WHERE account.provider = $1 GROUP BY 1`,
    [provider],
  );
  return Object.fromEntries(rows.map(({ kind, minor }) => [kind, minor]));
}

async function count(table: 'postings' | 'events' | 'balance_adjustments' | 'audit_entries'): Promise<number> {
  const [row] = await api.database.reader.statement<{ count: number }>(`SELECT count(*)::integer FROM ${table}`, []);
  return row?.count ?? -1;
}

const WORKFLOWS: readonly [workflow: Json, against: string][] = [
  [{ code: 'correction', type: 'fee', transactionType: 'incoming-transfer' }, 'fee-revenue'],
  [{ code: 'correction', type: 'fee', transactionType: OUTSIDE }, 'fee-revenue'],
  [{ code: 'correction', type: 'unknown', transactionType: 'incoming-transfer' }, 'correction'],
  [{ code: 'correction', type: 'unknown', transactionType: OUTSIDE }, 'correction'],
  [{ code: 'synchronization', type: OUTSIDE }, 'settlement'],
];
const EACH = WORKFLOWS.flatMap(([workflow, against]) =>
  (['credit', 'debit'] as const).map((direction): [string, Json, string, typeof direction] => [
    `${Object.values(workflow).join(' ')}, ${direction}`,
    workflow,
    against,
    direction,
  ]),
);

describe('one posting at once, with its entry, its record and its audit', () => {
  test.each(EACH)('%s', async (_name, workflow, against, direction) => {
    const account = await world.account(clientId, { amount: 50 });
    const isOutside = Object.values(workflow).includes(OUTSIDE);
    const named = isOutside ? { unconnectedServiceProvider: OTHER_BANK } : {};
    const [before, events] = [await systemBalances(), await count('events')];
    const postings = await count('postings');
    const headers = { 'request-id': `request-${randomUUID()}` };
    const sent = { direction, amount: 12.34, description: 'Charged twice', ...named };
    const answer = await adjust(account, sent, workflow, { headers });

    expect(answer.status, answer.text).toBe(201);
    const { balanceAdjustment } = answer.body.data;
    expect(answer.body).toEqual({ workflow, data: { balanceAdjustment }, connect: {}, metadata: {} });
    const { id, transactionNumber } = balanceAdjustment;
    expect(balanceAdjustment).toEqual({
      id,
      accountId: account,
      direction,
      transactionNumber,
      amount: 12.34,
      currency: 'GBP',
      description: 'Charged twice',
      unconnectedServiceProvider: isOutside ? OTHER_BANK : null,
    });
    expect(transactionKindOf(transactionNumber)).toBe('other');

    const moved = direction === 'credit' ? 1234n : -1234n;
    const balance = Number(5000n + moved) / 100;
    expect(await world.balance(account)).toEqual({ available: balance, receivable: 0 });
    const after = await systemBalances();
    expect(after).toEqual({ ...before, [`${against} GBP`]: (before[`${against} GBP`] ?? 0n) - moved });
    expect(await count('postings')).toBe(postings + 1);
    const entries = await world.statement(account);
    expect(entries).toHaveLength(2);
    expect(entries.at(-1)).toEqual({
      accountId: account,
      transactionNumber,
      entryDateTime: expect.any(String),
      direction,
      amount: 12.34,
      transactionType: 'balance-adjustment',
      entryType: 'principal',
      balance,
      currency: 'GBP',
      narrative: 'Charged twice',
    });
    expect(await count('events')).toBe(events);

    const { code: workflowCode, type: workflowType, transactionType: workflowTransactionType = null } = workflow;
    const rows = await api.database.reader.statement<Json>(
      `SELECT account_id, transaction_number, workflow_code, workflow_type, workflow_transaction_type, direction, currency,
         amount_minor, description, unconnected_service_provider FROM balance_adjustments WHERE id = $1`,
      [id],
    );
    expect(rows).toEqual([
      {
        account_id: account,
        transaction_number: transactionNumber,
        workflow_code: workflowCode,
        workflow_type: workflowType,
        workflow_transaction_type: workflowTransactionType,
        direction,
        currency: 'GBP',
        amount_minor: 1234n,
        description: 'Charged twice',
        unconnected_service_provider: isOutside ? OTHER_BANK : null,
      },
    ]);
    const { description: _, id: __, ...audited } = balanceAdjustment;
    expect(await auditOf(api.database.reader, id)).toEqual([
      {
        resource: 'balance-adjustment',
        action: 'created',
        actor: api.users.admin.id,
        requestId: headers['request-id'],
        before: null,
        after: { workflow, ...audited },
      },
    ]);
  });

  test('goes against the system accounts of the account’s own provider and currency', async () => {
    const built = await builtInAccounts(api).opened(clientId);
    const dinar = await world.account(clientId, { currency: 'KWD' });
    const before = await systemBalances('sandbox-bank');
    expect((await adjust(built.id, { amount: 7 })).status).toBe(201);
    const after = await systemBalances('sandbox-bank');
    expect(after['correction GBP']).toBe((before['correction GBP'] ?? 0n) - 700n);
    expect((await adjust(dinar, { amount: 1.234, currency: 'KWD' })).status).toBe(201);
    expect((await systemBalances())['correction KWD']).toBe(-1234n);
    expect((await world.statement(dinar)).at(-1)).toMatchObject({ amount: 1.234, currency: 'KWD', narrative: null });
  });

  test('takes the whole balance, and not a penny that is reserved', async () => {
    const account = await world.account(clientId, { amount: 10 });
    const bankAccount = await world.beneficiary(clientId);
    await pay(account, bankAccount, 4);
    expect(await world.balance(account)).toMatchObject({ available: 6 });
    const rejected = await debit(account, 6.01);
    expect([rejected.status, rejected.body.code]).toEqual([422, 'account.balance.insufficient']);
    expect((await debit(account, 6)).status).toBe(201);
    expect(await world.balance(account)).toMatchObject({ available: 0 });
  });

  test('a synchronization waits for the credit that it needs', async () => {
    const account = await world.account(clientId, { amount: 1 });
    const workflow = { code: 'synchronization', type: OUTSIDE };
    const spent = { direction: 'debit', amount: 5, unconnectedServiceProvider: OTHER_BANK };
    const rejected = await adjust(account, spent, workflow);
    expect([rejected.status, rejected.body.code]).toEqual([422, 'account.balance.insufficient']);
    expect((await adjust(account, { ...spent, direction: 'credit' }, workflow)).status).toBe(201);
    expect((await adjust(account, spent, workflow)).status).toBe(201);
    expect(await world.balance(account)).toMatchObject({ available: 1 });
  });

  test('amounts of a quadrillion minor units keep every digit', async () => {
    const account = await world.account(clientId);
    const path = `/accounts/${account}/balance-adjustments`;
    const adjustment = (direction: string) => `{"workflow": ${JSON.stringify(UNKNOWN)}, "data": {"balanceAdjustment":
      {"accountId": "${account}", "direction": "${direction}", "amount": 9999999999999.99, "currency": "GBP"}}}`;
    const answer = await api.call('POST', path, adjustment('credit'), { as: 'admin' });
    expect(answer.status, answer.text).toBe(201);
    expect(answer.text).toContain('"amount":9999999999999.99');
    expect((await api.call('POST', path, adjustment('debit'), { as: 'admin' })).status).toBe(201);
    expect(await world.balance(account)).toMatchObject({ available: 0 });
  });
});

async function pay(accountId: string, bankAccount: string, amount: number): Promise<Json> {
  const outgoingTransfer = {
    clientId,
    currency: 'GBP',
    amount,
    scope: 'external',
    scheme: 'faster-payments',
    source: { type: 'client-account', accountId },
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount },
  };
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
  const answer = await api.call('POST', '/outgoing-transfers', body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.outgoingTransfer;
}

test('a credit admits the transfers that wait for money, and a debit none', async () => {
  const account = asId<AccountId>(await world.account(clientId, { amount: 3 }));
  const waiting = await pay(account, await world.beneficiary(clientId), 5);
  const statusNow = async () =>
    (await api.call('GET', `/outgoing-transfers/${waiting.id}`)).body.data.outgoingTransfer.status;
  const admit = () => api.database.transaction((tx) => admitWaitingTransfers(tx, account, api.services.configuration));
  expect((await debit(account, 1)).status).toBe(201);
  expect(await listAdmissionsDue(api.database.reader, 100)).not.toContain(account);
  expect((await adjust(account, { amount: 3 })).status).toBe(201);
  expect(await statusNow()).toBe('pending');
  expect(await listAdmissionsDue(api.database.reader, 100)).toContain(account);
  expect(await admit()).toEqual({ admitted: 1, more: false, skipped: [] });
  expect(await statusNow()).toBe('processing');
  expect(await world.balance(account)).toMatchObject({ available: 0 });
});

describe('at the same instant', () => {
  /** Sends the requests while the account is locked, so that all of them wait for the same balance. */
  async function together<T>(account: string, requests: readonly (() => Promise<T>)[]): Promise<T[]> {
    const gate = new EventEmitter();
    const locked = once(gate, 'locked');
    const holding = api.database.transaction(async (tx) => {
      await lockAccounts(tx, [asId<AccountId>(account)]);
      const opened = once(gate, 'open');
      gate.emit('locked');
      await opened;
    });
    await locked;
    const sent = requests.map((request) => request());
    await until(
      () => lockWaiters(api.database.reader),
      (sessions) => sessions >= requests.length,
    );
    gate.emit('open');
    await holding;
    return Promise.all(sent);
  }

  test('of two debits that only one balance allows, one is made', async () => {
    const account = await world.account(clientId, { amount: 10 });
    const answers = await together(account, [() => debit(account, 7), () => debit(account, 7)]);
    expect(answers.map(statusOf).sort()).toEqual([201, 422]);
    expect(answers.find(({ status }) => status === 422)?.body.code).toBe('account.balance.insufficient');
    expect(await world.balance(account)).toMatchObject({ available: 3 });
    expect(await world.statement(account)).toHaveLength(2);
  });

  test('the same key twice is one adjustment and one answer', async () => {
    const account = await world.account(clientId, { amount: 10 });
    const key = randomUUID();
    const [records, audited] = [await count('balance_adjustments'), await count('audit_entries')];
    const answers = await together(account, [() => debit(account, 4, { key }), () => debit(account, 4, { key })]);
    expect(answers.map(statusOf)).toEqual([201, 201]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const outcomes = answers.map(({ headers }) => headers.get('x-idempotency-status'));
    expect(outcomes.sort()).toEqual(['processed', 'replayed']);
    expect(await world.balance(account)).toMatchObject({ available: 6 });
    expect([await count('balance_adjustments'), await count('audit_entries')]).toEqual([records + 1, audited + 1]);
  });

  test('a debit and a payment never spend the same money', async () => {
    const other = await world.account(clientId);
    const account = await world.account(clientId, { amount: 10 });
    const outgoingTransfer = {
      clientId,
      currency: 'GBP',
      amount: 8,
      scope: 'internal',
      source: { type: 'client-account', accountId: account },
      destination: { type: 'client-account', accountId: other },
    };
    const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
    const answers = await together(account, [
      () => debit(account, 8),
      () => api.call('POST', '/outgoing-transfers', body),
    ]);
    expect(answers.map(statusOf).sort()).toEqual([201, 422]);
    expect(await world.balance(account)).toMatchObject({ available: 2 });
  });

  test('forty debits and credits leave exactly the sum of those that were answered with 201', async () => {
    const account = await world.account(clientId, { amount: 5 });
    const amounts = Array.from({ length: 40 }, (_, index) => (index % 3 === 0 ? 2 : -3));
    const answers = await Promise.all(
      amounts.map((amount) => (amount < 0 ? debit(account, -amount) : adjust(account, { amount }))),
    );
    expect(answers.every(({ status }) => status === 201 || status === 422)).toBe(true);
    const made = amounts.filter((_, index) => answers[index]?.status === 201);
    expect(await world.balance(account)).toMatchObject({ available: made.reduce((sum, amount) => sum + amount, 5) });
    expect(await world.statement(account)).toHaveLength(made.length + 1);
  });
});

describe('with an Idempotency-Key', () => {
  test('a repeated request is answered byte for byte, and another body is rejected', async () => {
    const account = await world.account(clientId, { amount: 10 });
    const key = randomUUID();
    const first = await debit(account, 2, { key });
    const again = await debit(account, 2, { key });
    expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
    expect(again.headers.get('x-idempotency-status')).toBe('replayed');
    const other = await debit(account, 3, { key });
    expect([other.status, other.body.code]).toEqual([409, 'common.idempotency.key_reused']);
    expect(await world.balance(account)).toMatchObject({ available: 8 });
  });

  test('a rejected request leaves the key free, and nothing behind', async () => {
    const account = await world.account(clientId, { amount: 1 });
    const key = randomUUID();
    const before = [await count('postings'), await count('balance_adjustments'), await count('audit_entries')];
    expect((await debit(account, 2, { key })).status).toBe(422);
    expect([await count('postings'), await count('balance_adjustments'), await count('audit_entries')]).toEqual(before);
    await world.credit(account, 1);
    expect((await debit(account, 2, { key })).status).toBe(201);
  });
});

test.each(['audit_entries', 'balance_adjustments'])('without its row in %s no money moves', async (table) => {
  const account = await world.account(clientId, { amount: 10 });
  const postings = await count('postings');
  await database.asOwner(`ALTER TABLE ${table} ADD CONSTRAINT rejects CHECK (false) NOT VALID`);
  try {
    expect((await debit(account, 2)).status).toBe(500);
  } finally {
    await database.asOwner(`ALTER TABLE ${table} DROP CONSTRAINT rejects`);
  }
  expect(await world.balance(account)).toMatchObject({ available: 10 });
  expect(await count('postings')).toBe(postings);
});

test('a taken transaction number is drawn again', async () => {
  const account = await world.account(clientId, { amount: 10 });
  // The trigger gives the next row the number of one that is there, once.
  const taken = (await debit(account, 1)).body.data.balanceAdjustment.transactionNumber;
  await database.asOwner(
    `CREATE SEQUENCE inserted;
     GRANT ALL ON SEQUENCE inserted TO PUBLIC;
     CREATE FUNCTION collide() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF nextval('inserted') = 1 THEN NEW.transaction_number := '${taken}'; END IF; RETURN NEW; END $$;
     CREATE TRIGGER collide BEFORE INSERT ON balance_adjustments FOR EACH ROW EXECUTE FUNCTION collide()`,
  );
  try {
    expect((await debit(account, 1)).status).toBe(201);
    const [row] = await api.database.reader.statement<{ inserted: bigint }>(
      'SELECT last_value AS inserted FROM inserted',
      [],
    );
    expect(row?.inserted).toBe(2n);
  } finally {
    await database.asOwner('DROP TRIGGER collide ON balance_adjustments');
  }
  expect(await world.balance(account)).toMatchObject({ available: 8 });
});

test('the check of what is new covers adjustments made since the last one, and those of an older account', async () => {
  const account = await world.account(clientId, { amount: 10 });
  expect((await debit(account, 1)).status).toBe(201);
  expect(await checkLedgerSince(api.database)).toEqual([]);
  expect((await adjust(account, { amount: 2 })).status).toBe(201);
  expect(await checkLedgerSince(api.database)).toEqual([]);
});

test('the answer says that the route is deprecated, since when and where to read more, and names no end', async () => {
  const { headers, status } = await adjust(await world.account(clientId), {});
  expect(status).toBe(201);
  expect(headers.get('deprecation')).toBe(`@${Date.parse('2023-06-01T00:00:00Z') / 1000}`);
  expect(headers.get('link')).toBe('</docs>; rel="deprecation"; type="text/html"');
  expect(headers.get('sunset')).toBeNull();
});
