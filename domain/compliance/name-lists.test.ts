import { describe, expect, test } from 'vitest';
import { type ListedEntity, NameList, readEntity, readHeader } from './name-lists.ts';
import pairs from './name-pairs.json' with { type: 'json' };
import { NAME_THRESHOLD as THRESHOLD } from './rules.ts';

function listOf(...names: string[]): NameList {
  const list = new NameList();
  runToEnd(list.add([{ id: 'listed', names }]));
  return list;
}

function runToEnd<Result>(work: Generator<void, Result>): { result: Result; pauses: number } {
  for (let pauses = 0; ; pauses += 1) {
    const step = work.next();
    if (step.done) return { result: step.value, pauses };
  }
}

function isFound(list: NameList, name: string, threshold = THRESHOLD): boolean {
  return runToEnd(list.search(name, threshold)).result;
}

describe('pairs of names that were labelled beforehand', () => {
  const labelled = pairs.flatMap(({ rule, pairs: ofRule }) =>
    ofRule.map(([listed = '', asked = '', label = '']) => ({ rule, listed, asked, isSame: label === 'same' })),
  );
  const compared = labelled.map((pair) => ({ ...pair, isFound: isFound(listOf(pair.listed), pair.asked) }));
  const number = (isSame: boolean, found: boolean, of = compared) =>
    of.filter((pair) => pair.isSame === isSame && pair.isFound === found).length;

  test('the floors: 98 of 100 hits are right, and 93 of 100 variants are found', () => {
    const [hits, missed, falseHits] = [number(true, true), number(true, false), number(false, true)];
    const wrong = compared.filter((pair) => pair.isSame !== pair.isFound);
    const report = wrong.map(({ listed, asked, isSame }) => `${listed} | ${asked}: ${isSame ? 'missed' : 'false hit'}`);
    expect(compared.length).toBeGreaterThanOrEqual(225);
    expect(hits / (hits + falseHits), report.join('\n')).toBeGreaterThanOrEqual(0.98);
    expect(hits / (hits + missed), report.join('\n')).toBeGreaterThanOrEqual(0.93);
  });

  test('the groups written after the matcher: nine of ten hits are right, eight of ten variants are found', () => {
    const later = compared.filter(({ rule }) => rule.endsWith('written afterwards'));
    const hits = number(true, true, later);
    expect(later.length).toBe(40);
    expect(hits / (hits + number(false, true, later))).toBeGreaterThanOrEqual(0.9);
    expect(hits / (hits + number(true, false, later))).toBeGreaterThanOrEqual(0.8);
  });

  test('every name is found as it is listed, and in capitals', () => {
    for (const { listed } of labelled) {
      const list = listOf(listed);
      expect(isFound(list, listed, 1), listed).toBe(true);
      expect(isFound(list, listed.toUpperCase()), listed).toBe(true);
    }
  });
});

describe('a list', () => {
  test('is searched for every alias, and by the threshold asked for', () => {
    const list = listOf('Viktor Sorokin', 'Abu Nidhal al-Baghawi');
    expect(isFound(list, 'Nidal Baghawi')).toBe(true);
    expect(isFound(list, 'Viktor Sorokn', 0.85)).toBe(true);
    expect(isFound(list, 'Viktor Sorokn', 0.99)).toBe(false);
  });

  test.each(['', ' ', '...', '🙂', 'x', '\u0301'])('nothing is found for %j', (name) => {
    expect(isFound(listOf('Viktor Sorokin', 'Xavier'), name)).toBe(false);
  });

  test('a name of one script finds its own spelling', () => {
    expect(isFound(listOf('王小明'), '王小明')).toBe(true);
    expect(isFound(listOf('محمد رشيد'), 'محمد رشيد')).toBe(true);
  });

  test('of 20,000 entities pauses often, with little work in between', () => {
    const list = new NameList();
    const entities = Array.from(manyEntities(20_000));
    expect(runToEnd(list.add(entities)).pauses).toBeGreaterThanOrEqual(400);
    expect(list.entityCount).toBe(20_000);
    const { result, pauses } = runToEnd(list.search('Viktor Andreyevich Sorokin', THRESHOLD));
    expect(result).toBe(false);
    expect(pauses).toBeGreaterThanOrEqual(50);
    expect(isFound(list, entities[12_345]?.names[0] ?? '')).toBe(true);
  });
});

function* manyEntities(count: number): Generator<ListedEntity> {
  const syllables = ['ka', 'ri', 'mo', 'su', 'ta', 'le', 'vi', 'no', 'shi', 'ga', 'ro', 'be', 'du', 'pel', 'an', 'mir'];
  const word = (number: number) =>
    [number % 16, (number >> 4) % 16, (number >> 8) % 16, (number >> 12) % 16].map((at) => syllables[at]).join('');
  for (let number = 0; number < count; number += 1) {
    yield { id: String(number), names: [`${word(number)} ${word(number * 31)} ${word(number * 131)}`] };
  }
}

describe('the rows of a file', () => {
  test('have columns in any order, and others', () => {
    const columns = readHeader(['schema', ' Name', 'ID', 'birth_date', 'aliases']);
    if ('message' in columns) throw new Error(columns.message);
    expect(readEntity(['Person', 'Viktor Sorokin', 'x-1', '', 'V. Sorokin; Виктор Сорокин;'], columns, 2)).toEqual({
      id: 'x-1',
      names: ['Viktor Sorokin', 'V. Sorokin', 'Виктор Сорокин'],
    });
  });

  test.each([
    [['id', 'name'], 'must have the columns id, name, aliases (missing: aliases)'],
    [['<html>'], 'must have the columns id, name, aliases (missing: id, name, aliases)'],
  ])('a header %j is rejected', (header, message) => {
    expect(readHeader(header)).toEqual({ line: 1, message });
  });

  test.each([
    [['', 'Viktor Sorokin', ''], 'has no id'],
    [['x-1', '  ', 'Viktor Sorokin'], 'has no name'],
    [['x-1'], 'has no name'],
  ])('a row %j is rejected without being quoted', (row, message) => {
    expect(readEntity(row, { id: 0, name: 1, aliases: 2 }, 7)).toEqual({ line: 7, message });
  });
});

test('đ is found in both of its spellings, whichever other name spells the word in one of them', () => {
  const list = listOf('Dorde Hadic', 'Đorđe Hađić');
  for (const name of ['Djordje Hadjic', 'Đorđe Hađić', 'Dorde Hadic']) {
    expect(isFound(list, name, 0.95), name).toBe(true);
  }
  expect(isFound(list, 'Djorde Hadjic'), 'a mixture, by the threshold').toBe(true);
});
