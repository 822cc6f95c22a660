import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  clientNumber,
  isClientNumber,
  isLedgerNumber,
  isTransactionNumber,
  ledgerNumber,
  ledgerNumbersIn,
  TRANSACTION_NUMBER_BYTES,
  type TransactionKind,
  transactionKindOf,
  transactionNumber,
} from './numbers.ts';

const sequence = fc.bigInt({ min: 1n, max: 99_999_999n });

test('numbers contain their sequence, pass their own check, and differ in length by kind', () => {
  expect(clientNumber(1n)).toBe('0000000195');
  expect(ledgerNumber(1n)).toBe('000000000195');
  fc.assert(
    fc.property(sequence, (value) => {
      expect(isClientNumber(clientNumber(value))).toBe(true);
      expect(isLedgerNumber(ledgerNumber(value))).toBe(true);
      expect(isLedgerNumber(clientNumber(value))).toBe(false);
      expect(BigInt(ledgerNumber(value).slice(0, -2))).toBe(value);
    }),
  );
});

test('a mistyped number does not hold', () => {
  const digit = fc.integer({ min: 1, max: 9 });
  fc.assert(
    fc.property(sequence, fc.integer({ min: 0, max: 11 }), digit, (value, at, shift) => {
      const number = ledgerNumber(value);
      const wrong = number.slice(0, at) + ((Number(number[at]) + shift) % 10) + number.slice(at + 1);
      expect(isLedgerNumber(wrong)).toBe(false);
    }),
  );
  for (const text of ['', '000000000196', '٠٠٠٠٠٠٠٠٠١٩٥', '00000000019X', '000000000195\n']) {
    expect(isLedgerNumber(text), text).toBe(false);
  }
});

test('a sequence without a number is rejected, not cut', () => {
  expect(() => clientNumber(0n)).toThrow(RangeError);
  expect(() => clientNumber(100_000_000n)).toThrow(RangeError);
  expect(() => ledgerNumber(10_000_000_000n)).toThrow(RangeError);
});

test('the ledger number is found in what payers write', () => {
  const number = ledgerNumber(42n);
  const broken = number.replace(/(....)(?=.)/g, '$1 ');
  for (const reference of [
    number,
    `/RFB/${number}`,
    `Invoice 17 ${number}`,
    broken,
    `no. ${broken}.`,
    `17 ${broken} 3`,
    `REF${number}X`,
  ]) {
    expect(ledgerNumbersIn(reference), reference).toEqual([number]);
  }
  expect(ledgerNumbersIn(`${number} ${number}`)).toEqual([number]);
  for (const reference of ['', 'rent', '123456789012', `1${number}`, 'GB29NWBK60161331926819']) {
    expect(ledgerNumbersIn(reference), reference).toEqual([]);
  }
});

test('kinds of transactions never share a number', () => {
  const kinds: TransactionKind[] = ['outgoing-transfer', 'incoming-transfer', 'other'];
  const bytes = fc.uint8Array({ minLength: TRANSACTION_NUMBER_BYTES, maxLength: TRANSACTION_NUMBER_BYTES });
  const firsts = new Map<string, TransactionKind>();
  fc.assert(
    fc.property(fc.constantFrom(...kinds), bytes, (kind, random) => {
      const number = transactionNumber(kind, '2026-11-21', random);
      expect(number).toMatch(/^20261121-[0-9A-Z]{6}$/);
      expect(isTransactionNumber(number)).toBe(true);
      expect(transactionKindOf(number)).toBe(kind);
      const first = number.charAt(9);
      expect(firsts.get(first) ?? kind).toBe(kind);
      firsts.set(first, kind);
    }),
    { numRuns: 2000 },
  );
  expect(firsts.size).toBe(36);
});

test('every character of every place is drawn, about equally often', () => {
  const counts = new Map<string, number>();
  let state = 1n;
  for (let index = 0; index < 20_000; index += 1) {
    const random = new Uint8Array(TRANSACTION_NUMBER_BYTES);
    for (let offset = 0; offset < random.length; offset += 4) {
      state = (state * 6364136223846793005n + 1442695040888963407n) % 2n ** 64n;
      new DataView(random.buffer).setUint32(offset, Number(state >> 32n));
    }
    for (const character of transactionNumber('other', '2026-11-21', random).slice(10)) {
      counts.set(character, (counts.get(character) ?? 0) + 1);
    }
  }
  expect(counts.size).toBe(36);
  for (const count of counts.values()) expect(Math.abs(count / (100_000 / 36) - 1)).toBeLessThan(0.1);
});

test('too little randomness is rejected', () => {
  expect(() => transactionNumber('other', '2026-11-21', new Uint8Array(TRANSACTION_NUMBER_BYTES - 1))).toThrow(
    RangeError,
  );
});
