import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, SerializedError, TestCase, TestModule, TestSpecification, TestSuite } from 'vitest/node';
import { PROJECT_DIRECTORY } from './commands.ts';
import type { FileReport, RunReport } from './report.ts';

/** Enough of a failure to see what was expected, where. */
const FAILURE_LINES = 12;

const NO_FILE = '';

interface Failure {
  readonly words: string;
  readonly isWait: boolean;
}

/**
 * One line per file when it ends, with how many of all have ended; a failure at once when it happens. Leaves its counts in the file
 * that TEST_REPORT_FILE names.
 */
export default class ProgressReporter implements Reporter {
  readonly #files: FileReport[] = [];
  /** By file; under no path, what failed outside of all. */
  readonly #failures = new Map<string, Failure[]>();
  #total = 0;
  #startedAt = 0;

  onTestRunStart(specifications: ReadonlyArray<TestSpecification>): void {
    this.#total = specifications.length;
    this.#startedAt = performance.now();
  }

  onTestCaseResult(test: TestCase): void {
    const result = test.result();
    if (result.state === 'failed') this.#fail(pathOf(test.module), test.fullName, result.errors);
  }

  /** A hook that fails leaves tests without a result: it counts as one failure. */
  onTestSuiteResult(suite: TestSuite): void {
    this.#failOf(suite, pathOf(suite.module), suite.fullName);
  }

  onTestModuleEnd(module: TestModule): void {
    const path = pathOf(module);
    this.#failOf(module, path, 'does not load, or fails outside of its tests');
    const { collectDuration, setupDuration, prepareDuration, environmentSetupDuration, duration } = module.diagnostic();
    const seconds = (collectDuration + setupDuration + prepareDuration + environmentSetupDuration + duration) / 1_000;
    const tests = [...module.children.allTests()];
    const passed = tests.filter((test) => test.result().state === 'passed').length;
    const failures = this.#failures.get(path) ?? [];
    const onlyWaited = failures.length > 0 && failures.every((failure) => failure.isWait);
    this.#files.push({ path, seconds, passed, failures: failures.map(({ words }) => words), onlyWaited });
    const position = `${this.#files.length}`.padStart(`${this.#total}`.length);
    const elapsed = Math.round((performance.now() - this.#startedAt) / 1_000);
    console.log(
      `${module.ok() ? 'ok    ' : 'FAILED'} ${position} of ${this.#total}  ${`${elapsed}`.padStart(4)} s  ${path}: ${countOf(tests)}, ${seconds.toFixed(1)} s`,
    );
  }

  onTestRunEnd(_modules: ReadonlyArray<TestModule>, errors: ReadonlyArray<SerializedError>): void {
    for (const error of errors) this.#fail(NO_FILE, 'outside of all tests', [error]);
    const { TEST_REPORT_FILE } = process.env;
    if (TEST_REPORT_FILE === undefined) return;
    const others = (this.#failures.get(NO_FILE) ?? []).map(({ words }) => words);
    const report: RunReport = { files: this.#files, others };
    writeFileSync(TEST_REPORT_FILE, JSON.stringify(report));
  }

  #failOf(task: TestModule | TestSuite, path: string, what: string): void {
    const errors = task.errors();
    if (errors.length > 0) this.#fail(path, what, errors);
  }

  #fail(path: string, what: string, errors: ReadonlyArray<SerializedError>): void {
    const lines = errors
      .flatMap(({ message, diff, stacks }) => [
        ...message.split('\n'),
        ...(typeof diff === 'string' ? diff.split('\n') : []),
        ...(stacks?.map(({ file, line }) => `at ${relative(PROJECT_DIRECTORY, file)}:${line}`) ?? []),
      ])
      .slice(0, FAILURE_LINES);
    const title = path === NO_FILE ? `FAILED ${what}` : `FAILED ${path}: ${what}`;
    const words = stripVTControlCharacters([title, ...lines.map((line) => `    ${line}`)].join('\n'));
    const isWait = errors.every(({ name }) => name === 'WaitedTooLong');
    this.#failures.set(path, [...(this.#failures.get(path) ?? []), { words, isWait }]);
    console.log(words);
  }
}

function pathOf(module: TestModule): string {
  return relative(PROJECT_DIRECTORY, module.moduleId);
}

function countOf(tests: readonly TestCase[]): string {
  const skipped = tests.filter((test) => test.result().state === 'skipped').length;
  return `${tests.length} ${tests.length === 1 ? 'test' : 'tests'}${skipped === 0 ? '' : ` (${skipped} skipped)`}`;
}
