import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AssemblyRules, dueFiles } from './assembly.ts';

const now = new Date('2026-11-26T12:00:00Z');
const payment = (accountKey: string, scheme: string, ageSeconds = 0) => ({
  accountKey,
  scheme,
  queuedAt: new Date(now.getTime() - ageSeconds * 1_000),
});
const atOnce: AssemblyRules = { files: 'at-once', windowSeconds: 600, paymentsPerFileMax: 100, payeeCheck: 'none' };
const shape = (files: ReturnType<typeof dueFiles>) => files.map((file) => file.map((batch) => batch.length));

test('a file is of one account, with a batch for each scheme', () => {
  const queued = [payment('A', 'sepa'), payment('B', 'sepa'), payment('A', 'sepa-instant'), payment('A', 'sepa')];
  const files = dueFiles(queued, atOnce, now);
  expect(shape(files)).toEqual([[2, 1], [1]]);
  for (const file of files) expect(new Set(file.flat().map(({ accountKey }) => accountKey)).size).toBe(1);
});

test('one file per window holds what became due in it', () => {
  const rules: AssemblyRules = { ...atOnce, files: 'per-window' };
  expect(dueFiles([payment('A', 'sepa', 599), payment('A', 'sepa', 1)], rules, now)).toEqual([]);
  expect(shape(dueFiles([payment('A', 'sepa', 600), payment('A', 'sepa', 1)], rules, now))).toEqual([[2]]);
});

test('where the payee check is opted out of, a single payment waits for company until its window ends', () => {
  const rules: AssemblyRules = { ...atOnce, payeeCheck: 'opted-out' };
  expect(dueFiles([payment('A', 'sepa', 1), payment('A', 'sepa-instant', 1)], rules, now)).toEqual([]);
  expect(shape(dueFiles([payment('A', 'sepa', 1), payment('A', 'sepa', 0)], rules, now))).toEqual([[2]]);
  expect(shape(dueFiles([payment('A', 'sepa', 600)], rules, now))).toEqual([[1]]);
});

test('no payment is in two files or left over, no file is too large, and no part of a large batch is single', () => {
  const anyPayment = fc.record({ account: fc.constantFrom('A', 'B'), scheme: fc.constantFrom('x', 'y') });
  fc.assert(
    fc.property(fc.array(anyPayment, { maxLength: 60 }), fc.integer({ min: 2, max: 9 }), (payments, max) => {
      const queued = payments.map(({ account, scheme }) => payment(account, scheme));
      const files = dueFiles(queued, { ...atOnce, paymentsPerFileMax: max }, now);
      expect(new Set(files.flat(2)).size).toBe(queued.length);
      expect(files.flat(2)).toHaveLength(queued.length);
      for (const file of files) expect(file.flat().length).toBeLessThanOrEqual(max);
      for (const batch of files.flat()) {
        expect(batch.length).toBeGreaterThan(0);
        const [{ accountKey, scheme } = { accountKey: '', scheme: '' }] = batch;
        const alike = queued.filter((one) => one.accountKey === accountKey && one.scheme === scheme);
        if (alike.length > 1) expect(batch.length).toBeGreaterThan(1 - Number(max < 3));
      }
    }),
  );
});
