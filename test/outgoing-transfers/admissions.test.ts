import { EventEmitter, once } from 'node:events';
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkLedger } from '../../db/ledger/check.ts';
import { lockAccounts } from '../../db/ledger/ledger.ts';
import { admitWaitingTransfers } from '../../db/outgoing-transfers/admissions.ts';
import type { AccountId, ClientId, OutgoingTransferId } from '../../domain/common/ids.ts';
import { lockWaiters } from '../harness/servers/locks.ts';
import { credit, type Stage, setStage, until } from '../harness/stage.ts';

// Transfers that wait for money, and the credits that let them go. Temporal has no part in it.

let stage: Stage;
const lines: string[] = [];

beforeAll(async () => {
  const logger = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) });
  stage = await setStage({ name: 'admissions', address: '127.0.0.1:1', logger });
});

afterAll(async () => {
  expect(await checkLedger(stage.database.reader)).toEqual([]);
  await stage.close();
});

interface Waiting {
  readonly id: AccountId;
  readonly clientId: ClientId;
  readonly transfers: readonly OutgoingTransferId[];
}

/** An account without money, and transfers from it of these amounts, in their order. */
async function waiting(amountsMinor: readonly bigint[]): Promise<Waiting> {
  const account = await stage.account(0n);
  const transfers: OutgoingTransferId[] = [];
  for (const amountMinor of amountsMinor) transfers.push(await stage.transfer(account, { amountMinor }));
  return { ...account, transfers };
}

async function pendingOf({ id }: Waiting): Promise<number> {
  const [row] = await stage.database.reader.execute<{ count: number }>(
    sql`SELECT count(*)::integer AS count FROM outgoing_transfers WHERE account_id = ${id} AND status = 'pending'`,
  );
  return row?.count ?? 0;
}

async function processingOf({ transfers }: Waiting): Promise<number[]> {
  const rows = await Promise.all(transfers.map((id) => stage.find(id)));
  return rows.flatMap(({ status }, index) => (status === 'processing' ? [index] : []));
}

function admit(account: Waiting, batchSize?: number) {
  return stage.database.transaction((tx) => admitWaitingTransfers(tx, account.id, stage.configuration, batchSize));
}

test('the oldest that fit go first, whatever the size of a batch; a small one may pass a large one', async () => {
  for (const batchSize of [1, 2, 100]) {
    const account = await waiting([60n, 50n, 30n, 20n, 10n]);
    await credit(stage.database, account.id, 100n);
    let admitted = 0;
    for (let more = true; more; ) {
      const batch = await admit(account, batchSize);
      admitted += batch.admitted;
      more = batch.more;
    }
    expect(admitted).toBe(3);
    expect(await processingOf(account)).toEqual([0, 2, 4]);
    expect(await admit(account)).toEqual({ admitted: 0, more: false, skipped: [] });
  }
});

test('transfers that do not fit are not read, however many there are', async () => {
  const account = await waiting([5_000n, 7n, 9_000n, 8n]);
  const [model = ''] = account.transfers;
  await stage.database.reader.execute(sql`
    WITH model AS (SELECT * FROM outgoing_transfers WHERE id = ${model}), copies AS (
      INSERT INTO outgoing_transfers (id, transaction_number, client_id, account_id, status, scope, scheme, currency, amount_minor,
        transfer_date, original_transfer_date, beneficiary_id, beneficiary_bank_account_id, beneficiary, authorization_status,
        compliance_check_status, transfer_date_status, balance_check_status, method, provider, waiting_for, event_sequence,
        created_at, updated_at)
      SELECT uuidv7(), '20260103-' || n, client_id, account_id, status, scope, scheme, currency, 1000 + n, transfer_date,
        original_transfer_date, beneficiary_id, beneficiary_bank_account_id, beneficiary, authorization_status,
        compliance_check_status, transfer_date_status, balance_check_status, method, provider, waiting_for, 1, created_at, updated_at
      FROM model, generate_series(100000, 104999) AS n RETURNING id
    )
    INSERT INTO events (id, entry_count, module, resource_id, first_sequence, occurred_at, entries)
    SELECT (left(uuidv7()::text, 35) || '0')::uuid, 1, 'outgoing-transfers', id, 1, service_now(), '[{"type": "outgoing-transfer-created", "data": {}}]'
    FROM copies`);
  await stage.testDatabase.asOwner('ANALYZE outgoing_transfers');
  await credit(stage.database, account.id, 20n);
  const read = await stage.database.transaction(async (tx) => {
    const rows = async () => {
      const [row] = await tx.execute<{ rows: number }>(sql`
        SELECT (pg_stat_get_xact_tuples_returned(relid) + coalesce(sum(pg_stat_get_xact_tuples_fetched(indexrelid)), 0))::integer AS rows
        FROM pg_stat_xact_user_tables JOIN pg_stat_user_indexes USING (relid)
        WHERE pg_stat_xact_user_tables.relname = 'outgoing_transfers' GROUP BY relid`);
      return row?.rows ?? 0;
    };
    const before = await rows();
    expect(await admitWaitingTransfers(tx, account.id, stage.configuration)).toEqual({
      admitted: 2,
      more: false,
      skipped: [],
    });
    return (await rows()) - before;
  });
  expect(await processingOf(account)).toEqual([1, 3]);
  expect(read).toBeGreaterThan(0);
  expect(read).toBeLessThan(50);
});

test('a transfer whose scheme is no longer configured holds up no other of its account, is logged once by id and scheme, and goes when it is configured again', async () => {
  const account = await waiting([10n, 20n, 30n]);
  const [removed = '', ...others] = account.transfers;
  const rename = (from: string, to: string) =>
    stage.database.reader.execute(
      sql`UPDATE outgoing_transfers SET scheme = ${to} WHERE id = ${removed} AND scheme = ${from}`,
    );
  await rename('faster-payments', 'removed-scheme');
  await credit(stage.database, account.id, 1_000n);
  // The oldest, and the whole batch if it took a place.
  expect(await admit(account, 1)).toEqual({ admitted: 1, more: true, skipped: [] });
  const loop = stage.createAdmissions();
  loop.start();
  try {
    await until(
      () => pendingOf(account),
      (pending) => pending === 1,
    );
    const skipped = await admit(account);
    expect(skipped).toEqual({ admitted: 0, more: false, skipped: [{ id: removed, scheme: 'removed-scheme' }] });
    expect(await processingOf(account)).toEqual(others.map((_, index) => index + 1));
    const logged = () => lines.filter((line) => line.includes(removed)).map((line) => JSON.parse(line));
    await until(
      async () => logged().length,
      (count) => count > 0,
    );
    await rename('removed-scheme', 'faster-payments');
    await until(
      () => pendingOf(account),
      (pending) => pending === 0,
    );
    expect(logged()).toMatchObject([{ id: removed, scheme: 'removed-scheme' }]);
  } finally {
    await loop.stop();
  }
});

test('an account that takes long holds up no other: those are admitted while it has not begun', async () => {
  const slow = await waiting([1n, 1n]);
  const others: Waiting[] = [];
  for (let count = 0; count < 12; count += 1) others.push(await waiting([1n, 1n, 1n]));
  const steps = new EventEmitter();
  const locked = once(steps, 'locked');
  for (const { id } of [slow, ...others]) await credit(stage.database, id, 3n);
  const holding = stage.database.transaction(
    async (tx) => {
      await lockAccounts(tx, [slow.id]);
      steps.emit('locked');
      await once(steps, 'others admitted');
    },
    { deadlineMs: 100_000 },
  );
  await locked;
  const loop = stage.createAdmissions();
  loop.start();
  try {
    const left = async () => (await Promise.all(others.map(pendingOf))).reduce((sum, pending) => sum + pending, 0);
    // Before the deadline of the transaction that holds the slow one.
    await until(left, (pending) => pending === 0, 90_000);
    expect(await pendingOf(slow)).toBe(2);
  } finally {
    steps.emit('others admitted');
    await holding;
    await until(
      () => pendingOf(slow),
      (pending) => pending === 0,
    ).finally(() => loop.stop());
  }
});

test('accounts are processed in parallel', async () => {
  const accounts: Waiting[] = [];
  for (let count = 0; count < 6; count += 1) accounts.push(await waiting([1n]));
  for (const { id } of accounts) await credit(stage.database, id, 1n);
  const steps = new EventEmitter();
  const locked = once(steps, 'locked');
  const holding = stage.database.transaction(
    async (tx) => {
      await lockAccounts(
        tx,
        accounts.map(({ id }) => id),
      );
      steps.emit('locked');
      await once(steps, 'seen');
    },
    { deadlineMs: 100_000 },
  );
  await locked;
  const loop = stage.createAdmissions();
  loop.start();
  try {
    await until(
      () => lockWaiters(stage.database.reader),
      (sessions) => sessions === 4,
    );
  } finally {
    steps.emit('seen');
    await holding;
    await until(
      async () => (await Promise.all(accounts.map(pendingOf))).reduce((sum, pending) => sum + pending, 0),
      (pending) => pending === 0,
    ).finally(() => loop.stop());
  }
});

test('accounts where many wait take turns with the others, also when they are more than the lanes', async () => {
  const many: Waiting[] = [];
  for (let count = 0; count < 6; count += 1) many.push(await waiting(Array.from({ length: 210 }, () => 1n)));
  const few: Waiting[] = [];
  for (let count = 0; count < 10; count += 1) few.push(await waiting([1n, 1n]));
  for (const { id } of [...many, ...few]) await credit(stage.database, id, 1_000n);
  const loop = stage.createAdmissions();
  loop.start();
  const all = [...many, ...few];
  const left = async () => (await Promise.all(all.map(pendingOf))).reduce((sum, pending) => sum + pending, 0);
  await until(left, (pending) => pending === 0).finally(() => loop.stop());
  const lastOf = async (accounts: readonly Waiting[]) => {
    const ids = accounts.map(({ id }) => id).join(',');
    const rows = await stage.database.reader.execute<{ at: Date }>(sql`
      SELECT max(updated_at) AS at FROM outgoing_transfers WHERE account_id = ANY (${`{${ids}}`}::uuid[]) GROUP BY account_id`);
    return rows.map(({ at }) => at.getTime());
  };
  expect(Math.max(...(await lastOf(few)))).toBeLessThan(Math.min(...(await lastOf(many))));
});

test('accounts whose admission fails, more than the lanes, hold up no other; each is logged once, and continues when it can', async () => {
  const broken: Waiting[] = [];
  for (let count = 0; count < 5; count += 1) broken.push(await waiting([1n]));
  const sound: Waiting[] = [];
  for (let count = 0; count < 5; count += 1) sound.push(await waiting([1n, 1n]));
  const ids = broken.map(({ id }) => `'${id}'`).join(', ');
  await stage.testDatabase.asOwner(
    `CREATE FUNCTION reject_admission() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'rejected' USING ERRCODE = 'P0001'; END $$;
     CREATE TRIGGER rejected BEFORE UPDATE OF status ON outgoing_transfers FOR EACH ROW
      WHEN (OLD.account_id IN (${ids}) AND NEW.status = 'processing') EXECUTE FUNCTION reject_admission()`,
  );
  for (const { id } of [...broken, ...sound]) await credit(stage.database, id, 10n);
  const loop = stage.createAdmissions();
  const left = async (accounts: readonly Waiting[]) =>
    (await Promise.all(accounts.map(pendingOf))).reduce((sum, pending) => sum + pending, 0);
  loop.start();
  try {
    await until(
      () => left(sound),
      (pending) => pending === 0,
    );
    expect(await left(broken)).toBe(5);
    await stage.testDatabase.asOwner('DROP TRIGGER rejected ON outgoing_transfers');
    await until(
      () => left(broken),
      (pending) => pending === 0,
    );
  } finally {
    await loop.stop();
  }
  const logged = lines.map((line) => JSON.parse(line)).filter(({ accountId }) => accountId !== undefined);
  expect(logged.map(({ accountId }) => accountId).sort()).toEqual(broken.map(({ id }) => id).sort());
});
