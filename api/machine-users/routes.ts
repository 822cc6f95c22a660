import {
  addMachineUserKey,
  changeMachineUser,
  createMachineUser,
  findMachineUser,
  listMachineUsers,
  type MachineUser,
  revokeMachineUserKey,
} from '../../db/machine-users/machine-users.ts';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { MachineUserId, MachineUserKeyId } from '../../domain/common/ids.ts';
import { formatDateTime } from '../../domain/common/time/dates.ts';
import { MACHINE_USER_STATUSES, TOKEN_ALGORITHMS } from '../../domain/machine-users/machine-users.ts';
import { ROLES } from '../../domain/machine-users/roles.ts';
import { type Route, route } from '../http/route.ts';
import { named } from '../http/schemas/named.ts';
import { dateTime, fields, list, nullable, optional, picklist, text, uuid } from '../http/schemas/schemas.ts';
import { keySent, readPublicKey } from './keys.ts';

const NAME_LENGTH_MAX = 100;
/** Rotation needs two; more allow a key per host. */
const KEYS_MAX = 1_000;

const machineUserShown = named(
  'MachineUser',
  fields({
    id: uuid<MachineUserId>(),
    name: text(NAME_LENGTH_MAX),
    roles: list(named('Role', picklist(ROLES)), 0, ROLES.length),
    status: named('MachineUserStatus', picklist(MACHINE_USER_STATUSES)),
    createdDateTime: dateTime(),
    revokedDateTime: nullable(dateTime()),
    keys: list(
      named(
        'MachineUserKey',
        fields({
          id: uuid<MachineUserKeyId>(),
          kid: text(128),
          algorithm: named('TokenAlgorithm', picklist(TOKEN_ALGORITHMS)),
          status: named('MachineUserStatus', picklist(MACHINE_USER_STATUSES)),
          createdDateTime: dateTime(),
          revokedDateTime: nullable(dateTime()),
        }),
      ),
      0,
      KEYS_MAX,
    ),
  }),
);

const KEY_EXAMPLE = {
  kid: 'ledger-2026-03',
  algorithm: 'EdDSA',
  jwk: { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' },
};

const MACHINE_USER_EXAMPLE = {
  id: '0197b2a4-6f0e-7cc3-9d55-0d6b1c1f2a11',
  name: 'Ledger of the caller',
  roles: ['operator'],
  status: 'active',
  createdDateTime: '2026-03-02T09:30:00',
  revokedDateTime: null,
  keys: [
    {
      id: '0197b2a4-6f0f-7a51-8a6e-7a0e5f0c9b22',
      kid: KEY_EXAMPLE.kid,
      algorithm: KEY_EXAMPLE.algorithm,
      status: 'active',
      createdDateTime: '2026-03-02T09:30:00',
      revokedDateTime: null,
    },
  ],
};

const registerMachineUser = route(
  {
    method: 'POST',
    path: '/machine-users',
    operationId: 'createMachineUser',
    summary: 'Register a machine user with its first public key',
    tag: 'Machine users',
    roles: ['admin'],
    workflows: {
      direct: {
        data: fields({
          machineUser: named(
            'MachineUser',
            fields({
              name: text(NAME_LENGTH_MAX),
              roles: list(named('Role', picklist(ROLES)), 1, ROLES.length),
              key: keySent,
            }),
          ),
        }),
      },
    },
    response: fields({ machineUser: machineUserShown }),
    errors: ['common.state.illegal_transition'],
    examples: {
      requests: {
        direct: { data: { machineUser: { name: 'Ledger of the caller', roles: ['operator'], key: KEY_EXAMPLE } } },
      },
      response: { machineUser: MACHINE_USER_EXAMPLE },
    },
  },
  async ({ body, initiator, write }) => {
    const { name, roles, key: sent } = body.data.machineUser;
    const key = readPublicKey(sent, 'machineUser.key');
    return write(async (tx) => ({
      data: { machineUser: show(await createMachineUser(tx, { name, roles: [...new Set(roles)], key }, initiator)) },
    }));
  },
);

const getMachineUser = route(
  {
    method: 'GET',
    path: '/machine-users/{machineUserId}',
    operationId: 'getMachineUser',
    summary: 'Get a machine user and its keys',
    tag: 'Machine users',
    roles: ['admin'],
    params: { machineUserId: uuid<MachineUserId>() },
    response: fields({ machineUser: machineUserShown }),
    examples: { response: { machineUser: MACHINE_USER_EXAMPLE } },
  },
  async ({ params, services }) => {
    const user = await findMachineUser(services.database.reader, params.machineUserId);
    if (user === null) throw recordNotFound('machineUser', 'id', params.machineUserId);
    return { data: { machineUser: show(user) } };
  },
);

const getMachineUsers = route(
  {
    method: 'GET',
    path: '/machine-users',
    operationId: 'listMachineUsers',
    summary: 'List machine users in order of creation',
    tag: 'Machine users',
    roles: ['admin'],
    query: { 'data.machineUser.status': optional(named('MachineUserStatus', picklist(MACHINE_USER_STATUSES))) },
    paged: true,
    response: fields({ machineUsers: list(machineUserShown, 0, 100) }),
    examples: { response: { machineUsers: [MACHINE_USER_EXAMPLE] } },
  },
  async ({ query, page, services }) => {
    const filter = { status: query['data.machineUser.status'] };
    const { rows, totalElements } = await listMachineUsers(services.database.reader, filter, page);
    return { data: { machineUsers: rows.map(show) }, totalElements };
  },
);

const patchMachineUser = route(
  {
    method: 'PATCH',
    path: '/machine-users/{machineUserId}',
    operationId: 'updateMachineUser',
    summary: 'Rename a machine user, change its roles, or revoke it',
    description: 'Revocation is final, and takes effect within 5 seconds on every process.',
    tag: 'Machine users',
    roles: ['admin'],
    params: { machineUserId: uuid<MachineUserId>() },
    workflows: {
      direct: {
        data: fields({
          machineUser: named(
            'MachineUser',
            fields({
              name: optional(text(NAME_LENGTH_MAX)),
              roles: optional(list(named('Role', picklist(ROLES)), 1, ROLES.length)),
              status: optional(named('MachineUserStatus', picklist(MACHINE_USER_STATUSES))),
            }),
          ),
        }),
      },
    },
    response: fields({ machineUser: machineUserShown }),
    errors: ['common.state.illegal_transition'],
    examples: {
      requests: { direct: { data: { machineUser: { status: 'revoked' } } } },
      response: { machineUser: MACHINE_USER_EXAMPLE },
    },
  },
  async ({ params, body, initiator, write }) =>
    write(async (tx) => {
      const changed = await changeMachineUser(tx, params.machineUserId, body.data.machineUser, initiator);
      if (changed === null) throw recordNotFound('machineUser', 'id', params.machineUserId);
      return { data: { machineUser: show(changed.after) } };
    }),
);

const addKey = route(
  {
    method: 'POST',
    path: '/machine-users/{machineUserId}/keys',
    operationId: 'createMachineUserKey',
    summary: 'Register another public key, for rotation',
    tag: 'Machine users',
    roles: ['admin'],
    params: { machineUserId: uuid<MachineUserId>() },
    workflows: { direct: { data: fields({ machineUserKey: keySent }) } },
    response: fields({ machineUser: machineUserShown }),
    errors: ['common.state.illegal_transition'],
    examples: {
      requests: { direct: { data: { machineUserKey: KEY_EXAMPLE } } },
      response: { machineUser: MACHINE_USER_EXAMPLE },
    },
  },
  async ({ params, body, initiator, write }) => {
    const key = readPublicKey(body.data.machineUserKey, 'machineUserKey');
    return write(async (tx) => {
      const user = await addMachineUserKey(tx, params.machineUserId, key, initiator);
      if (user === null) throw recordNotFound('machineUser', 'id', params.machineUserId);
      return { data: { machineUser: show(user) } };
    });
  },
);

const revokeKey = route(
  {
    method: 'DELETE',
    path: '/machine-users/{machineUserId}/keys/{keyId}',
    operationId: 'deleteMachineUserKey',
    summary: 'Revoke a key',
    description: 'Every process rejects its tokens within 5 seconds.',
    tag: 'Machine users',
    roles: ['admin'],
    params: { machineUserId: uuid<MachineUserId>(), keyId: uuid<MachineUserKeyId>() },
    response: fields({}),
    examples: { response: {} },
  },
  async ({ params, initiator, write }) =>
    write(async (tx) => {
      const result = await revokeMachineUserKey(tx, params.machineUserId, params.keyId, initiator);
      if (result === null) throw recordNotFound('machineUserKey', 'id', params.keyId);
      return { data: {} };
    }),
);

export const machineUserRoutes: readonly Route[] = [
  registerMachineUser,
  getMachineUser,
  getMachineUsers,
  patchMachineUser,
  addKey,
  revokeKey,
];

function show(user: MachineUser) {
  const { id, name, roles, status, createdAt, revokedAt, keys } = user;
  return {
    id,
    name,
    roles,
    status,
    createdDateTime: formatDateTime(createdAt),
    revokedDateTime: revokedAt === null ? null : formatDateTime(revokedAt),
    keys: keys.map((key) => ({
      id: key.id,
      kid: key.kid,
      algorithm: key.algorithm,
      status: key.status,
      createdDateTime: formatDateTime(key.createdAt),
      revokedDateTime: key.revokedAt === null ? null : formatDateTime(key.revokedAt),
    })),
  };
}
