import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { VERIFICATION_REASONS } from '../domain/beneficiary-verifications.ts';
import { freePort } from '../scripts/ports.ts';
import { type Called, type Json, startApi, type TestApi } from './harness/api.ts';
import { type ScriptedDirectory, startScriptedDirectory } from './harness/directory.ts';
import { createTestDatabase, type TestDatabase } from './harness/postgres.ts';
import {
  type CallbackReceiver,
  eventually,
  type RunningSandbox,
  startCallbackReceiver,
  startSandbox,
  temporaryDirectory,
} from './harness/sandbox.ts';

const directory = temporaryDirectory();
const logged: string[] = [];
let receiver: CallbackReceiver;
let sandbox: RunningSandbox;
let scripted: ScriptedDirectory;
let database: TestDatabase;
/** Asks the real sandbox process. */
let api: TestApi;
/** The same service, whose directory says what the test tells it to. */
let scriptedApi: TestApi;
let client: string;

beforeAll(async () => {
  receiver = await startCallbackReceiver();
  sandbox = await startSandbox({ directory: directory.path, callbackUrl: receiver.url });
  scripted = await startScriptedDirectory();
  database = await createTestDatabase('beneficiary-verifications');
  const logger = pino(
    { level: 'debug' },
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        logged.push(chunk.toString());
        done();
      },
    }),
  );
  api = await startApi(database, {
    env: { SANDBOX_URL: sandbox.url },
    logger,
    configuration: (configuration) => ({
      ...configuration,
      directories: { 'pay-uk': { ...configuration.directories['pay-uk'], timeoutMs: 5_000 } },
    }),
  });
  scriptedApi = await startApi(database, { env: { SANDBOX_URL: scripted.url }, users: api.users, logger });
  client = await newClient();
});

afterEach(async () => {
  await fetch(`${sandbox.url}/directory/faults`, { method: 'DELETE' });
});

afterAll(async () => {
  await api?.stop();
  await scriptedApi?.stop();
  await scripted?.close();
  await sandbox?.stop();
  await receiver?.close();
  await database?.drop();
  directory.remove();
});

async function newClient(): Promise<string> {
  const { body } = await api.call('POST', '/clients', {
    workflow: { code: 'direct' },
    data: {
      client: {
        identity: { type: 'individual', givenName: 'Ada', familyName: 'Lovelace' },
        profile: { identityType: 'individual', residentialAddress: { country: 'GB' } },
      },
    },
  });
  return body.data.client.id;
}

const PERSON = { type: 'individual', givenName: 'Grace', familyName: 'Hopperson' };
const COMPANY = { type: 'corporate', legalName: 'Brook Lane Bakery Ltd' };

interface Asking {
  readonly identity?: Json;
  readonly accountNumber?: string;
  readonly sortCode?: string;
  readonly beneficiary?: Json;
  readonly connect?: Json;
  readonly key?: string;
  readonly at?: TestApi;
}

function verify(asking: Asking = {}): Promise<Called> {
  const { identity = PERSON, accountNumber = '00000001', sortCode = '123456', at = api, key, connect } = asking;
  const bankAccount = { accountNumber, routingCodes: { 'sort-code': sortCode } };
  const body = {
    workflow: { code: 'client.pay-uk.cop' },
    data: { beneficiary: { clientId: client, identity, bankAccount, ...asking.beneficiary } },
    ...(connect === undefined ? {} : { connect }),
  };
  return at.call('POST', '/beneficiary-verifications', body, key === undefined ? {} : { key });
}

async function verified(asking: Asking = {}): Promise<Json> {
  const answer = await verify(asking);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.beneficiaryVerification;
}

async function stored(): Promise<Json[]> {
  return api.database.statement('select * from beneficiary_verifications order by created_at, id', []);
}

async function setFaults(faults: Json): Promise<void> {
  await fetch(`${sandbox.url}/directory/faults`, { method: 'POST', body: JSON.stringify(faults) });
}

/** An account that the sandbox bank opens for a client of its own, as its books hold it. */
async function bankAccount(identityType: string, name: string, alias = 'GBP Account'): Promise<Json> {
  const send = async (path: string, body: Json): Promise<Json> =>
    (await fetch(`${sandbox.url}/bank${path}`, { method: 'POST', body: JSON.stringify(body) })).json();
  const bankClient = await send('/clients', {
    ourReference: randomUUID(),
    identityType,
    fullName: name,
    country: 'GB',
  });
  const ourReference = randomUUID();
  await send('/accounts', {
    ourReference,
    clientReference: bankClient.reference,
    accountHolderName: name,
    alias,
    currency: 'GBP',
    country: 'GB',
  });
  return eventually('the opening', async () => {
    const account: Json = await (await fetch(`${sandbox.url}/bank/accounts/${ourReference}`)).json();
    return account.status === 'open' ? account : undefined;
  });
}

describe('the directory’s answers', () => {
  const NAME = 'Mr John Smith';
  test.each([
    ['00000001', PERSON, null, null, null],
    ['00934891', PERSON, 'ANNM', 'incorrect-account-number', null],
    ['00934892', PERSON, 'MBAM', 'close-match', NAME],
    ['00934892', COMPANY, 'MBAM', 'close-match', 'Smith Trading Ltd'],
    ['00934893', PERSON, 'BANM', 'corporate-account-name-matched', null],
    ['00934894', COMPANY, 'PANM', 'individual-account-name-matched', null],
    ['00934895', PERSON, 'BAMM', 'corporate-account-close-match', 'Smith Trading Ltd'],
    ['00934896', COMPANY, 'PAMM', 'individual-account-close-match', NAME],
    ['00934897', PERSON, 'AC01', 'incorrect-account-number', null],
    ['00934898', PERSON, 'IVCR', 'invalid-secondary-identifier', null],
    ['00934899', PERSON, 'ACNS', 'account-type-not-supported', null],
    ['00934900', PERSON, 'OPTO', 'opted-out', null],
    ['00934901', PERSON, 'CASS', 'account-switched', null],
    ['00934902', PERSON, 'SCNS', 'sort-code-not-supported', null],
  ])('%s: %o is %s, %s', async (accountNumber, identity, schemeReasonCode, reason, accountHolderName) => {
    const { attributes, result } = await verified({ identity, accountNumber });
    expect(result).toEqual({ matched: reason === null, reason, accountHolderName });
    expect(attributes).toEqual({ secondaryIdentification: null, schemeReasonCode });
  });

  test('reach every reason of the specification, and each answer is kept with who asked', async () => {
    const rows = await stored();
    expect(new Set(rows.map(({ reason }) => reason))).toEqual(new Set([null, ...VERIFICATION_REASONS]));
    expect(rows).toHaveLength(14);
    for (const row of rows) {
      expect(row).toMatchObject({ client_id: client, directory: 'pay-uk', requested_by: api.users.operator.id });
      expect(row.provider_reference).toMatch(/^SDC-/);
    }
  });

  test('show identity and bank account under both names, as they were sent and in their normal form', async () => {
    const answer = await verify({
      beneficiary: {
        bankAccount: { accountNumber: '0934891', routingCodes: { 'sort-code': '12-34-56', bic: 'SBNKGB2L' } },
        attributes: { secondaryIdentification: 'Roll 17' },
      },
      connect: { type: 'implicit' },
    });
    expect(answer.status).toBe(201);
    const bank = { accountNumber: '00934891', routingCodes: { 'sort-code': '123456', bic: 'SBNKGB2L' } };
    expect(answer.body).toEqual({
      workflow: { code: 'client.pay-uk.cop' },
      data: {
        beneficiaryVerification: {
          id: expect.any(String),
          clientId: client,
          directory: 'pay-uk',
          serviceProvider: 'sandbox-bank',
          beneficiaryIdentity: PERSON,
          identity: PERSON,
          beneficiaryBankAccount: bank,
          bankAccount: bank,
          attributes: { secondaryIdentification: 'Roll 17', schemeReasonCode: 'ANNM' },
          result: { matched: false, reason: 'incorrect-account-number', accountHolderName: null },
        },
      },
      connect: { type: 'implicit' },
      metadata: {},
    });
    expect((await stored()).at(-1)).toMatchObject({
      identity: PERSON,
      bank_account: bank,
      reason: 'incorrect-account-number',
    });
  });
});

describe('accounts of the sandbox bank', () => {
  const named = (givenName: string, familyName: string) => ({ type: 'individual', givenName, familyName });
  const company = (legalName: string) => ({ type: 'corporate', legalName });

  test.each([
    ['individual', 'Mr José O’Brien', named('Jose', "O'Brien"), null, null],
    ['individual', 'John Paul Smith', named('Smith John', 'Paul'), null, null],
    ['individual', 'Mr John Smith & Mrs Jane Smith', named('Jane', 'Smith'), null, null],
    ['individual', 'Katherine Green', named('Kate', 'Green'), 'close-match', 'Katherine Green'],
    ['individual', 'Katherine Green', named('K', 'Green'), 'close-match', 'Katherine Green'],
    ['individual', 'Katherine Green', named('Peter', 'Brown'), 'incorrect-account-number', null],
    ['corporate', 'Brook Lane Bakery Ltd', company('BROOK LANE BAKERY LIMITED'), null, null],
    ['corporate', 'Brook Lane Bakery Ltd', company('Brook Lane Bakery'), 'close-match', 'Brook Lane Bakery Ltd'],
    ['corporate', 'Brook Lane Bakery Ltd', company('Hill Street Butchers Ltd'), 'incorrect-account-number', null],
    ['corporate', 'John Smith', named('John', 'Smith'), 'corporate-account-name-matched', null],
    ['corporate', 'John Smith Ltd', named('John', 'Smith'), 'corporate-account-close-match', 'John Smith Ltd'],
    ['individual', 'John Smith', company('John Smith'), 'individual-account-name-matched', null],
    ['individual', 'John Smith', company('J Smith'), 'individual-account-close-match', 'John Smith'],
  ])('%s %s, asked for as %o: %s', async (type, holder, identity, reason, accountHolderName) => {
    const { accountNumber, routingCodes } = await bankAccount(type, holder);
    const { result } = await verified({ identity, accountNumber, sortCode: routingCodes['sort-code'] });
    expect(result).toEqual({ matched: reason === null, reason, accountHolderName });
  });

  test('an account that the bank does not have, or has closed, and a sort code that nobody has', async () => {
    const account = await bankAccount('individual', 'Grace Hopperson');
    const sortCode = account.routingCodes['sort-code'];
    const asked = { accountNumber: account.accountNumber, sortCode };
    expect((await verified(asked)).result.matched).toBe(true);
    await fetch(`${sandbox.url}/bank/accounts/${account.ourReference}/changes`, {
      method: 'POST',
      body: JSON.stringify({ changeReference: 'close:1', kind: 'close' }),
    });
    const closed = await eventually('the closing', async () => {
      const { result, attributes } = await verified(asked);
      return result.matched ? undefined : { result, attributes };
    });
    expect(closed).toMatchObject({
      result: { reason: 'incorrect-account-number', accountHolderName: null },
      attributes: { schemeReasonCode: 'AC01' },
    });
    expect((await verified({ sortCode: '999999' })).result.reason).toBe('sort-code-not-supported');
  });
});

describe('the provider that asks', () => {
  test.each([
    [undefined],
    [{}],
    [{ type: 'implicit' }],
    [{ type: 'explicit', serviceProvider: 'sandbox-bank' }],
    [{ serviceProvider: 'sandbox-bank' }],
  ])('%o is sandbox-bank', async (connect) => {
    expect((await verified(connect === undefined ? {} : { connect })).serviceProvider).toBe('sandbox-bank');
  });

  test.each([
    [{ type: 'explicit' }, 'field_required', 'serviceProvider'],
    [{ type: 'implicit', serviceProvider: 'sandbox-bank' }, 'mutually_exclusive', 'serviceProvider'],
    [{ type: 'explicit', serviceProvider: 'nobody' }, 'field_invalid', 'serviceProvider'],
    [{ type: 'explicit', serviceProvider: 'custom-bank' }, 'field_invalid', 'serviceProvider'],
    [{ type: 'somehow' }, 'field_invalid', 'type'],
    [{ method: 'built-in' }, 'field_unexpected', 'method'],
  ])('%o is refused: %s', async (connect, code, field) => {
    const { status, body } = await verify({ connect });
    expect([status, body.code]).toEqual([400, `common.validation.${code}`]);
    expect(body.messageParameters.slice(0, 2)).toEqual(['connect', field]);
  });
});

test('a service whose default provider cannot ask says so, and asks through another that is named', async () => {
  const other = await startApi(database, {
    env: { SANDBOX_URL: sandbox.url },
    users: api.users,
    configuration: (configuration) => ({
      ...configuration,
      directories: { 'pay-uk': { ...configuration.directories['pay-uk'], defaultProvider: 'custom-bank' } },
    }),
  });
  try {
    const { status, body } = await verify({ at: other });
    expect([status, ...body.messageParameters]).toEqual([400, 'connect', 'serviceProvider', 'custom-bank']);
    expect((await verified({ at: other, connect: { serviceProvider: 'sandbox-bank' } })).result.matched).toBe(true);
  } finally {
    await other.stop();
  }
});

describe('a request that is wrong', () => {
  const sortCode = { 'sort-code': '123456' };
  test.each([
    [
      { bankAccount: { accountNumber: '00934891', routingCodes: {} } },
      'field_required',
      'bankAccount.routingCodes.sort-code',
    ],
    [{ bankAccount: { accountNumber: '00934891' } }, 'field_required', 'bankAccount.routingCodes'],
    [{ bankAccount: { routingCodes: sortCode } }, 'field_required', 'bankAccount.accountNumber'],
    [
      { bankAccount: { accountNumber: '123456', routingCodes: sortCode } },
      'field_invalid',
      'bankAccount.accountNumber',
    ],
    [
      { bankAccount: { accountNumber: '12345678', routingCodes: { 'sort-code': '12345' } } },
      'field_invalid',
      'bankAccount.routingCodes.sort-code',
    ],
    [
      { bankAccount: { accountNumber: '12345678', routingCodes: { ...sortCode, bic: 'X' } } },
      'field_invalid',
      'bankAccount.routingCodes.bic',
    ],
    [
      { bankAccount: { accountNumber: '12345678', routingCodes: sortCode, iban: 'GB29NWBK60161331926819' } },
      'field_unexpected',
      'bankAccount.iban',
    ],
    [{ identity: { type: 'individual', givenName: 'Grace' } }, 'field_required', 'identity.familyName'],
    [{ identity: { type: 'corporate' } }, 'field_required', 'identity.legalName'],
    [{ identity: { type: 'corporate', legalName: ' ' } }, 'field_invalid', 'identity.legalName'],
    [{ identity: { type: 'trust', legalName: 'x' } }, 'field_invalid', 'identity.type'],
    [{ identity: null }, 'field_required', 'identity'],
    [{ clientId: 'me' }, 'field_invalid', 'clientId'],
    [
      { attributes: { secondaryIdentification: 'x'.repeat(141) } },
      'field_invalid',
      'attributes.secondaryIdentification',
    ],
    [{ fullName: 'Grace Hopperson' }, 'field_unexpected', 'fullName'],
  ])('%o: %s %s', async (beneficiary, code, field) => {
    const { status, body } = await verify({ beneficiary });
    expect([status, body.code, ...body.messageParameters.slice(0, 2)]).toEqual([
      400,
      `common.validation.${code}`,
      'beneficiary',
      field,
    ]);
  });

  test('names all its faults at once', async () => {
    const { body } = await verify({
      identity: { type: 'individual', givenName: '' },
      beneficiary: { bankAccount: { accountNumber: 'x', routingCodes: {} } },
    });
    const named = [body, ...body.errors].map(({ messageParameters }: Json) => messageParameters[1]);
    expect(named.sort()).toEqual([
      'bankAccount.accountNumber',
      'bankAccount.routingCodes.sort-code',
      'identity.familyName',
      'identity.givenName',
    ]);
  });

  test('another directory has no workflow; a client that is not there or not active is not charged', async () => {
    const before = scripted.asked;
    const unknown = await api.call('POST', '/beneficiary-verifications', {
      workflow: { code: 'client.nobody.cop' },
      data: {},
    });
    expect([unknown.status, unknown.body.code]).toEqual([400, 'common.workflow.unknown_code']);
    const absent = randomUUID();
    const foreign = await verify({ beneficiary: { clientId: absent }, at: scriptedApi });
    expect([foreign.status, foreign.body.code]).toEqual([404, 'common.coding.internal.record_not_found']);
    expect(foreign.body.messageParameters).toEqual(['beneficiary', 'clientId', absent]);
    const suspended = await newClient();
    await api.database.statement("update clients set status = 'suspended' where id = $1", [suspended]);
    const refused = await verify({ beneficiary: { clientId: suspended }, at: scriptedApi });
    expect([refused.status, refused.body.code]).toEqual([422, 'account.status.not_active']);
    expect(scripted.asked).toBe(before);
  });
});

describe('a directory that is slow or away', () => {
  async function isRefusedWithoutCharge(at: TestApi): Promise<void> {
    const before = (await stored()).length;
    const key = randomUUID();
    const { status, body, headers } = await verify({ at, key });
    expect([status, body.code]).toEqual([503, 'connect.provider.unavailable']);
    expect(body.messageParameters).toEqual(['connect', 'serviceProvider', 'sandbox-bank']);
    expect(headers.get('retry-after')).toBe('2');
    expect(await stored()).toHaveLength(before);
    await fetch(`${sandbox.url}/directory/faults`, { method: 'DELETE' });
    // The key is still free: the same request asks again.
    expect((await verified({ key })).result.matched).toBe(true);
    expect(await stored()).toHaveLength(before + 1);
  }

  test.each([[{ latencyMs: 30_000 }], [{ errorRate: 1 }], [{ cutRate: 1 }]])(
    '%o is 503, within its limit, and charged to nobody',
    async (faults) => {
      await setFaults(faults);
      await isRefusedWithoutCharge(api);
    },
  );

  test.each<[number, Json]>([
    [200, { reference: 'r', matched: false, reasonCode: 'XXXX', name: null }],
    [200, { reference: 'r', matched: true, reasonCode: 'ANNM', name: null }],
    [200, { reference: 'r', matched: false, reasonCode: null, name: null }],
    [200, { matched: 'yes' }],
    [200, 'not JSON'],
    [302, {}],
    [400, { error: {} }],
    [429, {}],
  ])('an answer %i %o, which says nothing, is 503 too', async (status, body) => {
    scripted.answer = { status, body };
    await isRefusedWithoutCharge(scriptedApi);
  });

  test('nobody at its address is 503', async () => {
    const lonely = await startApi(database, {
      env: { SANDBOX_URL: `http://127.0.0.1:${await freePort()}` },
      users: api.users,
    });
    await isRefusedWithoutCharge(lonely).finally(() => lonely.stop());
  });
});

describe('what a directory must not tell', () => {
  test('a name that it sends with anything but a close match is neither told nor kept', async () => {
    for (const reasonCode of ['ANNM', 'BANM', 'PANM', 'AC01', 'IVCR', 'ACNS', 'OPTO', 'CASS', 'SCNS']) {
      scripted.answer = { status: 200, body: { reference: 'r', matched: false, reasonCode, name: 'Real Holder' } };
      const answer = await verify({ at: scriptedApi });
      expect([answer.status, answer.text.includes('Real Holder')]).toEqual([201, false]);
    }
    scripted.answer = { status: 200, body: { reference: 'r', matched: true, reasonCode: null, name: 'Real Holder' } };
    expect((await verify({ at: scriptedApi })).text).not.toContain('Real Holder');
    expect(JSON.stringify((await stored()).map(({ account_holder_name }) => account_holder_name))).not.toContain(
      'Real',
    );
  });

  test('the database itself refuses such a name', async () => {
    const change = (assignment: string) =>
      api.database.statement(`update beneficiary_verifications set ${assignment} where reason = 'opted-out'`, []);
    await expect(change("account_holder_name = 'Real Holder'")).rejects.toThrow('beneficiary_verifications_name');
    await expect(change('matched = true')).rejects.toThrow('beneficiary_verifications_result');
  });

  test('a close match shows the name without the empty title before it, and no name that could mislead the eye', async () => {
    const shown = async (name: string | null) => {
      scripted.answer = { status: 200, body: { reference: 'r', matched: false, reasonCode: 'MBAM', name } };
      return (await verified({ at: scriptedApi })).result.accountHolderName;
    };
    expect(await shown(',,Mr John Smith')).toBe('Mr John Smith');
    expect(await shown('')).toBeNull();
    expect(await shown(null)).toBeNull();
    expect(await shown('John \u202Ehtims')).toBeNull();
  });
});

describe('the same request again', () => {
  test('is answered byte for byte without asking or charging again', async () => {
    scripted.answer = { status: 200, body: { reference: 'r', matched: false, reasonCode: 'OPTO', name: null } };
    const asked = scripted.asked;
    const rows = (await stored()).length;
    const key = randomUUID();
    const first = await verify({ at: scriptedApi, key });
    const second = await verify({ at: scriptedApi, key });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.text).toBe(first.text);
    expect(second.headers.get('x-idempotency-status')).toBe('replayed');
    expect([scripted.asked - asked, (await stored()).length - rows]).toEqual([1, 1]);
    const other = await verify({ at: scriptedApi, key, identity: COMPANY });
    expect([other.status, other.body.code]).toEqual([409, 'common.idempotency.key_reused']);
    expect(scripted.asked - asked).toBe(1);
  });

  test('sent five times at once is charged once', async () => {
    const rows = (await stored()).length;
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 5 }, () => verify({ at: scriptedApi, key })));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await stored()).length - rows).toBe(1);
  });
});

test('no name and no account number reaches a log, of the service or of the sandbox', async () => {
  const lines = `${logged.join('')}${sandbox.output()}`;
  expect(lines).toContain('directory gave no answer');
  for (const secret of [
    'Hopperson',
    'Grace',
    'Brook Lane',
    'John Smith',
    'Katherine',
    'Real Holder',
    '0093489',
    'Roll 17',
  ]) {
    expect(lines.includes(secret), secret).toBe(false);
  }
});
