import { changeUserInvitation, findUserInvitation, listUserInvitations } from '../../db/users/invitations.ts';
import { CLIENT_RELATIONS } from '../../domain/clients/clients.ts';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { UserInvitationId } from '../../domain/common/ids.ts';
import { USER_INVITATION_STATUSES, type UserInvitation } from '../../domain/users/invitations.ts';
import { route } from '../http/route.ts';
import { named } from '../http/schemas/named.ts';
import { email } from '../http/schemas/parties.ts';
import { fields, list, picklist, uuid } from '../http/schemas/schemas.ts';

const TAG = 'Users';

export const userInvitationShown = named(
  'UserInvitation',
  fields({
    id: uuid(),
    clientId: uuid(),
    userClientRelation: named('Relation', picklist(CLIENT_RELATIONS)),
    status: named('UserInvitationStatus', picklist(USER_INVITATION_STATUSES)),
  }),
);

export function presentUserInvitation({ id, clientId, userClientRelation, status }: UserInvitation) {
  return { id, clientId, userClientRelation, status };
}

const EXAMPLE = {
  id: '0199c4b3-7e02-7b41-a7c9-51d0f2b8e913',
  clientId: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b01',
  userClientRelation: 'director',
  status: 'pending',
};

const getUserInvitations = route(
  {
    method: 'GET',
    path: '/users/{userEmail}/invitations',
    operationId: 'listUserInvitations',
    summary: 'List the invitations of an e-mail address in order of creation',
    tag: TAG,
    paged: true,
    params: { userEmail: email() },
    response: fields({ userInvitations: list(userInvitationShown, 0, 100) }),
    examples: { response: { userInvitations: [EXAMPLE] } },
  },
  async ({ params, page, services }) => {
    const { rows, totalElements } = await listUserInvitations(services.database.reader, params.userEmail, page);
    return { data: { userInvitations: rows.map(presentUserInvitation) }, totalElements };
  },
);

const one = { userEmail: email(), usersInvitationId: uuid<UserInvitationId>() };

const getUserInvitation = route(
  {
    method: 'GET',
    path: '/users/{userEmail}/invitations/{usersInvitationId}',
    operationId: 'getUserInvitation',
    summary: 'Get an invitation',
    tag: TAG,
    params: one,
    response: fields({ userInvitation: userInvitationShown }),
    errors: ['common.coding.internal.record_not_found'],
    examples: { response: { userInvitation: EXAMPLE } },
  },
  async ({ params: { userEmail, usersInvitationId }, services }) => {
    const found = await findUserInvitation(services.database.reader, userEmail, usersInvitationId);
    if (found === null) throw recordNotFound('userInvitation', 'id', usersInvitationId);
    return { data: { userInvitation: presentUserInvitation(found) } };
  },
);

const patchUserInvitation = route(
  {
    method: 'PATCH',
    path: '/users/{userEmail}/invitations/{usersInvitationId}',
    operationId: 'updateUserInvitation',
    summary: 'Cancel an invitation',
    description: 'Only the invited person can accept or reject, through the link in the e-mail.',
    tag: TAG,
    roles: ['operator'],
    params: one,
    workflows: {
      direct: {
        data: fields({
          userInvitation: named(
            'UserInvitation',
            fields({ status: named('UserInvitationStatus', picklist(USER_INVITATION_STATUSES)) }),
          ),
        }),
      },
    },
    response: fields({ userInvitation: userInvitationShown }),
    errors: ['common.coding.internal.record_not_found', 'common.state.illegal_transition'],
    examples: {
      requests: { direct: { data: { userInvitation: { status: 'cancelled' } } } },
      response: { userInvitation: { ...EXAMPLE, status: 'cancelled' } },
    },
  },
  async ({ params: { userEmail, usersInvitationId }, body, initiator, write }) => {
    const { status } = body.data.userInvitation;
    return write(async (tx) => {
      const changed = await changeUserInvitation(tx, userEmail, usersInvitationId, status, initiator);
      return { data: { userInvitation: presentUserInvitation(changed) } };
    });
  },
);

export const userInvitationRoutes = [getUserInvitations, getUserInvitation, patchUserInvitation];
