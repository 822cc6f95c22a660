import * as fc from 'fast-check';
import { isLosslessNumber, parse } from 'lossless-json';
import { describe, expect, test, vi } from 'vitest';
import { DomainError } from '../../../domain/common/errors.ts';
import { canonicalJson, parseJson } from './json.ts';
import { numberIn, parseMarkingNumbers } from './json-digits.ts';

/** Numbers as digits, in a form common to both parsers. */
function plain(value: unknown): unknown {
  if (isLosslessNumber(value)) return `number ${value.value}`;
  if (typeof value === 'string') {
    const number = numberIn(value);
    return number === null ? `text ${value}` : `number ${number.value}`;
  }
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}

function outcome(parser: () => unknown): unknown {
  try {
    return plain(parser());
  } catch (error) {
    return error instanceof SyntaxError ? 'not JSON' : error;
  }
}

const digits = fc.stringMatching(/^-?(0|[1-9]\d{0,20})(\.\d{1,20})?([eE][+-]?\d{1,3})?$/);
const key = fc.string({ unit: 'binary' }).filter((text) => text !== '__proto__');
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    digits,
    fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
    fc.constantFrom('true', 'false', 'null', '""', ' "a\\"1" '),
    fc.array(tie('json'), { maxLength: 4 }).map((items) => `[ ${items.join(' ,')}]`),
    fc
      .uniqueArray(fc.tuple(key, tie('json')), { maxLength: 4, selector: ([name]) => name })
      .map((entries) => `{${entries.map(([name, value]) => `${JSON.stringify(name)} :\n${value}`).join(',')}}`),
  ),
}));

describe('the engine’s parser with marked numbers', () => {
  test('reads every JSON as a parser of digits does', () => {
    fc.assert(
      fc.property(json, (text) => {
        expect(outcome(() => parseMarkingNumbers(text))).toEqual(outcome(() => parse(text)));
      }),
    );
  });

  test('agrees with that parser on JSON with a character added, removed or changed', () => {
    const broken = fc.tuple(
      json,
      fc.nat(),
      fc.constantFrom('', '1', '-', '"', ',', '{', '}', '.', 'e', '0', ' ', '\\'),
    );
    fc.assert(
      fc.property(broken, ([text, at, put]) => {
        const cut = at % (text.length + 1);
        const changed = text.slice(0, cut) + put + text.slice(cut + (at % 2));
        const expected = outcome(() => parse(changed));
        const got = outcome(() => parseMarkingNumbers(changed));
        // The reference parser rejects duplicate keys; the engine keeps the last, and json.ts detects them by
        // counting keys.
        if (expected !== 'not JSON' || !/"[^"]*"\s*:/.test(changed)) expect(got).toEqual(expected);
      }),
    );
  });

  test.each(['01', '1.', '.5', '-', '+1', '1e', '--1', '1 2', '[1"a"]', '"a"1', 'NaN', 'Infinity', '0x1', '1_000'])(
    'rejects %s',
    (text) => {
      expect(outcome(() => parseMarkingNumbers(text))).toBe('not JSON');
    },
  );

  test.each(['0', '1 ', '-1', '[1]', '1:', '{1:1}'])('marks a megabyte of %s once, as it is no JSON', (part) => {
    const parsed = vi.spyOn(JSON, 'parse');
    try {
      expect(outcome(() => parseMarkingNumbers(part.repeat(1_000_000 / part.length)))).toBe('not JSON');
      for (const [text] of parsed.mock.calls) expect(text.length).toBeLessThan(1_000_100);
    } finally {
      parsed.mockRestore();
    }
  });

  test('a number in place of a key is distinguished from text', () => {
    const [name = ''] = Object.keys(Object(parseMarkingNumbers('{1:null}')));
    expect(numberIn(name)?.value).toBe('1');
    expect(numberIn('\uE0001')).toBeNull();
  });
});

describe('the canonical form', () => {
  const canonical = (text: string) => canonicalJson(parseJson(text));

  test.each([
    ['1.5', '1.50', '15e-1', '0.15E+1', '150e-2'],
    ['0', '0.00', '-0', '0e99999999999', '-0.0e-1'],
    ['100', '1e2', '100.0', '0.0001e6'],
    ['12345678901234567890.12345', '1234567890123456789012345e-5'],
    ['1e400', '10e399'],
    ['-7', '-7.0', '-70e-1'],
  ])('of %s is one, however it is written', (...written) => {
    expect(new Set(written.map(canonical)).size).toBe(1);
  });

  test.each([
    ['12345678901234567890', '12345678901234567891'],
    ['0.1', '0.10000000000000001'],
    ['1', '-1'],
    ['1', '"1"'],
    ['null', '"null"'],
    ['[1,2]', '[2,1]'],
    ['[[],[]]', '[[[]]]'],
    ['{"a":1}', '{"a":null}'],
    ['{"a":{"b":1}}', '{"a":{},"b":1}'],
    ['"\u00e9"', '"e\u0301"'],
  ])('of %s and %s differs', (one, other) => {
    expect(canonical(one)).not.toBe(canonical(other));
  });

  test.each([
    ['zeros', `[1${'0'.repeat(1_000_000)}1]`],
    ['digits of an exponent', `[1e${'9'.repeat(1_000_000)}]`],
    ['zeros behind a point', `[0.${'0'.repeat(1_000_000)}1]`],
  ])('of a million %s is made in one pass', (_, text) => {
    expect(canonical(text).length).toBeLessThan(1_000_100);
  });

  test('sorts the fields of every object, and is the same for any value however it is serialised', () => {
    expect(canonical('{"b":[{"d":1,"c":true}],"a":"x"}')).toBe('{"a":"x","b":[{"c":true,"d":1e0}]}');
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 4 }), (value, indent) => {
        const shuffled = JSON.stringify(value, (_, part) =>
          typeof part === 'object' && part !== null && !Array.isArray(part)
            ? Object.fromEntries(Object.entries(part).reverse())
            : part,
        );
        const body = (text: string) => `{"value":${text}}`;
        let parsed: string;
        try {
          parsed = canonical(body(JSON.stringify(value, null, indent)));
        } catch (error) {
          if (error instanceof DomainError) return;
          throw error;
        }
        expect(canonical(body(shuffled))).toBe(parsed);
      }),
    );
  });
});
