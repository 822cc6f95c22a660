import type { BenchAccount } from './accounts.ts';
import type { Callers } from './load/callers.ts';
import type { BenchOptions } from './options.ts';
import type { Stage } from './stage.ts';

/** Shared by all cases. */
export interface Bench {
  readonly options: BenchOptions;
  readonly stage: Stage;
  readonly callers: Callers;
  readonly accounts: readonly BenchAccount[];
  readonly floorAccounts: readonly string[];
  readonly say: (line: string) => void;
}
