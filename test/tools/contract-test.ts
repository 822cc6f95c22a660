import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createProviders } from '../../activities/providers/providers.ts';
import { ADDRESS_EXAMPLE, PASSWORD_EXAMPLE } from '../../api/users/authentications.ts';
import { hashPassword } from '../../api/users/password-hashes.ts';
import { describeFailure } from '../../cli/common/actionable-error.ts';
import { type Configuration, loadConfiguration } from '../../config/configuration.ts';
import { readEnvironment } from '../../config/environment.ts';
import { ROLES } from '../../domain/machine-users/roles.ts';
import { createTestMachineUser, startApi, TEST_AUDIENCE, type TestApi } from '../harness/api.ts';
import { ACCOUNTS, PAYMENT, PUBLIC_URL, thirdPartyWorld } from '../harness/parties/third-parties.ts';
import { createTestDatabase } from '../harness/servers/postgres.ts';
import { SANDBOX_SECRET, startSandbox } from '../harness/servers/sandbox.ts';
import { seedReconciliation } from './contract-reconciliation.ts';
import { type Document, REVIEWED, type SeededIds, seedExamples, withSeededIds } from './contract-seeds.ts';
import { PYTHON_MISSING, schemathesis } from './schemathesis.ts';

/**
 * Calls every operation of `/openapi.json` with allowed and forbidden input (Schemathesis), and fails on any
 * undocumented answer. `npm test` runs it with `--short`: the examples, and a case or two of every operation; `npm run test:long`
 * runs all of it. `--report FOLDER` keeps every call. The same document always gets the same calls.
 */

const IS_SHORT = process.argv.includes('--short');
/** The whole takes about a minute and a half on two idle cores, most of it for coverage. */
const PHASES = IS_SHORT ? 'examples,fuzzing' : 'examples,coverage,fuzzing,stateful';
/** Fuzzed cases per operation. */
const EXAMPLES_MAX = IS_SHORT ? 2 : 12;
/** A run that takes longer is stuck, and counts as failed. */
const TIME_LIMIT_MS = 900_000;

/** A decision is a caller's only where reviews are external. */
function withReviews(configuration: Configuration): Configuration {
  const external = (currency: string) => ({ rule: 'none', byCurrency: { [currency]: 'external' } }) as const;
  const compliance = { incoming: external(REVIEWED.incoming), outgoing: external(REVIEWED.outgoing) };
  return { ...configuration, compliance };
}

interface Counts {
  readonly passed: number;
  readonly failed: number;
}

async function main(): Promise<void> {
  const command = await schemathesis(say);
  if (command === null) {
    say(PYTHON_MISSING);
    // Optional on a developer's machine; in CI a skipped check counts as failed.
    finish({ passed: 0, failed: process.env.CI ? 1 : 0 });
    return;
  }
  const directory = mkdtempSync(join(tmpdir(), 'financial-accounts-contract-'));
  const database = await createTestDatabase('contract');
  // Some requests call a provider before they are answered.
  const sandbox = await startSandbox({ directory, callbackUrl: 'http://127.0.0.1:1/' });
  try {
    const env = { PUBLIC_URL, SANDBOX_URL: sandbox.url, SANDBOX_BANK_SECRET: SANDBOX_SECRET };
    const environment = readEnvironment({ ...process.env, DATABASE_URL: database.url, ...env });
    const providers = createProviders(loadConfiguration(process.env), environment);
    const api = await startApi(database, { env, providers, configuration: withReviews });
    try {
      const user = await createTestMachineUser(api.database, TEST_AUDIENCE, ROLES);
      const other = await createTestMachineUser(api.database, TEST_AUDIENCE, ROLES);
      const examples = await seedExamples(api.url, user.token, other.token);
      const seeded = { ...examples, ...(await seedReconciliation(api.database)), ...(await seedConsent(api)) };
      const { userId, ...access } = await seedThirdParty(api, seeded);
      const ids = { ...seeded, '/users/{userId}/password-reset': userId };
      const tokens = { token: user.token, ...access };
      const served: Document = JSON.parse(await (await fetch(`${api.url}/openapi.json`)).text());
      const documentFile = join(directory, 'openapi.json');
      writeFileSync(documentFile, JSON.stringify(withSeededIds(served, ids)));
      const configFile = join(directory, 'schemathesis.toml');
      writeFileSync(configFile, CONFIGURATION);
      writeFileSync(join(directory, `${HOOKS_MODULE}.py`), HOOKS);
      const exitCode = await run(command, configFile, documentFile, { url: api.url, ...tokens, directory });
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

/** A consent that waits for its answer, of a third party that an example makes inactive. */
async function seedConsent(api: TestApi): Promise<Record<string, string>> {
  const parties = thirdPartyWorld(api);
  const party = await parties.thirdParty();
  return { consents: await parties.requested(party, ACCOUNTS), 'third-party-providers': party.id };
}

/** Access tokens of a third party, by the consents of a user with a password, whom no other example makes inactive. */
async function seedThirdParty(api: TestApi, ids: SeededIds): Promise<Omit<Tokens, 'token'> & { userId: string }> {
  const parties = thirdPartyWorld(api);
  const party = await parties.thirdParty();
  const userId = await parties.user([ids.clients ?? '']);
  await api.database.reader.statement('UPDATE users SET password_hash = $1, email = $2, email_key = $2 WHERE id = $3', [
    await hashPassword(PASSWORD_EXAMPLE),
    ADDRESS_EXAMPLE,
    userId,
  ]);
  const accessTo = async (content: object) =>
    (await parties.granted(party, content, userId, [ids.accounts])).accessToken;
  return { userId, accounts: await accessTo(ACCOUNTS), payments: await accessTo(PAYMENT) };
}

interface Tokens {
  readonly token: string;
  readonly accounts: string;
  readonly payments: string;
}

// A JSON Schema cannot express every rule (an IBAN's check digits, another client's id, a balance), so 400 and 422
// are legal for schema-valid input; only examples and GET must succeed. Ids from lists are not used: one is the
// test's own machine user, which must not be revoked.
const CONFIGURATION = `
workers = 2
continue-on-failure = true
request-timeout = 30
warnings = false

[auth.openapi.machineUser]
bearer = "\${CONTRACT_TEST_TOKEN}"

[auth.openapi.accountsConsent]
bearer = "\${CONTRACT_TEST_ACCOUNTS_TOKEN}"

[auth.openapi.paymentsConsent]
bearer = "\${CONTRACT_TEST_PAYMENTS_TOKEN}"

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

# What a third party signs is good for one request. Tests of open banking check these two against their contract.
[[operations]]
include-operation-id = ["requestConsent", "exchangeConsentCode"]
enabled = false

# The example's transfer is of a bank that its caller connects, which takes no recalls; tests of payments' outcomes have those that it takes.
[[operations]]
include-path = "/outgoing-transfers/{id}/recall"
[operations.phases.examples.checks.positive_data_acceptance]
enabled = true
expected-statuses = ["2xx", 409, 422]

# A malformed item of a batch is rejected by itself, within a 201.
[[operations]]
include-path = "/outgoing-transfers/batch"
[operations.checks.negative_data_rejection]
enabled = false

[[operations]]
include-method = "GET"
# Their parameters have rules that a schema cannot express: schemes of the scope, instants in the past.
exclude-path = [
  "/accounts/{accountId}/outgoing-transfer-date-metadata/{transferScope}/{transferScheme}",
  "/accounts/{accountId}/account-statements/export",
  "/accounts/{accountId}/balances",
]
[operations.phases.coverage.checks.positive_data_acceptance]
enabled = true
expected-statuses = ["2xx", 404, 422]
`;

const HOOKS_MODULE = 'contract_test_hooks';

// Python counts the depth of the syntax tree that it builds once for all threads (CPython issue 106905), so that two workers
// that parse at the same moment can fail with "AST constructor recursion depth mismatch".
const HOOKS = `
import ast
import threading

parse_unguarded = ast.parse
one_at_a_time = threading.RLock()


def parse(*arguments, **options):
    with one_at_a_time:
        return parse_unguarded(*arguments, **options)


ast.parse = parse
`;

function run(
  command: string,
  configFile: string,
  documentFile: string,
  target: Tokens & { readonly url: string; readonly directory: string },
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
      PHASES,
      '--report',
      keptReport === undefined ? 'junit' : 'junit,ndjson',
      '--report-junit-path',
      join(target.directory, 'report.xml'),
      ...(keptReport === undefined ? [] : ['--report-ndjson-path', join(keptReport, 'contract-test.ndjson')]),
      '--no-color',
    ],
    {
      cwd: target.directory,
      env: {
        ...process.env,
        CONTRACT_TEST_TOKEN: target.token,
        CONTRACT_TEST_ACCOUNTS_TOKEN: target.accounts,
        CONTRACT_TEST_PAYMENTS_TOKEN: target.payments,
        SCHEMATHESIS_HOOKS: HOOKS_MODULE,
        PYTHONDONTWRITEBYTECODE: '1',
      },
      stdio: ['ignore', 'inherit', 'inherit'],
      timeout: TIME_LIMIT_MS,
    },
  );
  return new Promise((settle, reject) => {
    child.once('error', reject);
    child.once('close', (code) => settle(code ?? 1));
  });
}

/** Reads the report's counts: one test per operation, and one for call sequences. */
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
