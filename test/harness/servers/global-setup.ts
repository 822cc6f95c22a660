import { testPostgresUrl } from './shared-postgres.ts';

/** Run once by vitest before its workers start; they inherit the environment. */
export default async function setup(): Promise<void> {
  process.env.TEST_POSTGRES_URL = await testPostgresUrl();
}
