import { UnreadableMessage } from '../../../domain/bank-files/messages.ts';
import { isCurrency, parseAmountMinor } from '../../../domain/common/money.ts';
import { isDate, type LocalDate } from '../../../domain/common/time/dates.ts';
import type { EntryDirection, Money } from '../../../domain/reconciliation/bank-statements.ts';

/** An element of a file, with its text cleaned and trimmed. */
export interface MessageElement {
  readonly name: string;
  /** Its attribute `Ccy`. */
  readonly currency: string | null;
  readonly text: string;
  readonly children: readonly MessageElement[];
}

/** Where an element is, for messages: its subject, such as `Entry 3 of the file (reference X)`, and the path from there. */
export class MessageLocation {
  readonly #subject: string;
  readonly #path: string;

  constructor(subject: string, path = '') {
    this.#subject = subject;
    this.#path = path;
  }

  in(path: string): MessageLocation {
    return new MessageLocation(this.#subject, this.#path === '' ? path : `${this.#path}/${path}`);
  }

  reject(what: string): never {
    const path = this.#path === '' ? 'it' : this.#path;
    throw new UnreadableMessage(`${this.#subject} cannot be read: ${path} ${what}.`);
  }
}

/** A cache: there are few paths, and every transaction uses them. */
const steps = new Map<string, readonly string[]>();

function stepsOf(path: string): readonly string[] {
  const known = steps.get(path) ?? path.split('/');
  steps.set(path, known);
  return known;
}

/** The single element at a path such as `Refs/EndToEndId`, or null. Rejects a repeated one, which the schema does not allow. */
export function elementAt(parent: MessageElement, path: string, location: MessageLocation): MessageElement | null {
  let element = parent;
  for (const name of stepsOf(path)) {
    let found: MessageElement | null = null;
    for (const child of element.children) {
      if (child.name !== name) continue;
      if (found !== null) location.in(path).reject('is there more than once');
      found = child;
    }
    if (found === null) return null;
    element = found;
  }
  return element;
}

/** Every element at a path, where the schema allows several at any step. */
export function elementsAt(parent: MessageElement, path: string): readonly MessageElement[] {
  let elements: readonly MessageElement[] = [parent];
  for (const name of stepsOf(path)) {
    const next: MessageElement[] = [];
    for (const { children } of elements) for (const child of children) if (child.name === name) next.push(child);
    if (next.length === 0) return next;
    elements = next;
  }
  return elements;
}

/** The text at the first of the paths that exists, or null. Rejects an empty element. */
export function textAt(parent: MessageElement, paths: readonly string[], location: MessageLocation): string | null {
  for (const path of paths) {
    const element = elementAt(parent, path, location);
    if (element === null) continue;
    return element.text === '' ? location.in(path).reject('is empty') : element.text;
  }
  return null;
}

/** The text of an element that is informative only, such as a bank's own code. An empty one counts as missing. */
export function hintAt(parent: MessageElement, paths: readonly string[], location: MessageLocation): string | null {
  for (const path of paths) {
    const text = elementAt(parent, path, location)?.text ?? '';
    if (text !== '') return text;
  }
  return null;
}

/** Never negative: a separate indicator gives the direction. */
export function moneyOf({ text, currency }: MessageElement, location: MessageLocation): Money {
  if (text === '') location.reject('is empty');
  if (currency === null) return location.reject('has no currency');
  if (!isCurrency(currency)) return location.reject(`has a currency that is not in ISO 4217: ${currency}`);
  if (!DECIMAL.test(text)) return location.reject('is not a decimal number');
  const amountMinor = parseAmountMinor(decimalOf(text), currency, { positive: false });
  if (amountMinor === 'too-many-decimals') return location.reject(`has more decimals than ${currency} has`);
  if (typeof amountMinor !== 'bigint') return location.reject('is too large');
  if (amountMinor < 0n) return location.reject('is negative');
  return { amountMinor, currency };
}

const DECIMAL = /^[+-]?(\d+(\.\d*)?|\.\d+)$/;

/** Decimals in XML may begin with zeros, a point or a plus sign; those in JSON may not. */
function decimalOf(digits: string): string {
  const [, sign = '', whole = '', fraction = ''] = /^([+-]?)(\d*)\.?(\d*)$/.exec(digits) ?? [];
  const significant = whole.replace(/^0+(?=\d)/, '') || '0';
  return `${sign === '-' ? '-' : ''}${significant}${fraction === '' ? '' : `.${fraction}`}`;
}

/** A decimal number without a currency, as text. */
export function decimalAt(parent: MessageElement, path: string, location: MessageLocation): string | null {
  const text = textAt(parent, [path], location);
  if (text === null) return null;
  return DECIMAL.test(text) ? decimalOf(text) : location.in(path).reject('is not a decimal number');
}

/** ISO 20022's `Max15NumericText`. */
export function countAt(parent: MessageElement, path: string, location: MessageLocation): number | null {
  const text = textAt(parent, [path], location);
  if (text === null) return null;
  return /^\d{1,15}$/.test(text) ? Number(text) : location.in(path).reject('is not a number of entries');
}

export function directionAt(parent: MessageElement, path: string, location: MessageLocation): EntryDirection | null {
  const text = textAt(parent, [path], location);
  if (text === null) return null;
  if (text === 'CRDT') return 'credit';
  return text === 'DBIT' ? 'debit' : location.in(path).reject('is neither CRDT nor DBIT');
}

export function indicatorAt(parent: MessageElement, path: string, location: MessageLocation): boolean | null {
  const text = textAt(parent, [path], location);
  if (text === null) return null;
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : location.in(path).reject('is neither true nor false');
}

const TIME = /^T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})?$/;
const ZONE = /^(Z|[+-]\d{2}:\d{2})?$/;

/** A date, or a date and time. Without a zone it is UTC. */
export function instantOf(text: string, location: MessageLocation): Date {
  const [date, time] = [text.slice(0, 10), text.slice(10)];
  if (isDate(date) && ZONE.test(time)) return new Date(`${date}T00:00:00.000Z`);
  const zoned = /(Z|[+-]\d{2}:\d{2})$/.test(time) ? text : `${text}Z`;
  const instant = new Date(isDate(date) && TIME.test(time) ? zoned : Number.NaN);
  return Number.isNaN(instant.getTime()) ? location.reject('is not a date') : instant;
}

/** The date at a choice of `Dt` and `DtTm`, as the bank writes it, whatever its zone. */
export function dateAt(parent: MessageElement, path: string, location: MessageLocation): LocalDate | null {
  const text = textAt(parent, [`${path}/Dt`, `${path}/DtTm`], location);
  if (text === null) return null;
  instantOf(text, location.in(path));
  return text.slice(0, 10);
}
