import { setTimeout as sleep } from 'node:timers/promises';
import type postgres from 'postgres';
import * as v from 'valibot';
import type { Bench } from '../bench.ts';
import { type Contender, compare, type Measurement } from '../load/measure.ts';
import type { Served } from '../stage.ts';

const SMALL_ROWS = 1_000;
const PAGE_SIZE = 10;
/** The highest page number that the interface allows. */
const DEEPEST_PAGE = 9_999;

/** A database filled with clients, accounts and beneficiaries, and the API that serves it. */
interface LoadedDatabase {
  readonly name: string;
  readonly api: Served;
}

/** The filters of each list, with the share of rows that they select. */
const LISTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  clients: {
    'no filter': '',
    'by status (99 of 100)': 'data.client.status=active',
    'by status (1 of 100)': 'data.client.status=suspended',
    'by country (3 of 5)': 'data.client.country=GB',
    'by country (1 of 500)': 'data.client.country=NZ',
    'by status, country and type':
      'data.client.status=active&data.client.country=GB&data.client.identityType=corporate',
    'by number': 'data.client.clientNumber=0000000007',
    'by e-mail': 'data.client.email=list-7@example.com',
    'by part of the name (1 of 10)': 'data.client.fullName=grac',
    'by part of the name (one)': 'data.client.fullName=List%20777',
  },
  accounts: {
    'no filter': '',
    'by status (1 of 100)': 'data.account.status=suspended',
    'by currency (9 of 10)': 'data.account.currency=GBP',
    'by currency (1 of 500)': 'data.account.currency=NZD',
    'by provider and status': 'data.account.serviceProvider=custom-bank&data.account.status=active',
    'by IBAN': 'data.account.iban=GB33BUKB00000000000007',
    'by account number': 'data.account.accountNumber=00000007',
    'by available balance (1 of 10)': 'data.account.availableBalanceFrom=9',
    'by part of the alias (one)': 'data.account.alias=List%20777',
  },
  beneficiaries: {
    'no filter': '',
    'by type (1 of 2)': 'data.beneficiary.type=corporate',
    'by country (3 of 5)': 'data.beneficiary.country=GB',
    'by country (1 of 500)': 'data.beneficiary.country=NZ',
  },
};

/** g. First and deepest pages, each with its total, of lists of a thousand and of a million resources. */
export async function benchLists(bench: Bench): Promise<Measurement[]> {
  const small = await loadDatabase(bench, 'few', SMALL_ROWS);
  const large = await loadDatabase(bench, 'many', bench.options.largeRows);
  const { seconds, rounds } = bench.options;
  const run = { callers: bench.callers, counts: [1], seconds: seconds / 2, rounds };
  const measurements: Measurement[] = [];
  for (const [list, filters] of Object.entries(LISTS)) {
    for (const [name, query] of Object.entries(filters)) {
      for (const page of ['first page', 'deepest page'] as const) {
        const title = `${list}, ${name}: ${page}`;
        bench.say(`g. ${title} …`);
        try {
          const of = (one: LoadedDatabase) => contender(bench, one, { list, query, page });
          measurements.push(...(await compare(title, [await of(small), await of(large)], run)));
        } catch (error) {
          // A page that exceeds the time limit of lists has no figure.
          bench.say(`g. ${title}: ${String(error)}`);
        }
      }
    }
  }
  return measurements;
}

async function loadDatabase(bench: Bench, name: string, rows: number): Promise<LoadedDatabase> {
  const { api, sql } = await bench.stage.secondApi(`bench_${name}`);
  bench.say(`g. loading ${rows} clients, accounts and beneficiaries …`);
  await sql.begin(async (tx) => {
    // Skips triggers and foreign key checks, which would take most of the time.
    await tx.unsafe('SET LOCAL session_replication_role = replica');
    for (const text of LIST_LOADS) await tx.unsafe(text, [rows]);
  });
  await sql.unsafe('VACUUM ANALYZE clients, accounts, beneficiaries');
  await untilCounted(sql);
  return { name: rows.toLocaleString('en'), api };
}

const COUNTING_LIMIT_MS = 300_000;

/** Waits until the background counting has caught up with the load. */
async function untilCounted(sql: postgres.Sql): Promise<void> {
  for (const endsMs = performance.now() + COUNTING_LIMIT_MS; performance.now() < endsMs; await sleep(500)) {
    const [row] = await sql<{ counted: number; loaded: number }[]>`
      SELECT (SELECT sum(counted_rows)::integer FROM list_counting WHERE list <> 'users') AS counted,
        ((SELECT count(*) FROM clients) + (SELECT count(*) FROM accounts) + (SELECT count(*) FROM beneficiaries))::integer AS loaded`;
    if (row?.counted === row?.loaded) return;
  }
  throw new Error('the rows were not counted in time');
}

/** One client, account and beneficiary for each number up to $1, spread over the last year. */
export const LIST_LOADS = [
  `INSERT INTO clients (id, client_number, status, identity_type, identity, profile, full_name, email, country, created_at)
    SELECT uuidv7(at - now()), lpad(n::text, 10, '0'), CASE n % 100 WHEN 50 THEN 'suspended' ELSE 'active' END, type,
      jsonb_build_object('type', type, 'country', country, 'identifications', '[]'::jsonb)
        || CASE type WHEN 'individual' THEN jsonb_build_object('givenName', given_name, 'familyName', 'List ' || n, 'birthDate', null)
          ELSE jsonb_build_object('legalName', given_name || ' List ' || n, 'registrationDate', null) END,
      jsonb_build_object('identityType', type, 'phone', null, 'email', 'list-' || n || '@example.com',
        CASE type WHEN 'individual' THEN 'residentialAddress' ELSE 'registrationAddress' END, jsonb_build_object('country', country,
          'region', null, 'city', 'London', 'street', null, 'houseNumber', null, 'postalCode', null, 'refinement', null)),
      given_name || ' List ' || n, 'list-' || n || '@example.com', country, at
    FROM generate_series(1, $1::integer) AS n
      CROSS JOIN LATERAL (SELECT now() - interval '1 hour' - interval '365 days' * (1 - n::float8 / $1) AS at,
        CASE WHEN n % 500 = 250 THEN 'NZ' ELSE (ARRAY['GB', 'GB', 'GB', 'DE', 'FR'])[1 + n % 5] END AS country,
        CASE n % 2 WHEN 0 THEN 'corporate' ELSE 'individual' END AS type,
        (ARRAY['Ada', 'Grace', 'Zoë', 'Søren', '美玲', 'Наталья', 'Ibrahim', 'Maria', 'Emmanuel', 'Jürgen'])[1 + n % 10] AS given_name) AS one
    ORDER BY n`,
  `INSERT INTO accounts (id, client_id, status, method, provider, country, currency, alias, iban, account_number, ledger_number,
      account_holder_name, account_holder_identity_type, posted_minor, created_at)
    SELECT uuidv7(created_at + interval '1 ms' - now()), id, CASE n % 100 WHEN 50 THEN 'suspended' ELSE 'active' END, 'built-in',
      CASE n % 10 WHEN 3 THEN 'custom-bank' ELSE 'sandbox-bank' END, 'GB',
      CASE WHEN n % 500 = 250 THEN 'NZD' WHEN n % 10 = 7 THEN 'EUR' ELSE 'GBP' END, 'List ' || n, 'GB33BUKB' || lpad(n::text, 14, '0'),
      lpad(n::text, 8, '0'), 'list-' || n, full_name, identity_type, n % 1000, created_at
    FROM clients CROSS JOIN LATERAL (SELECT client_number::integer AS n) AS one WHERE n <= $1::integer ORDER BY id`,
  `INSERT INTO beneficiaries (id, client_id, identity_type, identity, full_name, created_at)
    SELECT uuidv7(created_at + interval '2 ms' - now()), id, identity_type, identity, full_name, created_at
    FROM clients CROSS JOIN LATERAL (SELECT client_number::integer AS n) AS one WHERE n <= $1::integer ORDER BY id`,
];

async function contender(
  bench: Bench,
  { name, api }: LoadedDatabase,
  { list, query, page }: { list: string; query: string; page: 'first page' | 'deepest page' },
): Promise<Contender> {
  const headers = { authorization: `Bearer ${bench.stage.token}` };
  const path = (number: number) => `/${list}?${query}&metadata.page.size=${PAGE_SIZE}&metadata.page.number=${number}`;
  const number = page === 'first page' ? 0 : await deepestPage(`${api.origin}${path(0)}`, headers);
  return {
    name,
    processIds: [api.process.pid, bench.stage.postgres.process.pid],
    load: { origin: api.origin, method: 'GET', headers, idempotent: false, requests: [{ path: path(number) }] },
  };
}

const ANSWER = v.object({ metadata: v.object({ page: v.object({ totalElements: v.number() }) }) });

/** The last full page, or the last one that the interface allows. */
async function deepestPage(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const response = await fetch(url, { headers });
  const { totalElements } = v.parse(ANSWER, await response.json()).metadata.page;
  return Math.min(DEEPEST_PAGE, Math.max(0, Math.floor(totalElements / PAGE_SIZE) - 1));
}
