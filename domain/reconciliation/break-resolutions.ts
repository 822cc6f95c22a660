import { refusal } from '../frame/errors.ts';
import type { BreakStatus } from './reconciliation.ts';

/** What a person's resolution changes in a break. */
export interface BreakResolution {
  readonly status: BreakStatus;
  readonly note: string;
  readonly resolvedAt: Date;
  readonly resolvedBy: string;
}

/** A person has looked into the break, and says what came of it. */
export function resolveByPerson(
  found: { readonly id: string; readonly status: BreakStatus },
  { note, actor, now }: { readonly note: string; readonly actor: string; readonly now: Date },
): BreakResolution {
  if (found.status === 'resolved') {
    throw refusal(
      'common.state.illegal_transition',
      ['reconciliationBreak', 'status', 'resolved'],
      'The break is resolved already.',
    );
  }
  return { status: 'resolved', note, resolvedAt: now, resolvedBy: actor };
}
