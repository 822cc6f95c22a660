import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type CommandContext, operand, optionText, type Run } from '../program/command.ts';
import { CommandFailure } from '../program/exit-statuses.ts';
import {
  checkedBaseUrl,
  checkedMode,
  PROFILE_NAME,
  type Profile,
  type Profiles,
  profilesFile,
  readProfiles,
  writeProfiles,
} from '../program/profiles.ts';

export const listProfiles: Run = async ({ environment, output }) => {
  const { current, profiles } = readProfiles(profilesFile(environment));
  const rows = Object.entries(profiles).map(([name, profile]) => ({ name, isCurrent: name === current, ...profile }));
  output.show({ profiles: rows }, () =>
    rows.length === 0
      ? ['There is none yet: fas profiles add']
      : rows.map(({ name, isCurrent, mode, baseUrl }) => `${isCurrent ? '*' : ' '} ${name}  ${mode}  ${baseUrl}`),
  );
  return 0;
};

export const addProfile: Run = async (context) => {
  const name = operand(context, 0);
  if (!PROFILE_NAME.test(name))
    throw new CommandFailure('usage', `NAME is up to 40 of small letters, digits and hyphens, not "${name}".`);
  const keyFile = resolve(required(context, 'key-file'));
  if (!existsSync(keyFile)) throw new CommandFailure('usage', `There is no key file ${keyFile}.`);
  const keyId = optionText(context, 'key-id');
  const profile: Profile = {
    mode: checkedMode(required(context, 'mode'), '--mode'),
    baseUrl: checkedBaseUrl(required(context, 'url'), '--url'),
    machineUser: required(context, 'machine-user'),
    keyFile,
    ...(keyId === undefined ? {} : { keyId }),
    audience: required(context, 'audience'),
  };
  change(context, ({ current, profiles }) => ({
    current: current ?? name,
    profiles: { ...profiles, [name]: profile },
  }));
  context.output.show({ name, ...profile }, [
    `Profile ${name} (${profile.mode}) is there. Try it: fas whoami --profile ${name}`,
  ]);
  return 0;
};

export const switchProfile: Run = async (context) => {
  const name = knownName(context);
  change(context, (present) => ({ ...present, current: name }));
  context.output.show({ current: name }, [`Commands act as ${name} now.`]);
  return 0;
};

export const removeProfile: Run = async (context) => {
  const name = knownName(context);
  change(context, ({ current, profiles }) => ({
    current: current === name ? null : current,
    profiles: Object.fromEntries(Object.entries(profiles).filter(([other]) => other !== name)),
  }));
  context.output.show({ removed: name }, [`Profile ${name} is removed.`]);
  return 0;
};

function change({ environment }: CommandContext, make: (present: Profiles) => Profiles): void {
  const file = profilesFile(environment);
  writeProfiles(file, make(readProfiles(file)));
}

function knownName(context: CommandContext): string {
  const name = operand(context, 0);
  const { profiles } = readProfiles(profilesFile(context.environment));
  if (Object.hasOwn(profiles, name)) return name;
  throw new CommandFailure(
    'usage',
    `There is no profile "${name}": ${Object.keys(profiles).join(', ') || 'none yet'}.`,
  );
}

function required(context: CommandContext, name: string): string {
  return optionText(context, name) ?? '';
}
