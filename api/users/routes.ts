import { inviteUser } from '../../db/users/invitations.ts';
import { changeUser, createUser, findUser, listUsers } from '../../db/users/users.ts';
import { CLIENT_RELATIONS } from '../../domain/clients/clients.ts';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { ClientId, UserId } from '../../domain/common/ids.ts';
import { presentInvitedUser, presentUser } from '../../domain/users/users.ts';
import { route } from '../http/route.ts';
import { named } from '../http/schemas/named.ts';
import { email } from '../http/schemas/parties.ts';
import { fields, list, optional, picklist, uuid } from '../http/schemas/schemas.ts';
import { presentUserInvitation, userInvitationShown } from './invitations.ts';
import {
  CLIENT_ID_EXAMPLE,
  CLIENTS_MAX,
  clientList,
  INVITED_USER_SENT_EXAMPLE,
  invitedUserSent,
  newIdentity,
  newProfile,
  presentUserClientRelation,
  USER_CLIENT_RELATION_EXAMPLE,
  USER_EXAMPLE,
  USER_SENT_EXAMPLE,
  userChangeSent,
  userClientRelationShown,
  userClientRelationsSent,
  userOrInvitedShown,
  userSent,
  userShown,
} from './schemas.ts';

const TAG = 'Users';

const postUser = route(
  {
    method: 'POST',
    path: '/users',
    operationId: 'createUser',
    summary: 'Create a user, or invite a person to become one',
    description:
      'A user that is created directly cannot sign in; an invited person becomes a user by setting a password through the link in the e-mail. The invitations of one request are sent in one e-mail and answered together.',
    tag: TAG,
    roles: ['operator'],
    workflows: {
      'human.external.direct': {
        data: fields({ user: userSent, userClientRelations: optional(userClientRelationsSent(0)) }),
      },
      'human.external.invitation': {
        data: fields({
          user: invitedUserSent,
          invitations: clientList(
            named(
              'UserInvitation',
              fields({ clientId: uuid<ClientId>(), userClientRelation: named('Relation', picklist(CLIENT_RELATIONS)) }),
            ),
            1,
          ),
        }),
      },
    },
    response: fields({
      user: userOrInvitedShown,
      userClientRelations: optional(list(userClientRelationShown, 0, CLIENTS_MAX)),
      invitations: optional(list(userInvitationShown, 1, CLIENTS_MAX)),
    }),
    errors: ['common.coding.internal.record_not_found', 'common.state.illegal_transition'],
    examples: {
      requests: {
        'human.external.direct': {
          data: { user: USER_SENT_EXAMPLE, userClientRelations: [{ clientId: CLIENT_ID_EXAMPLE }] },
        },
        'human.external.invitation': {
          data: {
            user: INVITED_USER_SENT_EXAMPLE,
            invitations: [{ clientId: CLIENT_ID_EXAMPLE, userClientRelation: 'director' }],
          },
        },
      },
      response: { user: USER_EXAMPLE, userClientRelations: [USER_CLIENT_RELATION_EXAMPLE] },
    },
  },
  async ({ body, initiator, write }) => {
    if (body.code === 'human.external.direct') {
      const { user: sent, userClientRelations = [] } = body.data;
      const wanted = { email: sent.email, identity: newIdentity(sent.identity), profile: newProfile(sent.profile) };
      const clientIds = userClientRelations.map(({ clientId }) => clientId);
      return write(async (tx) => {
        const { user, relations } = await createUser(tx, wanted, clientIds, initiator);
        return { data: { user: presentUser(user), userClientRelations: relations.map(presentUserClientRelation) } };
      });
    }
    const { user: sent, invitations } = body.data;
    const person = { email: sent.email, identity: newIdentity(sent.identity) };
    return write(async (tx) => {
      const rows = await inviteUser(tx, { ...person, invitations }, initiator);
      return { data: { user: presentInvitedUser(person), invitations: rows.map(presentUserInvitation) } };
    });
  },
);

const patchUser = route(
  {
    method: 'PATCH',
    path: '/users/{userId}',
    operationId: 'updateUser',
    summary: 'Change a user',
    tag: TAG,
    roles: ['operator'],
    params: { userId: uuid<UserId>() },
    workflows: { 'human.external.direct': { data: fields({ user: userChangeSent }) } },
    response: fields({ user: userShown }),
    errors: ['common.coding.internal.record_not_found', 'common.state.illegal_transition'],
    examples: {
      requests: {
        'human.external.direct': {
          data: {
            user: { identity: { familyName: 'Murray Hopper' }, profile: { phone: null }, status: 'inactive' },
          },
        },
      },
      response: { user: { ...USER_EXAMPLE, status: 'inactive' } },
    },
  },
  async ({ params, body, initiator, write }) => {
    const change = body.data.user;
    return write(async (tx) => {
      const user = await changeUser(tx, params.userId, change, initiator);
      return { data: { user: presentUser(user) } };
    });
  },
);

const getUsers = route(
  {
    method: 'GET',
    path: '/users',
    operationId: 'listUsers',
    summary: 'List external users in order of creation',
    tag: TAG,
    paged: true,
    query: { 'data.user.category': picklist(['external']), 'data.user.email': optional(email()) },
    response: fields({ users: list(userShown, 0, 100) }),
    examples: { response: { users: [USER_EXAMPLE] } },
  },
  async ({ query, page, services }) => {
    const filter = { email: query['data.user.email'] };
    const { rows, totalElements } = await listUsers(services.database.reader, filter, page);
    return { data: { users: rows.map(presentUser) }, totalElements };
  },
);

const getUser = route(
  {
    method: 'GET',
    path: '/users/{userId}',
    operationId: 'getUser',
    summary: 'Get a user',
    tag: TAG,
    params: { userId: uuid<UserId>() },
    response: fields({ user: userShown }),
    errors: ['common.coding.internal.record_not_found'],
    examples: { response: { user: USER_EXAMPLE } },
  },
  async ({ params, services }) => {
    const user = await findUser(services.database.reader, params.userId);
    if (user === null) throw recordNotFound('user', 'id', params.userId);
    return { data: { user: presentUser(user) } };
  },
);

export const userRoutes = [postUser, patchUser, getUsers, getUser];
