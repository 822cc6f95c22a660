import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { newId } from '../../db/common/ids.ts';
import { lockAccounts } from '../../db/ledger/ledger.ts';
import { migrate, OWN_FILES } from '../../db/migrate.ts';
import { createOutgoingTransfer } from '../../db/outgoing-transfers/creation.ts';
import { drawTransactionNumber } from '../../db/transfers/transaction-numbers.ts';
import {
  type AccountId,
  asId,
  type BeneficiaryBankAccountId,
  type ClientId,
  type OutgoingTransferId,
} from '../../domain/common/ids.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

// The one writer of transfers, where what it is given, or what it writes to, is not what its callers have at hand today.

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let payer: string;

beforeAll(async () => {
  database = await createTestDatabase('transfer-changes');
  api = await startApi(database, { configuration: (configuration) => ({ ...configuration, prices: [] }) });
  world = moneyWorld(api);
  payer = await world.client('Ada');
});

afterEach(() => world.invariantsHold());

afterAll(async () => {
  await api.stop();
  await database.drop();
});

interface Guard {
  readonly account_id: string;
  readonly status?: string;
  readonly client_status?: string;
  readonly closing?: boolean;
  readonly available_minor?: number;
}

/** Applies a change that would only reserve one minor unit, if its guard holds. */
async function reserveOne(accountId: string, guard: Guard): Promise<string | undefined> {
  const moves = [{ account_id: accountId, reserved_minor: 1 }];
  const change = { account_ids: [accountId], guards: [guard], moves, postings: [], wakes: [] };
  const [row] = await api.database.statement<{ outcome: string }>(
    'SELECT outcome FROM apply_transfer_changes($1::json, false)',
    [JSON.stringify([change])],
  );
  return row?.outcome;
}

test('an incomplete guard, or one without an account, does not hold', async () => {
  const account = await world.account(payer, { amount: 1 });
  const whole = { account_id: account, status: 'active', client_status: 'active', closing: false, available_minor: 1 };
  for (const left of ['status', 'client_status', 'closing', 'available_minor']) {
    const guard = { ...whole, [left]: undefined };
    expect(await reserveOne(account, guard), `without ${left}`).toBe('not-applied');
  }
  expect(await reserveOne(account, { ...whole, account_id: randomUUID() })).toBe('not-applied');
  expect((await world.balance(account)).available).toBe(1);
});

async function makeExternal(account: string): Promise<{ accountsScanned: bigint }> {
  const { configuration } = api.services;
  const now = new Date();
  const of = { scheme: 'faster-payments', currency: 'GBP' };
  const transferDate = configuration.schemes.nextAvailableDate(of, now);
  const accountId = asId<AccountId>(account);
  return api.database.transaction(async (tx) => {
    const transfer = {
      id: newId<OutgoingTransferId>(),
      transactionNumber: drawTransactionNumber('outgoing-transfer', now),
      clientId: asId<ClientId>(payer),
      accountId,
      status: 'pending',
      scope: 'external',
      ...of,
      amountMinor: 1n,
      transferDate,
      originalTransferDate: transferDate,
      cutOffAt: configuration.schemes.cutOff(of, transferDate),
      beneficiaryBankAccountId: newId<BeneficiaryBankAccountId>(),
      authorizationStatus: 'not-required',
      complianceCheckStatus: 'not-required',
      transferDateStatus: 'not-checked',
      balanceCheckStatus: 'not-checked',
      method: 'plug-in',
      provider: 'custom-bank',
      createdAt: now,
      updatedAt: now,
    } as const;
    const accounts = await lockAccounts(tx, [accountId]);
    const [before] = await tx.statement<{ scanned: bigint }>(SCANNED, []);
    createOutgoingTransfer(tx, transfer, null, accounts, configuration);
    const [after] = await tx.statement<{ scanned: bigint }>(SCANNED, []);
    return { accountsScanned: (after?.scanned ?? -1n) - (before?.scanned ?? 0n) };
  });
}

const SCANNED = `SELECT seq_tup_read AS scanned FROM pg_stat_xact_user_tables WHERE relname = 'accounts'`;

test('a change finds its account by index, and never scans all of them', async () => {
  const account = await world.account(payer, { amount: 1_000 });
  await api.database.statement(
    `INSERT INTO accounts (id, client_id, status, method, provider, country, currency, alias, ledger_number, account_holder_name,
        account_holder_identity_type, created_at)
      SELECT uuidv7(), client_id, 'pending', method, provider, country, currency, alias, 'many-' || number, account_holder_name,
        account_holder_identity_type, created_at
      FROM accounts, generate_series(1, 2000) AS number WHERE id = $1`,
    [account],
  );
  await database.asOwner('ANALYZE accounts');
  // Postgres plans this many executions for their own parameters before it keeps a generic plan.
  for (let made = 0; made < 8; made += 1) expect(await makeExternal(account)).toEqual({ accountsScanned: 0n });
});

const DATED = { transferDate: new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10) };

async function sendInternal(from: string, to: string, further: Json = DATED): Promise<Json> {
  const answer = await api.call('POST', '/outgoing-transfers', {
    workflow: { code: 'client.direct' },
    data: {
      outgoingTransfer: {
        clientId: payer,
        currency: 'GBP',
        amount: 1,
        scope: 'internal',
        source: { type: 'client-account', accountId: from },
        destination: { type: 'client-account', accountId: to },
        ...further,
      },
    },
  });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.outgoingTransfer;
}

async function later(table: string, id: string): Promise<Json | undefined> {
  const [row] = await api.database.statement<Json>(`SELECT later FROM ${table} WHERE id = $1`, [id]);
  return row?.later;
}

/** A transfer that one statement does whole has no request noted. */
async function isOfOneStatement(id: string): Promise<boolean> {
  const [row] = await api.database.statement<Json>('SELECT request_id FROM outgoing_transfers WHERE id = $1', [id]);
  return row?.request_id === null;
}

/** Two columns more, as the migration of a later release adds them. */
async function migrateToLaterRelease(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'later-release-'));
  cpSync(OWN_FILES.migrations, directory, { recursive: true });
  const addition = 'ADD COLUMN later integer NOT NULL DEFAULT 7';
  writeFileSync(
    join(directory, '9000_later.sql'),
    `ALTER TABLE outgoing_transfers ${addition}; ALTER TABLE incoming_transfers ${addition};`,
  );
  try {
    await migrate(database.ownerUrl, { ...OWN_FILES, migrations: pathToFileURL(`${directory}/`) });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test('of a column that a later release has added, a new row gets the default, and a moved one keeps what it has', async () => {
  const [from, to] = [await world.account(payer, { amount: 10 }), await world.account(payer)];
  // Straight through, by the same connections before and after.
  for (let sent = 0; sent < 6; sent += 1) await sendInternal(from, to, {});
  await migrateToLaterRelease();
  const [writer] = await database.asOwner<{ text: string }>(
    `SELECT pg_get_functiondef('outgoing_transfers_write(transfer_change[], bigint)'::regprocedure) AS text`,
  );
  expect(writer?.text).toContain('coalesce(made.later, 7)');
  const { id, incomingTransferId } = await sendInternal(from, to);
  expect(await later('outgoing_transfers', id)).toBe(7);
  expect(await later('incoming_transfers', incomingTransferId)).toBe(7);
  const settled = await sendInternal(from, to, {});
  expect(await later('outgoing_transfers', settled.id)).toBe(7);
  expect(await isOfOneStatement(settled.id)).toBe(true);
  expect(await later('incoming_transfers', settled.incomingTransferId)).toBe(7);
  await api.database.statement('UPDATE outgoing_transfers SET later = 8 WHERE id = $1', [id]);
  const cancelled = await api.call('PATCH', `/outgoing-transfers/${id}`, {
    workflow: { code: 'client.direct' },
    data: { outgoingTransfer: { status: 'cancelled' } },
  });
  expect(cancelled.status, cancelled.text).toBe(200);
  expect(await later('outgoing_transfers', id)).toBe(8);
});
