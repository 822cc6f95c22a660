import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AccountFilter, listAccounts } from '../../db/accounts/reads.ts';
import { type BeneficiaryFilter, listBeneficiaries } from '../../db/beneficiaries/beneficiaries.ts';
import { createDatabase } from '../../db/client.ts';
import { type ClientFilter, listClients } from '../../db/clients/clients.ts';
import { COUNTED_LISTS, keepListCounts } from '../../db/query/counted-lists.ts';
import type { Database, Reader, Transaction } from '../../db/query/database.ts';
import type { PageOf, PageRequest } from '../../db/query/lists.ts';
import { listUsers } from '../../db/users/users.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase('counted-lists');
  database = createDatabase({
    url: testDatabase.url,
    maxConnections: 10,
    applicationName: 'counted-lists-test',
    deadlineMs: 60_000,
  });
});

afterAll(async () => {
  await database?.close();
  await testDatabase?.drop();
});

/** Seeded, so that a failure can be repeated. */
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);

function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

/** Clients, their accounts and beneficiaries, and users, whose ids were made so many seconds ago; the values by turns. */
async function make(tx: Transaction | Reader, count: number, ageSeconds: number, start = 0): Promise<void> {
  const values = [count, ageSeconds, start];
  const at = 'uuidv7(make_interval(secs => -$2::integer))';
  await tx.statement(
    `INSERT INTO clients (id, client_number, status, identity_type, identity, profile, full_name, country, created_at)
      SELECT ${at}, gen_random_uuid(), CASE n % 9 WHEN 0 THEN 'suspended' ELSE 'active' END,
        CASE n % 2 WHEN 0 THEN 'individual' ELSE 'corporate' END, '{}', '{}', 'Ann ' || n,
        CASE WHEN n % 97 = 0 THEN 'NZ' WHEN n % 5 > 0 THEN 'GB' END, now()
      FROM generate_series($3::integer, $3::integer + $1::integer - 1) n`,
    values,
  );
  await tx.statement(
    `INSERT INTO accounts (id, client_id, status, method, provider, country, currency, alias, ledger_number,
        account_holder_name, account_holder_identity_type, created_at)
      SELECT ${at}, (SELECT id FROM clients ORDER BY id LIMIT 1), CASE n % 9 WHEN 0 THEN 'pending' ELSE 'active' END, 'built-in',
        CASE n % 4 WHEN 0 THEN 'other' ELSE 'bank' END, 'GB', CASE WHEN n % 97 = 0 THEN 'NZD' WHEN n % 3 = 0 THEN 'EUR' ELSE 'GBP' END,
        'Alias ' || n, gen_random_uuid(), 'Ann', 'individual', now()
      FROM generate_series($3::integer, $3::integer + $1::integer - 1) n`,
    values,
  );
  await tx.statement(
    `INSERT INTO beneficiaries (id, client_id, identity_type, identity, contact, full_name, created_at)
      SELECT ${at}, (SELECT id FROM clients ORDER BY id LIMIT 1), type, CASE WHEN n % 3 < 2 THEN jsonb_build_object('type', type, 'country', CASE n % 97 WHEN 0 THEN 'NZ' ELSE 'GB' END) END,
        CASE WHEN n % 2 = 0 THEN '{"address": {"country": "NZ"}}'::jsonb WHEN n % 7 = 0 THEN '{}' END, 'Ann', now()
      FROM generate_series($3::integer, $3::integer + $1::integer - 1) n
        CROSS JOIN LATERAL (SELECT CASE n % 3 WHEN 0 THEN 'individual' WHEN 1 THEN 'corporate' END AS type) AS one`,
    values,
  );
  await tx.statement(
    `INSERT INTO users (id, email, email_key, status, identity, profile, created_at)
      SELECT ${at}, email, email, 'active', '{}', '{}', now()
      FROM generate_series(1, $1::integer) n CROSS JOIN LATERAL (SELECT n || gen_random_uuid()::text AS email) AS one
      WHERE $3::integer >= 0`,
    values,
  );
}

type ReadPage = (reader: Reader, page: PageRequest) => Promise<PageOf<{ readonly id: string }>>;

const clients =
  (filter: ClientFilter): ReadPage =>
  (reader, page) =>
    listClients(reader, filter, page);
const accounts =
  (filter: AccountFilter): ReadPage =>
  (reader, page) =>
    listAccounts(reader, filter, page);
const beneficiaries =
  (filter: BeneficiaryFilter): ReadPage =>
  (reader, page) =>
    listBeneficiaries(reader, filter, page);

/** Each list's filters, and the rows that they should leave. */
const LISTS: readonly (readonly [table: string, ReadPage, where: string])[] = [
  ['clients', clients({}), 'true'],
  ['clients', clients({ status: 'active' }), `status = 'active'`],
  [
    'clients',
    clients({ status: 'suspended', identityType: 'individual' }),
    `status = 'suspended' AND identity_type = 'individual'`,
  ],
  ['clients', clients({ country: 'NZ' }), `country = 'NZ'`],
  ['clients', clients({ country: 'XX' }), 'false'],
  ['clients', clients({ status: 'active', fullName: 'ann 1' }), `status = 'active' AND full_name LIKE 'Ann 1%'`],
  ['accounts', accounts({}), 'true'],
  ['accounts', accounts({ status: 'pending' }), `status = 'pending'`],
  ['accounts', accounts({ currency: 'NZD' }), `currency = 'NZD'`],
  ['accounts', accounts({ serviceProvider: 'other', currency: 'GBP' }), `provider = 'other' AND currency = 'GBP'`],
  ['beneficiaries', beneficiaries({}), 'true'],
  ['beneficiaries', beneficiaries({ type: 'corporate' }), `identity_type = 'corporate'`],
  [
    'beneficiaries',
    beneficiaries({ country: 'NZ' }),
    `(identity ->> 'country' = 'NZ' OR contact #>> '{address,country}' = 'NZ')`,
  ],
  [
    'beneficiaries',
    beneficiaries({ country: 'NZ', type: 'individual' }),
    `(identity ->> 'country' = 'NZ' OR contact #>> '{address,country}' = 'NZ') AND identity_type = 'individual'`,
  ],
  ['users', (reader, page) => listUsers(reader, {}, page), 'true'],
];

/** A page and its total against a plain query, both in one snapshot. */
async function listIsExact([table, read, where]: (typeof LISTS)[number], page: PageRequest): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.statement('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ', []);
    const { rows, totalElements } = await read(tx, page);
    const [plain] = await tx.statement<{ total: number; ids: string[] }>(
      `WITH matching AS MATERIALIZED (SELECT id FROM ${table} WHERE ${where})
      SELECT (SELECT count(*)::integer FROM matching) AS total,
        ARRAY(SELECT id FROM matching ORDER BY id LIMIT ${page.size} OFFSET ${page.offset}) AS ids`,
      [],
    );
    const shown = { total: totalElements, ids: rows.map(({ id }) => id) };
    expect({ seed: SEED, table, where, page, ...shown }).toEqual({ seed: SEED, table, where, page, ...plain });
  });
}

async function listsAreExact(): Promise<void> {
  for (const list of LISTS) {
    for (const offset of [0, 130, 2_500]) await listIsExact(list, { size: 10, offset });
  }
}

async function keepCounts(limit: number): Promise<number> {
  let looked = 0;
  for (const list of COUNTED_LISTS) looked += await keepListCounts(database, list, limit);
  return looked;
}

async function countAll(limit: number): Promise<void> {
  while ((await keepCounts(limit)) > 0) {}
}

async function counted(): Promise<Record<string, number>> {
  const rows = await database.statement<{ list: string; counted: number }>(
    `SELECT list, row_count::integer AS counted FROM list_counts WHERE level = 0 AND key = 'null' ORDER BY list`,
    [],
  );
  return Object.fromEntries(rows.map((row) => [row.list, row.counted]));
}

test('pages and totals are exact at every step of the counting in the background', async () => {
  await listsAreExact();
  await make(database.reader, 3_000, 3_600);
  await listsAreExact();
  await keepCounts(1_000);
  await listsAreExact();
  await countAll(1_000);
  await listsAreExact();
  expect(await counted()).toEqual({ accounts: 3_000, beneficiaries: 3_000, clients: 3_000, users: 3_000 });
});

test('a row that changes after it was counted, is removed, or comes with an old id counts at once', async () => {
  await database.statement(
    `UPDATE clients SET status = 'suspended', country = 'NZ' WHERE identity_type = 'individual'`,
    [],
  );
  await database.statement(`UPDATE accounts SET status = 'suspended' WHERE status = 'pending'`, []);
  await database.statement(
    `UPDATE beneficiaries SET contact = '{"address": {"country": "NZ"}}' WHERE identity_type IS NULL`,
    [],
  );
  await database.statement(`DELETE FROM users WHERE id IN (SELECT id FROM users ORDER BY id LIMIT 300)`, []);
  await make(database.reader, 200, 4_000);
  await listsAreExact();
  await countAll(500);
  await listsAreExact();
  expect(await counted()).toEqual({ accounts: 3_200, beneficiaries: 3_200, clients: 3_200, users: 2_900 });
});

test('rows young enough that an older one could still be committed are not counted ahead', async () => {
  await make(database.reader, 70, 0);
  expect(await keepCounts(1_000)).toBe(0);
  await listsAreExact();
});

test('a list of several ranges of each level finds the rows of any page', async () => {
  // So that the statistics know nothing of the 9,000 changes that are noted next.
  await testDatabase.asOwner('VACUUM (ANALYZE, TRUNCATE false) list_changes');
  await database.statement(
    `INSERT INTO users (id, email, email_key, status, identity, profile, created_at)
      SELECT uuidv7(interval '-3000 seconds'), email, email, 'active', '{}', '{}', now()
      FROM generate_series(1, 9000) n CROSS JOIN LATERAL (SELECT n || gen_random_uuid()::text AS email) AS one`,
    [],
  );
  await countAll(1_000);
  const users = LISTS.at(-1);
  if (users === undefined) throw new Error('there is no list of users');
  for (const offset of [0, 127, 128, 4_095, 4_096, 8_191, 8_192, 11_000])
    await listIsExact(users, { size: 100, offset });
});

const WRITERS = 4;
const WRITES_EACH = 60;

/** One write of up to fifty rows, which one in four takes back. */
async function writeSomething(random: (below: number) => number): Promise<void> {
  const rollback = new Error('taken back');
  const [from, rows, kind] = [random(3_000), 1 + random(50), random(6)];
  const some = (table: string) => `id IN (SELECT id FROM ${table} ORDER BY id LIMIT ${rows} OFFSET ${from} FOR UPDATE)`;
  try {
    await database.transaction(async (tx) => {
      if (kind === 0) await make(tx, rows, 0, from);
      if (kind === 1) await make(tx, rows, 60 + random(60), from);
      if (kind === 2) {
        const country = random(2) === 0 ? 'NZ' : 'DE';
        await tx.statement(`UPDATE clients SET country = $1, status = 'active' WHERE ${some('clients')}`, [country]);
      }
      if (kind === 3) await tx.statement(`UPDATE accounts SET status = 'active' WHERE ${some('accounts')}`, []);
      if (kind === 4) {
        await tx.statement(
          `UPDATE beneficiaries SET identity = '{"type": "individual", "country": "NZ"}', identity_type = 'individual'
          WHERE ${some('beneficiaries')}`,
          [],
        );
      }
      if (kind === 5) await tx.statement(`DELETE FROM users WHERE ${some('users')}`, []);
      if (random(4) === 0) throw rollback;
    });
  } catch (error) {
    if (error !== rollback) throw error;
  }
}

test('totals and pages are exact during random writes, rollbacks and counting', async () => {
  let writing = true;
  const write = async (random: (below: number) => number) => {
    for (let done = 0; done < WRITES_EACH; done += 1) await writeSomething(random);
  };
  const count = async (random: (below: number) => number) => {
    while (writing) await keepCounts(1 + random(400));
  };
  const read = async (random: (below: number) => number) => {
    while (writing) {
      const list = LISTS[random(LISTS.length)];
      if (list !== undefined) await listIsExact(list, { size: 1 + random(100), offset: random(4_000) });
    }
  };
  const others = [count(randomOf(SEED)), count(randomOf(SEED + 1)), read(randomOf(SEED + 2)), read(randomOf(SEED + 3))];
  try {
    await Promise.all(Array.from({ length: WRITERS }, (_, index) => write(randomOf(SEED + 10 + index))));
  } finally {
    writing = false;
    await Promise.all(others);
  }
  await listsAreExact();
  await countAll(300);
  await listsAreExact();
});
