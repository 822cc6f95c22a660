import { expect, test } from 'vitest';
import { READS } from '../harness/http/reads.ts';
import { proveMonths } from '../proof/months/months.ts';

/** `npm run proof -- --months 30` in short: that it measures everything, not what it measures. */
test('every list is read by its filters among several months, and old months are removed while others write', async () => {
  const lines: string[] = [];
  const months = 4;
  await proveMonths({ months, payments: 60, turns: 1 }, (line) => lines.push(line));
  const unasked = lines.find((line) => line.startsWith('Not asked for'))?.split(/: |; /) ?? [];
  const rows = lines.filter((line) => line.startsWith('| /')).map((line) => line.slice(2).split(/[ ,]/)[0]);
  const reads = READS.filter(({ kind }) => kind === 'route').map(({ contract }) => contract.path);
  expect(reads.filter((path) => !rows.includes(path) && !unasked.includes(path))).toEqual([]);
  for (const list of ['/outgoing-transfers', '/webhook-deliveries', '/audit-entries', '/events'])
    expect(rows).toContain(list);
  expect(lines.filter((line) => line.startsWith('Removed ')).length).toBeGreaterThan(months - 2);
});
