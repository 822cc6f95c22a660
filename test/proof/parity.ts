import {
  countSettledByStatement,
  randomDifferences,
  startParityService,
} from '../harness/transfers/transfer-parity.ts';

/** A run that is cut off has said how far it came. */
const REPORT_EVERY_CASES = 25_000;

/** One process's share of the parity cases of `npm run proof`: its seed and their number. Prints each difference; exits 0 without any. */
async function main([seed, cases]: readonly number[]): Promise<number> {
  if (seed === undefined || cases === undefined) throw new Error('a seed and a number of cases');
  const service = await startParityService();
  let reported = 0;
  const differences = await randomDifferences(
    service,
    seed,
    cases,
    (difference) => console.log(`  ! ${difference}`),
    (compared) => {
      if (compared < reported + REPORT_EVERY_CASES) return;
      reported = compared;
      console.log(`  ${compared} of ${cases} cases from seed ${seed} compared`);
    },
  );
  const settled = await countSettledByStatement(service);
  await service.stop();
  console.log(
    `${cases} cases from seed ${seed}: ${differences.length} differences, ${settled} settled by one statement`,
  );
  return differences.length === 0 && settled > 0 ? 0 : 1;
}

main(process.argv.slice(2).map(Number)).then(
  (status) => process.exit(status),
  (error: unknown) => {
    console.error(error instanceof Error ? (error.stack ?? error.message) : error);
    process.exit(2);
  },
);
