import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { filesBelow } from '../../layout/files.ts';

export const PROJECT_DIRECTORY = fileURLToPath(new URL('../../..', import.meta.url));

export type Command = 'npm test' | 'npm run test:long';

/** A test file says by its name that only `npm run test:long` runs it; every other belongs to `npm test`, a new one too. */
export const LONG_FILES = '**/*.long.test.ts';

export function isLongFile(path: string): boolean {
  return path.endsWith('.long.test.ts');
}

export function commandOf(path: string): Command {
  return isLongFile(path) ? 'npm run test:long' : 'npm test';
}

/** `npm run test:long` runs these once more, in full: they say so by what they import. */
export function filesWithLongForm(): string[] {
  return testFiles().filter((path) => /run\/length\.ts'/.test(readFileSync(join(PROJECT_DIRECTORY, path), 'utf8')));
}

/** Its long form takes longer than any other file, so `npm run test:long` runs it next to them. */
export const PARITY_TEST = 'test/outgoing-transfers/outgoing-transfer-parity.test.ts';

/** On two quiet cores. What takes longer is split, or named `.long.test.ts`, so that `npm test` stays a command that one runs. */
export const SECONDS_MAX = 100;

/** What `npm run test:quick` runs on a real Postgres: of every noun the file that tells most of its story in little time. */
export const STORIES: readonly string[] = [
  'test/accounts/accounts.test.ts',
  'test/audit-entries/audit-entries.test.ts',
  'test/bank-files/by-hand.test.ts',
  'test/beneficiaries/beneficiary-changes.test.ts',
  'test/clients/clients.test.ts',
  'test/compliance/compliance-checks.test.ts',
  'test/incoming-transfers/incoming-transfers.test.ts',
  'test/ledger/ledger-rules.test.ts',
  'test/machine-users/machine-users.test.ts',
  'test/open-banking/consents.test.ts',
  'test/outgoing-transfers/outgoing-transfers.test.ts',
  'test/providers/provider-callbacks.test.ts',
  'test/reconciliation/reconciliation-breaks.test.ts',
  'test/third-party-providers/third-party-providers.test.ts',
  'test/timelines/timelines.test.ts',
  'test/transfers/transfer-changes.test.ts',
  'test/users/users.test.ts',
  'test/webhooks/webhook-subscriptions.test.ts',
];

/** What tells whether migrations and functions are complete. */
export const SCHEMA_TESTS: readonly string[] = ['test/schema.test.ts', 'test/database/migrations/'];

/** The main guarantees, which `npm run test:long` runs on the second Node too. */
export const MAIN_GUARANTEES: readonly string[] = [
  'test/processes/start.test.ts',
  'test/outgoing-transfers/money-races.test.ts',
  'test/ledger/ledger-model.test.ts',
  'test/faults/crash.test.ts',
  'test/database/driver-kill.test.ts',
  'test/webhooks/webhook-deliveries.test.ts',
  'test/processes/real-use.test.ts',
];

/** Every test file, from the project's root. */
export function testFiles(): string[] {
  const folders = readdirSync(PROJECT_DIRECTORY, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.'))
    .map(({ name }) => name);
  return folders
    .flatMap((folder) => filesBelow(PROJECT_DIRECTORY, folder))
    .filter((path) => path.endsWith('.test.ts'))
    .sort();
}
