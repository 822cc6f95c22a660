import type { NewClient } from '../../db/clients/clients.ts';
import type { Initiator } from '../../db/common/audit-entries.ts';
import type { Transaction } from '../../db/query/database.ts';
import { createUserOf, type NewUser } from '../../db/users/users.ts';
import { rejection } from '../../domain/common/errors.ts';
import { asId, type ClientId } from '../../domain/common/ids.ts';
import { presentUser } from '../../domain/users/users.ts';
import { presentUserClientRelation } from '../users/schemas.ts';

/** `workflow.createUser` (specification 4.1): also creates the client's user. Rejects clients that cannot become users. */
export function userOfClient({ identity, profile }: NewClient): NewUser {
  if (identity.type !== 'individual') {
    const message = 'Only individual clients can become users.';
    throw rejection('common.validation.field_invalid', ['workflow', 'createUser', 'true'], message);
  }
  const { givenName, familyName, birthDate } = identity;
  const { email, phone, residentialAddress = null } = profile;
  if (email === null) {
    const message = "The client's profile has no e-mail address, which the user needs.";
    throw rejection('common.validation.field_required', ['client', 'profile.email', ''], message);
  }
  return {
    email,
    identity: { type: 'individual', givenName, familyName, birthDate },
    profile: { phone, residentialAddress },
  };
}

/** Of a client that the transaction has just created. */
export function createUserOfClient(
  tx: Transaction,
  wanted: NewUser,
  { client, now }: { readonly client: { readonly id: string }; readonly now: Date },
  initiator: Initiator,
) {
  const creation = { clientIds: [asId<ClientId>(client.id)], now, initiator };
  const { user, relations } = createUserOf(tx, wanted, creation);
  const [relation] = relations;
  if (relation === undefined) throw new Error('a user was created without the relation to its client');
  return { user: presentUser(user), userClientRelation: presentUserClientRelation(relation) };
}
