import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createProviders } from '../activities/providers/providers.ts';
import { loadConfiguration } from '../config/configuration.ts';
import { readEnvironment } from '../config/environment.ts';
import { ROLES } from '../domain/machine-users/roles.ts';
import { createTestMachineUser, startApi, TEST_AUDIENCE } from '../test/harness/api.ts';
import { createTestDatabase } from '../test/harness/postgres.ts';
import { SANDBOX_SECRET, startSandbox } from '../test/harness/sandbox.ts';
import { type Document, seedExamples, withSeededIds } from './contract-seeds.ts';
import { describeFailure } from './remedy.ts';
import { PYTHON_MISSING, schemathesis } from './schemathesis.ts';

/**
 * Calls every operation of `/openapi.json` with what the document allows and what it forbids (Schemathesis), and fails on
 * every answer that the document does not promise. Run by `npm test`; `--report FOLDER` keeps every call. The calls are
 * the same in every run of the same document.
 */

/** Of the fuzzing, per operation. The run takes about a minute and a half on two idle cores, most of it for coverage. */
const EXAMPLES_MAX = 12;
/** A run that takes longer has failed: something hangs. */
const TIME_LIMIT_MS = 900_000;

interface Counts {
  readonly passed: number;
  readonly failed: number;
}

async function main(): Promise<void> {
  const command = await schemathesis(say);
  if (command === null) {
    say(PYTHON_MISSING);
    // A developer's machine may do without; where every change is judged, a check that did not run did not pass.
    finish({ passed: 0, failed: process.env.CI ? 1 : 0 });
    return;
  }
  const directory = mkdtempSync(join(tmpdir(), 'financial-accounts-contract-'));
  const database = await createTestDatabase('contract');
  // Some requests ask outside before they are answered.
  const sandbox = await startSandbox({ directory, callbackUrl: 'http://127.0.0.1:1/' });
  try {
    const env = { SANDBOX_URL: sandbox.url, SANDBOX_BANK_SECRET: SANDBOX_SECRET };
    const environment = readEnvironment({ ...process.env, DATABASE_URL: database.url, ...env });
    const providers = createProviders(loadConfiguration(process.env), environment);
    const api = await startApi(database, { env, providers });
    try {
      const user = await createTestMachineUser(api.database, TEST_AUDIENCE, ROLES);
      const ids = await seedExamples(api.url, user.token);
      const served: Document = JSON.parse(await (await fetch(`${api.url}/openapi.json`)).text());
      const documentFile = join(directory, 'openapi.json');
      writeFileSync(documentFile, JSON.stringify(withSeededIds(served, ids)));
      const configFile = join(directory, 'schemathesis.toml');
      writeFileSync(configFile, CONFIGURATION);
      const exitCode = await run(command, configFile, documentFile, { url: api.url, token: user.token, directory });
      finish(readCounts(join(directory, 'report.xml'), exitCode));
    } finally {
      await api.stop();
    }
  } finally {
    await sandbox.stop();
    await database.drop();
    rmSync(directory, { recursive: true, force: true });
  }
}

// What a JSON Schema cannot say (an IBAN's check digits, an id of another client, a balance) is refused with 400 or 422,
// so that what the schema allows must be accepted is asked of the examples, and of GET. Lists of responses' ids are not
// used, as one of them is the test's own machine user, which must not be revoked.
const CONFIGURATION = `
workers = 2
continue-on-failure = true
request-timeout = 30
warnings = false

[auth.openapi.machineUser]
bearer = "\${CONTRACT_TEST_TOKEN}"

[generation]
max-examples = ${EXAMPLES_MAX}
deterministic = true
database = "none"
no-shrink = true

[checks.positive_data_acceptance]
enabled = false

[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 409, 413, 415, 422]

# What was done before by another phase's call of the same example is 409.
[phases.examples.checks.positive_data_acceptance]
enabled = true
expected-statuses = ["2xx", 409]

[phases.examples.extra-data-sources]
responses = false

[phases.coverage.extra-data-sources]
responses = false

[phases.fuzzing.extra-data-sources]
responses = false

[[operations]]
include-method = "GET"
exclude-path = "/accounts/{accountId}/outgoing-transfer-date-metadata/{transferScope}/{transferScheme}"
[operations.phases.coverage.checks.positive_data_acceptance]
enabled = true
expected-statuses = ["2xx", 404, 422]
`;

function run(
  command: string,
  configFile: string,
  documentFile: string,
  target: { readonly url: string; readonly token: string; readonly directory: string },
): Promise<number> {
  const keptReport = process.argv.includes('--report') ? resolve(process.argv.at(-1) ?? '.') : undefined;
  const child = spawn(
    command,
    [
      '--config-file',
      configFile,
      'run',
      documentFile,
      '--url',
      target.url,
      '--phases',
      'examples,coverage,fuzzing,stateful',
      '--report',
      keptReport === undefined ? 'junit' : 'junit,ndjson',
      '--report-junit-path',
      join(target.directory, 'report.xml'),
      ...(keptReport === undefined ? [] : ['--report-ndjson-path', join(keptReport, 'contract-test.ndjson')]),
      '--no-color',
    ],
    {
      cwd: target.directory,
      env: { ...process.env, CONTRACT_TEST_TOKEN: target.token, PYTHONDONTWRITEBYTECODE: '1' },
      stdio: ['ignore', 'inherit', 'inherit'],
      timeout: TIME_LIMIT_MS,
    },
  );
  return new Promise((settle, reject) => {
    child.once('error', reject);
    child.once('close', (code) => settle(code ?? 1));
  });
}

/** One test for every operation of the document and one for the sequences of calls, as the report counts them. */
function readCounts(reportFile: string, exitCode: number): Counts {
  if (!existsSync(reportFile)) throw new Error(`Schemathesis ended with exit code ${exitCode} and left no report.`);
  const report = readFileSync(reportFile, 'utf8');
  const whole = /<testsuites[^>]*>/.exec(report)?.[0] ?? '';
  const [tests, failures, errors] = ['tests', 'failures', 'errors'].map((name) =>
    Number(new RegExp(`\\b${name}="(\\d+)"`).exec(whole)?.[1] ?? Number.NaN),
  );
  if (tests === undefined || failures === undefined || errors === undefined || !Number.isInteger(tests)) {
    throw new Error(`The report of the contract test has no counts: ${whole}`);
  }
  const failed = Math.max(failures + errors, exitCode === 0 ? 0 : 1);
  return { passed: Math.max(0, tests - failed), failed };
}

function finish({ passed, failed }: Counts): void {
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

function say(line: string): void {
  console.log(line);
}

main().catch((error: unknown) => {
  console.log(`The contract test could not run: ${describeFailure(error)}`);
  finish({ passed: 0, failed: 1 });
});
