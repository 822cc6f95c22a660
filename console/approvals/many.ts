import { REMEDY_LIST_ITEMS_MAX } from '../../domain/approvals/remedy-lists.ts';
import type { Role } from '../../domain/machine-users/roles.ts';
import { INCOMING_TRANSFER_REMEDIES } from '../incoming-transfers/remedies.ts';
import { OUTGOING_TRANSFER_REMEDIES } from '../outgoing-transfers/remedies.ts';
import type { Remedy } from '../remedies/remedy.ts';

/** A remedy that can be done for many at once. */
export type RemedyForMany = Remedy & { readonly forEach: NonNullable<Remedy['forEach']> };

/** Those of every noun; a remedy joins by having `forEach`. */
export const REMEDIES_FOR_MANY: readonly RemedyForMany[] = [
  ...OUTGOING_TRANSFER_REMEDIES,
  ...INCOMING_TRANSFER_REMEDIES,
].filter((remedy): remedy is RemedyForMany => remedy.forEach !== undefined);

export function findRemedyForMany(kind: string | null): RemedyForMany | null {
  return REMEDIES_FOR_MANY.find((remedy) => remedy.kind === kind) ?? null;
}

/** Who may give the second signature for a remedy: approvers, and who may do each of the acts. */
export function signersOf({ roles }: Pick<Remedy, 'roles'>): readonly Role[] {
  return [...new Set<Role>(['approver', ...roles])];
}

/** The roles of all of them. */
export const MAKERS = [...new Set(REMEDIES_FOR_MANY.flatMap(({ roles }) => roles))];
export const SIGNERS = [...new Set(REMEDIES_FOR_MANY.flatMap(signersOf))];

export const MAX_IN_WORDS = REMEDY_LIST_ITEMS_MAX.toLocaleString('en-GB');
