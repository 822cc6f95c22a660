import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Journal } from './journal.ts';
import { Store } from './store.ts';

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'journal-'));
  file = join(directory, 'bank.journal');
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

function onFailure(error: unknown): void {
  throw error;
}

async function linesOf(): Promise<string[]> {
  const lines: string[] = [];
  const journal = await Journal.open(file, { replay: (line) => lines.push(line), onFailure });
  await journal.close();
  return lines;
}

test('an appended line is in the file when the append resolves', async () => {
  const journal = await Journal.open(file, { replay: () => {}, onFailure });
  const written: string[] = [];
  const writers = Array.from({ length: 300 }, async (_, index) => {
    await journal.append(`line ${index} ü`);
    expect(readFileSync(file, 'utf8')).toContain(`line ${index} ü\n`);
    written.push(`line ${index} ü`);
  });
  await Promise.all(writers);
  await journal.close();
  expect(await linesOf()).toEqual(written);
});

test('half a line at the end is cut off, and the next line is complete', async () => {
  const journal = await Journal.open(file, { replay: () => {}, onFailure });
  await journal.append('whole');
  await journal.close();
  appendFileSync(file, '{"put":{"pay');
  expect(await linesOf()).toEqual(['whole']);
  const again = await Journal.open(file, { replay: () => {}, onFailure });
  await again.append('next');
  await again.close();
  expect(await linesOf()).toEqual(['whole', 'next']);
});

test('a line longer than a read buffer comes back whole', async () => {
  const long = 'x'.repeat(300_000);
  const journal = await Journal.open(file, { replay: () => {}, onFailure });
  await journal.append(long);
  await journal.append('short');
  await journal.close();
  expect(await linesOf()).toEqual([long, 'short']);
});

test('the store comes back with exact amounts, and shrinks a journal of many changes to its rows', async () => {
  const store = await Store.open(file, onFailure);
  const callback = { id: 'c', line: 'l', copies: 1, body: '{}' };
  const writes: Promise<void>[] = [];
  for (let change = 0; change < 20_100; change += 1) {
    writes.push(store.commit({ put: { callbacks: [callback] } }));
  }
  const payment = {
    paymentId: 'p',
    paymentReference: 'r',
    status: 'booked' as const,
    amountMinor: 9_007_199_254_740_993n,
    currency: 'GBP',
    scheme: 'chaps',
    senderName: null,
    senderAccount: null,
    receiver: { iban: null, accountNumber: null, routingCodes: {} },
    reference: '12',
    createdAt: '2026-01-01T00:00:00.000Z',
    sentBack: null,
  };
  writes.push(store.commit({ put: { paymentsIn: [payment] }, remove: { callbacks: ['c'] } }));
  await Promise.all(writes);
  await store.close();

  for (const lines of [1, 2]) {
    const reopened = await Store.open(file, onFailure);
    expect([...reopened.tables.paymentsIn.values()]).toEqual([payment]);
    expect(reopened.tables.callbacks.size).toBe(0);
    expect(readFileSync(file, 'utf8').split('\n').length - 1).toBe(lines);
    await reopened.commit({ put: { clients: [{ ourReference: 'o', reference: 'r', fullName: 'n' }] } });
    await reopened.close();
  }
});
