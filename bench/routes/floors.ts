import * as v from 'valibot';
import type { Bench } from '../bench.ts';
import { floorGet } from '../cases/reads.ts';
import { floorTransfers } from '../cases/transfers.ts';
import type { LoadCommand, PreparedRequest } from '../load/callers.ts';
import type { Contender } from '../load/measure.ts';
import { times } from './fixtures.ts';
import type { MeasuredRow, RouteClass } from './row.ts';

/** The longest list that a floor counts. Counting more would favour the service, which does not count row by row. */
const PAGE_ROWS_MAX = 2_000;
const PARENT_COUNT = 1_000;
/** About as wide as a row of the service. */
const VALUE = 'x'.repeat(200);
/** Concurrent transactions may add rows to a count, so the smallest count is right. */
const COUNTING_TRIALS = 5;

/** What a route is compared with: bare HTTP and one statement of the same shape, in the same Postgres. */
export interface Floor {
  readonly contender: Contender;
  /** Such as `13 rows`. */
  readonly shape: string;
}

export async function createFloorRows({ stage }: Bench): Promise<void> {
  await stage.sql.unsafe(`
    CREATE TABLE floor_rows (id uuid PRIMARY KEY DEFAULT uuidv7(), parent_id uuid NOT NULL, value text NOT NULL);
    CREATE INDEX floor_rows_by_parent ON floor_rows (parent_id, id)`);
}

export async function floorOf(
  bench: Bench,
  row: MeasuredRow,
  { kind, service }: { readonly kind: RouteClass; readonly service: Contender },
): Promise<Floor> {
  switch (kind) {
    case 'get by id':
      return { contender: await floorGet(bench), shape: 'row by key' };
    case 'first page':
      return floorPage(bench, service);
    case 'write':
      return floorRows(bench, await rowsWritten(bench, service));
    case 'money': {
      const isHot = row.floor === 'transfer into one account';
      return { contender: floorTransfers(bench, isHot), shape: isHot ? 'transfers into one' : 'transfers' };
    }
  }
}

/** Ten rows by an index with their count, of a list as long as the service's. */
async function floorPage(bench: Bench, service: Contender): Promise<Floor> {
  const total = Math.min(PAGE_ROWS_MAX, await totalElements(service));
  if (total === 0) throw new Error('an empty page measures nothing');
  const [made] = await bench.stage.sql<{ parentId: string }[]>`
    WITH parent AS (SELECT uuidv7() AS id),
    made AS (INSERT INTO floor_rows (parent_id, value) SELECT id, ${VALUE} FROM parent, generate_series(1, ${total}))
    SELECT id AS "parentId" FROM parent`;
  await bench.stage.sql`VACUUM ANALYZE floor_rows`;
  return { contender: floor(bench, 'GET', [{ path: `/pages/${made?.parentId}` }]), shape: `page of ${total}` };
}

const ANSWER = v.object({ metadata: v.object({ page: v.object({ totalElements: v.number() }) }) });

async function totalElements({ load }: Contender): Promise<number> {
  const answer = await fetch(`${load.origin}${load.requests[0]?.path}`, { headers: load.headers });
  return v.parse(ANSWER, await answer.json()).metadata.page.totalElements;
}

function floorRows(bench: Bench, rowCount: number): Floor {
  const requests = times(PARENT_COUNT, () => ({
    path: '/rows',
    body: JSON.stringify({ parentId: crypto.randomUUID(), value: VALUE, rowCount }),
  }));
  return { contender: floor(bench, 'POST', requests), shape: rowCount === 1 ? '1 row' : `${rowCount} rows` };
}

function floor({ stage }: Bench, method: LoadCommand['method'], requests: readonly PreparedRequest[]): Contender {
  return {
    name: 'floor',
    processIds: [stage.floor.process.pid, stage.postgres.process.pid],
    load: {
      origin: stage.floor.origin,
      method,
      headers: { 'content-type': 'application/json' },
      idempotent: false,
      requests,
    },
  };
}

/** How many rows one request inserts or changes, in all tables. */
async function rowsWritten({ stage, callers }: Bench, service: Contender): Promise<number> {
  const { sql } = stage;
  const tables = await sql<{ name: string }[]>`
    SELECT relname AS name FROM pg_stat_user_tables WHERE schemaname = 'public' AND relname NOT LIKE 'floor%'`;
  const requests = (await service.prepare?.()) ?? service.load.requests;
  const counts: number[] = [];
  for (const request of requests.slice(0, COUNTING_TRIALS)) {
    const [start] = await sql<{ id: string }[]>`SELECT pg_current_xact_id()::text AS id`;
    await callers.run({ ...service.load, requests: [request], callers: 1, count: 1, seconds: 10 });
    const ofTables = tables.map(({ name }) => `SELECT FROM ${name} WHERE xmin::text::bigint > ${start?.id}`);
    const [written] = await sql.unsafe<{ count: number }[]>(
      `SELECT count(*)::integer AS count FROM (${ofTables.join(' UNION ALL ')}) AS written`,
    );
    counts.push(written?.count ?? 0);
  }
  return Math.max(1, Math.min(...counts));
}
