import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { describeFailure } from './frame/remedy.ts';
import { startPostgres } from './servers/postgres.ts';
import { temporalBinary } from './servers/temporal-binary.ts';
import { temporalCluster } from './servers/temporal-cluster.ts';
import { timeSkippingServer } from './servers/test-server.ts';
import { chromiumPath } from './testing/chromium.ts';
import { LTS_VERSION, ltsNode, runsOnLts } from './testing/lts-node.ts';
import { oasdiff } from './testing/oasdiff.ts';

const PROJECT_DIRECTORY = fileURLToPath(new URL('..', import.meta.url));
// Run after vitest. Each ends with the same summary line. The abuse test compares rates, so nothing runs beside it.
const CONTRACT_TEST = 'scripts/testing/contract-test.ts';
const ABUSE_TEST = 'test/abuse/main.ts';

/** The main guarantees run on the image's Node too; everything else runs on this process's Node. */
const MAIN_GUARANTEES = [
  'test/processes/start.test.ts',
  'test/outgoing-transfers/money-races.test.ts',
  'test/ledger/ledger-model.test.ts',
  'test/faults/crash.test.ts',
  'test/driver/driver-kill.test.ts',
  'test/webhooks/webhook-deliveries.test.ts',
  'test/processes/real-use.test.ts',
];

interface Outcome {
  readonly passed: number;
  readonly failed: number;
  /** In words; a further test prints its own. */
  readonly failures: readonly string[];
}

const BROKEN: Outcome = { passed: 0, failed: 1, failures: [] };

const VitestReport = v.object({
  success: v.boolean(),
  numPassedTests: v.number(),
  numFailedTests: v.number(),
  testResults: v.array(
    v.object({
      status: v.string(),
      name: v.string(),
      message: v.optional(v.string(), ''),
      assertionResults: v.array(
        v.object({ status: v.string(), fullName: v.string(), failureMessages: v.nullish(v.array(v.string()), []) }),
      ),
    }),
  ),
});
type VitestReport = v.InferOutput<typeof VitestReport>;

/** Enough of a failure to see what was expected, where. */
const FAILURE_LINES = 12;

/**
 * `npm test [-- vitest's arguments]`: all tests, the main ones also on the current LTS of Node, with one Postgres;
 * the last line has the counts.
 */
async function main(): Promise<void> {
  const vitestArguments = process.argv.slice(2);
  const directory = mkdtempSync(join(tmpdir(), 'financial-accounts-test-'));
  const cleanUps: (() => Promise<void>)[] = [async () => rmSync(directory, { recursive: true, force: true })];
  const cleanUp = async () => {
    for (const step of cleanUps.splice(0).reverse()) await step();
  };
  const abort = () => void cleanUp().finally(() => process.exit(130));
  process.once('SIGINT', abort);
  process.once('SIGTERM', abort);
  try {
    const environment = await prepare(directory, cleanUps);
    const outcomes = [await runVitest(vitestArguments, directory, environment)];
    if (vitestArguments.length === 0) {
      const beside: string[] = [];
      const contract = runFurtherTest(CONTRACT_TEST, environment, (chunk) => beside.push(chunk));
      outcomes.push(await runOnLts(directory, environment), await contract);
      process.stdout.write(beside.join(''));
      outcomes.push(await runFurtherTest(ABUSE_TEST, environment, (chunk) => process.stdout.write(chunk)));
    }
    await cleanUp();
    // Once more at the end: of a long log, a reader often has the last page alone.
    for (const failure of outcomes.flatMap(({ failures }) => failures)) console.log(failure);
    const [passed, failed] = [sum(outcomes.map((one) => one.passed)), sum(outcomes.map((one) => one.failed))];
    console.log(`${passed} passed, ${failed} failed`);
    process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
  } finally {
    await cleanUp();
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

async function prepare(directory: string, cleanUps: (() => Promise<void>)[]): Promise<NodeJS.ProcessEnv> {
  const temporal = await temporalBinary(say);
  await timeSkippingServer(say);
  await temporalCluster(say);
  await oasdiff(say);
  const chromium = chromiumPath(say);
  const server = await startPostgres({
    dataDirectory: join(directory, 'postgres'),
    settings: { max_connections: '500' },
    onProgress: say,
  });
  cleanUps.push(() => server.stop());
  return {
    ...process.env,
    TEST_POSTGRES_URL: server.ownerUrl,
    TEMPORAL_CLI_PATH: temporal,
    ...(chromium === null ? {} : { CHROMIUM_PATH: chromium }),
  };
}

/** First on the PATH, for npm and everything that the tests start. */
async function runOnLts(directory: string, environment: NodeJS.ProcessEnv): Promise<Outcome> {
  if (runsOnLts()) {
    say(`This is Node ${process.versions.node}: the main guarantees need no second run.`);
    return { passed: 0, failed: 0, failures: [] };
  }
  const node = await ltsNode(say);
  say(`The main guarantees again, on Node ${LTS_VERSION}:`);
  const PATH = `${dirname(node)}${delimiter}${environment.PATH ?? ''}`;
  return runVitest(MAIN_GUARANTEES, directory, { ...environment, PATH }, node);
}

async function runVitest(
  vitestArguments: readonly string[],
  directory: string,
  environment: NodeJS.ProcessEnv,
  node = process.execPath,
): Promise<Outcome> {
  const reportFile = join(directory, 'report.json');
  rmSync(reportFile, { force: true });
  const exitCode = await run(
    node,
    join(PROJECT_DIRECTORY, 'node_modules/vitest/vitest.mjs'),
    ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`, ...vitestArguments],
    environment,
    process.stdout,
  );
  if (!existsSync(reportFile)) return BROKEN;
  const report = v.parse(VitestReport, JSON.parse(readFileSync(reportFile, 'utf8')));
  // A file that fails to load has no tests that could fail, and an error outside tests belongs to none.
  const brokenFiles = report.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  ).length;
  const failed = report.numFailedTests + brokenFiles;
  const failures = failuresOf(report);
  return { passed: report.numPassedTests, failed: failed === 0 && exitCode !== 0 ? 1 : failed, failures };
}

function failuresOf(report: VitestReport): string[] {
  return report.testResults.flatMap(({ name, status, message, assertionResults }) => {
    if (status === 'failed' && assertionResults.length === 0) return [describe(name, 'does not load', [message])];
    return assertionResults
      .filter((test) => test.status === 'failed')
      .map((test) => describe(name, test.fullName, test.failureMessages ?? []));
  });
}

function describe(file: string, test: string, messages: readonly string[]): string {
  const lines = messages.join('\n').split('\n').slice(0, FAILURE_LINES);
  return [`FAILED ${relative(PROJECT_DIRECTORY, file)}: ${test}`, ...lines.map((line) => `    ${line}`)].join('\n');
}

async function runFurtherTest(
  script: string,
  environment: NodeJS.ProcessEnv,
  print: (chunk: string) => void,
): Promise<Outcome> {
  let output = '';
  const furtherArguments = [import.meta.resolve('tsx'), script];
  const exitCode = await run(process.execPath, '--import', furtherArguments, environment, {
    write: (chunk) => {
      output += chunk;
      print(chunk);
    },
  });
  const [, passed, failed] = /^(\d+) passed, (\d+) failed\s*$/m.exec(output) ?? [];
  if (passed === undefined || failed === undefined) return BROKEN;
  const count = Number(failed);
  return { passed: Number(passed), failed: count === 0 && exitCode !== 0 ? 1 : count, failures: [] };
}

async function run(
  node: string,
  entry: string,
  entryArguments: readonly string[],
  environment: NodeJS.ProcessEnv,
  output: { write(chunk: string): void },
): Promise<number> {
  const child = spawn(node, [entry, ...entryArguments], {
    cwd: PROJECT_DIRECTORY,
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => output.write(chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

function say(line: string): void {
  console.log(line);
}

main().catch((error: unknown) => {
  console.log(describeFailure(error));
  console.log('0 passed, 1 failed');
  process.exitCode = 1;
});
