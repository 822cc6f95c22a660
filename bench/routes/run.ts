import { ROUTES } from '../../api/routes.ts';
import type { Bench } from '../bench.ts';
import { type Contender, compare, type Measurement } from '../load/measure.ts';
import { Fixtures } from './fixtures.ts';
import { createFloorRows, floorOf } from './floors.ts';
import { AIMS, classOf, type MeasuredRow, nameOf, type RouteClass, titleOf } from './row.ts';
import { READ_ROWS, ROUTE_TABLE } from './table.ts';

/** One line of the table of all routes. */
export interface RouteResult {
  readonly title: string;
  readonly kind: RouteClass;
  readonly aim: number | null;
  readonly remark: string;
  readonly floorShape: string;
  readonly service: Measurement;
  readonly floor: Measurement;
}

/** A row that could not be measured. */
export interface RouteFailure {
  readonly title: string;
  readonly problem: string;
}

export interface RouteResults {
  readonly results: readonly RouteResult[];
  readonly failures: readonly RouteFailure[];
}

/**
 * Every route compared with its floor, in turns. Temporal is stopped, because a write's answer does not wait for it and its
 * work, which case b measures, would run into the next row's time.
 */
export async function benchRoutes(bench: Bench): Promise<RouteResults> {
  const rows = ROUTE_TABLE.flatMap((row) => ('notMeasured' in row ? [] : [row])).filter((row) =>
    bench.options.routes.test(titleOf(row)),
  );
  const fixtures = new Fixtures(bench);
  await createFloorRows(bench);
  await bench.stage.stopTemporal();
  await prepareReads(bench, fixtures);
  const results: RouteResult[] = [];
  const failures: RouteFailure[] = [];
  for (const row of rows) {
    const title = titleOf(row);
    bench.say(`routes. ${title} …`);
    try {
      results.push(...(await measureRow(bench, row, fixtures)));
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      bench.say(`routes. ${title}: ${problem}`);
      failures.push({ title, problem });
    }
  }
  return { results, failures };
}

/** Creates the rows that are read, so that tables are filled and vacuumed as in a database that has run for a while. */
async function prepareReads(bench: Bench, fixtures: Fixtures): Promise<void> {
  bench.say('routes. preparing …');
  for (const row of READ_ROWS) {
    // A failure is reported by the measurement of the row, which follows.
    if (!('notMeasured' in row)) await row.requests(fixtures).catch(() => {});
  }
  await fixtures.settle();
  await bench.stage.sql`VACUUM ANALYZE`;
}

async function measureRow(bench: Bench, row: MeasuredRow, fixtures: Fixtures): Promise<RouteResult[]> {
  const { seconds, rounds, callers: counts } = bench.options;
  const contract = contractOf(row);
  const kind = classOf(contract, row);
  const service = await serviceOf(bench, row, { fixtures, method: contract.method });
  const { contender, shape } = await floorOf(bench, row, { kind, service });
  const floor: Contender = {
    ...contender,
    prepare: async () => {
      await fixtures.settle();
      return contender.load.requests;
    },
  };
  // Autovacuum runs once a minute; until then Postgres would plan with old statistics.
  await bench.stage.sql`ANALYZE`;
  const title = titleOf(row);
  const run = { callers: bench.callers, counts, seconds, rounds };
  const measurements = await compare(title, [floor, service], run);
  return counts.map((count) => {
    const [ofFloor, ofService] = measurements.filter(({ callers }) => callers === count);
    if (ofFloor === undefined || ofService === undefined) throw new Error('a measurement is missing');
    const aim = row.aim === undefined ? AIMS[kind] : row.aim;
    const remark = row.remark ?? '';
    return { title, kind, aim, remark, floorShape: shape, service: ofService, floor: ofFloor };
  });
}

function contractOf({ route }: MeasuredRow) {
  const found = ROUTES.find(({ contract }) => nameOf(contract) === route);
  if (found === undefined) throw new Error(`the API has no route ${route}`);
  return found.contract;
}

async function serviceOf(
  { stage }: Bench,
  row: MeasuredRow,
  { fixtures, method }: { readonly fixtures: Fixtures; readonly method: Contender['load']['method'] },
): Promise<Contender> {
  const requests = await row.requests(fixtures);
  return {
    name: 'service',
    processIds: [stage.api.process.pid, stage.postgres.process.pid],
    load: {
      origin: stage.api.origin,
      method,
      headers: { authorization: `Bearer ${stage.token}`, 'content-type': 'application/json' },
      idempotent: method === 'POST',
      once: row.once ?? false,
      requests,
    },
    prepare: async () => {
      const fresh = row.once === true ? await row.requests(fixtures) : requests;
      await fixtures.settle();
      return fresh;
    },
  };
}
