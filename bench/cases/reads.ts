import { setTimeout as sleep } from 'node:timers/promises';
import type postgres from 'postgres';
import { type BenchAccount, createAccounts } from '../accounts.ts';
import type { Bench } from '../bench.ts';
import type { PreparedRequest } from '../load/callers.ts';
import { type Contender, compare, type Measurement } from '../load/measure.ts';
import type { Served } from '../stage.ts';

const SMALL_ROWS = 1_000;
/** Fills a page by account in the small database too. */
const ROWS_OF_ACCOUNT_MIN = 20;
const SAMPLED_IDS = 2_000;
const FLOOR_ENTRIES = 1_000;

/** A database filled with transfers, and the API that serves it. */
interface LoadedDatabase {
  readonly name: string;
  readonly api: Served;
  readonly accounts: readonly BenchAccount[];
  readonly ids: readonly string[];
}

/** c. GET by id and filtered pages with a thousand and with a million transfers, compared with a bare GET. */
export async function benchReads(bench: Bench): Promise<Measurement[]> {
  bench.say(`c. loading ${SMALL_ROWS} and ${bench.options.largeRows} transfers …`);
  const small = await loadDatabase(bench, 'small', SMALL_ROWS);
  const large = await loadDatabase(bench, 'large', bench.options.largeRows);
  const { seconds, rounds } = bench.options;
  const run = { callers: bench.callers, seconds, rounds };
  bench.say('c. GET by id …');
  const getById = [await floorGet(bench), ...[small, large].map((of) => contender(bench, of, byId(of)))];
  const measurements = await compare('GET by id', getById, { ...run, counts: bench.options.callers });
  for (const list of LISTS) {
    for (const [name, query] of Object.entries(list.filters)) {
      bench.say(`c. page of ${list.path}, ${name} …`);
      const pages = [small, large].map((of) => contender(bench, of, pagesOf(of, list, query)));
      const title = list.path === OUTGOING ? `page, ${name}` : `page of incoming, ${name}`;
      measurements.push(...(await compare(title, pages, { ...run, seconds: seconds / 2, counts: [1] })));
    }
  }
  return measurements;
}

/** Filter fields for one account; each call gets a different account. */
type Filter = (account: BenchAccount) => Readonly<Record<string, string>>;

interface List {
  readonly path: string;
  /** Prefix of its query parameters. */
  readonly prefix: string;
  readonly filters: Readonly<Record<string, Filter>>;
}

const hundredDays: Filter = () => ({ transferDateFrom: daysAgo(200), transferDateTo: daysAgo(100) });
const oneWeek: Filter = () => ({ transferDateFrom: daysAgo(106), transferDateTo: daysAgo(100) });

const OUTGOING = 'outgoing-transfers';

const LISTS: readonly List[] = [
  {
    path: OUTGOING,
    prefix: 'data.outgoingTransfer',
    filters: {
      'no filter': () => ({}),
      'by account': ({ accountId }) => ({ accountId }),
      'by client and status': ({ clientId }) => ({ clientId, status: 'completed' }),
      'by status (nearly all)': () => ({ status: 'completed' }),
      'by status (few)': () => ({ status: 'failed' }),
      'by currency (few)': () => ({ currency: 'EUR' }),
      'by 100 days': hundredDays,
      'by currency and 100 days': (of) => ({ currency: 'GBP', ...hundredDays(of) }),
      'by currency and one week': (of) => ({ currency: 'GBP', ...oneWeek(of) }),
      'by status (few) and 100 days': (of) => ({ status: 'failed', ...hundredDays(of) }),
      'by account and 100 days': (of) => ({ accountId: of.accountId, ...hundredDays(of) }),
      'by client and 100 days': (of) => ({ clientId: of.clientId, ...hundredDays(of) }),
    },
  },
  {
    path: 'incoming-transfers',
    prefix: 'data.incomingTransfer',
    filters: {
      'no filter': () => ({}),
      'by account': ({ accountId }) => ({ accountId }),
      'by status (nearly all)': () => ({ status: 'completed' }),
      'by currency and 100 days': (of) => ({ currency: 'GBP', ...hundredDays(of) }),
      'by account and 100 days': (of) => ({ accountId: of.accountId, ...hundredDays(of) }),
    },
  },
];

function daysAgo(days: number): string {
  return new Date(Date.now() - days * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
}

async function loadDatabase(bench: Bench, name: string, rows: number): Promise<LoadedDatabase> {
  const { api, sql } = await bench.stage.secondApi(`bench_${name}`);
  const accounts = (await createAccounts(sql)).slice(0, rows / ROWS_OF_ACCOUNT_MIN);
  await loadTransfers(sql, accounts, rows);
  const ids = await sql<{ id: string }[]>`
    SELECT id FROM outgoing_transfers ORDER BY random() LIMIT ${SAMPLED_IDS}`;
  return { name: `service, ${rows.toLocaleString('en')}`, api, accounts, ids: ids.map(({ id }) => id) };
}

/**
 * Internal transfers of the last year with both sides, spread over all accounts. Only rows for lists, without
 * postings.
 */
async function loadTransfers(sql: postgres.Sql, accounts: readonly BenchAccount[], rows: number): Promise<void> {
  await sql.unsafe(`
    WITH numbered AS (
      SELECT id, client_id, ordinality - 1 AS number
      FROM unnest('{${accounts.map(({ accountId }) => accountId).join(',')}}'::uuid[]) WITH ORDINALITY AS one (account_id, ordinality)
        JOIN accounts ON id = account_id)
    INSERT INTO outgoing_transfers (id, transaction_number, client_id, account_id, status, scope, currency, amount_minor,
        transfer_date, original_transfer_date, description, destination_account_id, authorization_status,
        compliance_check_status, transfer_date_status, balance_check_status, method, provider, created_at, updated_at)
      SELECT uuidv7(at - now()), to_char(at, 'YYYYMMDD') || '-' || upper(lpad(to_hex(n), 6, '0')), source.client_id,
        source.id, CASE WHEN n % 100 = 0 THEN 'failed' WHEN n % 100 = 1 THEN 'cancelled' ELSE 'completed' END, 'internal',
        CASE WHEN n % 100 = 60 THEN 'EUR' ELSE 'GBP' END, 1 + n % 100000,
        -- One of a hundred was ordered a while before its date.
        at::date + CASE WHEN n % 100 = 50 THEN n % 90 ELSE 0 END, at::date, 'Bench ' || n, destination.id, 'not-required', 'not-required',
        'fulfilled', 'fulfilled', 'built-in', 'sandbox-bank', at, at
      FROM generate_series(1, ${rows}) AS n
        CROSS JOIN LATERAL (SELECT now() - interval '365 days' * (1 - n::float8 / ${rows}) AS at) AS instant
        JOIN numbered AS source ON source.number = n * 7 % ${accounts.length}
        JOIN numbered AS destination ON destination.number = (n * 7 + 1) % ${accounts.length}
      ORDER BY n`);
  await sql.unsafe(`
    INSERT INTO incoming_transfers (id, transaction_number, client_id, account_id, status, scope, currency, amount_minor,
        transfer_date, outgoing_transfer_id, sender_account_id, provider, method, sender_information, created_at, updated_at)
      SELECT uuidv7(transfer.created_at - now()), 'I' || transaction_number, receiver.client_id, destination_account_id,
        CASE transfer.status WHEN 'completed' THEN 'completed' ELSE 'failed' END, 'internal', transfer.currency, amount_minor,
        transfer_date, transfer.id, account_id, transfer.provider, transfer.method, description, transfer.created_at, updated_at
      FROM outgoing_transfers transfer JOIN accounts receiver ON receiver.id = destination_account_id ORDER BY transfer.id`);
  await sql.unsafe('VACUUM ANALYZE outgoing_transfers, incoming_transfers');
  await untilCounted(sql);
}

const COUNTING_LIMIT_MS = 120_000;

/** Waits until the background counting has caught up with the load. */
async function untilCounted(sql: postgres.Sql): Promise<void> {
  for (const endsMs = performance.now() + COUNTING_LIMIT_MS; performance.now() < endsMs; await sleep(500)) {
    const [row] = await sql<{ left: number }[]>`
      SELECT greatest(
        (SELECT count(*) FROM outgoing_transfers
          WHERE id > (SELECT last_id FROM transfer_counting WHERE direction = 'outgoing')),
        (SELECT count(*) FROM incoming_transfers
          WHERE id > (SELECT last_id FROM transfer_counting WHERE direction = 'incoming')))::integer AS left`;
    if ((row?.left ?? 0) < SMALL_ROWS) return;
  }
  throw new Error('the transfers were not counted in time');
}

function contender(bench: Bench, { name, api }: LoadedDatabase, requests: readonly PreparedRequest[]): Contender {
  return {
    name,
    processIds: [api.process.pid, bench.stage.postgres.process.pid],
    load: {
      origin: api.origin,
      method: 'GET',
      headers: { authorization: `Bearer ${bench.stage.token}` },
      idempotent: false,
      requests,
    },
  };
}

function byId({ ids }: LoadedDatabase): PreparedRequest[] {
  return ids.map((id) => ({ path: `/outgoing-transfers/${id}` }));
}

function pagesOf({ accounts }: LoadedDatabase, { path, prefix }: List, filter: Filter): PreparedRequest[] {
  return accounts.map((account) => {
    const fields = Object.entries(filter(account)).map(([name, value]) => `${prefix}.${name}=${value}`);
    return { path: `/${path}?${fields.join('&')}` };
  });
}

export async function floorGet(bench: Bench): Promise<Contender> {
  const { stage } = bench;
  await stage.sql.unsafe(`
    INSERT INTO floor_entries (account_id, amount_minor, balance_after_minor)
      SELECT id, 1, balance_minor FROM floor_accounts LIMIT ${FLOOR_ENTRIES}`);
  const rows = await stage.sql<{ id: string }[]>`SELECT id FROM floor_entries LIMIT ${SAMPLED_IDS}`;
  return {
    name: 'floor',
    processIds: [stage.floor.process.pid, stage.postgres.process.pid],
    load: {
      origin: stage.floor.origin,
      method: 'GET',
      headers: {},
      idempotent: false,
      requests: rows.map(({ id }) => ({ path: `/entries/${id}` })),
    },
  };
}
