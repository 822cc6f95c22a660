import { measureRemoval } from './removal.ts';
import { reasonOf, requestsOf } from './requests.ts';
import { type Act, CLAIM, type Measured, measureByTurns, median, reading, TURNS } from './turns.ts';
import { startWorld, type World } from './world.ts';

/** What many months may cost of one. */
const RATIO_MAX = 2;

/**
 * Makes every read of the interface of a database with so many months of payments and of one with a single month, by turns; then removes
 * old months while others write. Returns an exit status.
 */
export async function proveMonths(
  { months, payments, turns = TURNS }: { readonly months: number; readonly payments: number; readonly turns?: number },
  say: (line: string) => void,
): Promise<number> {
  const worlds: World[] = [];
  try {
    const one = await startWorld(1, payments);
    worlds.push(one);
    const many = await startWorld(months, payments);
    worlds.push(many);
    const rows = await compare([one, many], turns, say);
    const misses = rows.filter(({ ratio, reason }) => ratio > RATIO_MAX && reason === null);
    const { statements, waited } = await measureRemoval(many.database, many.api, say);
    const ratios = rows.filter(({ reason }) => reason === null).map(({ ratio }) => ratio);
    say(
      `${rows.length} requests; the median of their ratios ${median(ratios).toFixed(2)}, ${misses.length} above ${RATIO_MAX}`,
    );
    say('The worst of each path:');
    for (const line of tableOf(worstOfEach(rows))) say(line);
    return misses.length === 0 && waited === 0 && statements > 0 ? 0 : 1;
  } finally {
    for (const world of worlds) await world.close();
  }
}

interface Row extends Measured {
  readonly name: string;
  /** Why it may cost more. */
  readonly reason: string | null;
}

async function compare(worlds: readonly [World, World], turns: number, say: (line: string) => void): Promise<Row[]> {
  const [one, many] = worlds;
  const lastPages = new Map<string, number>();
  const [ofOne, ofMany] = [await requestsOf(one.api, lastPages), await requestsOf(many.api, lastPages)];
  const acts = new Map<string, readonly [Act, Act]>([['claim of due deliveries', [CLAIM, CLAIM]]]);
  for (const [name, path] of ofMany.paths) {
    // One month may show the same value in its oldest row and its newest.
    const ofOneMonth = ofOne.paths.get(name) ?? ofOne.paths.get(name.replace('newest', 'oldest'));
    if (ofOneMonth === undefined) throw new Error(`${name}: only of ${many.months} months`);
    acts.set(name, [reading(ofOneMonth), reading(path)]);
  }
  const rows: Row[] = [];
  for (const line of tableOf([])) say(line);
  for (const [name, both] of acts) {
    const measured = { name, reason: reasonOf(name), ...(await measureByTurns(worlds, both, turns)) };
    say(lineOf(measured));
    rows.push(measured);
  }
  say(`Not asked for, as nothing of it is there: ${ofMany.unasked.join('; ')}`);
  return rows;
}

/** Of the requests of each path, the one whose time grew most; those counted row by row apart. */
function worstOfEach(rows: readonly Row[]): readonly Row[] {
  const worst = new Map<string, Row>();
  for (const row of rows) {
    const path = `${row.name.split(/ by |, /)[0]} ${row.reason}`;
    if (row.ratio > (worst.get(path)?.ratio ?? 0)) worst.set(path, row);
  }
  return [...worst.values()];
}

function tableOf(rows: readonly Row[]): string[] {
  const head = ['| Request | Blocks: one month | many | ms: one month | many | Times |', '|---|--:|--:|--:|--:|--:|'];
  return [...head, ...rows.map(lineOf)];
}

function lineOf({ name, reason, one, many, ratio }: Row): string {
  const cells = [
    one.blocks.toFixed(0),
    many.blocks.toFixed(0),
    one.ms.toFixed(1),
    many.ms.toFixed(1),
    ratio.toFixed(2),
  ];
  return `| ${name}${reason === null ? '' : ` (${reason})`} | ${cells.join(' | ')} |`;
}
