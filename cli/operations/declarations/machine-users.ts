import { TOKEN_ALGORITHMS } from '../../../domain/machine-users/machine-users.ts';
import { ROLES } from '../../../domain/machine-users/roles.ts';
import type { Operand, Option } from '../../program/command.ts';
import type { Declared } from './declared.ts';

const KEY: Option = { name: 'key', value: 'FILE', isRequired: true, meaning: 'Its public key, as PEM or JWK' };
const ALGORITHM: Option = {
  name: 'algorithm',
  value: 'A',
  values: TOKEN_ALGORITHMS,
  meaning: 'What the key signs with, if neither its type nor its JWK says so',
};
const MACHINE_USER: Operand = { name: 'ID', meaning: 'The machine user' };

/** Of callers, where the API does not know any yet. */
export const machineUsers: readonly Declared[] = [
  {
    noun: 'machine-users',
    name: 'register',
    operate: ['machine-user', 'register'],
    summary: 'Registers a machine user by its public key, without the API: above all the first.',
    operands: [{ name: 'NAME', meaning: 'A name for people' }],
    options: [
      { name: 'role', value: 'R', values: ROLES, isRequired: true, isRepeated: true, meaning: 'What it may do' },
      KEY,
      ALGORITHM,
    ],
    effect: 'dangerous',
  },
  {
    noun: 'machine-users',
    name: 'add-key',
    operate: ['machine-user', 'add-key'],
    summary: 'Adds a public key to a machine user.',
    operands: [MACHINE_USER],
    options: [KEY, ALGORITHM],
    effect: 'dangerous',
  },
  {
    noun: 'machine-users',
    name: 'revoke',
    operate: ['machine-user', 'revoke'],
    summary: 'Revokes a machine user, or one of its keys, within 5 s.',
    operands: [MACHINE_USER],
    options: [{ name: 'kid', value: 'KID', meaning: 'Only this key' }],
    effect: 'dangerous',
  },
  {
    noun: 'machine-users',
    name: 'list-registered',
    operate: ['machine-user', 'list'],
    summary: 'Lists all machine users with their keys, without the API.',
    effect: 'reads',
  },
];
