import { eq } from 'drizzle-orm';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { UserClientRelationId, UserId } from '../../domain/common/ids.ts';
import { requireTransition } from '../../domain/common/transitions.ts';
import {
  USER_CLIENT_RELATION_TRANSITIONS,
  type UserClientRelationStatus,
} from '../../domain/users/client-relations.ts';
import { appendAuditEntry, type Initiator } from '../common/audit-entries.ts';
import { revokeConsentsOfRelation } from '../open-banking/withdrawals.ts';
import type { Transaction } from '../query/database.ts';
import { type Given, prepared } from '../query/queries.ts';
import { lockIn, sendUpdate } from '../query/rows.ts';
import { ofUser, type UserClientRelationRow } from './client-relations.ts';
import { cancelPendingInvitation } from './invitations.ts';
import { userClientRelations, users } from './schema.ts';

type Values = { readonly userId: UserId; readonly id: UserClientRelationId };

const FIND = prepared((db, given: Given<Values>) =>
  db
    .select({ clientId: userClientRelations.clientId, emailKey: users.emailKey })
    .from(userClientRelations)
    .innerJoin(users, eq(users.id, userClientRelations.userId))
    .where(ofUser(given)),
);

const LOCK = lockIn(userClientRelations, 'update');

/**
 * Revokes or restores a relation; repeating the current status changes nothing. Revoking also cancels a pending invitation
 * for the same client, because accepting it later must not undo the revocation, and the user's consents to the client's accounts.
 */
export async function changeUserClientRelation(
  tx: Transaction,
  userId: UserId,
  id: UserClientRelationId,
  status: UserClientRelationStatus,
  initiator: Initiator,
): Promise<UserClientRelationRow> {
  const found = await tx.first(FIND, { userId, id });
  if (found === null) throw recordNotFound('userClientRelation', 'id', id);
  // Takes the invitation's lock first, as acceptance does, so that the later of the two decides.
  if (status === 'revoked') await cancelPendingInvitation(tx, found.emailKey, found.clientId, initiator);
  const before = await tx.lock(LOCK, id);
  if (before === null) throw new Error(`relation ${id} is gone`);
  if (before.status === status) return before;
  requireTransition('user client relation', USER_CLIENT_RELATION_TRANSITIONS, before.status, status);
  const after = sendUpdate(tx, userClientRelations, before, { status, revision: before.revision + 1n });
  appendAuditEntry(tx, {
    initiator,
    resource: 'user-client-relation',
    resourceId: id,
    action: 'changed',
    before: { status: before.status },
    after: { status },
  });
  if (status === 'revoked') await revokeConsentsOfRelation(tx, after, initiator);
  return after;
}
