import { existsSync, readFileSync } from 'node:fs';
import { readEncryptionKeys } from '../../../config/environment/encryption-keys.ts';
import { EnvironmentError } from '../../../config/environment.ts';
import { createKeyring, type Keyring } from '../../../db/common/keyring.ts';
import { CONFIDENTIAL_PATHS, countReadable, encryptedColumns } from '../../../db/re-encryption.ts';
import { setting } from '../../common/data-directory.ts';
import { encryptionKeyFile } from '../../common/local-secrets.ts';
import { type Check, found, type Problem } from './check.ts';
import type { Installation } from './installation.ts';
import { readerOf } from './servers.ts';

/** Whether the key that is configured is the one under which secrets are stored. Neither is ever shown. */

/** Of each column: all webhook secrets of most installations, and the oldest of what there may be millions of. */
const VALUES_MAX = 1_000;

async function encryption(installation: Installation): Promise<readonly Problem[]> {
  const reader = readerOf(installation);
  const keyring = keyringOf(installation);
  if ('problem' in keyring) return [keyring];
  const problems: Problem[] = [];
  for (const column of encryptedColumns(CONFIDENTIAL_PATHS)) {
    const { readable, all } = await countReadable(reader, keyring.known, column, VALUES_MAX);
    if (readable === all) continue;
    const key = keyring.known === null ? 'no ENCRYPTION_KEY is known here' : 'ENCRYPTION_KEY does not have their key';
    problems.push(...found(`${all - readable} of ${all} values of ${column.name} cannot be decrypted: ${key}.`, MEND));
  }
  return problems;
}

const MEND = 'Put the key that encrypted them back, as NEW,OLD; run this with the worker’s environment.';

function keyringOf({ environment, directory }: Installation): { readonly known: Keyring | null } | Problem {
  const file = encryptionKeyFile(directory);
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
  const value = setting(environment, 'ENCRYPTION_KEY') ?? kept;
  if (value === undefined) return { known: null };
  try {
    return { known: createKeyring(readEncryptionKeys({ ENCRYPTION_KEY: value })) };
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    return { problem: error.message, mend: 'Set it to the key that the service has.' };
  }
}

export const encryptionChecks: readonly Check[] = [
  {
    name: 'encryption',
    looksAt: 'whether ENCRYPTION_KEY decrypts what is stored',
    page: 'docs/runbook/keys.md',
    after: ['service', 'postgres', 'schema'],
    look: encryption,
  },
];
