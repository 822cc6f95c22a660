import { changeUserClientRelation } from '../../db/users/client-relation-changes.ts';
import {
  createUserClientRelations,
  findUserClientRelation,
  listUserClientRelations,
} from '../../db/users/client-relations.ts';
import { findUser } from '../../db/users/users.ts';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { ClientId, UserClientRelationId, UserId } from '../../domain/common/ids.ts';
import { USER_CLIENT_RELATION_STATUSES } from '../../domain/users/client-relations.ts';
import { route } from '../http/route.ts';
import { named } from '../http/schemas/named.ts';
import { fields, list, optional, picklist, uuid } from '../http/schemas/schemas.ts';
import {
  CLIENT_ID_EXAMPLE,
  CLIENTS_MAX,
  presentUserClientRelation,
  USER_CLIENT_RELATION_EXAMPLE,
  userClientRelationShown,
  userClientRelationsSent,
} from './schemas.ts';

const TAG = 'Users';

const postUserClientRelations = route(
  {
    method: 'POST',
    path: '/users/{userId}/client-relations',
    operationId: 'createUserClientRelations',
    summary: 'Let a user act for clients',
    tag: TAG,
    roles: ['operator'],
    params: { userId: uuid<UserId>() },
    workflows: { direct: { data: fields({ userClientRelations: userClientRelationsSent(1) }) } },
    response: fields({ userClientRelations: list(userClientRelationShown, 1, CLIENTS_MAX) }),
    errors: ['common.coding.internal.record_not_found', 'common.state.illegal_transition'],
    examples: {
      requests: { direct: { data: { userClientRelations: [{ clientId: CLIENT_ID_EXAMPLE }] } } },
      response: { userClientRelations: [USER_CLIENT_RELATION_EXAMPLE] },
    },
  },
  async ({ params, body, initiator, write }) => {
    const clientIds = body.data.userClientRelations.map(({ clientId }) => clientId);
    return write(async (tx) => {
      const rows = await createUserClientRelations(tx, params.userId, clientIds, initiator);
      return { data: { userClientRelations: rows.map(presentUserClientRelation) } };
    });
  },
);

const getUserClientRelations = route(
  {
    method: 'GET',
    path: '/users/{userId}/client-relations',
    operationId: 'listUserClientRelations',
    summary: 'Find the relation of a user to a client',
    tag: TAG,
    paged: true,
    params: { userId: uuid<UserId>() },
    query: {
      'data.userClientRelation.clientId': uuid<ClientId>(),
      'data.userClientRelation.status': optional(
        named('UserClientRelationStatus', picklist(USER_CLIENT_RELATION_STATUSES)),
      ),
    },
    response: fields({ userClientRelations: list(userClientRelationShown, 0, 100) }),
    errors: ['common.coding.internal.record_not_found'],
    examples: { response: { userClientRelations: [USER_CLIENT_RELATION_EXAMPLE] } },
  },
  async ({ params, query, page, services }) => {
    const { reader } = services.database;
    const filter = {
      clientId: query['data.userClientRelation.clientId'],
      status: query['data.userClientRelation.status'],
    };
    const { rows, totalElements } = await listUserClientRelations(reader, params.userId, filter, page);
    if (totalElements === 0 && (await findUser(reader, params.userId)) === null) {
      throw recordNotFound('user', 'id', params.userId);
    }
    return { data: { userClientRelations: rows.map(presentUserClientRelation) }, totalElements };
  },
);

const one = { userId: uuid<UserId>(), id: uuid<UserClientRelationId>() };

const getUserClientRelation = route(
  {
    method: 'GET',
    path: '/users/{userId}/client-relations/{id}',
    operationId: 'getUserClientRelation',
    summary: 'Get a relation of a user to a client',
    tag: TAG,
    params: one,
    response: fields({ userClientRelation: userClientRelationShown }),
    errors: ['common.coding.internal.record_not_found'],
    examples: { response: { userClientRelation: USER_CLIENT_RELATION_EXAMPLE } },
  },
  async ({ params, services }) => {
    const found = await findUserClientRelation(services.database.reader, params.userId, params.id);
    if (found === null) throw recordNotFound('userClientRelation', 'id', params.id);
    return { data: { userClientRelation: presentUserClientRelation(found) } };
  },
);

const patchUserClientRelation = route(
  {
    method: 'PATCH',
    path: '/users/{userId}/client-relations/{id}',
    operationId: 'updateUserClientRelation',
    summary: 'Revoke or restore a relation of a user to a client',
    tag: TAG,
    roles: ['operator'],
    params: one,
    workflows: {
      direct: {
        data: fields({
          userClientRelation: named(
            'UserClientRelation',
            fields({ status: named('UserClientRelationStatus', picklist(USER_CLIENT_RELATION_STATUSES)) }),
          ),
        }),
      },
    },
    response: fields({ userClientRelation: userClientRelationShown }),
    errors: ['common.coding.internal.record_not_found'],
    examples: {
      requests: { direct: { data: { userClientRelation: { status: 'revoked' } } } },
      response: { userClientRelation: { ...USER_CLIENT_RELATION_EXAMPLE, status: 'revoked' } },
    },
  },
  async ({ params, body, initiator, write, transaction }) => {
    const { status } = body.data.userClientRelation;
    // A revocation takes consents and an invitation with it, which are locked one by one.
    const writeChange = status === 'revoked' ? transaction : write;
    return writeChange(async (tx) => {
      const changed = await changeUserClientRelation(tx, params.userId, params.id, status, initiator);
      return { data: { userClientRelation: presentUserClientRelation(changed) } };
    });
  },
);

export const userClientRelationRoutes = [
  postUserClientRelations,
  getUserClientRelations,
  getUserClientRelation,
  patchUserClientRelation,
];
