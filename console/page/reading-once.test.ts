import { expect, test } from 'vitest';
import type { Database, Reader } from '../../db/query/database.ts';
import { readingOnce } from './reading-once.ts';

function counting() {
  let reads = 0;
  const statement = async (text: string) => {
    reads += 1;
    return [{ text, reads }];
  };
  // Only statements are asked for here.
  const database = { reader: { statement } as unknown as Reader } as Database;
  return { database, countReads: () => reads };
}

test('a page reads the same once, and what differs in text or values each by itself', async () => {
  const { database, countReads } = counting();
  const { reader } = readingOnce(database);
  const [one, same] = await Promise.all([reader.statement('a', [1n]), reader.statement('a', [1n])]);
  expect(same).toBe(one);
  expect(countReads()).toBe(1);
  await Promise.all([reader.statement('a', ['1']), reader.statement('a', [2n]), reader.statement('b', [1n])]);
  expect(countReads()).toBe(4);
});

test('the next page reads it again', async () => {
  const { database, countReads } = counting();
  await readingOnce(database).reader.statement('a', []);
  await readingOnce(database).reader.statement('a', []);
  expect(countReads()).toBe(2);
});
