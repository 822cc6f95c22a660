import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { shortOrLong } from '../../test/tools/run/length.ts';
import { readBankStatement } from './camt-053.ts';

const HEAD = `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt><Id>S-1</Id><Ntry>
  <Amt Ccy="EUR">3000.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2026-11-10</Dt></BookgDt>`;
const END = '<AddtlNtryInf>end</AddtlNtryInf></Ntry></Stmt></BkToCstmrStmt></Document>';

const collect = (() => {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
})();
const heap = () => {
  collect();
  return process.memoryUsage().heapUsed;
};

/** A quarter of the transactions, if they were kept, would take more memory than the test allows. */
const COUNT = shortOrLong(60_000, 300_000);
/** Takes seconds, and on a busy machine half a minute. */
const TIMEOUT_MS = 600_000;

test(
  `an entry of ${COUNT} transactions takes no more memory than a short one`,
  async () => {
    async function* chunks(): AsyncGenerator<string> {
      yield `${HEAD}<NtryDtls>`;
      for (let at = 0; at < COUNT; at += 100) {
        yield Array.from({ length: 100 }, (_, next) => {
          const reference = `<Refs><EndToEndId>E-${at + next}</EndToEndId></Refs>`;
          return `<TxDtls>${reference}<Amt Ccy="EUR">0.01</Amt></TxDtls>`;
        }).join('');
      }
      yield `</NtryDtls>${END}`;
    }
    let [read, sum, largest] = [0, 0n, 0];
    const heaps: number[] = [];
    for await (const page of readBankStatement(chunks())) {
      largest = Math.max(largest, page.length);
      for (const item of page) {
        if (item.item === 'entry-end')
          expect(item).toMatchObject({ transactions: COUNT, references: [{ value: 'end' }] });
        if (item.item !== 'transaction') continue;
        read += 1;
        sum += item.amounts[0]?.amountMinor ?? 0n;
        if (read % (COUNT / 3) === 0) heaps.push(heap());
      }
    }
    expect([read, sum]).toEqual([COUNT, BigInt(COUNT)]);
    expect(largest).toBeLessThan(2_000);
    expect(heaps).toHaveLength(3);
    expect((heaps[2] ?? 0) - (heaps[0] ?? 0)).toBeLessThan(5 * 1024 * 1024);
  },
  TIMEOUT_MS,
);

test.each([
  ['nests without end', '<a>', 'nested more deeply'],
  ['has a comment without end', `<!-- ${'x'.repeat(1024 * 1024)}`, 'longer text or comment than any'],
  ['repeats an element without end', '<Ustrd/>'.repeat(10_000), 'more elements'],
])('a file that %s is rejected before memory is full', async (_, piece, message) => {
  async function* chunks(): AsyncGenerator<string> {
    yield `${HEAD}<NtryDtls><TxDtls><RmtInf>`;
    yield piece;
    for (;;) yield piece.replace('<!--', '');
  }
  await expect(async () => {
    for await (const _page of readBankStatement(chunks()));
  }).rejects.toThrow(message);
});
