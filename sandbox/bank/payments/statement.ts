import { amountNumber, isCurrency } from '../../../domain/common/money.ts';
import type { Bank } from '../bank.ts';
import { type Entry, type EntryKind, isCredit } from '../books.ts';
import { BankError, invalid } from '../wire.ts';
import { inventedEntries, type ShownEntry, shownEntries } from './statement-faults.ts';

const PAGE_SIZE = 1_000;
const PAGE_SIZE_MAX = 10_000;

const INSTANT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?Z)?$/;

export interface StatementQuery {
  /**
   * A customer's account (our reference, the bank's, IBAN or account number), or a currency for its pooled position.
   */
  readonly account?: string | undefined;
  readonly currency?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** The last sequence number already seen. */
  readonly after?: string | undefined;
  readonly limit?: string | undefined;
}

/** Entries of `from <= bookedAt < to`, oldest first. `next` is what `after` must be for the next page, or null. */
export function statement(bank: Bank, query: StatementQuery) {
  const belongs = entryFilter(bank, query);
  const fromMs = instantMs('from', query.from) ?? Number.NEGATIVE_INFINITY;
  const toMs = instantMs('to', query.to) ?? Number.POSITIVE_INFINITY;
  const after = whole('after', query.after, Number.MAX_SAFE_INTEGER) ?? 0;
  const limit = Math.max(1, whole('limit', query.limit, PAGE_SIZE_MAX) ?? PAGE_SIZE);

  const isAsked = (entry: ShownEntry) => {
    const bookedAtMs = Date.parse(entry.bookedAt);
    return bookedAtMs >= fromMs && bookedAtMs < toMs && belongs(entry);
  };
  // Invented entries have no position in the order of the books.
  const entries: ShownEntry[] = after === 0 ? inventedEntries(bank).filter(isAsked) : [];
  let count = 0;
  let last = after;
  for (const entry of bank.books.entries.values()) {
    if (entry.sequence <= after) continue;
    const shown = shownEntries(bank, entry).filter(isAsked);
    if (shown.length === 0) continue;
    if (count === limit) return { entries: entries.map(showEntry), next: String(last) };
    entries.push(...shown);
    count += 1;
    last = entry.sequence;
  }
  return { entries: entries.map(showEntry), next: null };
}

function entryFilter(bank: Bank, query: StatementQuery): (entry: Entry) => boolean {
  const account = query.account?.replaceAll(' ', '');
  const currency = query.currency ?? (account !== undefined && isCurrency(account) ? account : undefined);
  if (currency !== undefined && !isCurrency(currency)) throw invalid('currency', 'must be an ISO 4217 code');
  const ofCurrency = (entry: Entry) => currency === undefined || entry.currency === currency;
  if (account === undefined || account === currency) return ofCurrency;

  const known = [...bank.books.accounts.values()].find(({ ourReference, reference, identifiers }) =>
    [ourReference, reference, identifiers?.iban, identifiers?.accountNumber].includes(account),
  );
  const key = known?.ourReference ?? account;
  const paidTo = [...bank.books.entries.values()].some((entry) => entry.account.includes(key));
  if (known === undefined && !paidTo) throw new BankError(404, 'not-found', 'No account has this reference or number.');
  return (entry) => ofCurrency(entry) && entry.account.includes(key);
}

function instantMs(field: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const ms = INSTANT.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw invalid(field, 'must be a date or a UTC instant: 2026-01-31 or 2026-01-31T12:00:00Z');
  return ms;
}

function whole(field: string, text: string | undefined, max: number): number | null {
  if (text === undefined) return null;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= max)) throw invalid(field, `must be a whole number up to ${max}`);
  return value;
}

function showEntry(entry: ShownEntry) {
  const {
    entryId,
    sequence,
    bookedAt,
    kind,
    currency,
    paymentId,
    ourReference,
    endToEndId = null,
    shownAccount,
  } = entry;
  return {
    entryId,
    sequence,
    bookedAt,
    kind,
    direction: isCredit(kind) ? 'credit' : 'debit',
    amount: amountNumber(entry.amountMinor, currency),
    currency,
    position: amountNumber(entry.positionMinor, currency),
    paymentId,
    ourReference,
    endToEndId,
    account: shownAccount,
  };
}

/** The pooled position of every currency, with its components. */
export function positions(bank: Bank) {
  return [...bank.positions.all].map(([currency, position]) => {
    const total = (kind: EntryKind) => {
      const { count, totalMinor } = position.totals.get(kind) ?? { count: 0, totalMinor: 0n };
      return { count, amount: amountNumber(totalMinor, currency) };
    };
    return {
      currency,
      position: amountNumber(position.positionMinor, currency),
      paymentsIn: total('payment-in'),
      paymentsInSentBack: total('payment-in-sent-back'),
      paymentsOut: total('payment-out'),
      paymentsOutFailed: total('payment-out-failed'),
      paymentsOutReturned: total('payment-out-returned'),
      openingBalances: total('opening-balance'),
    };
  });
}
