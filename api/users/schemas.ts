import * as v from 'valibot';
import type { ClientId } from '../../domain/common/ids.ts';
import { USER_CLIENT_RELATION_STATUSES, type UserClientRelation } from '../../domain/users/client-relations.ts';
import { USER_STATUSES, type UserIdentity, type UserProfile } from '../../domain/users/users.ts';
import { named } from '../http/schemas/named.ts';
import { addressSent, addressShown, email, partyName, phone } from '../http/schemas/parties.ts';
import { clearable, date, fields, list, nullable, optional, picklist, text, uuid } from '../http/schemas/schemas.ts';

/** Most clients per request for relations of a user or for invitations. */
export const CLIENTS_MAX = 100;

const type = () => picklist(['individual']);

const identitySent = named(
  'UserIdentity',
  fields({
    type: optional(type()),
    givenName: partyName(),
    familyName: partyName(),
    birthDate: optional(date()),
  }),
);

/** A new user without an invitation. */
export const userSent = named(
  'User',
  fields({
    email: email(),
    identity: identitySent,
    profile: optional(
      named('UserProfile', fields({ phone: optional(phone()), residentialAddress: optional(addressSent) })),
    ),
  }),
);

/** A person to invite. */
export const invitedUserSent = named('InvitedUser', fields({ email: email(), identity: identitySent }));

export const userChangeSent = named(
  'User',
  fields({
    email: optional(email()),
    identity: optional(
      named(
        'UserIdentity',
        fields({
          type: optional(type()),
          givenName: optional(partyName()),
          familyName: optional(partyName()),
          birthDate: clearable(date()),
        }),
      ),
    ),
    profile: clearable(
      named('UserProfile', fields({ phone: clearable(phone()), residentialAddress: clearable(addressSent) })),
    ),
    status: optional(named('UserStatus', picklist(USER_STATUSES))),
  }),
);

export function newIdentity(sent: v.InferOutput<typeof identitySent>): UserIdentity {
  const { givenName, familyName, birthDate = null } = sent;
  return { type: 'individual', givenName, familyName, birthDate };
}

export function newProfile(sent: v.InferOutput<typeof userSent>['profile']): UserProfile {
  return { phone: sent?.phone ?? null, residentialAddress: sent?.residentialAddress ?? null };
}

/** Items that each name a different client. */
export function clientList<Item extends { readonly clientId: string }>(
  item: v.GenericSchema<unknown, Item>,
  lengthMin: number,
) {
  return v.pipe(
    list(item, lengthMin, CLIENTS_MAX),
    v.check(
      (items) => new Set(items.map(({ clientId }) => clientId)).size === items.length,
      'must not name a client twice',
    ),
  );
}

export const userClientRelationsSent = (lengthMin: number) =>
  clientList(named('UserClientRelation', fields({ clientId: uuid<ClientId>() })), lengthMin);

const identityShown = named(
  'UserIdentity',
  fields({
    type: type(),
    givenName: partyName(),
    familyName: partyName(),
    birthDate: nullable(date()),
  }),
);
const kindShown = { category: picklist(['external']), type: picklist(['human']) };

export const userShown = named(
  'User',
  fields({
    id: uuid(),
    email: text(254),
    identity: identityShown,
    profile: named('UserProfile', fields({ phone: nullable(text(40)), residentialAddress: nullable(addressShown) })),
    ...kindShown,
    status: named('UserStatus', picklist(USER_STATUSES)),
  }),
);

/** A user, or an invited person without an id yet. */
export const userOrInvitedShown = named(
  'CreatedUser',
  fields({
    id: optional(uuid()),
    email: text(254),
    identity: identityShown,
    profile: optional(userShown.entries.profile),
    ...kindShown,
    status: optional(named('UserStatus', picklist(USER_STATUSES))),
  }),
);

export const userClientRelationShown = named(
  'UserClientRelation',
  fields({
    id: uuid(),
    userId: uuid(),
    clientId: uuid(),
    status: named('UserClientRelationStatus', picklist(USER_CLIENT_RELATION_STATUSES)),
  }),
);

export function presentUserClientRelation({ id, userId, clientId, status }: UserClientRelation) {
  return { id, userId, clientId, status };
}

export const CLIENT_ID_EXAMPLE = '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b01';

const IDENTITY_SENT_EXAMPLE = { type: 'individual', givenName: 'Grace', familyName: 'Hopper' };

export const INVITED_USER_SENT_EXAMPLE = { email: 'grace@example.com', identity: IDENTITY_SENT_EXAMPLE };

export const USER_SENT_EXAMPLE = {
  ...INVITED_USER_SENT_EXAMPLE,
  profile: { phone: '+44 20 7946 0000', residentialAddress: { country: 'GB', city: 'London' } },
};

export const USER_EXAMPLE = {
  id: '0199c4b1-1d20-7f10-8b65-6a4f0e9b2c11',
  email: 'grace@example.com',
  identity: { ...IDENTITY_SENT_EXAMPLE, birthDate: null },
  profile: { phone: null, residentialAddress: null },
  category: 'external',
  type: 'human',
  status: 'active',
};

export const USER_CLIENT_RELATION_EXAMPLE = {
  id: '0199c4b1-1d24-7a52-9c0d-2f1b7d3e4a12',
  userId: USER_EXAMPLE.id,
  clientId: CLIENT_ID_EXAMPLE,
  status: 'allowed',
};
