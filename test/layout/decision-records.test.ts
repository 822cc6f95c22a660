import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const FOLDER = fileURLToPath(new URL('../../docs/adr', import.meta.url));
const INDEX = join(FOLDER, 'README.md');
const NAMES = readdirSync(FOLDER)
  .filter((name) => name !== 'README.md')
  .sort();
const WORDS_MAX = 320;
const WORDS_OF_ALL_MAX = 7_200;

const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');
const words = (text: string) => text.split(/\s+/).filter((word) => word !== '').length;
const title = (name: string) => /^# \d{4}: (.+)\n/.exec(read(name))?.[1];

function index(): string {
  return [
    '# Decision records',
    '',
    'One page per decision that has a rejected alternative or a measured figure. Printed from the titles by `test/layout/decision-records.test.ts`; run it with `UPDATE_DOCUMENTS=1` to print again.',
    '',
    ...NAMES.map((name) => `- [${name.slice(0, 4)}](${name}) ${title(name)}`),
    '',
  ].join('\n');
}

describe('decision records', () => {
  test('docs/adr/README.md lists every page by its title', () => {
    if (process.env.UPDATE_DOCUMENTS === '1') writeFileSync(INDEX, index());
    expect(readFileSync(INDEX, 'utf8')).toBe(index());
  });

  test('each has a number of its own, which a link keeps when other records go', () => {
    const numbers = NAMES.map((name) => /^(\d{4})(-[a-z0-9]+)+\.md$/.exec(name)?.[1] ?? name);
    expect(numbers.filter((number, place) => !/^\d{4}$/.test(number) || numbers.indexOf(number) !== place)).toEqual([]);
  });

  test.each(NAMES)('%s says context, decision, and what was rejected or measured', (name) => {
    const page = read(name);
    expect(page).toMatch(new RegExp(`^# ${name.slice(0, 4)}: .+\n\n## Context\n`));
    const headings = [...page.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading).join(', ');
    expect([
      'Context, Decision, Rejected, Figure',
      'Context, Decision, Rejected',
      'Context, Decision, Figure',
    ]).toContain(headings);
    expect(words(page)).toBeLessThanOrEqual(WORDS_MAX);
  });

  test('third-party packages are all named, by name or scope', () => {
    const named = new Set([...read('0004-third-party-packages.md').matchAll(/`([^`]+)`/g)].map(([, name]) => name));
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(FOLDER, '../../package.json'), 'utf8'));
    const used = Object.keys({ ...dependencies, ...devDependencies });
    expect(used.filter((name) => !named.has(name) && !named.has(name.replace(/\/.*$/, '/*')))).toEqual([]);
  });

  test('are short together', () => {
    expect(NAMES.reduce((sum, name) => sum + words(read(name)), 0)).toBeLessThanOrEqual(WORDS_OF_ALL_MAX);
  });
});
