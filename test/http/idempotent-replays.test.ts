import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import {
  PAYMENT,
  REDIRECT_URI,
  signed,
  type ThirdParty,
  type ThirdPartyWorld,
  thirdPartyWorld,
} from '../harness/parties/third-parties.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

// A caller repeats a request whose answer was lost. By then the clock, the configuration or another row may reject it: the
// repetition gets the first answer all the same, and only another key the rejection.

/** Fails the check of `WEIGHTS` only. */
const BANK_ACCOUNT = {
  country: 'GB',
  currency: 'GBP',
  accountNumber: '88837493',
  routingCodes: { 'sort-code': '10-79-99' },
};
const WEIGHTS = '102400 107999 MOD11    0    0    0    0    0    0    8    7    6    5    4    3    2    1';

const folder = mkdtempSync(join(tmpdir(), 'replays-'));
let database: TestDatabase;
let before: TestApi;
/** The same service after a restart: without providers and loopback redirects, with a table of UK account numbers. */
let after: TestApi;
let parties: { readonly before: ThirdPartyWorld; readonly after: ThirdPartyWorld };
let party: ThirdParty;
let clientId: string;
let offset = '0';

beforeAll(async () => {
  database = await createTestDatabase('idempotent-replays');
  writeFileSync(join(folder, 'valacdos.txt'), WEIGHTS);
  writeFileSync(join(folder, 'scsubtab.txt'), '938173 938017\r\n');
  const modulusCheck = { weightsFile: 'valacdos.txt', substitutionsFile: 'scsubtab.txt', onFailure: 'reject' };
  writeFileSync(join(folder, 'changed.json'), JSON.stringify({ modulusCheck }));
  const clockOffset = () => offset;
  before = await startApi(database, { clockOffset });
  after = await startApi(database, {
    clockOffset,
    users: before.users,
    env: { CONFIG_FILE: join(folder, 'changed.json') },
    configuration: (loaded) => ({ ...loaded, providers: [], openBanking: { allowLoopbackRedirects: false } }),
  });
  parties = { before: thirdPartyWorld(before), after: thirdPartyWorld(after) };
  party = await parties.before.thirdParty();
  const identity = { type: 'individual', givenName: 'Ada', familyName: 'Lovelace' };
  const profile = { identityType: 'individual', residentialAddress: { country: 'GB' } };
  clientId = (await made('/clients', { client: { identity, profile } })).body.data.client.id;
});

afterAll(async () => {
  for (const api of [before, after]) await api?.stop();
  await database?.drop();
  rmSync(folder, { recursive: true });
});

async function made(path: string, data: Json): Promise<ApiResponse> {
  const answer = await before.call('POST', path, { workflow: { code: 'direct' }, data });
  expect(answer.status, answer.text).toBe(201);
  return answer;
}

type Send = (api: TestApi, key: string) => Promise<ApiResponse>;

/** The request sent before the restart; then under the same key, which repeats the answer, and under another, which rejects. */
async function expectReplay(send: Send, [status, code]: [number, string]): Promise<void> {
  const first = await send(before, 'lost answer');
  expect([first.status, first.headers.get('x-idempotency-status')], first.text).toEqual([201, 'processed']);
  const again = await send(after, 'lost answer');
  expect([again.status, again.text]).toEqual([201, first.text]);
  expect(again.headers.get('x-idempotency-status')).toBe('replayed');
  const rejected = await send(after, 'another key');
  expect([rejected.status, rejected.body.code]).toEqual([status, code]);
  // What was rejected has left no answer under its key.
  const other = await send(before, 'another key');
  expect([other.status, other.headers.get('x-idempotency-status')], other.text).toEqual([201, 'processed']);
}

test('an account is repeated under its key after its provider has left the configuration', async () => {
  const body = { workflow: { code: 'client.issuing' }, data: { account: { clientId, currency: 'GBP' } } };
  await expectReplay((api, key) => api.call('POST', '/accounts', body, { key }), [422, 'connect.offer.unavailable']);
});

test('a beneficiary and a bank account are repeated under their keys after a table of account numbers was added', async () => {
  const fullName = 'Grace Hopper';
  const rejected: [number, string] = [400, 'common.validation.field_invalid'];
  const beneficiary = { clientId, fullName, bankAccounts: [BANK_ACCOUNT] };
  const body = { workflow: { code: 'direct' }, data: { beneficiary } };
  await expectReplay((api, key) => api.call('POST', '/beneficiaries', body, { key }), rejected);

  const { id } = (await made('/beneficiaries', { beneficiary })).body.data.beneficiary;
  const another = { workflow: { code: 'direct' }, data: { beneficiaryBankAccount: BANK_ACCOUNT } };
  const path = `/beneficiaries/${id}/bank-accounts`;
  await expectReplay((api, key) => api.call('POST', path, another, { key }), rejected);
});

test('a third party is repeated under its key after loopback redirects are no longer allowed', async () => {
  const thirdPartyProvider = parties.before.registration({ redirectUris: ['http://127.0.0.1:8080/callback'] });
  const body = { workflow: { code: 'direct' }, data: { thirdPartyProvider } };
  await expectReplay(
    (api, key) => api.call('POST', '/third-party-providers', body, { as: 'admin', key }),
    [400, 'common.validation.field_invalid'],
  );
});

/** A third party's request, with a bearer of its own each time. */
const consent = (asking: ThirdParty, content: Json): Send => {
  const body = parties.before.consentBody(content);
  return async (api, key) => {
    const world = api === before ? parties.before : parties.after;
    return world.call('POST', '/open-banking/GB/consents', await signed(asking), body, key);
  };
};

test('a consent request is repeated under its key after the time at which it is to be paid', async () => {
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 19);
  const content = { ...PAYMENT, paymentType: 'scheduled', requestedExecutionDateTime: tomorrow };
  const send = consent(party, content);
  await expectReplay(
    async (api, key) => {
      offset = api === after ? '2 days' : '0';
      return send(api, key).finally(() => {
        offset = '0';
      });
    },
    [400, 'common.validation.field_invalid'],
  );
});

test('a consent request is repeated under its key after a table of account numbers was added', async () => {
  const creditorAccount = { ...PAYMENT.creditorAccount, identification: '10799988837493' };
  const send = consent(await parties.before.thirdParty(), { ...PAYMENT, creditorAccount });
  await expectReplay(send, [400, 'common.validation.field_invalid']);
});

test('a consent request is repeated under its key after the third party has given up the redirect address', async () => {
  const asking = await parties.before.thirdParty();
  const send = consent(asking, { scope: 'accounts' });
  await expectReplay(
    async (api, key) => {
      const redirectUris = api === before ? [REDIRECT_URI] : ['https://app.budgets.example/new'];
      expect((await parties.before.change(asking.id, { redirectUris })).status).toBe(200);
      return send(api, key);
    },
    [422, 'third_party_provider.redirect_uri.not_registered'],
  );
});
