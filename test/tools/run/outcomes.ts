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
  /** Of each file or program. */
  readonly seconds: ReadonlyMap<string, number>;
}

export const NOTHING: Outcome = { passed: 0, failed: 0, failures: [], seconds: new Map() };

export function sumOf(outcomes: readonly Outcome[]): Outcome {
  return {
    passed: outcomes.reduce((total, { passed }) => total + passed, 0),
    failed: outcomes.reduce((total, { failed }) => total + failed, 0),
    failures: outcomes.flatMap(({ failures }) => failures),
    seconds: new Map(outcomes.flatMap(({ seconds }) => [...seconds])),
  };
}

export async function runVitest(
  vitestArguments: readonly string[],
  environment: NodeJS.ProcessEnv,
  node = process.execPath,
): Promise<Outcome> {
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
    if (!existsSync(reportFile)) return broken('vitest left no report', exitCode);
    const { passed, failed, failures, files } = v.parse(RunReport, JSON.parse(readFileSync(reportFile, 'utf8')));
    const seconds = new Map(files.map((file) => [file.path, file.seconds]));
    const outcome = { passed, failed, failures, seconds };
    return failed === 0 && exitCode !== 0 ? sumOf([outcome, broken('vitest', exitCode)]) : outcome;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
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
  return { ...NOTHING, failed: 1, failures: [`FAILED ${what}: it ended with ${exitCode}`] };
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
