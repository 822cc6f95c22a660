import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decode, encode, inexactNumber } from './json.ts';

describe('date-times', () => {
  test('are dates on this side and UTC without a zone on the other', () => {
    const at = new Date('2026-03-02T09:30:00.123Z');
    expect(encode({ from: at, nested: [{ to: at }] })).toBe(
      '{"from":"2026-03-02T09:30:00.123","nested":[{"to":"2026-03-02T09:30:00.123"}]}',
    );
    expect(decode('{"data":{"occurredAt":"2026-03-02T09:30:00","decidedAt":null}}')).toEqual({
      data: { occurredAt: new Date('2026-03-02T09:30:00Z'), decidedAt: null },
    });
  });

  test('of other fields, and in what callers had echoed, stay texts', () => {
    const text = '{"description":"2026-03-02T09:30:00","connect":{"occurredAt":"2026-03-02T09:30:00"}}';
    expect(decode(text)).toEqual(JSON.parse(text));
  });
});

describe('a number of an answer', () => {
  test.each([
    '{"amount":40.50}',
    '{"amount":-9999999999999.99,"text":"12345678901234567890.12"}',
    '{"position":999999999999999}',
    '{"amount":1000000000000000000000}',
    '{"text":"\\"12345678901234567890.12"}',
  ])('is exact: %s', (text) => {
    expect(inexactNumber(text)).toBeNull();
  });

  test('that a JavaScript number cannot hold is found', () => {
    expect(inexactNumber('{"text":"\\\\","amount":999999999999999.1234}')).toBe('999999999999999.1234');
    expect(inexactNumber('[1,12345678901234567891]')).toBe('12345678901234567891');
  });

  test('is found whenever JSON.parse would change it', () => {
    const whole = fc.bigInt({ min: -(10n ** 19n), max: 10n ** 19n });
    fc.assert(
      fc.property(whole, fc.integer({ min: 0, max: 9_999 }), (units, decimals) => {
        const text = `${units}.${String(decimals).padStart(4, '0')}1`;
        const parsed = Number(text);
        const isSame = parsed.toFixed(5) === text;
        expect(inexactNumber(`{"amount":${text}}`) === null).toBe(isSame);
      }),
    );
  });
});
