import { addressAt, type Page } from '../../../console/page/page.ts';
import type { ConsoleCaller, ConsoleUnderTest } from '../console-under-test.ts';
import { type ConsoleWorld, EMAIL, FAMILY_NAME, idOn } from '../console-world.ts';

/** What a person may ask of a page: itself, and each of its filters by itself. */
export async function addressesOf(
  { path }: Pick<Page, 'path'>,
  caller: ConsoleCaller,
  world: ConsoleWorld,
): Promise<readonly string[]> {
  const address = addressAt(path, { id: idOn(world, path) });
  if (path === '/search') return SEARCHED.map((text) => `${address}?${new URLSearchParams({ q: text })}`);
  const { text } = await caller.get(address);
  const form = /<form class="filters" method="get" action="[^"?]*">.*?<\/form>/s.exec(text)?.[0] ?? '';
  const inputs = [...form.matchAll(/<input type="(?:text|date)" name="([^"]+)"/g)].map(([, name = '']) => ({
    [name]: VALUES[name] ?? (name === 'account' || name === 'main' ? world.account : world.client),
  }));
  const choices = [...form.matchAll(/<select name="([^"]+)">(.*?)<\/select>/gs)].flatMap(
    ([, name = '', options = '']) =>
      [...options.matchAll(/<option value="([^"]+)"/g)].map(([, value = '']) => ({ [name]: value })),
  );
  const next = /href="([^"]*[?&]after=[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
  return [
    address,
    ...(next === undefined ? [] : [next]),
    ...[...inputs, ...choices].map((given) => `${address}?${new URLSearchParams(given)}`),
  ];
}

/** What few or no rows have: nothing takes longer to find. Other filters take an id. */
const VALUES: Readonly<Record<string, string>> = {
  action: 'created',
  actor: 'no one',
  country: 'NZ',
  currency: 'JPY',
  email: EMAIL,
  from: '2020-01-01',
  holder: FAMILY_NAME,
  iban: 'GB33BUKB00000000000007',
  ledger: 'list-7',
  month: '2026-01',
  name: FAMILY_NAME,
  number: '0000000007',
  provider: 'another-bank',
  reference: 'nothing',
  rule: 'no-rule',
  scheme: 'chaps',
  to: '2020-01-01',
};

const SEARCHED = [
  'out 500000',
  '0198c2f4-7d1a-7cc3-9a55-2f3b1c0d9e8f',
  EMAIL,
  'GB33BUKB00000000000007',
  FAMILY_NAME,
  `100.00 GBP ${new Date().toISOString().slice(0, 10)}`,
];

export interface PageCost {
  readonly address: string;
  /** Blocks of 8 KiB that its statements took, from memory or disk. */
  readonly blocks: number;
  readonly ms: number;
}

/** Opens a page, and says what it has cost. The console has one connection, whose blocks Postgres counts. */
export async function costOf(
  { database }: Pick<ConsoleUnderTest, 'database'>,
  caller: ConsoleCaller,
  address: string,
): Promise<PageCost> {
  const before = await blocksRead(database.reader);
  const began = performance.now();
  const { status, text } = await caller.get(address);
  const ms = performance.now() - began;
  if (status !== 200) throw new Error(`${address}: ${status} ${text}`);
  return { address, ms, blocks: (await blocksRead(database.reader)) - before };
}

async function blocksRead(reader: ConsoleUnderTest['database']['reader']): Promise<number> {
  await reader.statement('SELECT pg_stat_force_next_flush()', []);
  const [row] = await reader.statement<{ blocks: number }>(
    'SELECT sum(hits + reads)::float8 AS blocks FROM pg_stat_get_backend_io(pg_backend_pid())',
    [],
  );
  if (row === undefined) throw new Error('Postgres counts no blocks');
  return row.blocks;
}
