import { randomUUID } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSandboxBank } from '../../../activities/providers/sandbox-bank.ts';
import { compareStatements } from '../../../activities/reconciliation/reconciliation.ts';
import { checkLedger } from '../../../db/ledger/check.ts';
import type { Json } from '../../harness/api.ts';
import { type AccountAsked, migrateAccount, migrateClient } from '../../harness/parties/migration.ts';
import { eventually, SANDBOX_SECRET } from '../../harness/servers/sandbox.ts';
import { type AccountsAtBank, startAccountsAtBank } from '../../harness/workflows/accounts-at-bank.ts';

// Each fault lasts while an account is asked for and a payment to it comes in; the same request is repeated until it is answered.
let service: AccountsAtBank;
let clientId: string;

beforeAll(async () => {
  service = await startAccountsAtBank('account-migration-faults');
  const answer = await migrateClient(service.api, 'client-individual');
  expect(answer.status, answer.text).toBe(201);
  clientId = answer.body.data.client.id;
});

afterAll(() => service.stop());

type Fault = () => Promise<() => Promise<unknown> | unknown>;

const atBank =
  (faults: Json): Fault =>
  async () => {
    await service.outside('/faults', faults);
    return () => service.outside('/faults', { latencyMs: 0, errorRate: 0, cutRate: 0, callbacks: 'normal' });
  };

const none: Fault = async () => () => {};

/** The source id begins with the word that makes the bank's fault, if one does. */
const FAULTS: Readonly<Record<string, { readonly fault: Fault; readonly word?: string }>> = {
  'a bank that answers after the deadline': { fault: atBank({ latencyMs: 6_000 }) },
  'a bank that is unavailable': { fault: atBank({ errorRate: 1 }) },
  'a bank that cuts connections': { fault: atBank({ cutRate: 1 }) },
  'a connection that is cut after the hand-over': { fault: none, word: 'late-cut' },
  'a connection that is cut after the hand-over, and callbacks that are held back': {
    fault: atBank({ callbacks: 'held' }),
    word: 'late-cut',
  },
  'a silent connection to the bank': {
    fault: async () => {
      service.bankLink().hold();
      return () => service.bankLink().release();
    },
  },
  'a bank that is killed and started again': {
    fault: async () => {
      await service.killBank();
      return service.startBank;
    },
  },
  'database sessions that end': {
    fault: async () => {
      const end = () =>
        service.api.database.reader
          .execute(
            sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
          )
          .catch(() => {});
      await end();
      return end;
    },
  },
};

let accountNumbers = 81_000_000;

async function existing(word: string): Promise<string> {
  accountNumbers += 1;
  const sourceId = `${word}-${randomUUID()}`;
  const answer = await service.outside('/existing-accounts', {
    sourceId,
    clientSourceId: 'client-individual',
    currency: 'GBP',
    country: 'GB',
    balance: 50,
    accountNumber: String(accountNumbers),
    routingCodes: { 'sort-code': '040075' },
  });
  expect(answer.status).toBe(201);
  return sourceId;
}

async function listed(sourceId: string): Promise<Json> {
  const { accounts } = await service.look('/existing-accounts');
  return accounts.find((account: Json) => account.sourceId === sourceId);
}

/** Asks again, with the same key, until the service can answer. */
function answered(asked: AccountAsked, key: string) {
  return eventually('the migration is answered', async () => {
    const answer = await migrateAccount(service.api, asked, { key });
    return answer.status === 503 || answer.status === 500 ? undefined : answer;
  });
}

async function payIn({ accountNumber, routingCodes }: Json, amount: number): Promise<void> {
  const payment = { amount, currency: 'GBP', scheme: 'faster-payments', accountNumber, routingCodes };
  const answer = await service.outside('/payments-in', payment);
  expect(answer.status).toBe(201);
}

async function holds(id: string, amount: number): Promise<void> {
  await eventually(`account ${id} holds ${amount}`, async () =>
    (await service.read(id)).availableBalance === amount ? true : undefined,
  );
}

/** The differences between the bank's statement and our books, as the comparison finds them, and those that are still open. */
async function differences(): Promise<Json[]> {
  const { database } = service.api;
  const url = `http://127.0.0.1:${service.bankLink().port}`;
  const providers = new Map([['sandbox-bank', createSandboxBank({ url, secret: SANDBOX_SECRET })]]);
  const logger = pino({ level: 'silent' });
  await new MockActivityEnvironment().run(() => compareStatements({ database, providers, logger }, {}, 0));
  return database.reader.statement<Json>(
    `SELECT kind, our_reference AS reference FROM reconciliation_breaks WHERE status = 'open'`,
    [],
  );
}

describe('one account with its balance, and with every payment once, in spite of', () => {
  test.each(Object.keys(FAULTS))('%s', async (name) => {
    const { fault = none, word = 'any' } = FAULTS[name] ?? {};
    const asked = { sourceId: await existing(word), clientId };
    const there = await listed(asked.sourceId);
    const key = randomUUID();
    const heal = await fault();
    const first = await migrateAccount(service.api, asked, { key });
    expect([201, 503]).toContain(first.status);
    if (!name.includes('killed')) await payIn(there, 20);
    await heal();
    if (name.includes('killed')) await payIn(there, 20);

    const answer = await answered(asked, key);
    expect(answer.status, answer.text).toBe(201);
    if (first.status === 201) expect(answer.text).toBe(first.text);
    const { account } = answer.body.data;
    expect((await listed(asked.sourceId)).ourReference).toBe(account.id);
    await holds(account.id, 70);
    expect(await service.eventTypes(account.id)).toEqual(['connection-created', 'account-activated']);
    const again = await migrateAccount(service.api, asked);
    expect([again.status, again.body.code]).toEqual([409, 'common.state.illegal_transition']);
    expect(await differences()).toEqual([]);
    expect(await checkLedger(service.api.database.reader)).toEqual([]);
  });
});

test('a hand-over that is not finished is a difference for an operator until it is', async () => {
  const asked = { sourceId: await existing('late-cut'), clientId };
  expect((await migrateAccount(service.api, asked)).status).toBe(503);
  const { ourReference } = await listed(asked.sourceId);
  expect(await differences()).toEqual([{ kind: 'statement-unknown-payment', reference: ourReference }]);
  expect((await migrateAccount(service.api, asked)).status).toBe(201);
  expect(await differences()).toEqual([]);
});

test('a migrated account is an ordinary one: it receives, pays and closes', async () => {
  const asked = { sourceId: 'account-individual-gbp', clientId };
  const answer = await answered(asked, randomUUID());
  const { id, iban } = answer.body.data.account;
  const paid = { amount: 49.25, currency: 'GBP', scheme: 'faster-payments', iban };
  expect((await service.outside('/payments-in', paid)).status).toBe(201);
  await holds(id, 1300);
  const notEmpty = await service.close(id);
  expect([notEmpty.status, notEmpty.body.code]).toEqual([422, 'account.close.not_empty']);

  const other = await service.reaches((await service.issue({})).id, ['active']);
  const beneficiary = await service.api.call('POST', '/beneficiaries', {
    workflow: { code: 'direct' },
    data: {
      beneficiary: {
        clientId,
        fullName: 'Ann Payee',
        bankAccounts: [
          { country: 'GB', currency: 'GBP', accountNumber: '31926819', routingCodes: { 'sort-code': '601613' } },
        ],
      },
    },
  });
  const { bankAccounts } = beneficiary.body.data.beneficiary;
  const payment = { clientId, currency: 'GBP', source: { type: 'client-account', accountId: id } };
  const pay = async (fields: Json) => {
    const outgoingTransfer = { ...payment, ...fields };
    const made = await service.api.call('POST', '/outgoing-transfers', {
      workflow: { code: 'client.direct' },
      data: { outgoingTransfer },
    });
    expect(made.status, made.text).toBe(201);
    const path = `/outgoing-transfers/${made.body.data.outgoingTransfer.id}`;
    await eventually('the payment is completed', async () =>
      (await service.api.call('GET', path)).body.data.outgoingTransfer.status === 'completed' ? true : undefined,
    );
  };
  const destination = { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccounts[0].id };
  await pay({ amount: 1000, scope: 'external', scheme: 'faster-payments', destination });
  await pay({ amount: 300, scope: 'internal', destination: { type: 'client-account', accountId: other.id } });
  expect((await service.close(id)).status).toBe(200);
  expect(await service.reaches(id, ['closed'])).toMatchObject({
    connection: { state: 'completed-up-to-date', status: 'closed', error: null },
  });
  expect(await service.eventTypes(id)).toEqual([
    'connection-created',
    'account-activated',
    'connection-update-instructed',
    'connection-updated',
    'account-closed',
  ]);
  expect(await differences()).toEqual([]);
  expect(await checkLedger(service.api.database.reader)).toEqual([]);
});
