import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { NOUNS } from './rules.ts';

const FOLDER = fileURLToPath(new URL('../../docs/behaviour', import.meta.url));
/** What all routes share, and the printed tables. */
const OF_ALL_NOUNS = ['http', 'states'];
const NAMES = readdirSync(FOLDER)
  .map((name) => name.replace(/\.md$/, ''))
  .sort();

test('each noun of the layers has a page of behaviour; transfers have one for what both directions share', () => {
  expect(NAMES).toEqual([...NOUNS.filter((noun) => noun !== 'transfers'), ...OF_ALL_NOUNS].sort());
});

test.each(NAMES.filter((name) => name !== 'states'))('%s is questions and answers, after one line at most', (name) => {
  const page = readFileSync(join(FOLDER, `${name}.md`), 'utf8');
  expect(page).toMatch(/^# .+\n\n(.+\n\n)?## /);
  const headings = [...page.matchAll(/^##+ (.+)$/gm)].map(([, heading = '']) => heading);
  expect(headings.length).toBeGreaterThan(0);
  expect(headings.filter((heading) => !heading.endsWith('?'))).toEqual([]);
});
