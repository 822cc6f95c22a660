import { isCurrency, parseAmountMinor } from '../../domain/frame/money.ts';
import { isDate, type LocalDate } from '../../domain/frame/time/dates.ts';
import type { EntryDirection, Money } from '../../domain/reconciliation/bank-statements.ts';

/** A file that is no camt.053, or not one that we can read. */
export class CamtProblem extends Error {
  /** The message may quote the file, so it is cleaned here. */
  constructor(message: string) {
    super(cleanText(message, MESSAGE_LENGTH_MAX));
    this.name = 'CamtProblem';
  }
}

/** An element of a file: its text is clean, without white space at its ends. */
export interface CamtElement {
  readonly name: string;
  /** Its attribute `Ccy`. */
  readonly currency: string | null;
  readonly text: string;
  readonly children: readonly CamtElement[];
}

const MESSAGE_LENGTH_MAX = 500;
/** Put where text was cut off. */
const CUT = '…';
/** Put where a character was that could move, hide or colour text on a terminal, so that the value equals no honest one. */
const REMOVED = '\uFFFD';
const LINE_BREAKS = /[\t\n\r\u2028\u2029]/g;
/** Controls (C0, C1) and formatting characters, such as bidirectional overrides and those without width. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}]/gu;

/** On one line, without characters that act on a terminal, and at most so long. */
export function cleanText(text: string, lengthMax: number): string {
  const cut = text.length > lengthMax ? text.slice(0, lengthMax) : text;
  const clean = cut.replaceAll(LINE_BREAKS, ' ').replaceAll(UNSAFE, REMOVED).trim();
  return text.length > lengthMax ? clean + CUT : clean;
}

/** What an element is called in messages, such as `entry 3 of the file (reference X)`, and the path from there. */
export class CamtPlace {
  readonly #subject: string;
  readonly #path: string;

  constructor(subject: string, path = '') {
    this.#subject = subject;
    this.#path = path;
  }

  in(path: string): CamtPlace {
    return new CamtPlace(this.#subject, this.#path === '' ? path : `${this.#path}/${path}`);
  }

  refuse(what: string): never {
    const path = this.#path === '' ? 'it' : this.#path;
    throw new CamtProblem(`${this.#subject} cannot be read: ${path} ${what}.`);
  }
}

/** Paths are few and are asked for at every transaction. */
const steps = new Map<string, readonly string[]>();

function stepsOf(path: string): readonly string[] {
  const known = steps.get(path) ?? path.split('/');
  steps.set(path, known);
  return known;
}

/** The one element at a path such as `Refs/EndToEndId`; null without. What the schema has once may not stand there twice. */
export function elementAt(parent: CamtElement, path: string, place: CamtPlace): CamtElement | null {
  let element = parent;
  for (const name of stepsOf(path)) {
    let found: CamtElement | null = null;
    for (const child of element.children) {
      if (child.name !== name) continue;
      if (found !== null) place.in(path).refuse('is there more than once');
      found = child;
    }
    if (found === null) return null;
    element = found;
  }
  return element;
}

/** Every element at a path, where the schema allows several at any step. */
export function elementsAt(parent: CamtElement, path: string): readonly CamtElement[] {
  let elements: readonly CamtElement[] = [parent];
  for (const name of stepsOf(path)) {
    const next: CamtElement[] = [];
    for (const { children } of elements) for (const child of children) if (child.name === name) next.push(child);
    if (next.length === 0) return next;
    elements = next;
  }
  return elements;
}

/** The text at the first of the paths that is there; null if none is. An element that is there has a text. */
export function textAt(parent: CamtElement, paths: readonly string[], place: CamtPlace): string | null {
  for (const path of paths) {
    const element = elementAt(parent, path, place);
    if (element === null) continue;
    return element.text === '' ? place.in(path).refuse('is empty') : element.text;
  }
  return null;
}

/** Text that tells and decides nothing, such as a code of the bank's own: an empty one is none. */
export function hintAt(parent: CamtElement, paths: readonly string[], place: CamtPlace): string | null {
  for (const path of paths) {
    const text = elementAt(parent, path, place)?.text ?? '';
    if (text !== '') return text;
  }
  return null;
}

/** Not negative: an indicator of its own gives the direction. */
export function moneyOf({ text, currency }: CamtElement, place: CamtPlace): Money {
  if (text === '') place.refuse('is empty');
  if (currency === null) return place.refuse('has no currency');
  if (!isCurrency(currency)) return place.refuse(`has a currency that is none of ISO 4217: ${currency}`);
  if (!DECIMAL.test(text)) return place.refuse('is no decimal number');
  const amountMinor = parseAmountMinor(decimalOf(text), currency, { positive: false });
  if (amountMinor === 'too-many-decimals') return place.refuse(`has more decimals than ${currency} has`);
  if (typeof amountMinor !== 'bigint') return place.refuse('is too large');
  if (amountMinor < 0n) return place.refuse('is below zero');
  return { amountMinor, currency };
}

const DECIMAL = /^[+-]?(\d+(\.\d*)?|\.\d+)$/;

/** XML's decimals may begin with zeros, a point or a plus, which JSON's may not. */
function decimalOf(digits: string): string {
  const [, sign = '', whole = '', fraction = ''] = /^([+-]?)(\d*)\.?(\d*)$/.exec(digits) ?? [];
  const significant = whole.replace(/^0+(?=\d)/, '') || '0';
  return `${sign === '-' ? '-' : ''}${significant}${fraction === '' ? '' : `.${fraction}`}`;
}

/** A number that has no currency, as text. */
export function decimalAt(parent: CamtElement, path: string, place: CamtPlace): string | null {
  const text = textAt(parent, [path], place);
  if (text === null) return null;
  return DECIMAL.test(text) ? decimalOf(text) : place.in(path).refuse('is no decimal number');
}

/** ISO 20022's `Max15NumericText`. */
export function countAt(parent: CamtElement, path: string, place: CamtPlace): number | null {
  const text = textAt(parent, [path], place);
  if (text === null) return null;
  return /^\d{1,15}$/.test(text) ? Number(text) : place.in(path).refuse('is no number of entries');
}

export function directionAt(parent: CamtElement, path: string, place: CamtPlace): EntryDirection | null {
  const text = textAt(parent, [path], place);
  if (text === null) return null;
  if (text === 'CRDT') return 'credit';
  return text === 'DBIT' ? 'debit' : place.in(path).refuse('is neither CRDT nor DBIT');
}

export function indicatorAt(parent: CamtElement, path: string, place: CamtPlace): boolean | null {
  const text = textAt(parent, [path], place);
  if (text === null) return null;
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : place.in(path).refuse('is neither true nor false');
}

const TIME = /^T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})?$/;
const ZONE = /^(Z|[+-]\d{2}:\d{2})?$/;

/** A date, or a time of which the zone may be missing, which then is UTC. */
export function instantOf(text: string, place: CamtPlace): Date {
  const [date, time] = [text.slice(0, 10), text.slice(10)];
  if (isDate(date) && ZONE.test(time)) return new Date(`${date}T00:00:00.000Z`);
  const zoned = /(Z|[+-]\d{2}:\d{2})$/.test(time) ? text : `${text}Z`;
  const instant = new Date(isDate(date) && TIME.test(time) ? zoned : Number.NaN);
  return Number.isNaN(instant.getTime()) ? place.refuse('is no date') : instant;
}

/** The date at a choice of `Dt` and `DtTm`, as the bank writes it, whatever its zone. */
export function dateAt(parent: CamtElement, path: string, place: CamtPlace): LocalDate | null {
  const text = textAt(parent, [`${path}/Dt`, `${path}/DtTm`], place);
  if (text === null) return null;
  instantOf(text, place.in(path));
  return text.slice(0, 10);
}
