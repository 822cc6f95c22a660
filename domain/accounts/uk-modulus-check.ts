import type { Problem } from '../common/errors.ts';
import type { BankAccountDetails, FieldLocation } from './bank-accounts.ts';

/**
 * The UK modulus check decides whether an account number can exist at its sort code, by the algorithm that Pay.UK publishes
 * as "Validating Account Numbers". Digits are named u v w x y z (sort code) and a b c d e f g h (account number). The weights
 * are published by Pay.UK, which revises them several times a year, so they come from files that an operator configures.
 */
export type ModulusMethod = 'MOD10' | 'MOD11' | 'DBLAL';

/** One line of the weight table `valacdos`; `exception` is null or 1 to 14. */
export interface ModulusRow {
  readonly start: string;
  readonly end: string;
  readonly method: ModulusMethod;
  readonly weights: readonly number[];
  readonly exception: number | null;
}

export interface ModulusTable {
  readonly rows: readonly ModulusRow[];
  /** By original sort code; only exception 5 uses them (`scsubtab`). */
  readonly substitutions: ReadonlyMap<string, string>;
}

export interface UkAccount {
  /** Six digits. */
  readonly sortCode: string;
  /** Eight digits. */
  readonly accountNumber: string;
}

/** A line that does not have the published format; `line` counts from 1. */
export interface TableProblem {
  readonly line: number;
  readonly message: string;
}

const POSITIONS = 'uvwxyzabcdefgh';
const CHECKS_MAX = 2;
const EXCEPTION_MAX = 14;
/** One bank holds its euro accounts under this sort code, whatever code their holders quote. */
const EXCEPTION_9_SORT_CODE = '309634';
const EXCEPTION_8_SORT_CODE = '090126';
const EXCEPTION_2_WEIGHTS = [0, 0, 1, 2, 5, 3, 6, 4, 8, 7, 10, 9, 3, 1];
const EXCEPTION_2_WEIGHTS_G_9 = [0, 0, 0, 0, 0, 0, 0, 0, 8, 7, 10, 9, 3, 1];
const EXCEPTION_1_ADDEND = 27;

/** Exceptions of a first row for which one of the two checks is enough. */
const EITHER_PASSES: ReadonlySet<number | null> = new Set([2, 9, 10, 11, 12, 13, 14]);

/**
 * The failed checks of a bank account, reported on `accountNumber` or `iban`, since both identify a UK account.
 * Empty unless the account has eight digits and a sort code.
 */
export function modulusProblems(table: ModulusTable, details: BankAccountDetails, location: FieldLocation): Problem[] {
  return ukAccountsOf(details)
    .filter(({ account }) => !passesModulusCheck(table, account))
    .map(({ field, value }) => ({
      code: 'common.validation.field_invalid',
      message: `The ${field === 'iban' ? 'IBAN' : 'account number'} cannot exist at its sort code: the modulus check fails.`,
      messageParameters: [location.entity, location.prefix + field, value],
    }));
}

interface NamedAccount {
  readonly field: 'accountNumber' | 'iban';
  readonly value: string;
  readonly account: UkAccount;
}

function ukAccountsOf({ country, accountNumber, iban, routingCodes }: BankAccountDetails): NamedAccount[] {
  const named: NamedAccount[] = [];
  const sortCode = routingCodes['sort-code'];
  if (country === 'GB' && sortCode !== undefined && accountNumber !== null && /^\d{8}$/.test(accountNumber)) {
    named.push({ field: 'accountNumber', value: accountNumber, account: { sortCode, accountNumber } });
  }
  if (iban?.startsWith('GB')) {
    const account = { sortCode: iban.slice(8, 14), accountNumber: iban.slice(14) };
    named.push({ field: 'iban', value: iban, account });
  }
  return named;
}

/** Also true if the table does not cover the sort code: such an account is presumed valid. */
export function passesModulusCheck(table: ModulusTable, account: UkAccount): boolean {
  const [first, second] = table.rows
    .filter(({ start, end }) => start <= account.sortCode && account.sortCode <= end)
    .slice(0, CHECKS_MAX);
  if (first === undefined) return true;
  const passed = passes(first, account, table);
  if (second === undefined) return passed;
  if (EITHER_PASSES.has(first.exception)) return passed || passes(second, account, table);
  return passed && passes(second, account, table);
}

function passes(row: ModulusRow, account: UkAccount, table: ModulusTable): boolean {
  const { a, c, g, h } = lettersOf(account);
  switch (row.exception) {
    case 3:
      if (c === 6 || c === 9) return true;
      break;
    case 4:
      return remainder(row, account) === g * 10 + h;
    case 5:
      return passesException5(row, account, table);
    case 6:
      // Foreign currency accounts cannot be checked.
      if (a >= 4 && a <= 8 && g === h) return true;
      break;
    case 8:
      return remainder(row, { ...account, sortCode: EXCEPTION_8_SORT_CODE }) === 0;
    case 9:
      return remainder(row, { ...account, sortCode: EXCEPTION_9_SORT_CODE }) === 0;
    case 14:
      return remainder(row, account) === 0 || passesShifted(row, account);
  }
  return remainder(row, account) === 0;
}

/** The check digit is g for the standard check and h for the double alternate one. */
function passesException5(row: ModulusRow, account: UkAccount, table: ModulusTable): boolean {
  const { g, h } = lettersOf(account);
  const sortCode = table.substitutions.get(account.sortCode) ?? account.sortCode;
  const left = remainder(row, { ...account, sortCode });
  if (row.method === 'DBLAL') return (10 - left) % 10 === h;
  if (left === 1) return false;
  return (11 - left) % 11 === g;
}

/** Exception 14: drop the last digit and prepend a 0. */
function passesShifted(row: ModulusRow, account: UkAccount): boolean {
  const { h } = lettersOf(account);
  if (h !== 0 && h !== 1 && h !== 9) return false;
  return remainder(row, { ...account, accountNumber: `0${account.accountNumber.slice(0, -1)}` }) === 0;
}

function remainder(row: ModulusRow, account: UkAccount): number {
  const digits = `${account.sortCode}${account.accountNumber}`;
  const weights = weightsFor(row, account);
  let sum = row.exception === 1 ? EXCEPTION_1_ADDEND : 0;
  for (const [index, weight] of weights.entries()) {
    const product = Number(digits.charAt(index)) * weight;
    sum += row.method === 'DBLAL' ? digitSum(product) : product;
  }
  const modulus = row.method === 'MOD11' ? 11 : 10;
  // Weights may be negative, and so may the sum.
  return ((sum % modulus) + modulus) % modulus;
}

function digitSum(number: number): number {
  return [...String(number)].reduce((sum, digit) => sum + Number(digit), 0);
}

function weightsFor(row: ModulusRow, account: UkAccount): readonly number[] {
  const { a, b, g } = lettersOf(account);
  if (row.exception === 2 && a !== 0) return g === 9 ? EXCEPTION_2_WEIGHTS_G_9 : EXCEPTION_2_WEIGHTS;
  const zeroed =
    (row.exception === 7 && g === 9) || (row.exception === 10 && (a === 0 || a === 9) && b === 9 && g === 9);
  return zeroed ? row.weights.map((weight, index) => (index <= POSITIONS.indexOf('b') ? 0 : weight)) : row.weights;
}

function lettersOf({ accountNumber }: UkAccount) {
  const digit = (index: number) => Number(accountNumber.charAt(index));
  return { a: digit(0), b: digit(1), c: digit(2), g: digit(6), h: digit(7) };
}

const ROW = /^(\d{6})\s+(\d{6})\s+(MOD10|MOD11|DBLAL)((?:\s+-?\d{1,3}){14})(?:\s+(\d{1,2}))?$/;

/** Reads `valacdos`: one row per line, space-separated, with an optional exception at the end. */
export function parseModulusWeights(text: string): { rows: ModulusRow[]; problems: TableProblem[] } {
  const rows: ModulusRow[] = [];
  const problems: TableProblem[] = [];
  for (const [number, line] of linesOf(text)) {
    const row = rowOf(line);
    if (row === null) {
      problems.push({
        line: number,
        message: 'must be: start, end, MOD10|MOD11|DBLAL, 14 weights, and optionally an exception',
      });
    } else rows.push(row);
  }
  return { rows, problems };
}

function rowOf(line: string): ModulusRow | null {
  const [, start = '', end = '', name, weights = '', exceptionText] = ROW.exec(line) ?? [];
  const method = name === 'MOD10' || name === 'MOD11' || name === 'DBLAL' ? name : null;
  const exception = exceptionText === undefined ? null : Number(exceptionText);
  if (method === null || start > end || exception === 0 || (exception ?? 0) > EXCEPTION_MAX) return null;
  return { start, end, method, weights: weights.trim().split(/\s+/).map(Number), exception };
}

/** Reads `scsubtab`: the original sort code and its substitute. */
export function parseSortCodeSubstitutions(text: string): {
  substitutions: Map<string, string>;
  problems: TableProblem[];
} {
  const substitutions = new Map<string, string>();
  const problems: TableProblem[] = [];
  for (const [number, line] of linesOf(text)) {
    const [, original, substitute] = /^(\d{6})\s+(\d{6})$/.exec(line) ?? [];
    if (original === undefined || substitute === undefined) {
      problems.push({ line: number, message: 'must be two sort codes of six digits' });
    } else substitutions.set(original, substitute);
  }
  return { substitutions, problems };
}

function linesOf(text: string): (readonly [number, string])[] {
  return text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .map((line, index) => [index + 1, line.trim()] as const)
    .filter(([, line]) => line !== '');
}
