import type { Reader } from '../../../db/driver/client.ts';
import { listBreaks, type ReconciliationBreak } from '../../../db/reconciliation/breaks.ts';
import type { StoredFacts } from '../../../db/reconciliation/schema.ts';
import { formatAmount } from '../../../domain/frame/money.ts';
import { minuteInUtc } from '../../../domain/frame/waits.ts';
import type { BreakKind } from '../../../domain/reconciliation/reconciliation.ts';
import { operate } from './commands.ts';

/** A difference between a provider's word and our books that nobody has explained. */
export interface OpenBreak {
  readonly id: string;
  readonly kind: BreakKind;
  /** An ISO instant. */
  readonly since: string;
  /** What our books have, and what the provider says; null: nothing, or unknown. */
  readonly ours: string | null;
  readonly providers: string | null;
  readonly remedy: string;
}

const SHOWN_MAX = 20;

/** The open breaks of a transfer or an account, oldest first. */
export async function findOpenBreaks(reader: Reader, resourceId: string): Promise<OpenBreak[]> {
  const { rows } = await listBreaks(reader, { resourceId, status: 'open' }, { size: SHOWN_MAX, offset: 0 });
  return rows.map(openBreakOf);
}

function openBreakOf({ id, kind, foundAt, expected, actual, resourceId }: ReconciliationBreak): OpenBreak {
  const since = foundAt.toISOString();
  return {
    id,
    kind,
    since,
    ours: amountOf(expected),
    providers: amountOf(actual),
    remedy: REMEDIES[kind](`${resourceId}`),
  };
}

export function amountOf(facts: StoredFacts | null): string | null {
  if (facts === null) return null;
  return `${formatAmount(BigInt(facts.amountMinor), facts.currency)} ${facts.currency}`;
}

export function linesOfBreak({ id, kind, since, ours, providers, remedy }: OpenBreak): string[] {
  const sides =
    ours === null && providers === null ? '' : `; we have ${ours ?? 'nothing'}, the provider ${providers ?? 'nothing'}`;
  return [
    `Open break: ${kind} since ${minuteInUtc(since)}${sides}. ${remedy}`,
    `Once it is explained: ${operate(`resolve-break ${id} --note TEXT`)}`,
  ];
}

const ASK = 'Ask the provider';
const lookUp = (id: string) => `${operate(`look-up ${id}`)}; if the sides still differ, ask the provider.`;

/** What a person does about each kind, in the words of docs/operations.md. */
const REMEDIES: Readonly<Record<BreakKind, (resourceId: string) => string>> = {
  'statement-unknown-payment': () => `${ASK} what it is.`,
  'statement-not-booked': lookUp,
  'statement-not-at-provider': lookUp,
  'statement-amount-differs': lookUp,
  'statement-payment-missing': () => `${ASK}; it resolves itself if the provider books the payment later.`,
  'statement-booked-late': () => 'The money agrees: check value dates and interest.',
  'statement-payment-doubled': () => `${ASK} to cancel the second booking, or it pays or credits twice.`,
  'statement-account-differs': () => 'Find out which account is right; if ours is wrong, adjust the balances of both.',
  'statement-day-differs': () => 'What explained it is gone: compare the day again by `reconcile`.',
  'statement-moved-nothing': () => 'What explained it is gone: compare the day again by `reconcile`.',
  'statement-entry-differs': () => `${ASK} what the rest of the entry is.`,
  'statement-charges': () => 'The entry contains charges that our books do not have: book them where they belong.',
  'statement-batch-differs': () => `${ASK} for the file again: the batch is not what its transactions come to.`,
  'statement-summary-differs': () => `${ASK} for the file again: its summary is not what its entries come to.`,
  'statement-balance-differs': () => `${ASK} for the file again: its balances are not what its entries come to.`,
  'statement-reference-ambiguous': () => `${ASK} which of the payments that it names the entry is.`,
  'statement-sums-differ': () => 'An error of the comparison: report it, and check the day by hand.',
  'statement-entry-unreadable': () => `${ASK} what the entry is.`,
  'callback-contradicts': lookUp,
  'account-closed-with-money': () => 'Empty the account, close its sub-accounts, then close it.',
  'account-outcome-contradicts': () => `${ASK} how the account stands.`,
  'account-outcome-impossible': () => `${ASK} which account it means.`,
  'account-of-another-provider': () => `${ASK}: the account is another provider’s.`,
};
