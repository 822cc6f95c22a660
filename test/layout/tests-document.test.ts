import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  commandOf,
  MAIN_GUARANTEES,
  PARITY_TEST,
  PROJECT_DIRECTORY,
  SECONDS_MAX,
  STORIES,
  testFiles,
} from '../tools/run/commands.ts';
import { PROGRAMS, printTable, recordedSeconds, rowsOf, TABLE_PATH, writeTable } from '../tools/run/table.ts';
import { NOUNS } from './rules.ts';

test('docs/reference/tests.md says of every test file which command runs it, and names no other', () => {
  if (process.env.UPDATE_DOCUMENTS === '1') writeTable(recordedSeconds());
  const table = readFileSync(TABLE_PATH, 'utf8');
  const expected = [
    ...testFiles().map((path) => [path, commandOf(path)]),
    ...Object.entries(PROGRAMS).map(([path, command]) => [path, command]),
  ];
  expect(
    rowsOf(table)
      .map(({ path, command }) => [path, command])
      .sort(),
  ).toEqual(expected.sort());
  expect(table).toBe(printTable(recordedSeconds()));
});

test('a file of npm test takes no longer than one may wait for it', () => {
  const rows = rowsOf(readFileSync(TABLE_PATH, 'utf8'));
  const long = rows.filter(({ command, seconds }) => command === 'npm test' && (seconds ?? 0) > SECONDS_MAX);
  expect(long).toEqual([]);
});

test('npm run test:quick has a story of every noun that has tests', () => {
  const withTests = NOUNS.filter((noun) => testFiles().some((path) => path.startsWith(`test/${noun}/`)));
  expect(STORIES.map((path) => path.split('/')[1]).sort()).toEqual(withTests);
});

test('every file that a command names is there', () => {
  const named = [...STORIES, ...MAIN_GUARANTEES, PARITY_TEST, ...Object.keys(PROGRAMS)];
  expect(named.filter((path) => !existsSync(join(PROJECT_DIRECTORY, path)))).toEqual([]);
});
