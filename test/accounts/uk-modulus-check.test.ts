import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

/** Rows of the published test cases: 107999 takes 88837491 and rejects 88837493; 309070 has a second chance. */
const WEIGHTS = [
  '102400 107999 MOD11    0    0    0    0    0    0    8    7    6    5    4    3    2    1',
  '309001 309633 MOD11    0    0    3    2    9    8    5    7    6    5    4    3    2    1   2',
  '309001 309633 MOD11    0    0    3    2    9    8    1    7    6    5    4    3    2    1   9',
];
const GOOD = { country: 'GB', currency: 'GBP', accountNumber: '88837491', routingCodes: { 'sort-code': '10-79-99' } };
const BAD = { ...GOOD, accountNumber: '88837493' };
const BAD_IBAN = { country: 'GB', currency: 'GBP', iban: 'GB21 BARC 1079 9988 8374 93' };
const UNKNOWN_SORT_CODE = { ...BAD, routingCodes: { 'sort-code': '040075' } };

const folder = mkdtempSync(join(tmpdir(), 'modulus-'));
let database: TestDatabase;
let plain: TestApi;
let rejecting: TestApi;
let warning: TestApi;
let client: string;

beforeAll(async () => {
  database = await createTestDatabase('uk-modulus-check');
  writeFileSync(join(folder, 'valacdos.txt'), WEIGHTS.join('\r\n'));
  writeFileSync(join(folder, 'scsubtab.txt'), '938173 938017\r\n');
  const configured = (onFailure: string) => {
    const file = join(folder, `${onFailure}.json`);
    const modulusCheck = { weightsFile: 'valacdos.txt', substitutionsFile: 'scsubtab.txt', onFailure };
    writeFileSync(file, JSON.stringify({ modulusCheck }));
    return { CONFIG_FILE: file };
  };
  plain = await startApi(database);
  const { users } = plain;
  rejecting = await startApi(database, { env: configured('reject'), users });
  warning = await startApi(database, { env: configured('warn'), users });
  const identity = { type: 'individual', givenName: 'Ada', familyName: 'Lovelace' };
  const profile = { identityType: 'individual', residentialAddress: { country: 'GB' } };
  const { body } = await plain.call('POST', '/clients', {
    workflow: { code: 'direct' },
    data: { client: { identity, profile } },
  });
  client = body.data.client.id;
});

afterAll(async () => {
  for (const api of [plain, rejecting, warning]) await api?.stop();
  await database?.drop();
  rmSync(folder, { recursive: true });
});

function beneficiary(api: TestApi, ...bankAccounts: Json[]): Promise<ApiResponse> {
  const data = { beneficiary: { clientId: client, fullName: 'Grace Hopper', bankAccounts } };
  return api.call('POST', '/beneficiaries', { workflow: { code: 'direct' }, data });
}

async function paths(): Promise<{ accounts: string; account: string }> {
  const answer = await beneficiary(plain, GOOD);
  expect(answer.status, answer.text).toBe(201);
  const { id, bankAccounts } = answer.body.data.beneficiary;
  const accounts = `/beneficiaries/${id}/bank-accounts`;
  return { accounts, account: `${accounts}/${bankAccounts[0].id}` };
}

const sent = (beneficiaryBankAccount: Json) => ({ workflow: { code: 'direct' }, data: { beneficiaryBankAccount } });

function named(answer: ApiResponse): string[] {
  expect(answer.status, answer.text).toBe(400);
  const problems = [answer.body, ...(answer.body.errors ?? [])];
  expect(new Set(problems.map(({ code }: Json) => code))).toEqual(new Set(['common.validation.field_invalid']));
  return problems.map(({ messageParameters: [entity, field] }: Json) => `${entity}.${field}`);
}

test('without a table every UK account number is presumed valid', async () => {
  const answer = await beneficiary(plain, BAD, BAD_IBAN);
  expect([answer.status, answer.body.metadata]).toEqual([201, {}]);
});

describe('with a table that rejects', () => {
  test('a number that cannot exist at its sort code is 400 naming the field, every one at once, and nothing is kept', async () => {
    const before = await plain.database.statement('select id from beneficiaries', []);
    expect(named(await beneficiary(rejecting, GOOD, BAD, BAD_IBAN))).toEqual([
      'beneficiary.bankAccounts.1.accountNumber',
      'beneficiary.bankAccounts.2.iban',
    ]);
    expect(await plain.database.statement('select id from beneficiaries', [])).toHaveLength(before.length);
  });

  test('good numbers, sort codes that the table does not cover and accounts elsewhere pass', async () => {
    const second = { ...GOOD, accountNumber: '12345668', routingCodes: { 'sort-code': '309070' } };
    expect((await beneficiary(rejecting, GOOD, second, UNKNOWN_SORT_CODE)).status).toBe(201);
    const euro = { country: 'DE', currency: 'EUR', iban: 'DE89370400440532013000' };
    expect((await beneficiary(rejecting, euro)).status).toBe(201);
  });

  test('accounts that are added or changed later are checked too', async () => {
    const { accounts, account } = await paths();
    expect(named(await rejecting.call('POST', accounts, sent(BAD)))).toEqual(['beneficiaryBankAccount.accountNumber']);
    expect((await rejecting.call('POST', accounts, sent({ ...GOOD, alias: 'second' }))).status).toBe(201);
    const change = { accountNumber: BAD.accountNumber };
    expect(named(await rejecting.call('PATCH', account, sent(change)))).toEqual([
      'beneficiaryBankAccount.accountNumber',
    ]);
    const { body } = await plain.call('GET', account);
    expect(body.data.beneficiaryBankAccount.accountNumber).toBe(GOOD.accountNumber);
  });

  test('an account kept before there was a table can still be renamed', async () => {
    const { body } = await beneficiary(plain, BAD);
    const { id, bankAccounts } = body.data.beneficiary;
    const path = `/beneficiaries/${id}/bank-accounts/${bankAccounts[0].id}`;
    expect((await rejecting.call('PATCH', path, sent({ alias: 'Wages' }))).status).toBe(200);
  });
});

test('with a table that warns the account is kept and the answer says what is wrong', async () => {
  const answer = await beneficiary(warning, GOOD, BAD);
  expect(answer.status, answer.text).toBe(201);
  expect(answer.body.metadata.warnings).toEqual([
    {
      code: 'common.validation.field_invalid',
      message: 'The account number cannot exist at its sort code: the modulus check fails.',
      messageParameters: ['beneficiary', 'bankAccounts.1.accountNumber', '88837493'],
    },
  ]);
  expect((await beneficiary(warning, GOOD)).body.metadata).toEqual({});
  const { accounts, account } = await paths();
  const added = await warning.call('POST', accounts, sent({ ...BAD_IBAN, alias: 'x' }));
  expect([added.status, added.body.metadata.warnings[0].messageParameters[1]]).toEqual([201, 'iban']);
  const changed = await warning.call('PATCH', account, sent({ accountNumber: BAD.accountNumber }));
  expect([changed.status, changed.body.metadata.warnings[0].messageParameters[1]]).toEqual([200, 'accountNumber']);
});
