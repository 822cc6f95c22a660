import type { NewClient } from '../../db/clients/clients.ts';
import type { Transaction } from '../../db/driver/client.ts';
import type { Initiator } from '../../db/frame/audit-entries.ts';
import { createUserOf, type NewUser } from '../../db/users/users.ts';
import { refusal } from '../../domain/frame/errors.ts';
import { asId, type ClientId } from '../../domain/frame/ids.ts';
import { presentUser } from '../../domain/users/users.ts';
import { presentUserClientRelation } from '../users/schemas.ts';

/** `workflow.createUser` (specification 4.1): also creates the client's user. Refuses clients that cannot be users. */
export function userOfClient({ identity, profile }: NewClient): NewUser {
  if (identity.type !== 'individual') {
    const message = 'Only individual clients become users.';
    throw refusal('common.validation.field_invalid', ['workflow', 'createUser', 'true'], message);
  }
  const { givenName, familyName, birthDate } = identity;
  const { email, phone, residentialAddress = null } = profile;
  if (email === null) {
    const message = "The user's e-mail is that of the client's profile, which has none.";
    throw refusal('common.validation.field_required', ['client', 'profile.email', ''], message);
  }
  return {
    email,
    identity: { type: 'individual', givenName, familyName, birthDate },
    profile: { phone, residentialAddress },
  };
}

/** Of a client that the transaction has just created. */
export async function createUserOfClient(
  tx: Transaction,
  wanted: NewUser,
  { client, now }: { readonly client: { readonly id: string }; readonly now: Date },
  initiator: Initiator,
) {
  const creation = { clientIds: [asId<ClientId>(client.id)], now, initiator };
  const { user, relations } = await createUserOf(tx, wanted, creation);
  const [relation] = relations;
  if (relation === undefined) throw new Error('a user was created without the relation to its client');
  return { user: presentUser(user), userClientRelation: presentUserClientRelation(relation) };
}
