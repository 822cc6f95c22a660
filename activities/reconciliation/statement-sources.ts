import type { StatementSourceKind } from '../../db/reconciliation/days.ts';
import type { StagedMovement } from '../../db/reconciliation/movements.ts';
import type { MovementKind } from '../../domain/reconciliation/daily-reconciliation.ts';
import type { CallOptions, Provider } from '../providers/port.ts';
import type { StatementEntry, StatementEntryKind } from '../providers/ports/statement-port.ts';

/** An entry of a statement; whether it is of the compared day is for the comparison to say. */
export type StatedMovement = Omit<StagedMovement, 'ofDay' | 'side' | 'resourceId'>;

export interface StatedPage {
  readonly movements: readonly StatedMovement[];
  /** References of entries that could not be read. */
  readonly unreadable: readonly string[];
}

/** A statement, read page by page: a provider's own, or a file of a bank. */
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
      for (let after: string | undefined; ; ) {
        const page = await provider.fetchStatement({ currency, from, to, after }, call);
        yield { movements: page.entries.map(movementOf), unreadable: page.unreadable };
        if (page.next === null) return;
        after = page.next;
      }
    },
  };
}

function movementOf(entry: StatementEntry): StatedMovement {
  const { entryId, kind, amountMinor, bookedAt, serviceProviderId, ourReference, accountId } = entry;
  const movement = MOVEMENT_OF[kind];
  const isIn = movement === 'payment-in' || movement === 'payment-in-sent-back';
  return {
    entryId,
    movement,
    direction: isIn ? 'in' : movement === 'opening-balance' ? 'opening' : 'out',
    reference: isIn ? serviceProviderId : (ourReference ?? serviceProviderId),
    amountMinor,
    bookedAt,
    accounts: accountId === null ? [] : [accountId],
  };
}
