import { readFileSync } from 'node:fs';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase } from '../../db/client.ts';
import { checkLedger, findViolationsSince } from '../../db/ledger/check.ts';
import { sweepFeesOnce } from '../../db/ledger/sweeps/fee-sweeps.ts';
import { sqlState } from '../../db/postgres/failures.ts';
import type { Database, Reader, Transaction } from '../../db/query/database.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

let database: TestDatabase;
let api: TestApi;
let owner: Database;
let world: MoneyWorld;
let payer: string;
let source: string;
let destination: string;
let subAccount: string;
let settled: Json;
let waiting: Json;
let processing: Json;

const fixedFee = (amount: number) => ({
  direction: null,
  scheme: null,
  currency: 'GBP',
  fixedMinor: BigInt(amount),
  pricing: null,
});

beforeAll(async () => {
  database = await createTestDatabase('ledger-rules');
  // A fixed fee of 5 pence, so that the books hold fees too.
  api = await startApi(database, { configuration: (configuration) => ({ ...configuration, prices: [fixedFee(5)] }) });
  owner = createDatabase({ url: database.ownerUrl, maxConnections: 2, applicationName: 'owner', deadlineMs: 60_000 });
  world = moneyWorld(api);
  payer = await world.client('Ada');
  source = await world.account(payer, { amount: 100 });
  destination = await world.account(await world.client('Grace'), { amount: 1 });
  const bankAccount = await world.beneficiary(payer);
  const external = {
    scope: 'external',
    scheme: 'faster-payments',
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount },
  };
  subAccount = await openSubAccount(destination);
  settled = await send({ amount: 10 });
  waiting = await send({ amount: 5, transferDate: inAYear() });
  processing = await send({ amount: 7, ...external });
  await adjust('credit', 3);
  await adjust('debit', 2);
  await api.database.transaction(async (tx) => {
    await tx.execute(sql`SELECT system_account('custom-bank', 'GBP', 'suspense')`);
    await tx.execute(sql`
      INSERT INTO system_account_checkpoints SELECT account.id, max(posting.id), -sum(posting.amount_minor)
      FROM system_accounts account JOIN postings posting ON posting.debit_account_id = account.id
      WHERE account.kind = 'settlement' GROUP BY account.id`);
    await sweepFeesOnce(tx, '2026-01-01');
  });
});

afterAll(async () => {
  await owner.close();
  await api.stop();
  await database.drop();
});

async function send(change: Json): Promise<Json> {
  const outgoingTransfer = {
    clientId: payer,
    currency: 'GBP',
    scope: 'internal',
    source: { type: 'client-account', accountId: source },
    destination: { type: 'client-account', accountId: destination },
    ...change,
  };
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
  const answer = await api.call('POST', '/outgoing-transfers', body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.outgoingTransfer;
}

async function openSubAccount(mainAccountId: string): Promise<string> {
  const body = { workflow: { code: 'client.sub-account' }, data: { account: { mainAccountId } } };
  const answer = await api.call('POST', '/accounts', body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.account.id;
}

async function adjust(direction: string, amount: number): Promise<void> {
  const workflow = { code: 'correction', type: 'unknown', transactionType: 'incoming-transfer' };
  const balanceAdjustment = { accountId: destination, direction, amount, currency: 'GBP' };
  const path = `/accounts/${destination}/balance-adjustments`;
  const answer = await api.call('POST', path, { workflow, data: { balanceAdjustment } }, { as: 'admin' });
  expect(answer.status, answer.text).toBe(201);
}

function inAYear(): string {
  return new Date(Date.now() + 365 * 86_400_000).toISOString().slice(0, 10);
}

/** The names that statements use, as literals of this database. */
function filled(text: string): string {
  const names: Record<string, string> = {
    source,
    destination,
    subAccount,
    settled: settled.id,
    waiting: waiting.id,
    processing: processing.id,
    arriving: settled.incomingTransferId,
  };
  return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => `'${names[name] ?? name}'`);
}

const CHECK_VIOLATED = '23514';
const UNIQUE_VIOLATED = '23505';
const FOREIGN_KEY_VIOLATED = '23503';
const NOT_NULL_VIOLATED = '23502';
const APPEND_ONLY = '23001';
const INTEGRITY_VIOLATED = '23000';

/** SQL that must never change the books, with the code of Postgres's rejection. */
const FORBIDDEN: readonly [guarantee: string, statement: string, code: string][] = [
  [
    'an account is never overdrawn',
    `UPDATE accounts SET posted_minor = -1, reserved_minor = 0 WHERE id = {source}`,
    CHECK_VIOLATED,
  ],
  [
    'no more is reserved than is there',
    `UPDATE accounts SET reserved_minor = posted_minor + 1 WHERE id = {source}`,
    CHECK_VIOLATED,
  ],
  [
    'a reservation is never negative',
    `UPDATE accounts SET reserved_minor = -1 WHERE id = {destination}`,
    CHECK_VIOLATED,
  ],
  [
    'what is on its way is never negative',
    `UPDATE accounts SET receivable_minor = -1 WHERE id = {source}`,
    CHECK_VIOLATED,
  ],
  [
    'a sub-account has a main account that exists',
    `UPDATE accounts SET main_account_id = '019a9f3c-6b1d-7a02-8a55-0c1a1e5b9f20' WHERE id = {destination}`,
    FOREIGN_KEY_VIOLATED,
  ],
  [
    'a sub-account has no sub-accounts',
    `UPDATE accounts SET main_account_id = {subAccount} WHERE id = {source}`,
    FOREIGN_KEY_VIOLATED,
  ],
  [
    'a main account is locked before its sub-accounts',
    `UPDATE accounts SET main_account_id = {destination} WHERE id = {source}`,
    CHECK_VIOLATED,
  ],
  [
    'an account with money is not closed',
    `UPDATE accounts SET status = 'closed' WHERE id = {destination}`,
    CHECK_VIOLATED,
  ],
  [
    'an account with money is not declined',
    `UPDATE accounts SET status = 'declined' WHERE id = {source}`,
    CHECK_VIOLATED,
  ],
  ['an account has no unknown status', `UPDATE accounts SET status = 'frozen' WHERE id = {source}`, CHECK_VIOLATED],
  ['a posting is never changed', `UPDATE postings SET amount_minor = amount_minor + 1`, APPEND_ONLY],
  ['a posting is never removed', `DELETE FROM postings`, APPEND_ONLY],
  ['postings are never truncated', `TRUNCATE postings`, APPEND_ONLY],
  ['a fee sweep is never changed', `UPDATE fee_sweeps SET amount_minor = amount_minor + 1`, APPEND_ONLY],
  ['a fee sweep is never removed', `DELETE FROM fee_sweeps`, APPEND_ONLY],
  ['fee sweeps are never truncated', `TRUNCATE fee_sweeps`, APPEND_ONLY],
  [
    'a balance adjustment is never changed',
    `UPDATE balance_adjustments SET amount_minor = amount_minor + 1`,
    APPEND_ONLY,
  ],
  ['a balance adjustment is never removed', `DELETE FROM balance_adjustments`, APPEND_ONLY],
  ['balance adjustments are never truncated', `TRUNCATE balance_adjustments`, APPEND_ONLY],
  ['a balance adjustment has a positive amount', adjustment({ amount_minor: '0' }), CHECK_VIOLATED],
  ['a balance adjustment has its posting for itself', adjustment({}), UNIQUE_VIOLATED],
  ['a correction has a transaction type', adjustment({ workflow_transaction_type: 'NULL' }), CHECK_VIOLATED],
  ['a correction has its own types', adjustment({ workflow_type: `'unconnected-service-provider'` }), CHECK_VIOLATED],
  ['a synchronization has its own type', adjustment({ workflow_code: `'synchronization'` }), CHECK_VIOLATED],
  [
    'an unconnected provider is named where it is concerned',
    adjustment({ workflow_transaction_type: `'unconnected-service-provider'` }),
    CHECK_VIOLATED,
  ],
  [
    'an unconnected provider is named nowhere else',
    adjustment({ unconnected_service_provider: `'Other Bank'` }),
    CHECK_VIOLATED,
  ],
  ['a posting moves a positive amount', posting({ amount: 0 }), CHECK_VIOLATED],
  ['a posting moves no negative amount', posting({ amount: -5 }), CHECK_VIOLATED],
  ['a posting has two accounts', posting({ credit: '{source}' }), CHECK_VIOLATED],
  ['a posting has a debited account', posting({ debit: 'NULL' }), NOT_NULL_VIOLATED],
  ['a posting has a credited account', posting({ credit: 'NULL' }), NOT_NULL_VIOLATED],
  ['a version comes with its balance', posting({ debitVersion: '900' }), CHECK_VIOLATED],
  ['no entry shows a negative balance', posting({ debitVersion: '900', debitBalance: '-1' }), CHECK_VIOLATED],
  ['a posting is in a currency of both accounts', ledgerPost({ currency: 'EUR' }), INTEGRITY_VIOLATED],
  ['a posting is to an account that exists', ledgerPost({ credit: 'uuidv7()' }), INTEGRITY_VIOLATED],
  ['a posting takes no more than is there', ledgerPost({ amount: 1_000_000 }), CHECK_VIOLATED],
  ['a posting takes nothing that is reserved', ledgerPost({ amount: 8_900 }), CHECK_VIOLATED],
  [
    'a processing transfer holds its reservation',
    `UPDATE outgoing_transfers SET reserved_minor = 0 WHERE id = {processing}`,
    CHECK_VIOLATED,
  ],
  [
    'a reservation is amount and fee',
    `UPDATE outgoing_transfers SET reserved_minor = amount_minor WHERE id = {processing}`,
    CHECK_VIOLATED,
  ],
  [
    'a pending transfer holds no reservation',
    `UPDATE outgoing_transfers SET reserved_minor = amount_minor WHERE id = {waiting}`,
    CHECK_VIOLATED,
  ],
  [
    'a final transfer keeps no reservation',
    `UPDATE outgoing_transfers SET status = 'completed' WHERE id = {processing}`,
    CHECK_VIOLATED,
  ],
  [
    'a transfer has a positive amount',
    `UPDATE outgoing_transfers SET amount_minor = 0 WHERE id = {waiting}`,
    CHECK_VIOLATED,
  ],
  ['a fee is not negative', `UPDATE outgoing_transfers SET fee_minor = -1 WHERE id = {waiting}`, CHECK_VIOLATED],
  [
    'a transfer has no unknown status',
    `UPDATE outgoing_transfers SET status = 'paid' WHERE id = {waiting}`,
    CHECK_VIOLATED,
  ],
  [
    'only a completed transfer comes back',
    `UPDATE outgoing_transfers SET returned = true WHERE id = {waiting}`,
    CHECK_VIOLATED,
  ],
  [
    'a transfer goes to another account',
    `UPDATE outgoing_transfers SET destination_account_id = account_id WHERE id = {waiting}`,
    CHECK_VIOLATED,
  ],
  [
    'an external transfer has a scheme',
    `UPDATE outgoing_transfers SET scheme = NULL WHERE id = {processing}`,
    CHECK_VIOLATED,
  ],
  ['a transaction number is used once', `UPDATE outgoing_transfers SET transaction_number = 'taken'`, UNIQUE_VIOLATED],
  [
    'a final incoming transfer is on its way no more',
    `UPDATE incoming_transfers SET receivable_minor = amount_minor WHERE id = {arriving}`,
    CHECK_VIOLATED,
  ],
  [
    'a completed incoming transfer has an account',
    `UPDATE incoming_transfers SET account_id = NULL WHERE id = {arriving}`,
    CHECK_VIOLATED,
  ],
  [
    'an incoming fee is at most the amount',
    `UPDATE incoming_transfers SET fee_minor = amount_minor + 1 WHERE id = {arriving}`,
    CHECK_VIOLATED,
  ],
  [
    'a transfer has one incoming transfer',
    `UPDATE incoming_transfers SET outgoing_transfer_id = {settled} WHERE outgoing_transfer_id = {waiting}`,
    UNIQUE_VIOLATED,
  ],
  ['a client with accounts is not removed', `DELETE FROM clients`, FOREIGN_KEY_VIOLATED],
  [
    'a system account is one of its kind',
    `INSERT INTO system_accounts SELECT uuidv7(), provider, currency, kind FROM system_accounts`,
    UNIQUE_VIOLATED,
  ],
];

function posting(change: {
  amount?: number;
  debit?: string;
  credit?: string;
  debitVersion?: string;
  debitBalance?: string;
}): string {
  const {
    amount = 1,
    debit = '{source}',
    credit = '{destination}',
    debitVersion = 'NULL',
    debitBalance = 'NULL',
  } = change;
  return `INSERT INTO postings (posted_at, debit_account_id, credit_account_id, amount_minor, debit_version,
      debit_balance_after_minor, currency, debit_transaction_number, credit_transaction_number, debit_transaction_type,
      credit_transaction_type, entry_type)
    VALUES (now(), ${debit}, ${credit}, ${amount}, ${debitVersion}, ${debitBalance}, 'GBP', 'x', 'x',
      'outgoing-transfer', 'incoming-transfer', 'principal')`;
}

/** A copy of an adjustment with other values. */
function adjustment(change: Readonly<Record<string, string>>): string {
  const columns =
    `id account_id posting_id transaction_number workflow_code workflow_type workflow_transaction_type direction
    currency amount_minor unconnected_service_provider created_at`.split(/\s+/);
  const own: Readonly<Record<string, string>> = { id: 'uuidv7()', transaction_number: `'x'`, ...change };
  return `INSERT INTO balance_adjustments (${columns.join(', ')})
    SELECT ${columns.map((column) => own[column] ?? column).join(', ')} FROM balance_adjustments LIMIT 1`;
}

function ledgerPost(change: { amount?: number; credit?: string; currency?: string }): string {
  const { amount = 1, credit = '{destination}', currency = 'GBP' } = change;
  return `SELECT ledger_post(now(), {source}, ${credit}, ${amount}, '${currency}', 'x', 'x', 'outgoing-transfer',
    'incoming-transfer', 'principal', NULL, NULL, NULL)`;
}

class RolledBack extends Error {}

/** Runs the work as the owner of the tables, in a transaction that is rolled back. */
async function rolledBack<Value>(work: (tx: Transaction) => Promise<Value>): Promise<Value> {
  let value: { readonly of: Value } | null = null;
  const run = owner.transaction(async (tx) => {
    value = { of: await work(tx) };
    throw new RolledBack();
  });
  await run.catch((error: unknown) => {
    if (!(error instanceof RolledBack)) throw error;
  });
  const kept = value as { readonly of: Value } | null;
  if (kept === null) throw new Error('the work gave nothing');
  return kept.of;
}

describe('the database itself rejects', () => {
  test.each(FORBIDDEN)('%s', async (_guarantee, statement, code) => {
    const outcome = await rolledBack((tx) => tx.statement(filled(statement), [])).then(
      () => 'accepted',
      (error: unknown) => sqlState(error) ?? String(error),
    );
    expect(outcome).toBe(code);
    expect(await checkLedger(api.database.reader)).toEqual([]);
  });
});

/** One defect per invariant: what a mistake, a bad migration or manual SQL could leave behind. */
const DEFECTS: Readonly<Record<string, readonly string[]>> = {
  'a currency sums to zero': [`UPDATE accounts SET posted_minor = posted_minor + 100 WHERE id = {destination}`],
  'both sides of a posting are accounts in its currency': [
    `UPDATE postings SET currency = 'EUR' WHERE outgoing_transfer_id = {settled} AND entry_type = 'fee'`,
  ],
  'client sides have versions, system sides have none': [
    `UPDATE postings SET debit_version = NULL, debit_balance_after_minor = NULL WHERE outgoing_transfer_id = {settled} AND entry_type = 'fee'`,
  ],
  'a balance is the sum of its entries': [`UPDATE accounts SET posted_minor = posted_minor + 1 WHERE id = {source}`],
  'versions have no gaps': [`UPDATE accounts SET version = version + 1 WHERE id = {source}`],
  'an entry follows from the one before it': [
    `UPDATE postings SET debit_balance_after_minor = debit_balance_after_minor + 1 WHERE outgoing_transfer_id = {settled} AND entry_type = 'principal'`,
  ],
  'no available balance is negative': [
    `ALTER TABLE accounts DROP CONSTRAINT accounts_available_not_negative`,
    `UPDATE accounts SET reserved_minor = posted_minor + 1 WHERE id = {source}`,
  ],
  'reserved is the sum of open reservations': [
    `UPDATE accounts SET reserved_minor = reserved_minor - 1 WHERE id = {source}`,
  ],
  'receivable is the sum of what is on its way': [`UPDATE accounts SET receivable_minor = 1 WHERE id = {source}`],
  'an outgoing transfer is posted exactly as its status says': [
    `UPDATE outgoing_transfers SET status = 'released', reserved_minor = 0 WHERE id = {processing}`,
  ],
  'a completed internal transfer has exactly one incoming one': [
    `DELETE FROM incoming_transfers WHERE id = {arriving}`,
  ],
  'an incoming internal transfer is completed only with its outgoing one': [
    `UPDATE outgoing_transfers SET status = 'failed' WHERE id = {settled}`,
  ],
  'an incoming transfer is credited exactly when it is completed': [
    `UPDATE incoming_transfers SET status = 'completed', transfer_date = '2026-01-01' WHERE outgoing_transfer_id = {waiting}`,
  ],
  "suspense holds what has arrived and is not yet a client's": [
    `UPDATE incoming_transfers SET in_suspense = true WHERE id = {arriving}`,
  ],
  'a checkpoint is the sum of the postings up to it': [
    `UPDATE system_account_checkpoints SET balance_minor = balance_minor + 1`,
  ],
  'a fee sweep is posted as it is recorded': [`UPDATE fee_sweeps SET amount_minor = amount_minor + 1`],
  'a balance adjustment is posted as it is recorded': [
    `UPDATE balance_adjustments SET amount_minor = amount_minor + 1`,
  ],
  'a sub-account repeats the status of its main account': [
    `UPDATE accounts SET main_account_status = 'suspended' WHERE id = {subAccount}`,
  ],
  'a payment has come back by the sum of its returns': [
    `UPDATE outgoing_transfers SET returned = true, returned_minor = 1 WHERE id = {settled}`,
  ],
  'a payment in is being returned by the sum of its returns': [
    `UPDATE incoming_transfers SET returning_minor = 1 WHERE id = {arriving}`,
  ],
  'a resource has recorded every event once': [`DELETE FROM events WHERE resource_id = {settled}`],
};

function rulesOf(file: string): string[] {
  const text = readFileSync(new URL(`../../db/ledger/${file}`, import.meta.url), 'utf8');
  const rules = [...text.matchAll(/^SELECT '((?:[^']|'')+)'/gm)].map(([, rule = '']) => rule.replaceAll("''", "'"));
  // A rule may need several statements.
  return [...new Set(rules)];
}

const RULES = rulesOf('invariants.sql');
/** Rules without a statement in the incremental check, and the rule that reveals their breach. */
const SEEN_SINCE: Readonly<Record<string, string>> = {
  'client sides have versions, system sides have none': 'versions have no gaps',
  'a checkpoint is the sum of the postings up to it': 'a currency sums to zero',
};

/** The rules that are broken after the statements, with triggers off as only a superuser can have them. */
async function brokenRulesAfter(
  statements: readonly string[],
  check: (reader: Reader) => Promise<readonly { readonly rule: string }[]> = checkLedger,
): Promise<string[]> {
  return rolledBack(async (tx) => {
    await tx.execute(sql`SET LOCAL session_replication_role = replica`);
    for (const statement of statements) await tx.statement(filled(statement), []);
    return [...new Set((await check(tx)).map(({ rule }) => rule))];
  });
}

describe('the invariant check', () => {
  test('finds nothing wrong with books that hold', async () => {
    expect(await checkLedger(api.database.reader)).toEqual([]);
    expect(await brokenRulesAfter([])).toEqual([]);
  });

  test('has a planted defect here for each of its rules', () => {
    expect(Object.keys(DEFECTS).sort()).toEqual([...RULES].sort());
  });

  test.each(Object.entries(DEFECTS))('detects a breach of: %s', async (rule, statements) => {
    expect(await brokenRulesAfter(statements)).toContain(rule);
  });
});

describe('the check of what is new', () => {
  test('finds nothing wrong with books that hold', async () => {
    expect(await findViolationsSince(api.database.reader)).toEqual([]);
  });

  test('has the rules of the whole check, but for those that another one shows', () => {
    const rules = RULES.filter((rule) => SEEN_SINCE[rule] === undefined);
    expect(rulesOf('invariants-since.sql').sort()).toEqual(rules.sort());
  });

  test.each(Object.entries(DEFECTS))('detects a breach of: %s', async (rule, statements) => {
    expect(await brokenRulesAfter(statements, findViolationsSince)).toContain(SEEN_SINCE[rule] ?? rule);
  });
});

test.each([
  ['without its record', `DELETE FROM fee_sweeps`],
  ['of another provider', `UPDATE fee_sweeps SET provider = 'sandbox-bank'`],
  [
    'with a posting to another account',
    `UPDATE postings SET credit_account_id = system_account('custom-bank', 'GBP', 'correction') WHERE debit_transaction_type = 'fee-sweep'`,
  ],
])('a fee sweep %s is seen by both checks', async (_defect, statement) => {
  const rule = 'a fee sweep is posted as it is recorded';
  expect(await brokenRulesAfter([statement])).toContain(rule);
  expect(await brokenRulesAfter([statement], findViolationsSince)).toContain(rule);
});

const ADJUSTMENTS = `debit_transaction_type = 'balance-adjustment'`;
test.each([
  ['without its record', `DELETE FROM balance_adjustments`],
  [
    'without its posting',
    `UPDATE postings SET debit_transaction_type = 'fee-sweep', credit_transaction_type = 'fee-sweep' WHERE ${ADJUSTMENTS}`,
  ],
  ['of another account', `UPDATE balance_adjustments SET account_id = {source}`],
  ['in the other direction', `UPDATE balance_adjustments SET direction = 'debit'`],
  ['of another kind', `UPDATE balance_adjustments SET workflow_type = 'fee'`],
  [
    'against another provider',
    `UPDATE postings SET credit_account_id = system_account('sandbox-bank', 'GBP', 'correction') WHERE ${ADJUSTMENTS} AND credit_version IS NULL`,
  ],
  ['under two numbers', `UPDATE postings SET credit_transaction_number = 'other' WHERE ${ADJUSTMENTS}`],
  [
    'under two numbers, and without its record',
    `UPDATE postings SET credit_transaction_number = 'other' WHERE ${ADJUSTMENTS}`,
    `DELETE FROM balance_adjustments`,
  ],
])('a balance adjustment %s is seen by both checks', async (_defect, ...statements) => {
  const rule = 'a balance adjustment is posted as it is recorded';
  expect(await brokenRulesAfter(statements)).toContain(rule);
  expect(await brokenRulesAfter(statements, findViolationsSince)).toContain(rule);
});
