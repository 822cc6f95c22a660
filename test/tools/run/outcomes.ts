import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { PROJECT_DIRECTORY } from './commands.ts';
import { RunReport } from './report.ts';

export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  /** In words, for the end of the log. */
  readonly failures: readonly string[];
  /** The same of waits that ran out, in files that passed when they ran once more. */
  readonly late: readonly string[];
  /** Of each file or program. */
  readonly seconds: ReadonlyMap<string, number>;
}

export const NOTHING: Outcome = { passed: 0, failed: 0, failures: [], late: [], seconds: new Map() };

export function sumOf(outcomes: readonly Outcome[]): Outcome {
  return {
    passed: outcomes.reduce((total, { passed }) => total + passed, 0),
    failed: outcomes.reduce((total, { failed }) => total + failed, 0),
    failures: outcomes.flatMap(({ failures }) => failures),
    late: outcomes.flatMap(({ late }) => late),
    seconds: new Map(outcomes.flatMap(({ seconds }) => [...seconds])),
  };
}

/** More files than these fail of one cause. */
const LATE_FILES_MAX = 2;

/**
 * A file in which nothing failed but waits that ran out is run once more, after all others: on a busy machine such a wait says
 * little of the product. That it needed this is said at the end: it is a bug to be found. A wrong value is never tried again.
 */
export async function runVitest(
  vitestArguments: readonly string[],
  environment: NodeJS.ProcessEnv,
  node = process.execPath,
): Promise<Outcome> {
  const first = await runOnce(vitestArguments, environment, node);
  const late = first.files.filter(({ onlyWaited }) => onlyWaited);
  if (late.length === 0 || late.length > LATE_FILES_MAX) return outcomeOf([first]);
  const paths = late.map(({ path }) => path);
  print(`Once more, as only waits ran out: ${paths.join(', ')}\n`);
  const options = vitestArguments.filter((argument) => argument.startsWith('-'));
  const again = await runOnce([...options, ...paths], environment, node);
  const others = first.files.filter(({ onlyWaited }) => !onlyWaited);
  const passed = late.filter(({ path }) =>
    again.files.some((file) => file.path === path && file.failures.length === 0),
  );
  const lateWords = passed.flatMap(({ failures }) => failures.map((words) => words.replace('FAILED', 'LATE  ')));
  return { ...outcomeOf([{ ...first, files: others }, again]), late: lateWords };
}

async function runOnce(
  vitestArguments: readonly string[],
  environment: NodeJS.ProcessEnv,
  node: string,
): Promise<RunReport> {
  const directory = mkdtempSync(join(tmpdir(), 'financial-accounts-vitest-'));
  const reportFile = join(directory, 'report.json');
  try {
    const exitCode = await run(
      node,
      [
        join(PROJECT_DIRECTORY, 'node_modules/vitest/vitest.mjs'),
        'run',
        '--reporter=./test/tools/run/reporter.ts',
        ...vitestArguments,
      ],
      { ...environment, TEST_REPORT_FILE: reportFile },
      print,
    );
    if (!existsSync(reportFile)) return { files: [], others: [endedWith('vitest left no report', exitCode)] };
    const report = v.parse(RunReport, JSON.parse(readFileSync(reportFile, 'utf8')));
    if (exitCode === 0 || outcomeOf([report]).failed > 0) return report;
    return { ...report, others: [endedWith('vitest', exitCode)] };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function outcomeOf(reports: readonly RunReport[]): Outcome {
  const files = reports.flatMap((report) => report.files);
  const failures = [...files.flatMap((file) => file.failures), ...reports.flatMap(({ others }) => others)];
  return {
    passed: files.reduce((sum, { passed }) => sum + passed, 0),
    failed: failures.length,
    failures,
    late: [],
    seconds: new Map(files.map(({ path, seconds }) => [path, seconds])),
  };
}

/** A program of ours that ends with a line of counts. `when`: at the end, if others print at the same time. */
export async function runProgram(
  script: string,
  programArguments: readonly string[],
  environment: NodeJS.ProcessEnv,
  when: 'at once' | 'at the end' = 'at once',
): Promise<Outcome> {
  const startedAt = performance.now();
  let output = '';
  const nodeArguments = ['--import', import.meta.resolve('tsx'), script, ...programArguments];
  const exitCode = await run(process.execPath, nodeArguments, environment, (chunk) => {
    output += chunk;
    if (when === 'at once') print(chunk);
  });
  if (when === 'at the end') print(output);
  const seconds = new Map([[script, (performance.now() - startedAt) / 1_000]]);
  const [, passed, failed] = /^(\d+) passed, (\d+) failed\s*$/m.exec(output) ?? [];
  if (passed === undefined || failed === undefined) return { ...broken(script, exitCode), seconds };
  const outcome = { ...NOTHING, passed: Number(passed), failed: Number(failed), seconds };
  if (exitCode !== 0 && outcome.failed === 0) return sumOf([outcome, broken(script, exitCode)]);
  return outcome.failed === 0 ? outcome : { ...outcome, failures: [`FAILED ${script}: ${failed}, see above`] };
}

/** A check that passes or fails as one: what it prints is shown if it fails. */
export async function runTool(
  name: string,
  entry: string,
  toolArguments: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<Outcome> {
  let output = '';
  const exitCode = await run(
    process.execPath,
    [join(PROJECT_DIRECTORY, entry), ...toolArguments],
    environment,
    (chunk) => {
      output += chunk;
    },
  );
  print(`${exitCode === 0 ? 'ok    ' : 'FAILED'} ${name}\n`);
  if (exitCode === 0) return { ...NOTHING, passed: 1 };
  print(output);
  return { ...NOTHING, failed: 1, failures: [`FAILED ${name}\n${output.trimEnd()}`] };
}

function broken(what: string, exitCode: number): Outcome {
  return { ...NOTHING, failed: 1, failures: [endedWith(what, exitCode)] };
}

function endedWith(what: string, exitCode: number): string {
  return `FAILED ${what}: it ended with ${exitCode}`;
}

async function run(
  node: string,
  nodeArguments: readonly string[],
  environment: NodeJS.ProcessEnv,
  take: (chunk: string) => void,
): Promise<number> {
  const child = spawn(node, nodeArguments, {
    cwd: PROJECT_DIRECTORY,
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.setEncoding('utf8').on('data', take);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

function print(chunk: string): void {
  process.stdout.write(chunk);
}
