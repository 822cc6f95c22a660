import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import type { Bank } from '../bank.ts';
import type { Entry, EntryKind } from '../books.ts';
import { STATEMENT_FAULTS, type StatementFault, type StatementFaultKind } from '../faults.ts';
import { currency, invalid, reference } from '../wire.ts';

/** What each fault shows, and the service's break once the day is compared. docs/sandbox.md is printed from them. */
export const STATEMENT_FAULT_EFFECTS: Readonly<
  Record<StatementFaultKind, { readonly shows: string; readonly leadsTo: string }>
> = {
  'unknown-payment': {
    shows: 'a payment in of 77.77 (pounds, or of `currency`) that never happened',
    leadsTo: 'statement-unknown-payment',
  },
  'missing-payment': { shows: 'lacks the payment; look-ups confirm it', leadsTo: 'statement-payment-missing' },
  'denied-payment': { shows: 'lacks the payment; look-ups answer 404', leadsTo: 'statement-not-at-provider' },
  'other-amount': { shows: 'one minor unit more', leadsTo: 'statement-amount-differs' },
  'other-account': { shows: 'another account', leadsTo: 'statement-account-differs' },
  'doubled-payment': { shows: 'the payment twice', leadsTo: 'statement-payment-doubled' },
  'undone-payment': {
    shows: 'that it was returned, though look-ups still show it as paid',
    leadsTo: 'statement-not-booked',
  },
  'partly-undone-payment': { shows: 'the same for half of it', leadsTo: 'statement-not-booked' },
  'late-booking': {
    shows: 'the payment a day later (then `statement-booked-late`)',
    leadsTo: 'statement-payment-missing',
  },
};

const KIND = v.picklist(STATEMENT_FAULTS, `must be one of ${STATEMENT_FAULTS.join(', ')}`);
const NAMED_FAULT = v.strictObject(
  { fault: KIND, payment: v.optional(reference()), currency: v.optional(currency()) },
  'takes fault, payment and currency',
);
const ONE_FAULT = v.union(
  [KIND, NAMED_FAULT],
  `must be normal, one of ${STATEMENT_FAULTS.join(', ')}, or an object with fault and payment`,
);

/** `normal`, a fault, or several. */
export const STATEMENT_FAULTS_REQUEST = v.union(
  [v.literal('normal'), ONE_FAULT, v.array(ONE_FAULT)],
  `must be normal, one of ${STATEMENT_FAULTS.join(', ')}, an object with fault and payment, or a list of these`,
);

const INVENTED = { currency: 'GBP', amountMinor: 7_777n } as const;

/** The requested faults, from now on. */
export function statementFaultsOf(
  bank: Bank,
  asked: v.InferOutput<typeof STATEMENT_FAULTS_REQUEST>,
): readonly StatementFault[] {
  if (asked === 'normal') return [];
  const afterSequence = bank.positions.lastSequence;
  return (Array.isArray(asked) ? asked : [asked]).map((one) => {
    const { fault: kind, payment = null, currency: code } = typeof one === 'string' ? { fault: one } : one;
    const invents = kind === 'unknown-payment';
    if (invents && payment !== null) throw invalid('statement', 'an unknown-payment takes no payment');
    if (!invents && code !== undefined) throw invalid('statement', 'currency is allowed only with unknown-payment');
    return { kind, payment, afterSequence, invented: invents ? inventedEntry(bank, code ?? INVENTED.currency) : null };
  });
}

function inventedEntry(bank: Bank, code: string): Entry {
  return {
    entryId: randomUUID(),
    sequence: bank.positions.lastSequence,
    bookedAt: bank.now().toISOString(),
    kind: 'payment-in',
    amountMinor: INVENTED.amountMinor,
    currency: code,
    positionMinor: bank.positions.all.get(code)?.positionMinor ?? 0n,
    paymentId: randomUUID(),
    ourReference: null,
    account: [],
  };
}

/** An entry as the statement shows it: `shownAccount` is the customer's reference of its account. */
export type ShownEntry = Entry & { readonly shownAccount: string | null };

/** The statement's entries for an entry of the books: none, the same, a changed one, or two. */
export function shownEntries(bank: Bank, entry: Entry): readonly ShownEntry[] {
  let shown: readonly ShownEntry[] = [{ ...entry, shownAccount: accountOf(bank, entry) }];
  for (const fault of bank.faults.now.statement) {
    if (isAbout(fault, entry)) shown = shown.flatMap((one) => distorted(bank, fault.kind, one));
  }
  return shown;
}

/** Invented entries, which belong to no payment in the books. */
export function inventedEntries(bank: Bank): readonly ShownEntry[] {
  return bank.faults.now.statement.flatMap(({ invented }) =>
    invented === null ? [] : [{ ...invented, shownAccount: null }],
  );
}

/** Whether the bank pretends not to know this payment. */
export function isDenied(bank: Bank, paymentId: string): boolean {
  const denials = bank.faults.now.statement.filter(({ kind }) => kind === 'denied-payment');
  if (denials.length === 0) return false;
  const entries = [...bank.books.entries.values()].filter((entry) => entry.paymentId === paymentId);
  return entries.some((entry) => denials.some((denial) => isAbout(denial, entry)));
}

function isAbout({ kind, payment, afterSequence }: StatementFault, entry: Entry): boolean {
  if (kind === 'unknown-payment') return false;
  if (payment === null) return entry.sequence > afterSequence;
  return payment === entry.ourReference || payment === entry.paymentId;
}

const LATE_MS = 86_400_000;

function distorted(bank: Bank, kind: StatementFaultKind, entry: ShownEntry): readonly ShownEntry[] {
  switch (kind) {
    case 'unknown-payment':
      return [entry];
    case 'missing-payment':
    case 'denied-payment':
      return [];
    case 'other-amount':
      return [{ ...entry, amountMinor: entry.amountMinor + 1n }];
    case 'other-account':
      return [{ ...entry, shownAccount: otherAccount(bank, entry) }];
    case 'doubled-payment':
      return [entry, { ...entry, entryId: `${entry.entryId}-2` }];
    case 'late-booking':
      return [{ ...entry, bookedAt: new Date(Date.parse(entry.bookedAt) + LATE_MS).toISOString() }];
    case 'undone-payment':
      return [entry, ...undoing(entry, entry.amountMinor)];
    case 'partly-undone-payment':
      return [entry, ...undoing(entry, (entry.amountMinor + 1n) / 2n)];
  }
}

const UNDOING: Partial<Record<EntryKind, EntryKind>> = {
  'payment-out': 'payment-out-returned',
  'payment-in': 'payment-in-sent-back',
};

/** The entry that undoes a payment; none for an entry that undoes one itself. */
function undoing(entry: ShownEntry, amountMinor: bigint): readonly ShownEntry[] {
  const kind = UNDOING[entry.kind];
  return kind === undefined ? [] : [{ ...entry, entryId: `${entry.entryId}-undone`, kind, amountMinor }];
}

function accountOf(bank: Bank, entry: Entry): string | null {
  return entry.account.find((key) => bank.books.accounts.has(key)) ?? null;
}

/** Another customer account of the currency, or one that does not exist. */
function otherAccount(bank: Bank, entry: ShownEntry): string {
  for (const account of bank.books.accounts.values()) {
    if (account.currency === entry.currency && account.ourReference !== entry.shownAccount) return account.ourReference;
  }
  return entry.entryId;
}
