import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  type Command,
  commandOf,
  filesWithLongForm,
  MAIN_GUARANTEES,
  PROJECT_DIRECTORY,
  STORIES,
  testFiles,
} from './commands.ts';

export const TABLE_PATH = join(PROJECT_DIRECTORY, 'docs/reference/tests.md');

export const CONTRACT_TEST = 'test/tools/contract-test.ts';
export const ABUSE_TEST = 'test/abuse/main.ts';

/** Programs of their own, which no run of vitest contains. */
export const PROGRAMS: Readonly<Record<string, Command>> = {
  [CONTRACT_TEST]: 'npm test',
  [ABUSE_TEST]: 'npm run test:long',
};

const HEADING = /^## `([^`]+)`/;
const ROW = /^- `([^`]+)`(?:: ([\d.]+) s)?/;

interface Row {
  readonly path: string;
  readonly command: string;
  readonly seconds: number | null;
}

export function rowsOf(table: string): Row[] {
  let command = '';
  return table.split('\n').flatMap((line) => {
    command = HEADING.exec(line)?.[1] ?? command;
    const [, path, seconds] = ROW.exec(line) ?? [];
    return path === undefined ? [] : [{ path, command, seconds: seconds === undefined ? null : Number(seconds) }];
  });
}

/** Seconds of each file as last recorded, for the order in which they are started. */
export function recordedSeconds(): Map<string, number> {
  if (!existsSync(TABLE_PATH)) return new Map();
  return new Map(
    rowsOf(readFileSync(TABLE_PATH, 'utf8')).flatMap(({ path, seconds }) =>
      seconds === null ? [] : [[path, seconds]],
    ),
  );
}

/** Of a file, or of a program of its own. */
export function commandOfTest(path: string): Command {
  return PROGRAMS[path] ?? commandOf(path);
}

/** All tests by the command that runs them, in the order of the page. */
export function testsByCommand(): readonly (readonly [command: Command, paths: readonly string[]])[] {
  const tests = [
    ...testFiles().map((path) => ({ path, command: commandOf(path) })),
    ...Object.entries(PROGRAMS).map(([path, command]) => ({ path, command })),
  ];
  return (['npm test', 'npm run test:long'] as const).map((command) => [
    command,
    tests.filter((one) => one.command === command).map(({ path }) => path),
  ]);
}

/** The page of all tests: a file without a record has no seconds. */
export function printTable(seconds: ReadonlyMap<string, number>): string {
  const inFull = filesWithLongForm();
  const sections = testsByCommand().flatMap(([command, paths]) => {
    const sum = Math.round(paths.reduce((total, path) => total + (seconds.get(path) ?? 0), 0));
    const rows = paths.map((path) => {
      const recorded = seconds.get(path);
      return `- \`${path}\`${recorded === undefined ? '' : `: ${recorded} s`}${alsoOf(path, inFull)}`;
    });
    return [`## \`${command}\``, '', `${paths.length} files, ${sum} s if each ran by itself.`, '', ...rows, ''];
  });
  return [
    '# Which command runs which test',
    '',
    'Printed by `test/tools/run/table.ts`. A new file joins `npm test`; one that is named `*.long.test.ts` joins `npm run test:long`, which also runs',
    'in full what imports `test/tools/run/length.ts`, and the main guarantees on the second Node. `UPDATE_DOCUMENTS=1 npx vitest run --project layout` prints the page again; `npm test -- --record`',
    'and `npm run test:long -- --record` also record the seconds of the files that they run. Seconds are those of a file with its imports, while other files run.',
    '',
    ...sections,
  ].join('\n');
}

export function writeTable(seconds: ReadonlyMap<string, number>): void {
  mkdirSync(dirname(TABLE_PATH), { recursive: true });
  writeFileSync(TABLE_PATH, printTable(seconds));
}

function alsoOf(path: string, inFull: readonly string[]): string {
  const also = [
    ...(path === CONTRACT_TEST || inFull.includes(path) ? ['in full in `test:long`'] : []),
    ...(STORIES.includes(path) ? ['in `test:quick`'] : []),
    ...(MAIN_GUARANTEES.includes(path) ? ['again on the second Node in `test:long`'] : []),
  ];
  return also.length === 0 ? '' : ` (${also.join(', ')})`;
}
