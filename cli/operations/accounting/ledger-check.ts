import { createDatabase } from '../../../db/client.ts';
import { checkWholeLedger, type Violation } from '../../../db/ledger/check.ts';
import { dataDirectory } from '../../common/data-directory.ts';
import { readEndpoints } from '../../common/endpoints.ts';
import { textTable } from '../../common/text-table.ts';
import type { Run } from '../../program/command.ts';
import type { Progress } from '../../program/progress.ts';

/** Every breach of a rule of the ledger; none if all hold. */
export async function findViolations(
  environment: NodeJS.ProcessEnv,
  progress?: Progress,
): Promise<readonly Violation[]> {
  const url = environment.DATABASE_URL || readEndpoints(dataDirectory(environment)).databaseUrl;
  const database = createDatabase({ url, maxConnections: 1, applicationName: 'ledger-check' });
  try {
    return await checkWholeLedger(database, undefined, (done, total) => progress?.update(done, total));
  } finally {
    progress?.end();
    await database.close();
  }
}

export const checkLedgerNow: Run = async ({ environment, output }) => {
  const violations = await findViolations(environment, output.progress('Checking the ledger, by rules'));
  output.show({ violations }, () => [violations.length === 0 ? ALL_HOLD : violationTable(violations)]);
  return violations.length === 0 ? 0 : 1;
};

export const ALL_HOLD = 'The books hold: every invariant is met.';

const HEADER: Violation = { rule: 'rule', subject: 'of', expected: 'should be', actual: 'is' };

export function violationTable(violations: readonly Violation[]): string {
  const rows = [HEADER, ...violations].map(({ rule, subject, expected, actual }) => [rule, subject, expected, actual]);
  return textTable(rows);
}
