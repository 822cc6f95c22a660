import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateSource } from 'oazapfts';
import * as v from 'valibot';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readEndpoints } from '../../cli/common/endpoints.ts';
import { createClient } from '../../client/index.ts';
import { createSandbox } from '../../client/sandbox.ts';
import { openAccount, pay, payIn } from '../../dev/demo/demo-steps.ts';
import { developmentToken } from '../../dev/start/development-users.ts';
import {
  newServiceInstallation,
  removeServiceInstallation,
  type ServiceInstallation,
  startService,
} from '../harness/servers/started-service.ts';

const PROJECT_DIRECTORY = fileURLToPath(new URL('../..', import.meta.url));
const MODULES = join(PROJECT_DIRECTORY, 'node_modules');

/** Strict, as a caller's project would be. */
const COMPILER_OPTIONS = {
  target: 'ES2022',
  module: 'NodeNext',
  types: ['node'],
  strict: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  noEmit: true,
};

let installation: ServiceInstallation;
let directory: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'generated-client-'));
  installation = await newServiceInstallation();
  await startService(installation);
});

afterAll(async () => {
  if (installation !== undefined) await removeServiceInstallation(installation);
  rmSync(directory, { recursive: true, force: true });
});

test('a strict TypeScript client generated from the served document compiles, and does the main job of the demo', async () => {
  const document = join(directory, 'openapi.json');
  writeFileSync(document, await (await fetch(`${installation.apiUrl}/openapi.json`)).text());
  writeFileSync(join(directory, 'client.ts'), await generateSource(document));
  copyFileSync(join(PROJECT_DIRECTORY, 'test/openapi/main-job.ts'), join(directory, 'main-job.ts'));
  writeFileSync(
    join(directory, 'package.json'),
    JSON.stringify({ type: 'module', imports: { '#client': './client.ts' } }),
  );
  writeFileSync(
    join(directory, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: COMPILER_OPTIONS, files: ['main-job.ts'] }),
  );
  symlinkSync(MODULES, join(directory, 'node_modules'));

  const compiled = await run({}, directory, join(MODULES, 'typescript/bin/tsc'), '--project', directory);
  expect(compiled).toEqual({ exitCode: 0, output: '' });

  const token = await developmentToken(installation.dataDirectory, readEndpoints(installation.dataDirectory), {
    now: new Date(),
  });
  const job = join(directory, 'main-job.ts');
  const done = await run({}, directory, '--import', 'tsx', job, installation.apiUrl, installation.sandboxUrl, token);
  expect(done.exitCode, done.output).toBe(0);
  expect(JSON.parse(done.output)).toEqual({
    internal: 'completed',
    external: 'completed',
    balances: [250, 209.5, 189.51],
  });
});

test('the client does the first hour of its example: funds, a payment, its webhook, a rejection, a list', async () => {
  const users: unknown = JSON.parse(readFileSync(join(installation.dataDirectory, 'development-users.json'), 'utf8'));
  const [user] = v.parse(v.array(v.looseObject({ id: v.string(), keyId: v.string(), privateKey: v.unknown() })), users);
  const done = await run(
    {
      API_URL: installation.apiUrl,
      SANDBOX_URL: installation.sandboxUrl,
      AUDIENCE: readEndpoints(installation.dataDirectory).audience,
      MACHINE_USER: user?.id,
      KEY_ID: user?.keyId,
      PRIVATE_KEY: JSON.stringify(user?.privateKey),
    },
    PROJECT_DIRECTORY,
    ...['--import', 'tsx', 'client/examples/first-hour.ts'],
  );
  expect(done.exitCode, done.output).toBe(0);
  expect(done.output).toMatch(/^Paid 19.99 GBP at .*\nRejected: .*\n.* 250\n.* 230.01\n$/);
  const example = readFileSync(join(PROJECT_DIRECTORY, 'client/examples/first-hour.ts'), 'utf8');
  expect(example.split('\n').filter((line) => !/^\s*(\/\/.*)?$/.test(line)).length).toBeLessThanOrEqual(60);
});

test('the client pulls the levers of the sandbox: payments, accounts and the clock', async () => {
  const endpoints = readEndpoints(installation.dataDirectory);
  const token = () => developmentToken(installation.dataDirectory, endpoints, { now: new Date() });
  const service = createClient({ baseUrl: installation.apiUrl, token });
  const sandbox = createSandbox({ baseUrl: installation.sandboxUrl });
  const account = await openAccount(service, 'Emmy', 'Noether');
  await payIn(service, sandbox, account, 100);
  const money = { amount: 5, currency: 'GBP', scheme: 'faster-payments', iban: account.iban ?? '' };
  const { paymentId } = await sandbox.payIn({ ...money, hold: true });
  await sandbox.releasePaymentIn(paymentId);
  const beneficiary = await service.beneficiaries.create({
    clientId: account.clientId,
    identity: { type: 'corporate', legalName: 'Brook Lane Bakery Ltd' },
    bankAccounts: [
      { country: 'GB', currency: 'GBP', accountNumber: '31926819', routingCodes: { 'sort-code': '601613' } },
    ],
  });
  const beneficiaryBankAccountId = beneficiary.bankAccounts[0]?.id ?? '';
  // The bank leaves a payment of this amount open.
  const open = async () => {
    const destination = { type: 'beneficiary-bank-account', beneficiaryBankAccountId } as const;
    const sent = await pay(service, account, 1.1, { scope: 'external', scheme: 'faster-payments', destination });
    return service.outgoingTransfers.waitFor(sent, 'released');
  };
  const settled = await open();
  await sandbox.settle(settled.id);
  expect(await service.outgoingTransfers.waitFor(settled, 'completed')).toMatchObject({ returned: false });
  await sandbox.returnPayment(settled.id, { code: 'AC06' });
  const rejected = await open();
  await sandbox.reject(rejected.id, { code: 'AC07' });
  expect(await service.outgoingTransfers.waitFor(rejected, 'failed')).toMatchObject({ id: rejected.id });
  await sandbox.moveAccount(account.id, 'suspended');
  await service.accounts.waitFor(account, 'suspended');
  const before = await sandbox.now();
  const moved = await sandbox.moveClock({ advanceTo: new Date(before.getTime() + 3_600_000) });
  expect(moved.getTime() - before.getTime()).toBeGreaterThanOrEqual(3_600_000);
  await expect(sandbox.settle(randomUUID())).rejects.toMatchObject({ code: 'not-found', status: 404 });
});

test('the demo does its steps', async () => {
  const done = await run({}, PROJECT_DIRECTORY, '--import', 'tsx', 'dev/demo.ts');
  expect(done.exitCode, done.output).toBe(0);
  const lines = [/Grace Hopper: matched/, /Ada: has 250 GBP/, / GBP, paid in to /, /[0-9a-f]{12}: rejected, /];
  for (const line of lines) expect(done.output).toMatch(line);
});

test('the demo does its main job through the bank that takes files', async () => {
  const done = await run({}, PROJECT_DIRECTORY, '--import', 'tsx', 'dev/demo.ts', '--bank', 'files');
  expect(done.exitCode, done.output).toBe(0);
  const parts = ['Ada: has 250 GBP', ': completed', 'Ada: has 230.01 GBP', 'to the bank    pain.001.001.09: pain001-'];
  const files = ['from the bank  camt.054.001.08: ', 'from the bank  pain.002.001.10: '];
  for (const part of [...parts, ...files, ' outgoing-transfer-completed ']) expect(done.output).toContain(part);
});

/** Runs Node, and gives everything that it printed. */
async function run(
  environment: NodeJS.ProcessEnv,
  cwd: string,
  ...nodeArguments: readonly string[]
): Promise<{ exitCode: number | null; output: string }> {
  const env = { ...installation.environment, ...environment };
  const child = spawn(process.execPath, [...nodeArguments], { cwd, env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { exitCode, output };
}
