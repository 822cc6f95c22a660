import { readKeyText } from '../../cli/operations/machine-user-operation.ts';
import {
  addMachineUserKey,
  changeMachineUser,
  createMachineUser,
  findMachineUser,
  revokeMachineUserKey,
} from '../../db/machine-users/machine-users.ts';
import { recordNotFound, rejection } from '../../domain/common/errors.ts';
import { asId, type MachineUserId } from '../../domain/common/ids.ts';
import { checkText } from '../../domain/common/parties/names.ts';
import { isRole } from '../../domain/machine-users/roles.ts';
import type { Remedy, RemedyField } from '../remedies/remedy.ts';

const NAME_LENGTH_MAX = 100;

const KEY: RemedyField = {
  name: 'key',
  label: 'Its public key, as PEM or JWK',
  hint: 'Never the private one: that stays where the caller runs.',
  kind: 'long-text',
};

const idOf = ({ id }: Readonly<Record<string, string>>) => asId<MachineUserId>(id ?? '');

const register: Remedy = {
  kind: 'register-machine-user',
  label: 'Register a machine user',
  resource: 'machine-user',
  page: '/access',
  roles: ['admin'],
  movesMoney: true,
  fields: [
    { name: 'name', label: 'Name', kind: 'text' },
    {
      name: 'roles',
      label: 'Roles',
      hint: 'viewer, operator, approver, compliance or admin, with commas between',
      kind: 'text',
    },
    KEY,
  ],
  preview: async () => ({
    title: 'Register a machine user',
    consequences: [
      'The holder of its private key may do what its roles allow over the API, until it is revoked.',
      'One with operator can pay, one with approver can sign what others pay: give no machine user both.',
    ],
  }),
  async act({ services: { database } }, { fields }, initiator) {
    const checked = checkText(fields.name ?? '', NAME_LENGTH_MAX);
    if (typeof checked === 'string') throw invalid('name', `The name is not usable: ${checked}.`);
    const roles = (fields.roles ?? '')
      .split(',')
      .map((role) => role.trim())
      .filter((role) => role !== '');
    const known = roles.filter(isRole);
    if (known.length === 0 || known.length < roles.length)
      throw invalid('roles', 'Give one or more of the five roles.');
    const key = await readKeyText((fields.key ?? '').trim());
    const user = { name: checked.value, roles: [...new Set(known)], key };
    const { id } = await database.transaction((tx) => createMachineUser(tx, user, initiator));
    return {
      state: 'done',
      text: `It is registered. Its tokens need kid ${key.kid} and the id below as iss and sub.`,
      goTo: `/machine-users/${id}`,
    };
  },
};

function invalid(field: string, message: string) {
  return rejection('common.validation.field_invalid', ['machineUser', field, ''], message);
}

const addKey: Remedy = {
  kind: 'add-key',
  label: 'Add a key',
  resource: 'machine-user',
  page: '/machine-users/:id',
  roles: ['admin'],
  movesMoney: true,
  fields: [KEY],
  async preview({ services: { database }, params }) {
    const user = await findMachineUser(database.reader, idOf(params));
    if (user === null) return null;
    return {
      title: `Add a key to ${user.name}`,
      consequences: ['Tokens signed with either key are accepted, so that callers can change over without a break.'],
      ...(user.status === 'revoked' ? { unavailable: 'It is revoked, for good.' } : {}),
    };
  },
  async act({ services: { database }, params }, { fields }, initiator) {
    const key = await readKeyText((fields.key ?? '').trim());
    const user = await database.transaction((tx) => addMachineUserKey(tx, idOf(params), key, initiator));
    if (user === null) throw recordNotFound('machineUser', 'id', params.id ?? '');
    return { state: 'done', text: `The key ${key.kid} is registered.` };
  },
};

const revokeKey: Remedy = {
  kind: 'revoke-key',
  label: 'Revoke a key',
  resource: 'machine-user',
  page: '/machine-users/:id',
  roles: ['admin'],
  movesMoney: true,
  isDangerous: true,
  async preview({ services: { database }, params }) {
    const user = await findMachineUser(database.reader, idOf(params));
    if (user === null) return null;
    const active = user.keys.filter(({ status }) => status === 'active');
    return {
      title: `Revoke a key of ${user.name}`,
      consequences: [
        `Every process rejects tokens of this key within five seconds, for good. It has ${active.length} active keys.`,
      ],
      fields: [{ name: 'key', label: 'Key', kind: 'choice', choices: active.map(({ id, kid }) => [id, kid] as const) }],
      ...(active.length === 0 ? { unavailable: 'It has no active key.' } : {}),
    };
  },
  async act({ services: { database }, params }, { fields }, initiator) {
    const keyId = asId<Parameters<typeof revokeMachineUserKey>[2]>(fields.key ?? '');
    const result = await database.transaction((tx) => revokeMachineUserKey(tx, idOf(params), keyId, initiator));
    if (result === null) throw recordNotFound('machineUserKey', 'id', fields.key ?? '');
    return result === 'revoked'
      ? { state: 'done', text: 'The key is revoked.' }
      : { state: 'unchanged', text: 'The key was revoked already.' };
  },
};

const revoke: Remedy = {
  kind: 'revoke-machine-user',
  label: 'Revoke',
  resource: 'machine-user',
  page: '/machine-users/:id',
  roles: ['admin'],
  movesMoney: true,
  isDangerous: true,
  async preview({ services: { database }, params }) {
    const user = await findMachineUser(database.reader, idOf(params));
    if (user === null) return null;
    return {
      title: `Revoke ${user.name}`,
      consequences: ['Every process rejects its tokens within five seconds. It can never be made active again.'],
      ...(user.status === 'revoked' ? { unavailable: 'It is revoked.' } : {}),
    };
  },
  async act({ services: { database }, params }, _, initiator) {
    const changed = await database.transaction((tx) =>
      changeMachineUser(tx, idOf(params), { status: 'revoked' }, initiator),
    );
    if (changed === null) throw recordNotFound('machineUser', 'id', params.id ?? '');
    return changed.before.status === 'revoked'
      ? { state: 'unchanged', text: 'It was revoked already.' }
      : { state: 'done', text: 'It is revoked.' };
  },
};

export const REGISTRATION_REMEDIES: readonly Remedy[] = [register];
export const MACHINE_USER_REMEDIES: readonly Remedy[] = [addKey, revokeKey, revoke];
