import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createAccount } from '../../db/accounts/creation.ts';
import { EVERY_ENTRY, listStatementEntries } from '../../db/accounts/statements.ts';
import { createDatabase } from '../../db/client.ts';
import { newId } from '../../db/common/ids.ts';
import { lockAccounts, post } from '../../db/ledger/ledger.ts';
import type { Database } from '../../db/query/database.ts';
import { type AccountId, asId, type ClientId } from '../../domain/common/ids.ts';
import { TESTER } from '../harness/audit.ts';
import { createEntries } from '../harness/parties/entries.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase('account-statements');
  database = createDatabase({
    url: testDatabase.url,
    maxConnections: 10,
    applicationName: 'statements',
    deadlineMs: 60_000,
  });
});

afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

async function newAccounts(count: number): Promise<AccountId[]> {
  const clientId = newId<ClientId>();
  const number = clientId.slice(-10);
  await database.reader.execute(sql`
    INSERT INTO clients (id, client_number, status, identity_type, identity, profile, full_name, created_at)
    VALUES (${clientId}, ${number}, 'active', 'individual', '{}', '{}', 'Ada Lovelace', service_now())`);
  const place = { method: 'plug-in', provider: 'custom-bank', country: 'GB', currency: 'GBP', alias: 'x' } as const;
  const made = await Promise.all(
    Array.from({ length: count }, () =>
      database.transaction((tx) => createAccount(tx, { clientId, ...place }, TESTER)),
    ),
  );
  return made.map(({ id }) => id);
}

const START = Date.UTC(2026, 0, 1);
const settlement = { provider: 'custom-bank', kind: 'settlement' } as const;
/** Money from outside to the first account, or between two of them; the clock may go back. */
const MOVES = fc.array(
  fc.record({
    from: fc.integer({ min: -1, max: 2 }),
    to: fc.integer({ min: 0, max: 2 }),
    atMs: fc.integer({ min: 0, max: 40 }),
  }),
  {
    minLength: 1,
    maxLength: 25,
  },
);
const RANGE = fc.record({ fromMs: fc.integer({ min: -5, max: 45 }), lengthMs: fc.integer({ min: 0, max: 50 }) });

test('pages, one after another, hold exactly the entries of the range, in order, and the total says how many', async () => {
  await fc.assert(
    fc.asyncProperty(MOVES, RANGE, fc.integer({ min: 1, max: 7 }), async (moves, range, size) => {
      const ids = await newAccounts(3);
      for (const { from, to, atMs } of moves) {
        const [debit, credit] = [ids[from] ?? settlement, ids[to] ?? settlement];
        if (debit === credit) continue;
        const amountMinor = from === -1 ? 100n : 1n;
        await database.transaction(async (tx) => {
          const locked = await lockAccounts(tx, ids);
          if (typeof debit === 'string' && (locked.get(debit)?.postedMinor ?? 0n) < amountMinor) return;
          const shared = {
            debitNumber: '20260101-AAAAAA',
            debitType: 'outgoing-transfer',
            entryType: 'principal',
          } as const;
          await post(tx, { now: new Date(START + atMs), debit, credit, amountMinor, currency: 'GBP', ...shared });
        });
      }
      const from = new Date(START + range.fromMs);
      const to = new Date(from.getTime() + range.lengthMs);
      for (const accountId of ids) {
        const expected = await database.reader.execute<{ version: bigint; balance: bigint }>(sql`
          SELECT * FROM (
            SELECT debit_version AS version, debit_balance_after_minor AS balance, posted_at FROM postings WHERE debit_account_id = ${accountId}
            UNION ALL
            SELECT credit_version, credit_balance_after_minor, posted_at FROM postings WHERE credit_account_id = ${accountId}
          ) AS entries WHERE date_trunc('milliseconds', posted_at) BETWEEN ${from} AND ${to} ORDER BY version`);
        const balances: bigint[] = [];
        for (let offset = 0; offset <= expected.length; offset += size) {
          const { rows, totalElements } = await listStatementEntries(
            database.reader,
            { accountId, range: { from, to } },
            { size, offset },
          );
          expect(totalElements).toBe(expected.length);
          balances.push(...rows.map(({ balanceMinor }) => balanceMinor));
        }
        expect(balances).toEqual(expected.map(({ balance }) => balance));
      }
    }),
    { numRuns: 25 },
  );
});

test('the last page of a long statement reads no more than the first of a short one', async () => {
  const [long = '', short = ''] = await newAccounts(2);
  const hand = postgres(testDatabase.ownerUrl, { max: 1, onnotice: () => {} });
  onTestFinished(() => hand.end());
  await createEntries(hand, long, 20_000);
  await createEntries(hand, short, 100);
  await hand`VACUUM (ANALYZE) postings`;
  await hand`SET plan_cache_mode = force_generic_plan`;
  await hand.unsafe(`PREPARE page AS ${EVERY_ENTRY.text}`);
  const range = { from: new Date(0), to: new Date() };
  const read = async (accountId: string, offset: number) => {
    const given = EVERY_ENTRY.paramsOf({ accountId: asId<AccountId>(accountId), ...range, size: 10, offset });
    const values = given.map((value) => `'${value instanceof Date ? value.toISOString() : value}'`).join(', ');
    const [row] = await hand.unsafe(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE page(${values})`);
    const plan = row?.['QUERY PLAN'][0].Plan;
    expect(plan['Actual Rows']).toBe(10);
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  };
  const first = await read(short, 0);
  for (const offset of [0, 9_990, 19_990]) {
    // A level more in each of the indexes, as they are taller.
    expect(await read(long, offset)).toBeLessThan(first + 8);
  }
});
