import { describeFailure } from './common/actionable-error.ts';
import { ALL_HOLD, findViolations, violationTable } from './operations/accounting/ledger-check.ts';

/**
 * `npm run -s ledger:check`: exits 0 if every ledger invariant holds, 1 with a table of violations, 2 if it could not
 * check.
 */
async function main(): Promise<void> {
  const violations = await findViolations(process.env);
  if (violations.length === 0) {
    console.log(ALL_HOLD);
    return;
  }
  console.log(violationTable(violations));
  console.error(`${violations.length} violation(s) of the ledger's invariants.`);
  process.exitCode = 1;
}

main().catch((error: unknown) => {
  process.stderr.write(`${describeFailure(error)}\n`);
  process.exit(2);
});
