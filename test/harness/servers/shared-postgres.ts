import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { underFileLock } from '../../../cli/common/processes.ts';
import { findRunningPostgres, startPostgres } from '../../../dev/servers/postgres.ts';

const DATA_DIRECTORY = fileURLToPath(new URL('../../../node_modules/.cache/test-postgres', import.meta.url));

/** Enough for the databases of all files that run at a time. */
export const TEST_POSTGRES_SETTINGS = { max_connections: '500' };

/**
 * URL of the tests' Postgres for its superuser: the one of the `npm test` run, or one shared by all direct vitest runs in this
 * checkout, started on demand and left running.
 */
export async function testPostgresUrl(): Promise<string> {
  const given = process.env.TEST_POSTGRES_URL;
  if (given !== undefined && given !== '') return given;
  return underFileLock(join(DATA_DIRECTORY, '..', 'test-postgres.lock'), async () => {
    const running = findRunningPostgres(DATA_DIRECTORY);
    if (running !== undefined) return running.ownerUrl;
    const started = await startPostgres({ dataDirectory: DATA_DIRECTORY, settings: TEST_POSTGRES_SETTINGS });
    return started.ownerUrl;
  });
}
