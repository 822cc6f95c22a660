import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
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

/** Takes seconds, and on a busy machine half a minute. */
const TIMEOUT_MS = 600_000;

test(
  'an entry of 300,000 transactions takes no more memory than a short one',
  async () => {
    const count = 300_000;
    async function* chunks(): AsyncGenerator<string> {
      yield `${HEAD}<NtryDtls>`;
      for (let at = 0; at < count; at += 100) {
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
          expect(item).toMatchObject({ transactions: count, references: [{ value: 'end' }] });
        if (item.item !== 'transaction') continue;
        read += 1;
        sum += item.amounts[0]?.amountMinor ?? 0n;
        if (read % 100_000 === 0) heaps.push(heap());
      }
    }
    expect([read, sum]).toEqual([count, BigInt(count)]);
    expect(largest).toBeLessThan(2_000);
    expect(heaps).toHaveLength(3);
    expect((heaps[2] ?? 0) - (heaps[0] ?? 0)).toBeLessThan(5 * 1024 * 1024);
  },
  TIMEOUT_MS,
);

test.each([
  ['nests without end', '<a>', 'nested deeper'],
  ['has a comment without end', `<!-- ${'x'.repeat(1024 * 1024)}`, 'longer than in any'],
  ['repeats an element without end', '<Ustrd/>'.repeat(10_000), 'more elements'],
])('a file that %s is refused before memory is full', async (_, piece, message) => {
  async function* chunks(): AsyncGenerator<string> {
    yield `${HEAD}<NtryDtls><TxDtls><RmtInf>`;
    yield piece;
    for (;;) yield piece.replace('<!--', '');
  }
  await expect(async () => {
    for await (const _page of readBankStatement(chunks()));
  }).rejects.toThrow(message);
});
