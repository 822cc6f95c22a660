import { bundledEntries } from '../../tools/run/entries.ts';
import { testPostgresUrl } from './shared-postgres.ts';

/** Run once by vitest before its workers start; they inherit the environment. */
export default async function setup(): Promise<void> {
  const [url, entries] = await Promise.all([testPostgresUrl(), bundledEntries()]);
  process.env.TEST_POSTGRES_URL = url;
  process.env.TEST_ENTRIES = entries;
}
