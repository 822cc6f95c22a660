import type { Reader } from '../../../db/query/database.ts';
import { listBreaks, type ReconciliationBreak } from '../../../db/reconciliation/breaks.ts';
import type { StoredFacts } from '../../../db/reconciliation/schema.ts';
import { formatAmount } from '../../../domain/common/money.ts';
import { minuteInUtc } from '../../../domain/common/waits.ts';
import type { BreakKind } from '../../../domain/reconciliation/reconciliation.ts';
import { operate } from './commands.ts';

/** An unexplained difference between a provider's statement and our books. */
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

export function openBreakOf(row: ReconciliationBreak): OpenBreak {
  const { id, kind, foundAt, expected, actual, resourceId } = row;
  const since = foundAt.toISOString();
  return {
    id,
    kind,
    since,
    ours: amountOf(expected),
    providers: amountOf(actual),
    remedy: instructionOf(kind, operate(`look-up ${resourceId}`), 'compare the day again by `reconcile`'),
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

/** What to do about a break of the kind; `lookUp` and `compare` say how, at the door through which it is asked. */
export function instructionOf(kind: BreakKind, lookUp: string, compare: string): string {
  return INSTRUCTIONS[kind]({ lookUp: `${lookUp}; if the sides still differ, ask the provider.`, compare });
}

interface Ways {
  readonly lookUp: string;
  readonly compare: string;
}

const ASK = 'Ask the provider';
const lookUp = (ways: Ways) => ways.lookUp;
const compareAgain = ({ compare }: Ways) => `What explained it is gone: ${compare}.`;

/** What to do about each kind, as in docs/runbook/reconciliation.md. */
const INSTRUCTIONS: Readonly<Record<BreakKind, (ways: Ways) => string>> = {
  'statement-unknown-payment': () => `${ASK} what it is.`,
  'statement-not-booked': lookUp,
  'statement-not-at-provider': lookUp,
  'statement-amount-differs': lookUp,
  'statement-payment-missing': () => `${ASK}; it resolves itself if the provider books the payment later.`,
  'statement-booked-late': () => 'The money agrees: check value dates and interest.',
  'statement-payment-doubled': () => `${ASK} to cancel the second booking, or it pays or credits twice.`,
  'statement-account-differs': () => 'Find out which account is right; if ours is wrong, adjust the balances of both.',
  'statement-day-differs': compareAgain,
  'statement-moved-nothing': compareAgain,
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
  'account-outcome-contradicts': () => `${ASK} what the account’s state is.`,
  'account-outcome-impossible': () => `${ASK} which account it means.`,
  'account-of-another-provider': () => `${ASK}: the account is another provider’s.`,
};
