import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { filesBelow } from './files.ts';
import {
  circleBreaches,
  crowdedBreaches,
  declarationBreaches,
  determinismBreaches,
  extensionBreaches,
  FOLDERS,
  folderBreaches,
  importBreaches,
  NOUNS,
  nameBreaches,
  oversized,
  queryBreaches,
  sizeBreaches,
  sqlBreaches,
  topLevelBreaches,
  unfinishedBreaches,
} from './rules.ts';
import { readSource, readSources } from './source.ts';
import { oversizedSqlFunctions, readSql } from './sql.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = readSources(root, FOLDERS);

/** The product's files, SQL too, that have this text. */
function productNaming(text: RegExp): string[] {
  const paths = [...sources, ...readSql(root)].map(({ path }) => path);
  const product = paths.filter((path) => /^(api|db|domain|activities|workflows|loops)\//.test(path));
  return product.filter((path) => !path.endsWith('.test.ts') && text.test(readFileSync(join(root, path), 'utf8')));
}

test('what a build or a pack leaves in a folder is no source', () => {
  const directory = mkdtempSync(join(tmpdir(), 'layout-'));
  try {
    mkdirSync(join(directory, 'client/dist'), { recursive: true });
    for (const path of ['client/call.ts', 'client/dist/call.d.ts']) writeFileSync(join(directory, path), '');
    expect(filesBelow(directory, 'client')).toEqual(['client/call.ts']);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

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

  test('tables are declared in the schema.ts of their noun', () => {
    expect(declarationBreaches(sources)).toEqual([]);
  });

  test('no function is longer than 70 lines, no file of code longer than 300, no declarations longer than 600', () => {
    expect(sizeBreaches(oversized(sources))).toEqual([]);
    expect(sizeBreaches(oversizedSqlFunctions(readSql(root)))).toEqual([]);
  });

  test.each([
    // Shown as statusReason, in a contract that does not name it.
    ['that the service sets', /failureMessage|failure_message/, ['api/outgoing-transfers/schemas.ts']],
    ['that callers send', /transferCustomReason|transfer_custom_reason/, []],
  ])('a field of a transfer %s occurs in at most five product files, and in its rule', (_, field, contract) => {
    const naming = productNaming(field).filter((path) => path !== 'domain/outgoing-transfers/validation.ts');
    expect(naming.length).toBeGreaterThan(1);
    expect([...naming, ...contract].length, naming.join()).toBeLessThanOrEqual(5);
  });

  test('what a payment has to know of an account stands in one view', () => {
    expect(productNaming(/status_for_payments/)).toEqual(['db/functions/accounts.sql']);
  });

  test('files are named in kebab case', () => {
    expect(nameBreaches(sources.map(({ path }) => path))).toEqual([]);
  });

  test('the layers and test/ have subfolders named by one list, and no folder is crowded', () => {
    const paths = FOLDERS.flatMap((folder) => filesBelow(root, folder));
    expect(folderBreaches(paths)).toEqual([]);
    expect(crowdedBreaches(paths)).toEqual([]);
  });

  test('no file imports another that imports it, and no folder', () => {
    expect(circleBreaches(sources)).toEqual([]);
  });

  test('the map in the README names the folders and subfolders that exist, and no other', () => {
    const map = /^## The map of the code\n(.*?)^## /ms.exec(readFileSync(join(root, 'README.md'), 'utf8'))?.[1] ?? '';
    const isThere = (noun: string) => sources.some(({ path }) => path.split('/')[1] === noun);
    expect(NOUNS.filter((noun) => map.includes(`\`${noun}\``))).toEqual(NOUNS.filter(isThere));
    expect(FOLDERS.filter((folder) => map.includes(`\`${folder}/\``))).toEqual(FOLDERS);
  });

  test('the top level holds only the known folders', () => {
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

describe('the rules find breaches:', () => {
  const breaches = (path: string, text: string) => {
    const source = [readSource(path, text)];
    return [
      ...importBreaches(source),
      ...sqlBreaches(source),
      ...queryBreaches(source),
      ...declarationBreaches(source),
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
    ['db/a.ts', "import { pgTable } from 'drizzle-orm/pg-core'; const TABLE = pgTable('a', {});"],
    ['db/a.ts', 'export const find = (reader: any) => reader.run(prepared((db: any) => db.select()), {});'],
    ['activities/a.ts', "import { x } from '../api/http/route.ts';"],
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
    ['loops/a.ts', "import { x } from '../api/http/metrics.ts';"],
    ['loops/a.ts', "import { x } from '../activities/providers/port.ts';"],
    ['api/a.ts', "import { x } from '../loops/admissions.ts';"],
    ['sandbox/a.ts', "import { x } from '../db/a.ts';"],
    ['config/a.ts', "import { x } from '../db/a.ts';"],
    ['cli/a.ts', "import { x } from '../dev/a.ts';"],
    ['client/a.ts', "import type { X } from '../domain/a.ts';"],
    ['client/a.ts', "import { x } from 'valibot';"],
  ])('%s: %s', (path, text) => {
    expect(breaches(path, text)).toHaveLength(1);
  });

  test.each([
    ['workflows/a.ts', "import type { X } from '../activities/a.ts'; import { type Y } from '../activities/b.ts';"],
    ['workflows/a.ts', "import { sleep } from '@temporalio/workflow'; import { x } from './messages.ts';"],
    [
      'api/a.ts',
      "import { x } from '../workflows/common/messages.ts'; import { y } from '../activities/providers/port.ts';",
    ],
    ['domain/a.ts', "import { isValid } from 'ibantools'; export const at = (ms: number) => new Date(ms);"],
    ['domain/a.ts', 'export const x = { fetch: 1, process: 2 }; export const y = x.fetch;'],
    ['db/a.ts', "import { sql } from 'drizzle-orm'; export const q = sql`SELECT 1`;"],
    ['db/a.ts', 'const FIND = prepared((db: any) => db.select()); const LOCK = lockIn(FIND);'],
    [
      'domain/a.ts',
      '// Date.now() and fetch() in a comment, "Math.random()" in a text\nexport const x = "new Date()";',
    ],
    ['cli/a.ts', "import { app } from '../api/app.ts';"],
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

  test('sizes, of code and of what only declares', () => {
    const body = 'work();\n'.repeat(80);
    const text = `export function long() {\n${body}}\nconst short = () => {};\n`;
    const code = `export const f = () => 1;\n${'x();\n'.repeat(300)}`;
    const sizes = oversized([
      readSource('db/a.ts', text),
      readSource('db/b.ts', code),
      readSource('db/c/schema.ts', code),
      readSource('api/texts.ts', 'x();\n'.repeat(600)),
      readSource('api/more-texts.ts', 'x();\n'.repeat(601)),
    ]);
    expect(Object.fromEntries(sizes)).toEqual({ 'db/a.ts long': 82, 'db/b.ts': 301, 'api/more-texts.ts': 601 });
    expect(sizeBreaches(sizes)).toContain('db/b.ts has 301 lines: split it');
  });

  test('sizes of functions in SQL', () => {
    const define = (name: string, lines: number) =>
      `CREATE OR REPLACE FUNCTION ${name}() RETURNS void LANGUAGE plpgsql AS $$\n${'PERFORM 1;\n'.repeat(lines)}$$;\n`;
    const files = [
      { path: '1.sql', text: define('short', 68) + define('long', 69) },
      { path: '2.sql', text: `DO $make$\n${'PERFORM 1;\n'.repeat(70)}$make$;\n` },
    ];
    expect(Object.fromEntries(oversizedSqlFunctions(files))).toEqual({ '1.sql long': 71, '2.sql DO': 72 });
  });

  test('names', () => {
    expect(nameBreaches(['db/accounts/reads.ts', 'db/outgoingTransfers.ts', 'api/utils/a.ts'])).toHaveLength(2);
  });

  test('a subfolder of another name, a file in none', () => {
    const good = [
      'db/accounts/reads.ts',
      'db/client.ts',
      'api/main.ts',
      'api/openapi/a.ts',
      'loops/a.ts',
      'test/clients/a.test.ts',
    ];
    expect(folderBreaches(good)).toEqual([]);
    expect(
      folderBreaches(['db/account/reads.ts', 'api/driver/client.ts', 'domain/fees.ts', 'test/db/a.test.ts']),
    ).toEqual([
      'db/account/reads.ts: db/ has no subfolder named account',
      'api/driver/client.ts: api/ has no subfolder named driver',
      'domain/fees.ts is in no subfolder',
      'test/db/a.test.ts: test/ has no subfolder named db',
    ]);
  });

  test('a crowded folder, files and folders counted', () => {
    const files = (folder: string, count: number) =>
      Array.from({ length: count }, (_, index) => `${folder}/a${index}.ts`);
    const full = [...files('db/accounts', 14), 'db/accounts/further/a.ts', 'db/accounts/further/b.ts'];
    const subfolders = Array.from({ length: 16 }, (_, index) => `test/subfolder${index}/a.test.ts`);
    const growing = [
      ...files('db/migrations', 16),
      ...files('test/histories/0.1.0', 16),
      ...files('bench/results', 16),
    ];
    expect(crowdedBreaches([...full, ...subfolders, ...growing])).toEqual([]);
    const cli = [...files('cli', 15), 'cli/operations/a.ts'];
    expect(crowdedBreaches([...full, 'db/accounts/more.ts', ...cli, ...files('test', 16)])).toEqual([
      'db/accounts/ has 16 entries: give it subfolders',
      'cli/ has 16 entries: give it subfolders',
      'test/ has 16 entries: give it subfolders',
    ]);
  });

  const file = (path: string, ...imports: string[]) =>
    readSource(path, imports.map((from) => `import type { X } from '${from}';`).join('\n'));

  test('a circle of folders, however long, also of types only, whose files are in none', () => {
    const chain = [
      file('db/clients/a.ts', '../accounts/a.ts', './b.ts'),
      file('db/clients/b.ts', './c.ts'),
      file('db/accounts/a.ts', '../../domain/accounts/a.ts', '../common/a/b.ts'),
      file('db/common/a/b.ts', '../b.ts'),
    ];
    expect(circleBreaches(chain)).toEqual([]);
    expect(circleBreaches([...chain, file('db/common/c.ts', '../clients/b.ts')])).toEqual([
      'db/accounts, db/clients, db/common import each other: move what they share to a folder of its own',
    ]);
  });

  test('a circle of files, however long, also of types only, in any folder, each circle once and whole', () => {
    const chain = [
      file('db/clients/a.ts', './b.ts'),
      file('db/clients/b.ts', './further/c.ts', './d.ts'),
      file('db/clients/d.ts'),
      file('bench/a.ts', './cases/b.ts'),
      file('test/harness/a.ts', './b.ts'),
    ];
    expect(circleBreaches(chain)).toEqual([]);
    const closing = [
      file('db/clients/further/c.ts', '../a.ts'),
      file('bench/cases/b.ts', '../a.ts', '../c.ts'),
      file('bench/c.ts', './a.ts'),
      file('test/harness/b.ts', './a.ts'),
    ];
    const breach = (...circle: string[]) =>
      `${circle.join(', ')} import each other: declare what they share in a file that imports none of them`;
    expect(circleBreaches([...chain, ...closing])).toEqual([
      breach('db/clients/a.ts', 'db/clients/b.ts', 'db/clients/further/c.ts'),
      breach('bench/a.ts', 'bench/c.ts', 'bench/cases/b.ts'),
      breach('test/harness/a.ts', 'test/harness/b.ts'),
    ]);
    const value = readSource('db/clients/d.ts', "import { x } from './b.ts';");
    expect(circleBreaches([...chain.filter(({ path }) => path !== value.path), value])).toEqual([
      breach('db/clients/b.ts', 'db/clients/d.ts'),
    ]);
  });

  test('unknown entries at the top level, and unfinished work in comments', () => {
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
