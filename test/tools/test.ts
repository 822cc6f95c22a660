import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { describeFailure } from '../../cli/common/actionable-error.ts';
import { startPostgres } from '../../dev/servers/postgres.ts';
import { temporalBinary } from '../../dev/servers/temporal-binary.ts';
import { temporalPrograms } from '../../dev/servers/temporal-cluster.ts';
import { timeSkippingServer } from '../../dev/servers/test-server.ts';
import { TEST_POSTGRES_SETTINGS } from '../harness/servers/shared-postgres.ts';
import { chromiumPath } from './chromium.ts';
import { LTS_VERSION, ltsNode, runsOnLts } from './lts-node.ts';
import { oasdiff } from './oasdiff.ts';
import {
  filesWithLongForm,
  isLongFile,
  MAIN_GUARANTEES,
  PARITY_TEST,
  PROJECT_DIRECTORY,
  SCHEMA_TESTS,
  SECONDS_MAX,
  STORIES,
  testFiles,
} from './run/commands.ts';
import { NOTHING, type Outcome, runProgram, runTool, runVitest, sumOf } from './run/outcomes.ts';
import { ABUSE_TEST, CONTRACT_TEST, commandOfTest, recordedSeconds, writeTable } from './run/table.ts';

/** Names the file to which a command adds its counts, so that `.ci/run` can print the sum of several. */
const COUNTS_FILE = process.env.TEST_COUNTS_FILE;

interface Run {
  /** vitest's own, from the command line: then the command runs those files and nothing else. */
  readonly given: readonly string[];
  readonly directory: string;
  readonly environment: NodeJS.ProcessEnv;
}

const COMMANDS: Readonly<Record<string, (run: Run) => Promise<Outcome[]>>> = {
  // Types, style and layout with the tests that need no server, and one story of every noun on Postgres.
  quick: ({ environment }) =>
    Promise.all([
      runTool('types', 'node_modules/typescript/bin/tsc', ['--noEmit'], environment),
      runTool('lint', 'node_modules/@biomejs/biome/bin/biome', ['ci', '.'], environment),
      runVitest(['--project=layout', '--project=unit'], environment),
      runVitest(STORIES, environment),
    ]),
  // The layout, and everything that the changes since main reach by imports. What is read and not imported reaches every noun.
  changed: async ({ given, environment }) => {
    const [base, paths] = changes();
    say(`${paths.length} files differ from ${base}.`);
    const reached = [`--changed=${base}`, '--passWithNoTests', '--project=unit', '--project=system', ...given];
    const outcomes = [await runVitest(['--project=layout'], environment), await runVitest(reached, environment)];
    if (paths.some((path) => /^(db|config|workflows)\/.*\.(sql|json)$/.test(path)))
      outcomes.push(await runVitest([...STORIES, ...SCHEMA_TESTS], environment));
    return outcomes;
  },
  test: async ({ given, environment }) => {
    if (given.length > 0) return [await runVitest(given, environment)];
    return [
      await runVitest(['--project=layout', '--project=unit', '--project=system'], environment),
      await runProgram(CONTRACT_TEST, ['--short'], environment),
    ];
  },
  long: async ({ given, environment }) => {
    const inFull = { ...environment, TEST_LENGTH: 'long' };
    if (given.length > 0) return [await runVitest(given, inFull)];
    const files = [...testFiles().filter(isLongFile), ...filesWithLongForm()];
    const inThrees = { VITEST_MAX_WORKERS: '3' };
    const byThemselves = { ...environment, VITEST_MAX_WORKERS: '1' };
    const others = files.filter((path) => path !== PARITY_TEST);
    // The parity test takes a processor for half as long as the others, which mostly wait, take together.
    const outcomes = await Promise.all([
      runVitest(others, { ...inFull, ...inThrees }),
      runVitest([PARITY_TEST], inFull).then(async (parity) =>
        sumOf([parity, await runOnLts(byThemselves), await runFullContract(environment)]),
      ),
    ]);
    return [
      ...outcomes.map((outcome) => withoutSecondsOf(filesWithLongForm(), outcome)),
      // It compares rates: nothing runs at the same time.
      await runProgram(ABUSE_TEST, [], environment),
    ];
  },
};

/** Those two need no more than a Postgres, which then stays for the next time; they start what else a test needs. */
const PREPARED = ['test', 'long'];

/**
 * `npm test`, `npm run test:quick`, `test:changed` and `test:long`, with vitest's arguments: prints each file as it ends, failures
 * when they happen and again at the end, and the counts in the last line. `--record` notes the seconds of each file in docs/reference/tests.md.
 */
async function main(): Promise<void> {
  const [command = '', ...rest] = process.argv.slice(2);
  const work = COMMANDS[command];
  if (work === undefined)
    throw new Error(`There is no command ${command}; there are ${Object.keys(COMMANDS).join(', ')}.`);
  const given = rest.filter((argument) => argument !== '--record');
  const directory = mkdtempSync(join(quickFolder(), 'financial-accounts-test-'));
  const cleanUps: (() => Promise<void>)[] = [async () => rmSync(directory, { recursive: true, force: true })];
  const cleanUp = async () => {
    for (const step of cleanUps.splice(0).reverse()) await step();
  };
  const abort = () => void cleanUp().finally(() => process.exit(130));
  process.once('SIGINT', abort);
  process.once('SIGTERM', abort);
  const startedAt = performance.now();
  try {
    const environment = PREPARED.includes(command) ? await prepare(directory, cleanUps) : { ...process.env };
    const outcome = sumOf(await work({ given, directory, environment }));
    await cleanUp();
    conclude(outcome, rest.includes('--record'), performance.now() - startedAt);
  } finally {
    await cleanUp();
  }
}

function conclude(outcome: Outcome, isRecorded: boolean, milliseconds: number): void {
  const { passed, failed, failures, late, seconds } = outcome;
  if (isRecorded) {
    const tenths = [...seconds].map(([path, of]) => [path, Math.round(of * 10) / 10] as const);
    writeTable(new Map([...recordedSeconds(), ...tenths]));
  }
  const slow = [...seconds].filter(([path, of]) => of > SECONDS_MAX && commandOfTest(path) === 'npm test');
  for (const [path, of] of slow) {
    say(`slow: ${path} took ${Math.round(of)} s, of at most ${SECONDS_MAX} on two quiet cores`);
  }
  // Once more at the end: of a long log, a reader often has no more than the last page.
  for (const line of [...late, ...failures]) say(line);
  say(`${Math.round(milliseconds / 1_000)} s`);
  report(passed, failed);
}

function report(passed: number, failed: number): void {
  if (COUNTS_FILE !== undefined) appendFileSync(COUNTS_FILE, `${passed} ${failed}\n`);
  say(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
}

async function prepare(directory: string, cleanUps: (() => Promise<void>)[]): Promise<NodeJS.ProcessEnv> {
  const temporal = await temporalBinary(say);
  await timeSkippingServer(say);
  await temporalPrograms(say);
  await oasdiff(say);
  const chromium = chromiumPath(say);
  const server = await startPostgres({
    dataDirectory: join(directory, 'postgres'),
    settings: TEST_POSTGRES_SETTINGS,
    onProgress: say,
  });
  cleanUps.push(() => server.stop());
  return {
    ...process.env,
    TMPDIR: directory,
    TEST_POSTGRES_URL: server.ownerUrl,
    TEMPORAL_CLI_PATH: temporal,
    ...(chromium === null ? {} : { CHROMIUM_PATH: chromium }),
  };
}

const MEMORY_DISK = '/dev/shm';
const MEMORY_NEEDED_BYTES = 8 * 1024 ** 3;

/**
 * Where servers of tests keep their files: in memory if there is plenty, as hundreds of databases and thousands of commits wait for a
 * disk otherwise. A process that is killed loses nothing in either place.
 */
function quickFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY_DISK);
    if (Math.min(bavail * bsize, process.availableMemory()) > MEMORY_NEEDED_BYTES) return MEMORY_DISK;
  } catch {
    // Not on this system.
  }
  return tmpdir();
}

/** The other Node is first on the PATH, for npm and everything that the tests start. */
async function runOnLts(environment: NodeJS.ProcessEnv): Promise<Outcome> {
  if (runsOnLts()) {
    say(`This is Node ${process.versions.node}: the main guarantees need no second run.`);
    return NOTHING;
  }
  const node = await ltsNode(say);
  say(`The main guarantees again, on Node ${LTS_VERSION}:`);
  const PATH = `${dirname(node)}${delimiter}${environment.PATH ?? ''}`;
  const outcome = await runVitest(MAIN_GUARANTEES, { ...environment, PATH }, node);
  return withoutSecondsOf(MAIN_GUARANTEES, outcome);
}

async function runFullContract(environment: NodeJS.ProcessEnv): Promise<Outcome> {
  return withoutSecondsOf([CONTRACT_TEST], await runProgram(CONTRACT_TEST, [], environment, 'at the end'));
}

/** The table shows the seconds of `npm test`, where a file has several. */
function withoutSecondsOf(files: readonly string[], outcome: Outcome): Outcome {
  return { ...outcome, seconds: new Map([...outcome.seconds].filter(([path]) => !files.includes(path))) };
}

/** The commit where this branch left main, or HEAD on main itself; and the files that differ from it. */
function changes(): [base: string, paths: string[]] {
  const git = (...words: string[]) =>
    spawnSync('git', words, { cwd: PROJECT_DIRECTORY, encoding: 'utf8' }).stdout.trim();
  const base = git('merge-base', 'main', 'HEAD') || 'HEAD';
  const lists = [git('diff', '--name-only', base), git('ls-files', '--others', '--exclude-standard')];
  return [base, lists.flatMap((list) => list.split('\n')).filter((path) => path !== '')];
}

function say(line: string): void {
  console.log(line);
}

main().catch((error: unknown) => {
  say(describeFailure(error));
  report(0, 1);
});
