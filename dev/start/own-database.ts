import { createDatabase } from '../../db/client.ts';
import { makeClockMovable } from '../../db/common/sandbox-clock.ts';
import type { Database } from '../../db/query/database.ts';
import { registerDevelopmentParties } from './development-parties.ts';
import { registerDevelopmentUsers } from './development-users.ts';
import type { StartEnvironment } from './start-environment.ts';

/** Never for an external database: the users' private keys are in our files, and its clock is not ours to move. */
export async function prepareOwnDatabase(
  environment: StartEnvironment,
  databaseUrl: string,
  ownerUrl: string,
): Promise<void> {
  const { dataDirectory, sandboxPort } = environment;
  await onDatabase(ownerUrl, makeClockMovable);
  await onDatabase(databaseUrl, (database) => registerDevelopmentParties(database, { dataDirectory, sandboxPort }));
  await registerDevelopmentUsers(dataDirectory, databaseUrl);
}

async function onDatabase(url: string, work: (database: Database) => Promise<void>): Promise<void> {
  const database = createDatabase({ url, maxConnections: 1, applicationName: 'start' });
  try {
    await work(database);
  } finally {
    await database.close();
  }
}
