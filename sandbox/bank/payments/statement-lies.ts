import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import type { Bank } from '../bank.ts';
import type { Entry, EntryKind } from '../books.ts';
import { currency, invalid, reference } from '../wire.ts';

/** The ways in which the bank's statement can lie; docs/sandbox.md describes them. */
export const LIES = [
  'unknown-payment',
  'missing-payment',
  'other-amount',
  'other-account',
  'doubled-payment',
  'late-booking',
  'denied-payment',
  'undone-payment',
  'partly-undone-payment',
] as const;
export type Lie = (typeof LIES)[number];

export interface StatementLie {
  readonly lie: Lie;
  /** Our reference of a payment out, or the bank's id; null: every payment that is booked from the switch on. */
  readonly payment: string | null;
  /** The last entry before the switch. */
  readonly afterSequence: number;
  /** What the bank makes up for `unknown-payment`. */
  readonly invented: Entry | null;
}

const LIE = v.picklist(LIES, `must be one of ${LIES.join(', ')}`);
const NAMED_LIE = v.strictObject(
  { lie: LIE, payment: v.optional(reference()), currency: v.optional(currency()) },
  'takes lie, payment and currency',
);
const ONE_LIE = v.union(
  [LIE, NAMED_LIE],
  `must be normal, one of ${LIES.join(', ')}, or an object with lie and payment`,
);

/** `normal`, a lie, or several. */
export const STATEMENT_FAULT = v.union(
  [v.literal('normal'), ONE_LIE, v.array(ONE_LIE)],
  `must be normal, one of ${LIES.join(', ')}, an object with lie and payment, or a list of these`,
);

const INVENTED = { currency: 'GBP', amountMinor: 7_777n } as const;

/** The lies that are asked for, from now on. */
export function liesOf(bank: Bank, asked: v.InferOutput<typeof STATEMENT_FAULT>): readonly StatementLie[] {
  if (asked === 'normal') return [];
  const afterSequence = bank.positions.lastSequence;
  return (Array.isArray(asked) ? asked : [asked]).map((one) => {
    const { lie, payment = null, currency: code } = typeof one === 'string' ? { lie: one } : one;
    const invents = lie === 'unknown-payment';
    if (invents && payment !== null) throw invalid('statement', 'an unknown-payment is about no payment of the books');
    if (!invents && code !== undefined) throw invalid('statement', 'currency is of an unknown-payment alone');
    return { lie, payment, afterSequence, invented: invents ? inventedEntry(bank, code ?? INVENTED.currency) : null };
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

/** An entry as the statement shows it: `account` is the customer's reference of its account. */
export type ToldEntry = Entry & { readonly toldAccount: string | null };

/** What the statement makes of an entry: nothing, the truth, something else, or it twice. */
export function tell(bank: Bank, entry: Entry): readonly ToldEntry[] {
  let told: readonly ToldEntry[] = [{ ...entry, toldAccount: accountOf(bank, entry) }];
  for (const lie of bank.faults.now.statement) {
    if (isAbout(lie, entry)) told = told.flatMap((one) => distorted(bank, lie.lie, one));
  }
  return told;
}

/** Entries of no payment in the books. */
export function inventions(bank: Bank): readonly ToldEntry[] {
  return bank.faults.now.statement.flatMap(({ invented }) =>
    invented === null ? [] : [{ ...invented, toldAccount: null }],
  );
}

/** Whether the bank pretends not to know this payment. */
export function isDenied(bank: Bank, paymentId: string): boolean {
  const denials = bank.faults.now.statement.filter(({ lie }) => lie === 'denied-payment');
  if (denials.length === 0) return false;
  const entries = [...bank.books.entries.values()].filter((entry) => entry.paymentId === paymentId);
  return entries.some((entry) => denials.some((denial) => isAbout(denial, entry)));
}

function isAbout({ lie, payment, afterSequence }: StatementLie, entry: Entry): boolean {
  if (lie === 'unknown-payment') return false;
  if (payment === null) return entry.sequence > afterSequence;
  return payment === entry.ourReference || payment === entry.paymentId;
}

const LATE_MS = 86_400_000;

function distorted(bank: Bank, lie: Lie, entry: ToldEntry): readonly ToldEntry[] {
  switch (lie) {
    case 'unknown-payment':
      return [entry];
    case 'missing-payment':
    case 'denied-payment':
      return [];
    case 'other-amount':
      return [{ ...entry, amountMinor: entry.amountMinor + 1n }];
    case 'other-account':
      return [{ ...entry, toldAccount: otherAccount(bank, entry) }];
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

/** What undoes a payment; nothing for what is undone itself. */
function undoing(entry: ToldEntry, amountMinor: bigint): readonly ToldEntry[] {
  const kind = UNDOING[entry.kind];
  return kind === undefined ? [] : [{ ...entry, entryId: `${entry.entryId}-undone`, kind, amountMinor }];
}

function accountOf(bank: Bank, entry: Entry): string | null {
  return entry.account.find((key) => bank.books.accounts.has(key)) ?? null;
}

/** Another customer account of the currency, or one that does not exist. */
function otherAccount(bank: Bank, entry: ToldEntry): string {
  for (const account of bank.books.accounts.values()) {
    if (account.currency === entry.currency && account.ourReference !== entry.toldAccount) return account.ourReference;
  }
  return entry.entryId;
}
