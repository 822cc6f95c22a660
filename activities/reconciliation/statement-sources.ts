import type { StatementSourceKind } from '../../db/reconciliation/days.ts';
import { type DailyBreak, statementBreak } from '../../domain/reconciliation/daily-reconciliation.ts';
import { NOTHING } from '../../domain/reconciliation/day-balance.ts';
import type { StatedBreak, StatedMovement, StatedTotals } from '../../domain/reconciliation/files/file-movements.ts';
import type { MovementKind } from '../../domain/reconciliation/movements.ts';
import type { Provider } from '../providers/port.ts';
import type { CallOptions } from '../providers/ports/common.ts';
import type { StatementEntry, StatementEntryKind } from '../providers/ports/statement-port.ts';

export interface StatedPage {
  readonly movements: readonly StatedMovement[];
  readonly breaks: readonly StatedBreak[];
  /** Totals of the entries; null for a source that has no sums but its movements. */
  readonly totals: readonly StatedTotals[] | null;
}

/** A statement, read page by page: from a provider's API, or from a bank's file. */
export interface StatementSource {
  readonly kind: StatementSourceKind;
  pages(range: { readonly from: Date; readonly to: Date }, call: CallOptions): AsyncIterable<StatedPage>;
}

const MOVEMENT_OF: Readonly<Record<StatementEntryKind, MovementKind>> = {
  'payment-out': 'payment-out',
  'payment-out-failed': 'payment-out-undone',
  'payment-out-returned': 'payment-out-undone',
  'payment-in': 'payment-in',
  'payment-in-sent-back': 'payment-in-sent-back',
  'opening-balance': 'opening-balance',
};

export function statementOf(provider: Provider, currency: string): StatementSource {
  return {
    kind: 'statement',
    async *pages({ from, to }, call) {
      const unreadable = new Set<string>();
      for (let after: string | undefined; ; ) {
        const page = await provider.fetchStatement({ currency, from, to, after }, call);
        const fresh = page.unreadable.filter((reference) => !unreadable.has(reference));
        for (const reference of fresh) unreadable.add(reference);
        const breaks = [...new Set(fresh)].map((reference) => ({ bookedAt: null, found: unreadableEntry(reference) }));
        yield { movements: page.entries.map(movementOf), breaks, totals: null };
        if (page.next === null) return;
        after = page.next;
      }
    },
  };
}

function unreadableEntry(reference: string): DailyBreak {
  return statementBreak({
    kind: 'statement-entry-unreadable',
    reference,
    expected: null,
    actual: null,
    effect: NOTHING,
  });
}

function movementOf(entry: StatementEntry): StatedMovement {
  const { entryId, kind, amountMinor, bookedAt, serviceProviderId, ourReference, accountId } = entry;
  const movement = MOVEMENT_OF[kind];
  const isIn = movement === 'payment-in' || movement === 'payment-in-sent-back';
  return {
    // Entries that share an id but differ otherwise are separate entries.
    entryId: `${entryId} ${movement} ${amountMinor} ${bookedAt.toISOString()}`,
    movement,
    direction: isIn ? 'in' : movement === 'opening-balance' ? 'opening' : 'out',
    reference: isIn ? serviceProviderId : (ourReference ?? serviceProviderId),
    amountMinor,
    bookedAt,
    accounts: accountId === null ? [] : [accountId],
  };
}
