import { rejection } from '../common/errors.ts';
import type { BreakStatus } from './reconciliation.ts';

/** What a person has found out about a break. */
export const NOTE_LENGTH_MAX = 500;

/** The changes to a break that a person resolves. */
export interface BreakResolution {
  readonly status: BreakStatus;
  readonly note: string;
  readonly resolvedAt: Date;
  readonly resolvedBy: string;
}

/** Resolves a break that a person has investigated. */
export function resolveByPerson(
  found: { readonly id: string; readonly status: BreakStatus },
  { note, actor, now }: { readonly note: string; readonly actor: string; readonly now: Date },
): BreakResolution {
  if (found.status === 'resolved') {
    throw rejection(
      'common.state.illegal_transition',
      ['reconciliationBreak', 'status', 'resolved'],
      'The break is already resolved.',
    );
  }
  return { status: 'resolved', note, resolvedAt: now, resolvedBy: actor };
}
