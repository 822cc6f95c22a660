import { PAGES } from '../../console/pages.ts';
import { startConsole } from '../console/console-under-test.ts';
import { createMillion } from '../console/speed/million.ts';
import { addressesOf, costOf, type PageCost } from '../console/speed/page-costs.ts';

/** No page takes longer. */
const MS_MAX = 200;
const ROUNDS = 3;

/** Opens every page of the console among so many transfers, by each of its filters; prints the slowest of each page. */
export async function proveConsole(transfers: number, say: (line: string) => void): Promise<number> {
  say(`Creating ${transfers.toLocaleString('en-GB')} transfers …`);
  const million = await createMillion(transfers);
  const underTest = await startConsole(million.testDatabase, { maxConnections: 1 });
  try {
    const caller = await underTest.signIn('admin');
    say('| Page | Opened by | First, ms | Median, ms | Blocks |');
    say('|---|---|--:|--:|--:|');
    let worst = 0;
    for (const { path } of PAGES) {
      const found: Opened[] = [];
      for (const address of await addressesOf({ path }, caller, million.world)) {
        const costs: PageCost[] = [];
        for (let round = 0; round < ROUNDS; round += 1) costs.push(await costOf(underTest, caller, address));
        found.push(openedOf(address, costs));
      }
      const [slowest] = found.sort((one, other) => other.medianMs - one.medianMs);
      if (slowest === undefined) continue;
      const { filter, firstMs, medianMs, blocks } = slowest;
      say(`| \`${path}\` | ${filter} | ${firstMs.toFixed(0)} | ${medianMs.toFixed(0)} | ${blocks.toFixed(0)} |`);
      worst = Math.max(worst, medianMs);
    }
    say(worst <= MS_MAX ? `No page takes longer than ${MS_MAX} ms.` : `A page takes ${worst.toFixed(0)} ms.`);
    return worst <= MS_MAX ? 0 : 1;
  } finally {
    await underTest.stop();
    await million.close();
  }
}

interface Opened {
  readonly filter: string;
  readonly firstMs: number;
  readonly medianMs: number;
  readonly blocks: number;
}

function openedOf(address: string, costs: readonly PageCost[]): Opened {
  const inOrder = costs.map(({ ms }) => ms).sort((one, other) => one - other);
  const { searchParams } = new URL(address, 'http://127.0.0.1');
  return {
    filter:
      [...searchParams].map(([name, value]) => (name === 'after' ? 'the next page' : `${name} ${value}`)).join() ||
      'no filter',
    firstMs: costs[0]?.ms ?? 0,
    medianMs: inOrder[Math.floor(inOrder.length / 2)] ?? 0,
    blocks: Math.max(...costs.map(({ blocks }) => blocks)),
  };
}
