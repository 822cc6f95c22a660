import { eq } from 'drizzle-orm';
import { recordNotFound } from '../../domain/frame/errors.ts';
import type { UserClientRelationId, UserId } from '../../domain/frame/ids.ts';
import { requireMove } from '../../domain/frame/moves.ts';
import { USER_CLIENT_RELATION_MOVES, type UserClientRelationStatus } from '../../domain/users/client-relations.ts';
import type { Transaction } from '../driver/client.ts';
import { ofUser, type UserClientRelationRow } from './client-relations.ts';
import { cancelPendingInvitation } from './invitations.ts';
import { userClientRelations, users } from './users-schema.ts';

/**
 * Revokes or restores a relation; repeating the current status changes nothing. Revoking also cancels a pending invitation
 * for the same client: accepting it later must not undo the revocation.
 */
export async function changeUserClientRelation(
  tx: Transaction,
  userId: UserId,
  id: UserClientRelationId,
  status: UserClientRelationStatus,
): Promise<UserClientRelationRow> {
  const [found] = await tx.drizzle
    .select({ clientId: userClientRelations.clientId, emailKey: users.emailKey })
    .from(userClientRelations)
    .innerJoin(users, eq(users.id, userClientRelations.userId))
    .where(ofUser(userId, id));
  if (found === undefined) throw recordNotFound('userClientRelation', 'id', id);
  // Takes the invitation's lock first, as acceptance does, so that the later of the two decides.
  if (status === 'revoked') await cancelPendingInvitation(tx, found.emailKey, found.clientId);
  const [before] = await tx.drizzle.select().from(userClientRelations).where(ofUser(userId, id)).for('update');
  if (before === undefined) throw new Error(`relation ${id} is gone`);
  if (before.status === status) return before;
  requireMove('user client relation', USER_CLIENT_RELATION_MOVES, before.status, status);
  const [after] = await tx.drizzle
    .update(userClientRelations)
    .set({ status, revision: before.revision + 1n })
    .where(eq(userClientRelations.id, id))
    .returning();
  if (after === undefined) throw new Error(`relation ${id} is gone under its lock`);
  return after;
}
