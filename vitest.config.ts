import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Whole-system tests start servers and kill them; what they wait for is bounded inside them, by these only as a last resort. */
const SYSTEM_TIMEOUT_MS = 600_000;
/** Against hanging alone: on a busy machine the first random text takes seconds to make. */
const UNIT_TIMEOUT_MS = 60_000;

/** Takes minutes with 100,000 cases, on one core. */
const LONGEST = 'outgoing-transfer-parity.test.ts';

/** Starts the longest file first, so that the others run beside it and none waits for it at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLongest = ({ moduleId }: TestSpecification) => moduleId.endsWith(LONGEST);
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))];
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    retry: 0,
    // A failure in a log far away must show the whole value, such as every problem that a crash run found.
    chaiConfig: { truncateThreshold: 0 },
    maxWorkers: 2,
    projects: [
      { test: { name: 'layout', include: ['test/layout/layout.test.ts'] } },
      {
        test: {
          name: 'unit',
          include: ['{domain,config,workflows,activities,api,loops,db,sandbox,scripts,bench}/**/*.test.ts'],
          testTimeout: UNIT_TIMEOUT_MS,
        },
      },
      {
        test: {
          name: 'system',
          include: ['test/**/*.test.ts'],
          exclude: ['test/layout/layout.test.ts', 'test/proof/**'],
          globalSetup: ['test/harness/servers/global-setup.ts'],
          testTimeout: SYSTEM_TIMEOUT_MS,
          hookTimeout: SYSTEM_TIMEOUT_MS,
          pool: 'forks',
        },
      },
    ],
  },
});
