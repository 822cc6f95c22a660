import { randomUUID } from 'node:crypto';
import { claimDeliveries } from '../../../db/webhooks/delivery-claims.ts';
import { DUE, type World } from './world.ts';

/** Reads of each world before any is measured: for caches, and until Postgres has settled on a plan. */
const WARM_UP = 8;
/** Pairs of reads, one of each world, of which the median counts. */
export const TURNS = 15;

export interface Figures {
  /** Blocks that Postgres touched for one request. */
  readonly blocks: number;
  /** From the request to its answer. */
  readonly ms: number;
}

/** What is measured of a world. */
export type Act = (world: World) => Promise<unknown>;

export interface Measured {
  readonly one: Figures;
  readonly many: Figures;
  /** The median of the ratios of each turn's times. */
  readonly ratio: number;
}

/** Does the same in two worlds by turns. */
export async function measureByTurns(
  [one, many]: readonly [World, World],
  acts: readonly [Act, Act],
  turns: number,
): Promise<Measured> {
  for (let time = 0; time < Math.min(turns, WARM_UP); time += 1) {
    await acts[0](one);
    await acts[1](many);
  }
  const before = [await blocksOf(one), await blocksOf(many)] as const;
  const times: [number, number][] = [];
  for (let turn = 0; turn < turns; turn += 1) times.push([await timeOf(acts[0], one), await timeOf(acts[1], many)]);
  const blocks = [await blocksOf(one), await blocksOf(many)].map(
    (after, index) => (after - (before[index] ?? 0)) / turns,
  );
  return {
    one: { blocks: blocks[0] ?? 0, ms: median(times.map(([ms]) => ms)) },
    many: { blocks: blocks[1] ?? 0, ms: median(times.map(([, ms]) => ms)) },
    ratio: median(times.map(([ofOne, ofMany]) => ofMany / ofOne)),
  };
}

async function timeOf(act: Act, world: World): Promise<number> {
  const began = performance.now();
  await act(world);
  return performance.now() - began;
}

export function reading(path: string): Act {
  return async ({ api }) => {
    const { status, text } = await api.call('GET', path, undefined, { as: 'admin' });
    if (status !== 200) throw new Error(`${path}: ${text}`);
  };
}

/** The claim of what is due for a subscriber, which is taken back. */
export const CLAIM: Act = async ({ api, shard }) => {
  const claim = { shard, token: randomUUID(), claimMs: 1, perSubscription: DUE, limits: new Map() };
  const takenBack = new Error('taken back');
  await api.database
    .transaction(async (tx) => {
      const claimed = await claimDeliveries(tx, claim);
      if (claimed.length !== DUE) throw new Error(`${claimed.length} deliveries were claimed`);
      throw takenBack;
    })
    .catch((error: unknown) => {
      if (error !== takenBack) throw error;
    });
};

/** What the sessions of the API have touched, reported at once. */
async function blocksOf({ api, owner, months }: World): Promise<number> {
  for (const database of [api.database, api.database.forCaller(api.database.limits(), 'lists')])
    await database.statement('SELECT pg_stat_force_next_flush()', []);
  const [row] = await owner<{ blocks: number }[]>`
    SELECT coalesce(sum(hits + reads), 0)::float8 AS blocks FROM pg_stat_activity CROSS JOIN LATERAL pg_stat_get_backend_io(pid)
    WHERE datname = current_database() AND application_name LIKE ${`months-${months}%`}`;
  return row?.blocks ?? 0;
}

export function median(figures: readonly number[]): number {
  return [...figures].sort((a, b) => a - b)[Math.floor(figures.length / 2)] ?? 0;
}
