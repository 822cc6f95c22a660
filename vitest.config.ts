import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { isLongFile, LONG_FILES } from './test/tools/run/commands.ts';
import { inFull } from './test/tools/run/length.ts';
import { recordedSeconds } from './test/tools/run/table.ts';

/** Whole-system tests start servers and kill them; what they wait for is bounded inside them, by these only as a last resort. */
const SYSTEM_TIMEOUT_MS = 600_000;
/** Against hanging alone: on a busy machine the first random text takes seconds to make. */
const UNIT_TIMEOUT_MS = 60_000;
/** Much of a whole-system test is waiting for other processes: three files at a time keep two cores busy. */
const SYSTEM_WORKERS = 3;
/** Mebibytes for new objects. With the usual 16, what thousands of requests under way need is copied again and again before it is let go. */
const NEW_OBJECTS_MEBIBYTES = 64;

/** `npm test -- --project=system --sequence.shuffle.files` shows that no file needs another before it. */
const IS_SHUFFLED = process.argv.includes('--sequence.shuffle.files');

/** The record is of the short form. */
const IN_FULL_TIMES = 4;

/** Starts the longest files first, so that none is left to run alone at the end. A file without a record may be long. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds = recordedSeconds();
    const root = this.ctx.config.root;
    const secondsOf = ({ moduleId }: TestSpecification) => {
      const recorded = seconds.get(moduleId.slice(root.length + 1)) ?? 30;
      return inFull && !isLongFile(moduleId) ? IN_FULL_TIMES * recorded : recorded;
    };
    return [...(await super.sort(files))].sort((one, other) => secondsOf(other) - secondsOf(one));
  }
}

/**
 * Files that follow one another in a process share the modules that the first has loaded: to load them is half of a short file's work. So
 * metrics are those of all of them, and a test compares what it counts before and after.
 */
const system = {
  globalSetup: ['test/harness/servers/global-setup.ts'],
  setupFiles: ['test/tools/run/left-behind.ts'],
  testTimeout: SYSTEM_TIMEOUT_MS,
  hookTimeout: SYSTEM_TIMEOUT_MS,
  pool: 'forks' as const,
  execArgv: [`--max-semi-space-size=${NEW_OBJECTS_MEBIBYTES}`],
  isolate: false,
  restoreMocks: true,
  maxWorkers: SYSTEM_WORKERS,
};

export default defineConfig({
  test: {
    ...(IS_SHUFFLED ? {} : { sequence: { sequencer: LongestFirst } }),
    retry: 0,
    // A failure in a log far away must show the whole value, such as every problem that a crash run found.
    chaiConfig: { truncateThreshold: 0 },
    projects: [
      {
        test: {
          name: 'layout',
          include: ['test/layout/*.test.ts'],
          testTimeout: UNIT_TIMEOUT_MS,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'unit',
          include: [
            '{domain,config,workflows,activities,api,loops,db,sandbox,cli,client,console,dev,bench}/**/*.test.ts',
          ],
          testTimeout: UNIT_TIMEOUT_MS,
          pool: 'threads',
          isolate: false,
          maxWorkers: 2,
        },
      },
      {
        test: {
          ...system,
          name: 'system',
          include: ['test/**/*.test.ts'],
          exclude: ['test/layout/**', LONG_FILES],
          sequence: { groupOrder: 1 },
        },
      },
      { test: { ...system, name: 'long', include: [LONG_FILES], sequence: { groupOrder: 1 } } },
    ],
  },
});
