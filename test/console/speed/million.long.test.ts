import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PAGES } from '../../../console/pages.ts';
import { listNewestOutgoingTransfers, type OutgoingTransferFilter } from '../../../db/outgoing-transfers/reads.ts';
import type { Reader } from '../../../db/query/database.ts';
import { type ConsoleCaller, type ConsoleUnderTest, startConsole } from '../console-under-test.ts';
import { createMillion, type Million } from './million.ts';
import { addressesOf, costOf } from './page-costs.ts';

// The console among a million transfers, of which 40,000 wait, and a hundred thousand of all else.

/** What a page may read, in blocks of 8 KiB: in memory this takes some 20 ms. */
const BLOCKS_MAX = 15_000;
/** What no index finds, which reads more: an actor's creations of transfers, and an amount among all of some days. */
const MORE: readonly (readonly [address: RegExp, blocks: number])[] = [
  [/^\/audit-entries\?actor=/, 80_000],
  [/^\/search\?q=100\.00/, 80_000],
];
const SIZE = 51;

let million: Million;
const consoles: { readonly plans: string; readonly underTest: ConsoleUnderTest; readonly caller: ConsoleCaller }[] = [];

beforeAll(async () => {
  million = await createMillion(1_000_000);
  const { testDatabase } = million;
  const name = new URL(testDatabase.url).pathname.slice(1);
  // Plans for the values that are asked for, and those that serve any: a page is opened with either.
  for (const plans of ['force_custom_plan', 'force_generic_plan']) {
    await testDatabase.asOwner(`ALTER DATABASE "${name}" SET plan_cache_mode = ${plans}`);
    const underTest = await startConsole(testDatabase, { maxConnections: 1 });
    consoles.push({ plans, underTest, caller: await underTest.signIn('admin') });
  }
}, 900_000);

afterAll(async () => {
  for (const { underTest } of consoles) await underTest.stop();
  await million?.close();
});

describe.each(PAGES.map(({ path }) => ({ path })))('the page $path', ({ path }) => {
  test('reads little, whatever is asked of it', async () => {
    for (const { plans, underTest, caller } of consoles) {
      for (const address of await addressesOf({ path }, caller, million.world)) {
        const { blocks } = await costOf(underTest, caller, address);
        const [, most] = MORE.find(([of]) => of.test(address)) ?? [address, BLOCKS_MAX];
        expect(blocks, `${address}, ${plans}`).toBeLessThan(most);
      }
    }
  });
});

interface Plan {
  readonly Plan: { readonly 'Shared Hit Blocks': number; readonly 'Shared Read Blocks': number };
  readonly 'Execution Time': number;
}

/** How many blocks the statements of a read take. */
async function blocksOf(read: (reader: Reader) => Promise<unknown>): Promise<number> {
  let blocks = 0;
  const explaining: Reader = {
    ...million.database.reader,
    execute: async (query) => {
      const explained = sql`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${query}`;
      const [row] = await million.database.reader.execute<{ 'QUERY PLAN': readonly [Plan] }>(explained);
      const plan = row?.['QUERY PLAN'][0];
      if (plan === undefined) throw new Error('a statement has no plan');
      blocks += plan.Plan['Shared Hit Blocks'] + plan.Plan['Shared Read Blocks'];
      if (process.env.SHOW_PLANS) console.log(plan['Execution Time'], blocks);
      return [];
    },
  };
  await read(explaining);
  return blocks;
}

type Owner = 'quiet' | 'account' | 'client';
type Listed = Omit<OutgoingTransferFilter, 'accountId' | 'clientId'> & { readonly of?: Owner };

/** The filter with the id of its account or client. */
function filterOf({ of, ...filter }: Listed): OutgoingTransferFilter {
  if (of === undefined) return filter;
  return { ...filter, [of === 'client' ? 'clientId' : 'accountId']: million[of] };
}

const LISTED: readonly Listed[] = [
  {},
  { status: 'completed' },
  { status: 'failed' },
  { status: 'pending' },
  { status: 'processing' },
  { waitingFor: 'date' },
  { waitingFor: 'recall' },
  { currency: 'JPY' },
  { currency: 'USD' },
  { currency: 'EUR' },
  { currency: 'JPY', status: 'completed' },
  { currency: 'JPY', status: 'failed' },
  { serviceProvider: 'custom-bank' },
  { serviceProvider: 'another-bank' },
  { serviceProvider: 'custom-bank', currency: 'JPY' },
  { transferDateTo: '2020-01-01' },
  { of: 'quiet' },
  { of: 'quiet', status: 'failed' },
  { of: 'quiet', waitingFor: 'balance' },
  { of: 'account', status: 'pending' },
  { of: 'client' },
  { of: 'client', status: 'processing' },
  { waitingFor: 'date', currency: 'JPY' },
];

test.each(LISTED)('a page of outgoing transfers by %j reads little of a million', async (filter) => {
  const last = await million.database.reader.statement<{ id: string }>(
    'SELECT id FROM outgoing_transfers ORDER BY id OFFSET 500000 LIMIT 1',
    [],
  );
  for (const before of [null, last[0]?.id ?? null]) {
    const blocks = await blocksOf((reader) =>
      listNewestOutgoingTransfers(reader, filterOf(filter), { before, size: SIZE }),
    );
    expect(blocks).toBeLessThan(BLOCKS_MAX);
  }
});
