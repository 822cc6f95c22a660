import type { Command, Operand, Option } from '../program/command.ts';

const NAME: Operand = { name: 'NAME', meaning: 'The profile’s name, such as test' };

const SETTINGS: readonly Option[] = [
  {
    name: 'mode',
    value: 'MODE',
    values: ['test', 'live'],
    isRequired: true,
    meaning: 'Whether real money moves there',
  },
  { name: 'url', value: 'URL', isRequired: true, meaning: 'The address of its API' },
  { name: 'machine-user', value: 'ID', isRequired: true, meaning: 'The machine user that calls it' },
  {
    name: 'key-file',
    value: 'FILE',
    isRequired: true,
    meaning: 'The path of its private key (PEM or JWK), which stays there',
  },
  { name: 'key-id', value: 'KID', meaning: 'The kid that the key was registered with, if it is not its thumbprint' },
  { name: 'audience', value: 'NAME', isRequired: true, meaning: 'The service’s AUDIENCE' },
];

export const profileCommands: readonly Command[] = [
  {
    noun: null,
    name: 'whoami',
    summary: 'Shows as whom and in which world commands act, and whether the service accepts it.',
    reach: 'api',
    effect: 'reads',
    load: async () => (await import('./whoami.ts')).whoami,
  },
  {
    noun: 'profiles',
    name: 'list',
    summary: 'Lists the profiles.',
    reach: 'here',
    effect: 'reads',
    load: async () => (await import('./profiles.ts')).listProfiles,
  },
  {
    noun: 'profiles',
    name: 'add',
    summary: 'Adds a profile, or replaces the one of that name.',
    operands: [NAME],
    options: SETTINGS,
    reach: 'here',
    effect: 'writes',
    load: async () => (await import('./profiles.ts')).addProfile,
  },
  {
    noun: 'profiles',
    name: 'use',
    summary: 'Makes a profile the current one, which commands use unless another is named.',
    operands: [NAME],
    reach: 'here',
    effect: 'writes',
    load: async () => (await import('./profiles.ts')).switchProfile,
  },
  {
    noun: 'profiles',
    name: 'remove',
    summary: 'Removes a profile; its key file stays.',
    operands: [NAME],
    reach: 'here',
    effect: 'writes',
    load: async () => (await import('./profiles.ts')).removeProfile,
  },
];
