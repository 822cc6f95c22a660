import * as fc from 'fast-check';
import { isLosslessNumber, parse } from 'lossless-json';
import { describe, expect, test, vi } from 'vitest';
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

  test('refuses what a character more, less or other makes of it as that parser does', () => {
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
    'refuses %s',
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

  test('a number where a key stands can be distinguished from a text', () => {
    const [name = ''] = Object.keys(Object(parseMarkingNumbers('{1:null}')));
    expect(numberIn(name)?.value).toBe('1');
    expect(numberIn('\uE0001')).toBeNull();
  });
});
