import { mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, describe, expect, test } from 'vitest';
import type { NameRule } from '../../domain/compliance/rules.ts';
import { NameLists, requireNameLists } from './name-lists.ts';

const folder = mkdtempSync(join(tmpdir(), 'name-lists-'));
afterAll(() => rmSync(folder, { recursive: true }));

function ruleOf(file: string): NameRule {
  const path = join(folder, file);
  return { name: 'sanctions', kind: 'name', directions: ['incoming'], stop: 'hard-stop', file: path, threshold: 0.85 };
}

function listsOf(rule: NameRule): { readonly lists: NameLists; readonly lines: string[] } {
  const lines: string[] = [];
  return { lists: new NameLists([rule], pino({}, { write: (line: string) => void lines.push(line) })), lines };
}

const HEADER = 'id,name,aliases\n';

describe('a file', () => {
  test.each<[string, string | Buffer]>([
    ['with a byte order mark and CRLF', '\ufeffid,name,aliases\r\n1,Viktor Sorokin,\r\n'],
    ['with quotes, commas and line ends in them', `${HEADER}1,"Sorokin, ""Viktor""\nViktor",\n`],
    ['without a line end', `${HEADER}1,Viktor Sorokin,`],
    ['with empty lines', `${HEADER}\n1,Viktor Sorokin,\n\n`],
    ['with columns in another order', 'aliases,birth_date,name,id\nVictor Sorokin;V. S.,1970,Sorokin,1\n'],
  ])('%s is a list', async (_name, content) => {
    const rule = ruleOf('list.csv');
    writeFileSync(rule.file, content);
    const { lists } = listsOf(rule);
    expect(await lists.isListed(rule, ['Emma Thompson', 'Viktor Sorokin'])).toBe(true);
    expect(await lists.isListed(rule, ['Emma Thompson'])).toBe(false);
    expect(await lists.isListed(rule, [])).toBe(false);
  });

  test('that could not be read is tried again, though it is the same, and reported once', async () => {
    const rule = ruleOf('later.csv');
    mkdirSync(rule.file);
    const { lists, lines } = listsOf(rule);
    for (const _ of [1, 2]) {
      await expect(lists.isListed(rule, ['Viktor Sorokin'])).rejects.toThrow('the list of the rule sanctions');
    }
    expect(lines.map((line) => JSON.parse(line).reason)).toEqual(['EISDIR']);
    rmdirSync(rule.file);
    writeFileSync(rule.file, `${HEADER}1,Viktor Sorokin,\n`);
    expect(await lists.isListed(rule, ['Viktor Sorokin'])).toBe(true);
  });

  test('is read once for concurrent screenings', async () => {
    const rule = ruleOf('together.csv');
    writeFileSync(rule.file, `${HEADER}1,Viktor Sorokin,\n`);
    const { lists, lines } = listsOf(rule);
    await Promise.all([1, 2, 3].map(() => lists.isListed(rule, ['Viktor Sorokin'])));
    expect(lines.length).toBe(1);
  });
});

test('a worker does not start without the file of a rule, and says which', async () => {
  const rule = ruleOf('absent.csv');
  await expect(requireNameLists([rule])).rejects.toThrow(`${rule.file} cannot be read: ENOENT (rule "sanctions")`);
  writeFileSync(rule.file, HEADER);
  await requireNameLists([rule]);
});
