import { createDatabase } from '../db/driver/client.ts';
import { checkWholeLedger, type Violation } from '../db/ledger/check.ts';
import { aligned } from './frame/aligned.ts';
import { readEndpoints } from './frame/endpoints.ts';
import { describeFailure } from './frame/remedy.ts';
import { dataDirectory } from './start/start-environment.ts';

/**
 * `npm run -s ledger:check`: exits 0 if every ledger invariant holds, 1 with a table of violations, 2 if it could not
 * check.
 */
async function main(): Promise<void> {
  const url = process.env.DATABASE_URL || readEndpoints(dataDirectory(process.env)).databaseUrl;
  const database = createDatabase({ url, maxConnections: 1, applicationName: 'ledger-check' });
  try {
    const violations = await checkWholeLedger(database);
    if (violations.length === 0) {
      console.log('The books hold: every invariant is met.');
      return;
    }
    console.log(table(violations));
    console.error(`${violations.length} violation(s) of the ledger's invariants.`);
    process.exitCode = 1;
  } finally {
    await database.close();
  }
}

const HEADER: Violation = { rule: 'rule', subject: 'of', expected: 'should be', actual: 'is' };

function table(violations: readonly Violation[]): string {
  const rows = [HEADER, ...violations].map(({ rule, subject, expected, actual }) => [rule, subject, expected, actual]);
  return aligned(rows);
}

main().catch((error: unknown) => {
  process.stderr.write(`${describeFailure(error)}\n`);
  process.exit(2);
});
