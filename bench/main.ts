import { type BenchAccount, createAccounts, createFloorAccounts } from './accounts.ts';
import { Callers } from './callers.ts';
import type { Measurement } from './measure.ts';
import { type BenchOptions, readOptions } from './options.ts';
import { type Stage, startStage } from './stage.ts';
import { benchTransfers } from './transfers.ts';

/** What every case works with. */
export interface Bench {
  readonly options: BenchOptions;
  readonly stage: Stage;
  readonly callers: Callers;
  readonly accounts: readonly BenchAccount[];
  readonly floorAccounts: readonly string[];
  readonly say: (line: string) => void;
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  const say = (line: string): void => {
    process.stderr.write(`${line}\n`);
  };
  const stage = await startStage(say);
  const callers = new Callers();
  try {
    const accounts = await createAccounts(stage.sql);
    const floorAccounts = await createFloorAccounts(stage.sql);
    const bench: Bench = { options, stage, callers, accounts, floorAccounts, say };
    const measurements: Measurement[] = [];
    if (options.only.has('a')) measurements.push(...(await benchTransfers(bench)));
    console.table(measurements);
  } finally {
    callers.close();
    await stage.close();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
