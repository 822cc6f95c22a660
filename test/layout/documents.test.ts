import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  blocksIn,
  countWords,
  identifierBreaches,
  identifiersIn,
  linkBreaches,
  type Names,
  nameBreaches,
  type Page,
  readPages,
  withoutBlocks,
  wordBreachesOf,
} from './documents.ts';
import { filesBelow } from './files.ts';
import { FOLDERS } from './rules.ts';

/** Of all pages together: what a new engineer can read in three hours. */
const WORDS_MAX = 32_000;
const README_LINES_MAX = 120;
const GUIDE_WORDS_MAX = 450;
/** Lists of all commands, states, directories' codes, what is read of each bank message, error codes, failed attempts, unique keys, figures, answers of the file bank, test files, decisions and generators are looked up, not read; the client's page is its users'. */
const NOT_COUNTED: readonly string[] = [
  'client/README.md',
  'docs/behaviour/states.md',
  'docs/adr/README.md',
  'docs/reference/bank-messages.md',
  'docs/reference/commands.md',
  'docs/reference/directories.md',
  'docs/reference/environment.md',
  'docs/reference/metrics.md',
  'docs/reference/errors.md',
  'docs/reference/sandbox/bank.md',
  'docs/reference/sandbox/file-bank.md',
  'docs/reference/generators.md',
  'docs/reference/scale-figures.md',
  'docs/reference/scopes.md',
  'docs/reference/tests.md',
  'docs/reference/webhook-attempts.md',
];

/** Pages that others take the place of: neither counted nor checked. The list can only shrink. */
const PAGES_TO_REPLACE: readonly string[] = [];

/** What the pages may name before it is there. The list can only shrink. */
const FILES_TO_COME: readonly string[] = [];
const SCRIPTS_TO_COME: readonly string[] = [];

/** Of standards, of Node, Postgres, Prometheus and Temporal, and of an example. */
const NAMES_OF_OTHERS = [
  'NODE_EXTRA_CA_CERTS',
  'NonDeterministicError',
  'StartTime',
  'dpop_jkt',
  'pg_basebackup',
  'pg_dump',
  'private_key_jwt',
  'purposeCode',
  'runbook_url',
  'sync_state',
];

/** A page for one task, read when it comes up; it has a limit of its own. */
const isGuide = ({ path }: Page) => path.startsWith('docs/guides/');

const root = fileURLToPath(new URL('../..', import.meta.url));
const topLevel = readdirSync(root).filter((name) => statSync(join(root, name)).isFile());
const files = [...topLevel, ...FOLDERS.flatMap((folder) => filesBelow(root, folder))];
const all = readPages(
  root,
  files.filter((path) => path.startsWith('docs/') || !path.includes('/')),
);
const pages = all.filter(({ path }) => !PAGES_TO_REPLACE.includes(path));
const scripts = Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts);
const names: Names = {
  files: [...files, ...FILES_TO_COME],
  folders: FOLDERS,
  npmScripts: [...scripts, ...SCRIPTS_TO_COME],
  operations: operatorCommands(),
  projects: [...readFileSync(join(root, 'vitest.config.ts'), 'utf8').matchAll(/name: '([\w-]+)'/g)].map(
    ([, name = '']) => name,
  ),
};

/** Read as text: importing the commands would bring in every client that they use. */
function operatorCommands(): string[] {
  const source = readFileSync(join(root, 'cli/operations/operations.ts'), 'utf8');
  const table = /^export const OPERATIONS\b[^{]*\{\n(.*?)^\};/ms.exec(source)?.[1] ?? '';
  return [...table.matchAll(/^ {2}'?([a-z][\w-]*)'?[:,]/gm)].map(([, name = '']) => name);
}

describe('the documents', () => {
  test('every link leads to a file and a heading that are there', () => {
    expect(linkBreaches(pages, names)).toEqual([]);
  });

  test('every path, npm script, operator command and test project that they name exists', () => {
    expect(nameBreaches(pages, names)).toEqual([]);
  });

  test('every name of the code that they use is one', () => {
    const code = files.filter((path) => /\.(ts|sql|json|yml)$/.test(path) && !/^test\/(histories|layout)\//.test(path));
    const known = new Set([
      ...code.flatMap((path) => identifiersIn(readFileSync(join(root, path), 'utf8'))),
      // Functions and variables of the guides' own blocks.
      ...pages.filter(isGuide).flatMap(({ text }) => identifiersIn(blocksIn(text))),
      ...NAMES_OF_OTHERS,
    ]);
    expect(identifierBreaches(pages, known)).toEqual([]);
  });

  test('they use the words of the glossary', () => {
    expect(wordBreachesOf(pages)).toEqual([]);
  });

  test('all together have at most 32,000 words, and the README has at most 120 lines', () => {
    const read = pages.filter((page) => !NOT_COUNTED.includes(page.path) && !isGuide(page));
    expect(countWords(read)).toBeLessThanOrEqual(WORDS_MAX);
    const readme = pages.find(({ path }) => path === 'README.md')?.text ?? '';
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(README_LINES_MAX);
  });

  test('each guide fits two screens: at most 450 words, its blocks not counted', () => {
    const guides = pages.filter(isGuide);
    expect(guides.length).toBeGreaterThan(12);
    const long = guides
      .map(({ path, text }) => ({ path, words: countWords([{ path, text: withoutBlocks(text) }]) }))
      .filter(({ words }) => words > GUIDE_WORDS_MAX);
    expect(long).toEqual([]);
  });

  test('what the lists above allow for a while is still needed', () => {
    expect(PAGES_TO_REPLACE.filter((path) => !files.includes(path))).toEqual([]);
    expect(FILES_TO_COME.filter((path) => files.includes(path))).toEqual([]);
    expect(SCRIPTS_TO_COME.filter((name) => scripts.includes(name))).toEqual([]);
  });
});

describe('the checks find breaches:', () => {
  const known: Names = {
    files: ['README.md', 'docs/a.md', 'docs/b.md', 'api/clients/routes.ts', 'db/functions/ledger.sql'],
    folders: ['api', 'db', 'docs'],
    npmScripts: ['start', 'check'],
    operations: ['why'],
    projects: ['unit'],
  };
  const page = (text: string, path = 'docs/b.md'): Page[] => [{ path, text }];

  test.each([
    ['[a](a.md)', []],
    ['[a](../README.md), [b](https://example.com/x), `[c](c.md)`', []],
    ['[a](c.md)', ['docs/b.md links to c.md, which is not there']],
    ['# One, two\n[a](#one-two)', []],
    ['# One\n[a](#two)', ['docs/b.md links to #two, a heading that is not there']],
  ])('links: %s', (text, breaches) => {
    expect(linkBreaches(page(text), known)).toEqual(breaches);
  });

  test.each([
    ['`api/clients/routes.ts`, `api/clients/`, `routes.ts`, `api/<noun>/routes.ts`, `db/functions/*.sql`', []],
    ['`api/clients/route.ts`', ['api/clients/route.ts']],
    ['`api/users/`', ['api/users/']],
    ['`schemas.ts`', ['schemas.ts']],
    ['`db/*/reads.ts`', ['db/*/reads.ts']],
    ['```sh\nnpx tsx db/migrate.ts\n```', ['db/migrate.ts']],
    ['npm start, npm run -s check, npm run operate -- why ID, npx vitest run --project unit', []],
    ['npm test', ['npm test']],
    ['npm run lint', ['npm run lint']],
    ['npm run -s operate -- pay', ['npm run operate', 'operate -- pay']],
    ['npx vitest run --project fast', ['--project fast']],
  ])('names: %s', (text, named) => {
    const operate = text.includes('-s operate') ? known : { ...known, npmScripts: [...known.npmScripts, 'operate'] };
    expect(nameBreaches(page(text), operate)).toEqual(
      named.map((name) => `docs/b.md names ${name}, which is not there`),
    );
  });

  test('names of the code, and no words of English', () => {
    const known = new Set(identifiersIn('const decideTransfer = (row: LockedAccount) => row.open_work;'));
    const text = '`decideTransfer`, `LockedAccount`, `open_work`, `word`, `GET /x`, `planTransfer`, `OPEN_WORK`';
    expect(identifierBreaches(page(text), known)).toEqual([
      'docs/b.md names planTransfer, which the code does not',
      'docs/b.md names OPEN_WORK, which the code does not',
    ]);
  });

  test('words, but not in code', () => {
    expect(wordBreachesOf(page('It says who goes first. `reject-recall`\n\n    whoGoesFirst()\n'))).toEqual([
      'docs/b.md says "who goes first"',
    ]);
  });

  test('words are counted, bars, rules and bullets are not', () => {
    expect(countWords(page('| a | b |\n|---|--:|\n\n- Two words, `npm run x`.\n'))).toBe(7);
  });
});
