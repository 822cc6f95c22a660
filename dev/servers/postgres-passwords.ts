import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ActionableError } from '../../cli/common/actionable-error.ts';

/** Every local user can reach loopback, so the database requires a password that only our user can read. */
export function readOrCreatePassword(directory: string): string {
  const file = join(directory, 'password');
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  if (existsSync(join(directory, 'cluster', 'PG_VERSION'))) {
    throw new ActionableError(
      `${file} is missing, but the Postgres cluster in its folder needs it. Restore the file, or move ${directory} away.`,
    );
  }
  const password = randomBytes(24).toString('hex');
  writeFileSync(file, `${password}\n`, { mode: 0o600 });
  return password;
}

/** If it is lost, a new one is created: each start sets it in Postgres. */
export function readOrCreateServicePassword(directory: string): string {
  const file = join(directory, 'service-password');
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  const password = randomBytes(24).toString('hex');
  writeFileSync(file, `${password}\n`, { mode: 0o600 });
  return password;
}
