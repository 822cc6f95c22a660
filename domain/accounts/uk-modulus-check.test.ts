import { describe, expect, test } from 'vitest';
import {
  type ModulusRow,
  modulusProblems,
  parseModulusWeights,
  parseSortCodeSubstitutions,
  passesModulusCheck,
} from './uk-modulus-check.ts';

/** The rows that the published test cases need, in the published format. The table itself is not ours to publish. */
const WEIGHTS = `
070116 070116 MOD11    0    0    7    6    5    8    9    4    5    6    7    8    9   -1  12
070116 070116 MOD10    0    3    2    4    5    8    9    4    5    6    7    8    9   -1  13
074456 074456 MOD11    0    0    7    6    5    8    9    4    5    6    7    8    9   -1  12
074456 074456 MOD10    0    3    2    4    5    8    9    4    5    6    7    8    9   -1  13
086090 086090 MOD10    0    0    3    7    1    3    7    1    3    7    1    3    7    1   8
089000 089999 MOD10    0    0    0    0    0    0    7    1    3    7    1    3    7    1
102400 107999 MOD11    0    0    0    0    0    0    8    7    6    5    4    3    2    1
110000 119280 DBLAL    0    0    2    1    2    1    2    1    2    1    2    1    2    1   1
134012 134020 MOD11    0    0    0    7    5    9    8    4    6    3    5    2    0    0   4
180002 180002 MOD11    0    0    0    0    0    0    8    7    6    5    4    3    2    1  14
200901 201159 MOD11    0    0    0    0    0    0    0    7    6    5    4    3    2    1   6
200901 201159 DBLAL    2    1    2    1    2    1    2    1    2    1    2    1    2    1   6
202700 203239 MOD11    0    0    0    0    0    0    0    7    6    5    4    3    2    1   6
202700 203239 DBLAL    2    1    2    1    2    1    2    1    2    1    2    1    2    1   6
300050 300051 MOD11    0    0    0    0    0    0  128   64   32   16    8    4    2    1
309001 309633 MOD11    0    0    3    2    9    8    5    7    6    5    4    3    2    1   2
309001 309633 MOD11    0    0    3    2    9    8    1    7    6    5    4    3    2    1   9
771900 772799 MOD11    0    0    1    2    5    3    6    4    8    7   10    9    3    1   7
820000 826917 MOD11    0    0    0    0    0    0    0    0    7    3    4    9    2    1
820000 826917 DBLAL    2    1    2    1    2    1    2    1    2    1    2    1    2    1   3
826919 827999 MOD11    0    0    0    0    0    0    0    0    7    3    4    9    2    1
826919 827999 DBLAL    2    1    2    1    2    1    2    1    2    1    2    1    2    1   3
870000 872791 MOD11    0    0    1    2    5    3    6    4    8    7   10    9    3    1  10
870000 872791 MOD11    0    0    5   10    9    8    0    7    6    5    4    3    2    1  11
938000 938696 MOD11    7    6    5    4    3    2    7    6    5    4    3    2    0    0   5
938000 938696 DBLAL    2    1    2    1    2    1    2    1    2    1    2    1    2    0   5
`;

const { rows, problems } = parseModulusWeights(WEIGHTS.replaceAll('\n', '\r\n'));
const { substitutions } = parseSortCodeSubstitutions('938600 938611\r\n938173 938017\r\n');
const table = { rows, substitutions };
const valid = (sortCode: string, accountNumber: string) => passesModulusCheck(table, { sortCode, accountNumber });

test('the published formats are read, with or without an exception, from files of any system', () => {
  expect(problems).toEqual([]);
  expect(rows).toHaveLength(26);
  expect(rows[5]).toEqual({
    start: '089000',
    end: '089999',
    method: 'MOD10',
    weights: [0, 0, 0, 0, 0, 0, 7, 1, 3, 7, 1, 3, 7, 1],
    exception: null,
  });
  expect(rows[0]?.weights[13]).toBe(-1);
  expect(new Set(rows.map(({ exception }) => exception))).toEqual(
    new Set([null, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]),
  );
});

describe('accounts that the published test cases call valid', () => {
  test.each([
    ['089999', '66374958', 'modulus 10'],
    ['107999', '88837491', 'modulus 11'],
    ['202959', '63748472', 'modulus 11 and double alternate'],
    ['871427', '46238510', '10 and 11: the first passes, the second fails'],
    ['872427', '46238510', '10 and 11: the first fails, the second passes'],
    ['871427', '09123496', '10: ab is 09 and g is 9'],
    ['871427', '99123496', '10: ab is 99 and g is 9'],
    ['820000', '73688637', '3: c is 6, at the start of a range'],
    ['827999', '73988638', '3: c is 9, at the end of a range'],
    ['827101', '28748352', '3: c is neither, both checks pass'],
    ['134020', '63849203', '4: the remainder is gh'],
    ['118765', '64371389', '1: 27 is added'],
    ['200915', '41011166', '6: a foreign currency account'],
    ['938611', '07806039', '5: both check digits are right'],
    ['938600', '42368003', '5: with a substituted sort code'],
    ['938063', '55065200', '5: both remainders are 0'],
    ['772798', '99345694', '7: g is 9'],
    ['086090', '06774744', '8: the sort code is 090126'],
    ['309070', '02355688', '2 and 9: the first passes'],
    ['309070', '12345668', '2 and 9: the second passes at 309634'],
    ['309070', '12345677', '2: a is not 0, g is not 9'],
    ['309070', '99345694', '2: a is not 0, g is 9'],
    ['074456', '12345112', '12 and 13: modulus 11 passes, modulus 10 fails'],
    ['070116', '34012583', '12 and 13: both pass'],
    ['074456', '11104102', '12 and 13: modulus 11 fails, modulus 10 passes'],
    ['180002', '98093517', '14: the first check passes'],
    ['180002', '00000190', '14: the second check passes'],
  ])('%s %s (%s)', (sortCode, accountNumber) => {
    expect(valid(sortCode, accountNumber)).toBe(true);
  });
});

describe('accounts that the published test cases call invalid', () => {
  test.each([
    ['938063', '15764273', '5: the second check digit is wrong'],
    ['938063', '15764264', '5: the first check digit is wrong'],
    ['938063', '15763217', '5: the first remainder is 1'],
    ['118765', '64371388', '1'],
    ['203099', '66831036', 'modulus 11 passes, double alternate fails'],
    ['203099', '58716970', 'modulus 11 fails, double alternate passes'],
    ['089999', '66374959', 'modulus 10'],
    ['107999', '88837493', 'modulus 11'],
  ])('%s %s (%s)', (sortCode, accountNumber) => {
    expect(valid(sortCode, accountNumber)).toBe(false);
  });
});

describe('rules beyond the published test cases', () => {
  test('10: g decides together with ab; an implementation that looks at b instead lets this one pass', () => {
    // ab = 99, g = 1: the weights stay whole. Both checks fail; with u to b at zero the first would pass.
    const accountNumber = firstAccount((number) => {
      const sum = [0, 0, 8, 7, 10, 9, 3, 1].reduce((total, weight, index) => total + weight * Number(number[index]), 0);
      return number.startsWith('99') && number[6] !== '9' && sum % 11 === 0 && !valid('871427', number);
    });
    expect(valid('871427', accountNumber)).toBe(false);
    expect(accountNumber).toMatch(/^99.{4}[0-8]/);
  });

  test.each([
    ['180002', '98093518', '14: the last digit is not 0, 1 or 9'],
    ['180002', '98093510', '14: neither check passes'],
    ['134020', '63849204', '4: the remainder is not gh'],
    ['086090', '06774745', '8: the remainder is not 0'],
    ['309070', '12345669', '2 and 9: neither passes'],
    ['074456', '12345113', '12 and 13: neither passes'],
    ['820000', '73588637', '3: c is neither 6 nor 9, so the second check counts'],
    ['200915', '31011166', '6: a is 3, so the account is checked'],
  ])('%s %s fails (%s)', (sortCode, accountNumber) => {
    expect(valid(sortCode, accountNumber)).toBe(false);
  });

  test.each([
    ['0', '14: h is 0'],
    ['1', '14: h is 1'],
    ['9', '14: h is 9'],
  ])('an account that ends in %s passes only when shifted (%s)', (last) => {
    const sum = (number: string) =>
      [8, 7, 6, 5, 4, 3, 2, 1].reduce((all, weight, at) => all + weight * Number(number[at]), 0);
    const accountNumber = firstAccount(
      (number) => number.endsWith(last) && sum(number) % 11 !== 0 && sum(`0${number.slice(0, 7)}`) % 11 === 0,
    );
    expect(valid('180002', accountNumber)).toBe(true);
    expect(valid('180002', `${accountNumber.slice(0, 7)}2`)).toBe(sum(`${accountNumber.slice(0, 7)}2`) % 11 === 0);
  });

  test('two rows of one sort code are two checks, and both must pass unless the first is one of the exceptions', () => {
    const row = (exception: number | null, weight: number): ModulusRow => ({
      start: '000000',
      end: '999999',
      method: 'MOD10',
      weights: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, weight],
      exception,
    });
    const account = { sortCode: '123456', accountNumber: '00000005' };
    // 2 × 5 passes, 1 × 5 fails.
    const outcome = (first: ModulusRow, second: ModulusRow) =>
      passesModulusCheck({ rows: [first, second], substitutions: new Map() }, account);
    for (const exception of [null, 3, 6, 7, 8]) {
      expect(outcome(row(exception, 2), row(exception, 2)), `${exception}`).toBe(true);
      expect(outcome(row(exception, 2), row(null, 1)), `${exception}`).toBe(false);
      expect(outcome(row(exception, 1), row(null, 2)), `${exception}`).toBe(false);
    }
    for (const exception of [2, 9, 10, 11, 12, 13, 14]) {
      expect(outcome(row(exception, 2), row(null, 1)), `${exception}`).toBe(true);
      expect(outcome(row(exception, 1), row(null, 2)), `${exception}`).toBe(true);
      expect(outcome(row(exception, 1), row(null, 1)), `${exception}`).toBe(false);
    }
  });

  test('a sort code that no row covers is presumed valid, as is every one without a table', () => {
    expect(valid('040075', '00000001')).toBe(true);
    const empty = { rows: [], substitutions: new Map<string, string>() };
    expect(passesModulusCheck(empty, { sortCode: '089999', accountNumber: '66374959' })).toBe(true);
  });

  test('weights of three digits are read and used: 128 + 2 × 8 + 4 + 2 × 2 + 2 = 154 = 14 × 11', () => {
    expect(valid('300050', '10002122')).toBe(true);
    expect(valid('300050', '10002123')).toBe(false);
  });

  test('a changed digit is detected wherever its weight is not zero', () => {
    for (let position = 0; position < 8; position += 1) {
      const digits = [...'88837491'];
      digits[position] = String((Number(digits[position]) + 1) % 10);
      expect(valid('107999', digits.join(''))).toBe(false);
    }
  });
});

test.each([
  ['089000 089999 MOD12 0 0 0 0 0 0 7 1 3 7 1 3 7 1'],
  ['089000 089999 MOD10 0 0 0 0 0 0 7 1 3 7 1 3 7'],
  ['089999 089000 MOD10 0 0 0 0 0 0 7 1 3 7 1 3 7 1'],
  ['089000 089999 MOD10 0 0 0 0 0 0 7 1 3 7 1 3 7 1 15'],
  ['08900 089999 MOD10 0 0 0 0 0 0 7 1 3 7 1 3 7 1'],
])('the line %j is rejected by its number', (line) => {
  const read = parseModulusWeights(`\n${line}\n`);
  expect(read.rows).toEqual([]);
  expect(read.problems).toMatchObject([{ line: 2 }]);
});

test('a substitution line that is not a pair of sort codes is reported by its number', () => {
  expect(parseSortCodeSubstitutions('938173 938017\n93817 938017').problems).toMatchObject([{ line: 2 }]);
});

function firstAccount(fits: (accountNumber: string) => boolean): string {
  for (let number = 99_000_000; number < 100_000_000; number += 1) {
    if (fits(String(number))) return String(number);
  }
  throw new Error('no such account');
}

/**
 * A second implementation, exception by exception in the published order and words, independent of the one under test.
 * "u v w x y z a b c d e f g h" are positions 0 to 13.
 */
function published(sortCode: string, accountNumber: string): boolean {
  const checks = rows.filter(({ start, end }) => Number(start) <= Number(sortCode) && Number(sortCode) <= Number(end));
  const digitsOf = (sort: string, account: string) => [...sort, ...account].map(Number);
  const [, , , , , , a = 0, b = 0, c = 0, , , , g = 0, h = 0] = digitsOf(sortCode, accountNumber);
  const total = (digits: number[], weights: readonly number[], method: string) => {
    const products = digits.map((digit, at) => digit * (weights[at] ?? 0));
    if (method !== 'DBLAL') return products.reduce((sum, product) => sum + product, 0);
    return products.reduce((sum, product) => sum + Math.floor(product / 10) + (product % 10), 0);
  };
  const check = ({ method, weights, exception }: ModulusRow): boolean => {
    const modulus = method === 'MOD11' ? 11 : 10;
    const remainderOf = (digits: number[], used: readonly number[] = weights) =>
      ((total(digits, used, method) % modulus) + modulus) % modulus;
    const plain = digitsOf(sortCode, accountNumber);
    const withoutUToB = weights.map((weight, at) => (at < 8 ? 0 : weight));
    if (exception === 1) return (total(plain, weights, method) + 27) % 10 === 0;
    if (exception === 2 && a !== 0 && g !== 9)
      return remainderOf(plain, [0, 0, 1, 2, 5, 3, 6, 4, 8, 7, 10, 9, 3, 1]) === 0;
    if (exception === 2 && a !== 0 && g === 9)
      return remainderOf(plain, [0, 0, 0, 0, 0, 0, 0, 0, 8, 7, 10, 9, 3, 1]) === 0;
    if (exception === 3 && (c === 6 || c === 9)) return true;
    if (exception === 4) return remainderOf(plain) === Number(accountNumber.slice(6));
    if (exception === 5) {
      const left = remainderOf(digitsOf(substitutions.get(sortCode) ?? sortCode, accountNumber));
      if (method === 'DBLAL') return left === 0 ? h === 0 : 10 - left === h;
      if (left === 0) return g === 0;
      return left !== 1 && 11 - left === g;
    }
    if (exception === 6 && a >= 4 && a <= 8 && g === h) return true;
    if (exception === 7 && g === 9) return remainderOf(plain, withoutUToB) === 0;
    if (exception === 8) return remainderOf(digitsOf('090126', accountNumber)) === 0;
    if (exception === 9) return remainderOf(digitsOf('309634', accountNumber)) === 0;
    if (exception === 10 && (a === 0 || a === 9) && b === 9 && g === 9) return remainderOf(plain, withoutUToB) === 0;
    if (exception === 14 && remainderOf(plain) !== 0) {
      return [0, 1, 9].includes(h) && remainderOf(digitsOf(sortCode, `0${accountNumber.slice(0, 7)}`)) === 0;
    }
    return remainderOf(plain) === 0;
  };
  const [first, second] = checks;
  if (first === undefined) return true;
  if (second === undefined) return check(first);
  return [2, 9, 10, 11, 12, 13, 14].includes(first.exception ?? 0)
    ? check(first) || check(second)
    : check(first) && check(second);
}

test('agrees with the published words, read again, on five hundred accounts of every row', () => {
  const outcomes = new Set<string>();
  let seed = 20_261_121;
  // Numerical Recipes' generator, so that every run tests the same accounts.
  const draw = (below: number) => {
    seed = (seed * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return Math.floor((seed / 4_294_967_296) * below);
  };
  for (const { start, end, exception } of rows) {
    for (let index = 0; index < 500; index += 1) {
      const sortCode = String(Number(start) + draw(Number(end) - Number(start) + 1)).padStart(6, '0');
      // Draws the digits that exceptions depend on more often than by chance.
      const digits = Array.from({ length: 8 }, () => (draw(3) === 0 ? [0, 9, 9, 6][draw(4)] : draw(10)));
      const accountNumber = digits.join('');
      const outcome = valid(sortCode, accountNumber);
      expect(outcome, `${sortCode} ${accountNumber}`).toBe(published(sortCode, accountNumber));
      outcomes.add(`${exception} ${outcome}`);
    }
  }
  // Every row occurred with both outcomes.
  expect(outcomes.size).toBe(2 * new Set(rows.map(({ exception }) => exception)).size);
});

describe('a bank account', () => {
  const place = { entity: 'beneficiary', prefix: 'bankAccounts.0.' };
  const account = { country: 'GB', currency: 'GBP', accountNumber: null, iban: null, routingCodes: {} };
  const fields = (details: object) =>
    modulusProblems(table, { ...account, ...details }, place).map(({ messageParameters }) => messageParameters[1]);

  test('is named by its account number, its IBAN, or both', () => {
    const routingCodes = { 'sort-code': '107999' };
    expect(fields({ accountNumber: '88837491', routingCodes })).toEqual([]);
    expect(fields({ accountNumber: '88837493', routingCodes })).toEqual(['bankAccounts.0.accountNumber']);
    expect(fields({ iban: 'GB75BARC10799988837491' })).toEqual([]);
    expect(fields({ iban: 'GB21BARC10799988837493' })).toEqual(['bankAccounts.0.iban']);
  });

  test('outside the UK is not checked', () => {
    expect(fields({ country: 'DE', currency: 'EUR', iban: 'DE89370400440532013000' })).toEqual([]);
    expect(fields({ country: 'US', accountNumber: '88837493', routingCodes: { 'sort-code': '107999' } })).toEqual([]);
    expect(fields({ accountNumber: 'A-1', routingCodes: { 'sort-code': '107999' } })).toEqual([]);
    expect(fields({ accountNumber: '88837493' })).toEqual([]);
  });
});
