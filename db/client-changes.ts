import { eq } from 'drizzle-orm';
import { applyClientChange, type ClientChange } from '../domain/client-changes.ts';
import type { Client } from '../domain/clients.ts';
import { recordNotFound } from '../domain/errors.ts';
import type { ClientId } from '../domain/ids.ts';
import type { Transaction } from './client.ts';
import { clients } from './schema.ts';

/**
 * Changes what is given of a client, under its lock, so that two changes of different fields both hold. No event tells of
 * it: specification 6 has none.
 */
export async function changeClient(tx: Transaction, id: ClientId, change: ClientChange): Promise<Client> {
  const [before] = await tx.drizzle.select().from(clients).where(eq(clients.id, id)).for('no key update');
  if (before === undefined) throw recordNotFound('client', 'id', id);
  const { identity, profile, fullName } = applyClientChange(before, change);
  const [after] = await tx.drizzle
    .update(clients)
    .set({
      identity,
      profile,
      fullName,
      email: profile.email,
      country: identity.country,
      revision: before.revision + 1n,
    })
    .where(eq(clients.id, id))
    .returning();
  if (after === undefined) throw new Error(`client ${id} is gone under its lock`);
  return after;
}
