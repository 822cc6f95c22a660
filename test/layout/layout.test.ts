import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  circleBreaches,
  crowdedBreaches,
  determinismBreaches,
  extensionBreaches,
  FOLDERS,
  importBreaches,
  NOUNS,
  nameBreaches,
  oversized,
  queryBreaches,
  ratchetBreaches,
  roomBreaches,
  sqlBreaches,
  topLevelBreaches,
  unfinishedBreaches,
} from './rules.ts';
import { filesBelow, readSource, readSources } from './source.ts';
import { oversizedSqlFunctions, readMigrations } from './sql.ts';

/** Longer than the limits when the ratchet was set. The list can only shrink: shorten the code, then its figure. */
const KNOWN_SIZES: Readonly<Record<string, number>> = {
  'db/migrations/0003_ledger_functions.sql settle_internal_transfers': 190,
  'db/migrations/0008_transfer_counts.sql count_transfers': 80,
};

const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = readSources(root, FOLDERS);

describe('the project', () => {
  test('every folder imports what its layer may import, and nothing imports api/', () => {
    expect(importBreaches(sources)).toEqual([]);
  });

  test('relative imports name files that exist, with their extension', () => {
    expect(extensionBreaches(sources, (path) => existsSync(join(root, path)))).toEqual([]);
  });

  test('all SQL lives in db/', () => {
    expect(sqlBreaches(sources)).toEqual([]);
  });

  test('no query is built per call', () => {
    expect(queryBreaches(sources)).toEqual([]);
  });

  test('workflows are deterministic; domain/ and db/ receive the time as an argument', () => {
    expect(determinismBreaches(sources)).toEqual([]);
  });

  test('no function is longer than 70 lines, no file longer than 300, beyond a list that can only shrink', () => {
    const sizes = new Map([...oversized(sources), ...oversizedSqlFunctions(readMigrations(root))]);
    expect(ratchetBreaches(sizes, KNOWN_SIZES)).toEqual([]);
  });

  test('a field of a transfer stands in at most five product files: statusReason, in the contract, and its text elsewhere', () => {
    const product = [...sources.map(({ path }) => path), ...readMigrations(root).map(({ path }) => path)].filter(
      (path) => /^(api|db|domain|activities|workflows|loops)\//.test(path) && !path.endsWith('.test.ts'),
    );
    const naming = product.filter((path) =>
      /failureMessage|failure_message/.test(readFileSync(join(root, path), 'utf8')),
    );
    expect(naming.length).toBeGreaterThan(1);
    expect([...naming, 'api/outgoing-transfers/schemas.ts'].length, naming.join()).toBeLessThanOrEqual(5);
  });

  test('files are named in kebab case', () => {
    expect(nameBreaches(sources.map(({ path }) => path))).toEqual([]);
  });

  test('the layers and test/ have rooms named by one list, and no folder is crowded', () => {
    const paths = FOLDERS.flatMap((folder) => filesBelow(root, folder));
    expect(roomBreaches(paths)).toEqual([]);
    expect(crowdedBreaches(paths)).toEqual([]);
  });

  test('no room imports another that imports it', () => {
    expect(circleBreaches(sources)).toEqual([]);
  });

  test('the map in the README names the folders and rooms that are there, and no other', () => {
    const map = /^## The map of the code\n(.*?)^## /ms.exec(readFileSync(join(root, 'README.md'), 'utf8'))?.[1] ?? '';
    const isThere = (noun: string) => sources.some(({ path }) => path.split('/')[1] === noun);
    expect(NOUNS.filter((noun) => map.includes(`\`${noun}\``))).toEqual(NOUNS.filter(isThere));
    expect(FOLDERS.filter((folder) => map.includes(`\`${folder}/\``))).toEqual(FOLDERS);
  });

  test('the top level holds the known folders alone', () => {
    const ignored = readFileSync(join(root, '.gitignore'), 'utf8').split('\n');
    const entries = readdirSync(root, { withFileTypes: true })
      .filter(({ name }) => !ignored.includes(name) && !ignored.includes(`${name}/`))
      .map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }));
    expect(topLevelBreaches(entries)).toEqual([]);
  });

  test('package-lock.json pins every package of every platform by its content, and names no registry', () => {
    const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
    const packages = Object.entries<Record<string, unknown>>(lock.packages).filter(([path]) => path !== '');
    expect(packages.length).toBeGreaterThan(100);
    const unpinned = packages.filter(([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(String(integrity)));
    expect(unpinned.map(([path]) => path)).toEqual([]);
    expect(packages.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
  });

  test('nothing is left unfinished', () => {
    expect(unfinishedBreaches(sources)).toEqual([]);
  });
});

describe('the rules see what they look for', () => {
  const breaches = (path: string, text: string) => {
    const source = [readSource(path, text)];
    return [
      ...importBreaches(source),
      ...sqlBreaches(source),
      ...queryBreaches(source),
      ...determinismBreaches(source),
    ];
  };

  test.each([
    ['domain/a.ts', "import { x } from '../db/a.ts';"],
    ['domain/a.ts', "import { readFileSync } from 'node:fs';"],
    ['domain/a.ts', 'export const now = () => new Date();'],
    ['domain/a.ts', 'export const now = () => Date.now();'],
    ['db/a.ts', "import type { X } from '../config/configuration.ts';"],
    ['db/a.ts', "export * from '../api/a.ts';"],
    ['db/a.ts', 'export const find = (reader: any) => reader.run(prepared((db: any) => db.select()), {});'],
    ['activities/a.ts', "import { x } from '../api/frame/route.ts';"],
    ['activities/a.ts', "import { x } from '../workflows/outgoing-transfers/workflow.ts';"],
    ['activities/a.ts', "import postgres from 'postgres';"],
    ['workflows/a.ts', "import { x } from '../activities/a.ts';"],
    ['workflows/a.ts', "import { type X, y } from '../activities/a.ts';"],
    ['workflows/a.ts', "import { x } from '../db/a.ts';"],
    ['workflows/a.ts', "import { readFileSync } from 'node:fs';"],
    ['workflows/a.ts', 'export const id = () => Math.random();'],
    ['workflows/a.ts', "export const get = () => fetch('http://127.0.0.1');"],
    ['workflows/a.ts', 'export const home = process.env.HOME;'],
    ['api/a.ts', "import { x } from '../workflows/outgoing-transfers/workflow.ts';"],
    ['api/a.ts', "import { x } from '../activities/main.ts';"],
    ['api/a.ts', "const x = await import('../activities/main.ts');"],
    ['api/a.ts', "import { sql } from 'drizzle-orm';"],
    ['api/a.ts', 'export const query = (sql: any) => sql`SELECT 1`;'],
    ['loops/a.ts', "import { x } from '../api/frame/metrics.ts';"],
    ['loops/a.ts', "import { x } from '../activities/providers/port.ts';"],
    ['api/a.ts', "import { x } from '../loops/admissions.ts';"],
    ['sandbox/a.ts', "import { x } from '../db/a.ts';"],
    ['config/a.ts', "import { x } from '../db/a.ts';"],
    ['sdk/a.ts', "import type { X } from '../domain/a.ts';"],
    ['sdk/a.ts', "import { x } from 'valibot';"],
  ])('%s: %s', (path, text) => {
    expect(breaches(path, text)).toHaveLength(1);
  });

  test.each([
    ['workflows/a.ts', "import type { X } from '../activities/a.ts'; import { type Y } from '../activities/b.ts';"],
    ['workflows/a.ts', "import { sleep } from '@temporalio/workflow'; import { x } from './messages.ts';"],
    [
      'api/a.ts',
      "import { x } from '../workflows/frame/messages.ts'; import { y } from '../activities/providers/port.ts';",
    ],
    ['domain/a.ts', "import { isValid } from 'ibantools'; export const at = (ms: number) => new Date(ms);"],
    ['domain/a.ts', 'export const x = { fetch: 1, process: 2 }; export const y = x.fetch;'],
    ['db/a.ts', "import { sql } from 'drizzle-orm'; export const q = sql`SELECT 1`;"],
    ['db/a.ts', 'const FIND = prepared((db: any) => db.select()); const LOCK = lockIn(FIND);'],
    [
      'domain/a.ts',
      '// Date.now() and fetch() in a comment, "Math.random()" in a text\nexport const x = "new Date()";',
    ],
    ['scripts/a.ts', "import { app } from '../api/app.ts';"],
  ])('%s may: %s', (path, text) => {
    expect(breaches(path, text)).toEqual([]);
  });

  test('a missing extension, a missing file', () => {
    const source = [readSource('db/a.ts', "import './b'; import './c.ts'; import './d.ts';")];
    expect(extensionBreaches(source, (path) => path === 'db/d.ts')).toEqual([
      'db/a.ts imports ./b without its extension',
      'db/a.ts imports ./c.ts, which is not there',
    ]);
  });

  test('sizes, and a ratchet that turns one way', () => {
    const body = 'work();\n'.repeat(80);
    const text = `export function long() {\n${body}}\nconst short = () => {};\n`;
    const sizes = oversized([readSource('db/a.ts', text), readSource('db/b.ts', 'x();\n'.repeat(301))]);
    expect(Object.fromEntries(sizes)).toEqual({ 'db/a.ts long': 82, 'db/b.ts': 301 });
    const known = { 'db/a.ts long': 82, 'db/b.ts': 301 };
    expect(ratchetBreaches(sizes, known)).toEqual([]);
    expect(ratchetBreaches(sizes, { 'db/a.ts long': 81, 'db/b.ts': 302 })).toHaveLength(2);
    expect(ratchetBreaches(sizes, { ...known, 'db/c.ts': 400 })).toHaveLength(1);
    expect(ratchetBreaches(sizes, {})).toHaveLength(2);
  });

  test('sizes of functions in SQL, as the last migration leaves them', () => {
    const define = (name: string, lines: number, replace = '') =>
      `CREATE ${replace}FUNCTION ${name}() RETURNS void LANGUAGE plpgsql AS $$\n${'PERFORM 1;\n'.repeat(lines)}$$;\n`;
    const files = [
      { path: '1.sql', text: define('short', 68) + define('long', 69) + define('shortened', 90) + define('gone', 90) },
      { path: '2.sql', text: `${define('shortened', 5, 'OR REPLACE ')}DROP FUNCTION gone();\n${define('later', 100)}` },
    ];
    expect(Object.fromEntries(oversizedSqlFunctions(files))).toEqual({ '1.sql long': 71, '2.sql later': 102 });
  });

  test('names', () => {
    expect(nameBreaches(['db/accounts/reads.ts', 'db/outgoingTransfers.ts', 'api/utils/a.ts'])).toHaveLength(2);
  });

  test('a room of another name, a file in none', () => {
    const good = [
      'db/accounts/reads.ts',
      'db/driver/client.ts',
      'api/main.ts',
      'api/frame/openapi/a.ts',
      'loops/a.ts',
      'test/clients/a.test.ts',
    ];
    expect(roomBreaches(good)).toEqual([]);
    expect(
      roomBreaches(['db/account/reads.ts', 'api/driver/client.ts', 'domain/fees.ts', 'test/db/a.test.ts']),
    ).toEqual([
      'db/account/reads.ts: db/ has no room named account',
      'api/driver/client.ts: api/ has no room named driver',
      'domain/fees.ts is in no room',
      'test/db/a.test.ts: test/ has no room named db',
    ]);
  });

  test('a crowded folder, files and folders counted', () => {
    const files = (folder: string, count: number) =>
      Array.from({ length: count }, (_, index) => `${folder}/a${index}.ts`);
    const full = [...files('db/accounts', 14), 'db/accounts/further/a.ts', 'db/accounts/further/b.ts'];
    const rooms = Array.from({ length: 16 }, (_, index) => `test/room${index}/a.test.ts`);
    const growing = [...files('db/migrations', 16), ...files('test/histories/0.1', 16), ...files('bench/results', 16)];
    expect(crowdedBreaches([...full, ...rooms, ...growing])).toEqual([]);
    const scripts = [...files('scripts', 15), 'scripts/start/a.ts'];
    expect(crowdedBreaches([...full, 'db/accounts/more.ts', ...scripts, ...files('test', 16)])).toEqual([
      'db/accounts/ has 16 entries: give it rooms',
      'scripts/ has 16 entries: give it rooms',
      'test/ has 16 entries: give it rooms',
    ]);
  });

  test('a circle of rooms, however long, types alone too; none within a room', () => {
    const file = (path: string, ...imports: string[]) =>
      readSource(path, imports.map((from) => `import type { X } from '${from}';`).join('\n'));
    const chain = [
      file('db/clients/a.ts', '../accounts/a.ts', './b.ts'),
      file('db/clients/b.ts', './a.ts'),
      file('db/accounts/a.ts', '../../domain/accounts/a.ts', '../frame/a/b.ts'),
      file('db/frame/a/b.ts', '../b.ts'),
      file('db/frame/b.ts', './a/b.ts'),
    ];
    expect(circleBreaches(chain)).toEqual([]);
    expect(circleBreaches([...chain, file('db/frame/c.ts', '../clients/b.ts')])).toEqual([
      'db/accounts, db/clients, db/frame import each other: move what they share to a room of its own',
    ]);
  });

  test('strangers at the top level, and promises in comments', () => {
    const entries = [
      { name: 'src', isFolder: true },
      { name: 'api', isFolder: true },
      { name: 'notes.txt', isFolder: false },
      { name: 'package.json', isFolder: false },
    ];
    expect(topLevelBreaches(entries)).toHaveLength(2);
    const todo = ['TO', 'DO'].join('');
    expect(unfinishedBreaches([readSource('db/a.ts', `// ${todo}: later\n`)])).toHaveLength(1);
  });
});
