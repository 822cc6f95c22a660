import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSandboxBank } from '../../activities/providers/sandbox-bank.ts';
import type { Json } from '../harness/api.ts';
import {
  type CallbackReceiver,
  eventually,
  type RunningSandbox,
  SANDBOX_SECRET,
  startCallbackReceiver,
  startSandbox,
  temporaryDirectory,
} from '../harness/servers/sandbox.ts';

const directory = temporaryDirectory();
let receiver: CallbackReceiver;
let sandbox: RunningSandbox;

beforeAll(async () => {
  receiver = await startCallbackReceiver();
  sandbox = await startSandbox({ directory: directory.path, callbackUrl: receiver.url });
});

afterAll(async () => {
  await sandbox?.stop();
  await receiver?.close();
  directory.remove();
});

async function call(method: string, path: string, body?: Json): Promise<{ status: number; body: Json }> {
  const response = await fetch(`${sandbox.url}${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

const CLIENT = { identity: { type: 'corporate', legalName: 'Hilbert Spaces GmbH' }, address: { country: 'DE' } };
const BENEFICIARY = { fullName: 'David Hilbert', bankAccounts: [] };

test('what the operator wrote outlives a kill, and every sandbox has the ready-made ones', async () => {
  const made = await call('POST', '/bank/existing-clients', { sourceId: 'A-1', ...CLIENT });
  expect(made.status).toBe(201);
  const owned = { sourceId: 'B-1', clientSourceId: 'A-1', ...BENEFICIARY };
  const beneficiary = await call('POST', '/bank/existing-beneficiaries', owned);
  expect(beneficiary.body).toMatchObject({ sourceId: 'B-1', clientReference: made.body.reference });
  await sandbox.kill();
  sandbox = await startSandbox({ directory: directory.path, callbackUrl: receiver.url });
  expect((await call('GET', '/bank/existing-clients/A-1')).body).toEqual(made.body);
  expect((await call('GET', '/bank/existing-beneficiaries/B-1')).body).toEqual(beneficiary.body);
  const { clients } = (await call('GET', '/bank/existing-clients')).body;
  const ids = clients.map(({ sourceId }: Json) => sourceId);
  expect(ids).toEqual(expect.arrayContaining(['client-individual', 'client-corporate', 'A-1']));
});

test('a source id is given once, ready-made ones included', async () => {
  await call('POST', '/bank/existing-clients', { sourceId: 'A-2', ...CLIENT });
  for (const sourceId of ['A-2', 'client-individual']) {
    expect((await call('POST', '/bank/existing-clients', { sourceId, ...CLIENT })).status).toBe(409);
  }
  const owned = { sourceId: 'beneficiary-individual', clientSourceId: 'A-2', ...BENEFICIARY };
  expect((await call('POST', '/bank/existing-beneficiaries', owned)).status).toBe(409);
});

test('a wrong request is 400 and names the field', async () => {
  const rejectedField = async (path: string, body: Json) => {
    const answer = await call('POST', path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(400);
    return answer.body.error.attributes.field;
  };
  expect(await rejectedField('/bank/existing-clients', CLIENT)).toBe('sourceId');
  expect(await rejectedField('/bank/existing-clients', { sourceId: 'A-3', ...CLIENT, profile: {} })).toBe('profile');
  expect(await rejectedField('/bank/existing-clients', { sourceId: 'A-3', ...CLIENT, status: 'asleep' })).toBe(
    'status',
  );
  const path = '/bank/existing-beneficiaries';
  expect(await rejectedField(path, { sourceId: 'B-3', ...BENEFICIARY })).toBe('clientSourceId');
  const owner = { clientSourceId: 'unknown' };
  expect(await rejectedField(path, { sourceId: 'B-3', ...BENEFICIARY, ...owner })).toBe('clientSourceId');
  const both = { clientSourceId: 'client-individual', clientReference: 'SBC-client-individual' };
  expect(await rejectedField(path, { sourceId: 'B-3', ...BENEFICIARY, ...both })).toBe('clientSourceId');
  expect(await rejectedField(path, { sourceId: 'B-3', ...BENEFICIARY, clientReference: 'none' })).toBe(
    'clientReference',
  );
});

test('an existing client opens accounts, and the name directory knows its kind', async () => {
  const bank = createSandboxBank({ url: sandbox.url, secret: SANDBOX_SECRET });
  const accountId = randomUUID();
  const wanted = {
    accountId,
    clientReference: 'SBC-client-corporate',
    accountHolderName: 'Analytical Engines Ltd',
    alias: 'Main',
    currency: 'GBP',
    country: 'GB',
  };
  expect(await bank.openAccount(wanted, {})).toMatchObject({ outcome: 'accepted' });
  const opened = await eventually('the account is open', async () => {
    const found = await bank.lookUpAccount(accountId, {});
    return found.outcome === 'opened' ? found : undefined;
  });
  const check = await call('POST', '/directory/name-checks', {
    accountType: 'PERSONAL',
    name: 'Analytical Engines Ltd',
    sortCode: opened.routingCodes['sort-code'],
    accountNumber: opened.accountNumber,
  });
  expect(check.body).toMatchObject({ matched: false, reasonCode: 'BANM' });
});

describe('an account that is older than the service', () => {
  const account = { currency: 'GBP', country: 'GB', balance: 10, clientSourceId: 'client-corporate' };
  const number = { accountNumber: '80000001', routingCodes: { 'sort-code': '04-00-75' } };
  const payIn = (amount: number, change: Json = {}) =>
    call('POST', '/bank/payments-in', { amount, currency: 'GBP', scheme: 'chaps', ...number, ...change });
  const handOver = (sourceId: string, ourReference: string) =>
    call('POST', `/bank/existing-accounts/${sourceId}/hand-over`, { ourReference, alias: 'Old' });

  test('is not handed over while it is overdrawn', async () => {
    const overdrawn = { ...account, sourceId: 'K-0', balance: -0.01, accountNumber: '80000000' };
    expect((await call('POST', '/bank/existing-accounts', overdrawn)).status).toBe(201);
    const rejected = { status: 422, body: { error: { category: 'functional', code: 'account-overdrawn' } } };
    expect(await handOver('K-0', randomUUID())).toMatchObject(rejected);
    expect((await call('GET', '/bank/existing-accounts/K-0')).body).toMatchObject({ ourReference: null });
  });

  test('is handed over once, with the balance of that instant, also after a kill', async () => {
    expect((await call('POST', '/bank/existing-accounts', { sourceId: 'K-1', ...account, ...number })).status).toBe(
      201,
    );
    expect((await payIn(5)).status).toBe(201);
    expect((await payIn(5, { hold: true })).status).toBe(400);
    const ourReference = randomUUID();
    const first = await handOver('K-1', ourReference);
    expect(first).toMatchObject({ status: 200, body: { ourReference, balance: 15 } });
    await payIn(7);
    await sandbox.kill();
    sandbox = await startSandbox({ directory: directory.path, callbackUrl: receiver.url });
    expect((await handOver('K-1', randomUUID())).body).toEqual(first.body);
    const { entries } = (await call('GET', `/bank/statement?account=${ourReference}`)).body;
    expect(entries.map(({ kind, direction, amount }: Json) => [kind, direction, amount])).toEqual([
      ['opening-balance', 'credit', 15],
      ['payment-in', 'credit', 7],
    ]);
    const { accounts } = (await call('GET', '/bank/existing-accounts')).body;
    expect(accounts.filter(({ sourceId }: Json) => sourceId === 'K-1')).toMatchObject([
      { clientSourceId: 'client-corporate', currency: 'GBP', balance: 15, iban: null, accountNumber: '80000001' },
    ]);
  });

  test('needs a source id of its own, a known owner and a currency', async () => {
    const enter = async (change: Json) =>
      (await call('POST', '/bank/existing-accounts', { sourceId: 'K-2', ...account, ...change })).status;
    expect(await enter({ sourceId: 'account-individual-gbp' })).toBe(409);
    expect(await enter({ clientSourceId: 'unknown' })).toBe(400);
    expect(await enter({ clientReference: 'SBC-client-corporate' })).toBe(400);
    expect(await enter({ currency: 'XXX' })).toBe(400);
    expect(await enter({ balance: 0.001 })).toBe(400);
    expect(await enter({ unknown: 1 })).toBe(400);
  });
});
