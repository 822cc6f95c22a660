import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { VERIFICATION_REASONS } from '../../domain/beneficiaries/verifications.ts';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { moneyWorld } from '../harness/money.ts';
import { type ScriptedDirectory, startScriptedDirectory } from '../harness/parties/directory.ts';
import { COMPANY, openAtBank, PERSON, type Verifications, verificationsOf } from '../harness/parties/verifications.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import {
  type CallbackReceiver,
  eventually,
  type RunningSandbox,
  startCallbackReceiver,
  startSandbox,
  temporaryDirectory,
} from '../harness/servers/sandbox.ts';

// Specification 2.11 and 4.4, against the real sandbox process: a row is a rule.

const directory = temporaryDirectory();
let receiver: CallbackReceiver;
let sandbox: RunningSandbox;
let scripted: ScriptedDirectory;
let database: TestDatabase;
let api: TestApi;
/** The same service, with a directory that the test scripts. */
let scriptedApi: TestApi;
let client: string;
let verifications: Verifications;

beforeAll(async () => {
  receiver = await startCallbackReceiver();
  sandbox = await startSandbox({ directory: directory.path, callbackUrl: receiver.url });
  scripted = await startScriptedDirectory();
  database = await createTestDatabase('beneficiary-verifications-rules');
  api = await startApi(database, { env: { SANDBOX_URL: sandbox.url } });
  scriptedApi = await startApi(database, { env: { SANDBOX_URL: scripted.url }, users: api.users });
  client = await moneyWorld(api).client();
  verifications = verificationsOf(api, () => client);
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

describe('the directory’s answers', () => {
  const NAME = 'Mr John Smith';

  test.each([
    ['a full match', '00000001', PERSON, null, null, null],
    ['another name', '00934891', PERSON, 'ANNM', 'incorrect-account-number', null],
    ['a similar name of a person', '00934892', PERSON, 'MBAM', 'close-match', NAME],
    ['a similar name of a company', '00934892', COMPANY, 'MBAM', 'close-match', 'Smith Trading Ltd'],
    ['a person asked for, a company’s account', '00934893', PERSON, 'BANM', 'corporate-account-name-matched', null],
    ['a company asked for, a person’s account', '00934894', COMPANY, 'PANM', 'individual-account-name-matched', null],
    [
      'a similar name, a company’s account',
      '00934895',
      PERSON,
      'BAMM',
      'corporate-account-close-match',
      'Smith Trading Ltd',
    ],
    ['a similar name, a person’s account', '00934896', COMPANY, 'PAMM', 'individual-account-close-match', NAME],
    ['no such account', '00934897', PERSON, 'AC01', 'incorrect-account-number', null],
    ['another secondary identification', '00934898', PERSON, 'IVCR', 'invalid-secondary-identifier', null],
    ['an account that cannot be asked about', '00934899', PERSON, 'ACNS', 'account-type-not-supported', null],
    ['a holder who opted out', '00934900', PERSON, 'OPTO', 'opted-out', null],
    ['an account that was switched', '00934901', PERSON, 'CASS', 'account-switched', null],
    ['a bank that does not take part', '00934902', PERSON, 'SCNS', 'sort-code-not-supported', null],
  ])('%s (%s)', async (_, accountNumber, identity, schemeReasonCode, reason, accountHolderName) => {
    const { attributes, result } = await verifications.verified({ identity, accountNumber });
    // Only the three close matches reveal the holder.
    expect(result).toEqual({ matched: reason === null, reason, accountHolderName });
    expect(attributes).toEqual({ secondaryIdentification: null, identification: null, schemeReasonCode });
  });

  test('reach every reason of the specification, and each is stored with its caller and client', async () => {
    const rows = await verifications.stored();
    expect(new Set(rows.map(({ reason }) => reason))).toEqual(new Set([null, ...VERIFICATION_REASONS]));
    expect(rows).toHaveLength(14);
    for (const row of rows) {
      expect(row).toMatchObject({ client_id: client, directory: 'pay-uk', requested_by: api.users.operator.id });
      expect(row.provider_reference).toMatch(/^SDC-/);
    }
  });
});

describe('the answer', () => {
  const bank = { accountNumber: '00934891', routingCodes: { 'sort-code': '123456', bic: 'SBNKGB2L' } };
  let answer: ApiResponse;
  let verification: Json;

  beforeAll(async () => {
    answer = await verifications.verify({
      beneficiary: {
        bankAccount: { accountNumber: '0934891', routingCodes: { 'sort-code': '12-34-56', bic: 'SBNKGB2L' } },
        attributes: { secondaryIdentification: 'Roll 17' },
      },
      connect: { type: 'implicit' },
    });
    expect(answer.status, answer.text).toBe(201);
    verification = answer.body.data.beneficiaryVerification;
  });

  test.each<[rule: string, field: string, value: () => Json]>([
    ['the client charged', 'clientId', () => client],
    ['the directory', 'directory', () => 'pay-uk'],
    ['the provider that asked it', 'serviceProvider', () => 'sandbox-bank'],
    ['the identity, by the explicit sample', 'beneficiaryIdentity', () => PERSON],
    ['the identity, by the implicit sample', 'identity', () => PERSON],
    [
      'the bank account, by the explicit sample, in its normal form',
      'beneficiaryBankAccount',
      () => ({ ...bank, iban: null }),
    ],
    ['the bank account, by the implicit sample', 'bankAccount', () => ({ ...bank, iban: null })],
    [
      'the secondary identification, and the directory’s own code',
      'attributes',
      () => ({ secondaryIdentification: 'Roll 17', identification: null, schemeReasonCode: 'ANNM' }),
    ],
    [
      'the result, null where there is none',
      'result',
      () => ({ matched: false, reason: 'incorrect-account-number', accountHolderName: null }),
    ],
  ])('shows %s', (_, field, value) => {
    expect(verification[field]).toEqual(value());
  });

  test('has an id of its own, nothing more, and echoes workflow and connect', () => {
    expect(verification.id).toMatch(/^[0-9a-f-]{36}$/);
    expect(Object.keys(verification)).toHaveLength(10);
    const { workflow, connect, metadata } = answer.body;
    expect({ workflow, connect, metadata }).toEqual({
      workflow: { code: 'client.pay-uk.cop' },
      connect: { type: 'implicit' },
      metadata: {},
    });
  });

  test('is kept as it was given', async () => {
    const kept = (await verifications.stored()).find(({ id }) => id === verification.id);
    expect(kept).toMatchObject({
      client_id: client,
      identity: PERSON,
      bank_account: bank,
      secondary_identification: 'Roll 17',
      matched: false,
      reason: 'incorrect-account-number',
      scheme_reason_code: 'ANNM',
      account_holder_name: null,
    });
  });
});

describe('an account of the sandbox bank', () => {
  const named = (givenName: string, familyName: string) => ({ type: 'individual', givenName, familyName });
  const company = (legalName: string) => ({ type: 'corporate', legalName });

  test.each<[rule: string, type: string, holder: string, identity: Json, reason: string | null]>([
    ['letter case', 'individual', 'KATHERINE GREEN', named('Katherine', 'green'), null],
    ['a title', 'individual', 'Mrs Katherine Green', named('Katherine', 'Green'), null],
    ['an honour', 'individual', 'Katherine Green CBE', named('Dr Katherine', 'Green'), null],
    ['accents and apostrophes', 'individual', 'Mr José O’Brien', named('Jose', "O'Brien"), null],
    ['a ligature', 'individual', 'Æthelred Cœur', named('Aethelred', 'Coeur'), null],
    ['an umlaut as two letters', 'individual', 'Jürgen Groß', named('Juergen', 'Gross'), null],
    ['the order of the names', 'individual', 'John Paul Smith', named('Smith John', 'Paul'), 'close-match'],
    ['the order of names that no list knows', 'individual', 'Bola Tunde', named('Tunde', 'Bola'), 'close-match'],
    ['half a joint holder’s name', 'individual', 'Zdenka Olga & Jan Novak', named('Zdenka', 'Olga'), 'close-match'],
    ['one of two joint holders', 'individual', 'Mr John Smith & Mrs Jane Smith', named('Jane', 'Smith'), null],
    ['both joint holders', 'individual', 'Mr John Smith & Mrs Jane Smith', named('Jane Smith and John', 'Smith'), null],
    ['a joint holder by half a name', 'individual', 'John & Jane Smith', named('Jane', 'Smith'), null],
    ['another script', 'individual', 'Иван Петров', named('ИВАН', 'ПЕТРОВ'), null],
    ['a short form', 'individual', 'Katherine Green', named('Kate', 'Green'), 'close-match'],
    ['an initial', 'individual', 'Katherine Green', named('K', 'Green'), 'close-match'],
    ['a middle name', 'individual', 'Katherine Anne Green', named('Katherine', 'Green'), 'close-match'],
    ['a typing error', 'individual', 'Katherine Green', named('Katherine', 'Greene'), 'close-match'],
    ['father and son', 'individual', 'John Smith Jr', named('John', 'Smith'), 'close-match'],
    ['husband and wife by their initial', 'individual', 'Mrs J Smith', named('Mr J', 'Smith'), 'close-match'],
    ['names that are a name in either order', 'individual', 'Thomas James', named('James', 'Thomas'), 'close-match'],
    [
      'two holders asked for, one there',
      'individual',
      'John Smith',
      named('John Smith & Jane', 'Smith'),
      'close-match',
    ],
    ['another person', 'individual', 'Katherine Green', named('Peter', 'Brown'), 'incorrect-account-number'],
    ['another given name', 'individual', 'Paula Green', named('Paul', 'Green'), 'incorrect-account-number'],
    [
      'a way of writing the legal form',
      'corporate',
      'Brook Lane Bakery Ltd',
      company('BROOK LANE BAKERY LIMITED'),
      null,
    ],
    ['a conjunction and a full stop', 'corporate', 'Harris & Co. Ltd', company('Harris and Company Limited'), null],
    ['a trading name', 'corporate', 'Harbour Foods Ltd t/a Blue Harbour', company('Blue Harbour'), null],
    [
      'a name that trades as the holder',
      'corporate',
      'Blue Harbour',
      company('Revenue Office t/a Blue Harbour'),
      'close-match',
    ],
    ['no legal form', 'corporate', 'Brook Lane Bakery Ltd', company('Brook Lane Bakery'), 'close-match'],
    ['another legal form', 'corporate', 'Brook Lane Bakery Ltd', company('Brook Lane Bakery LLP'), 'close-match'],
    [
      'another company',
      'corporate',
      'Brook Lane Bakery Ltd',
      company('Hill Street Butchers Ltd'),
      'incorrect-account-number',
    ],
    ['another number', 'corporate', 'Studio 54 Ltd', company('Studio 55 Ltd'), 'incorrect-account-number'],
    [
      'a person at a company’s account',
      'corporate',
      'John Smith',
      named('John', 'Smith'),
      'corporate-account-name-matched',
    ],
    [
      'nearly, at a company’s account',
      'corporate',
      'John Smith Ltd',
      named('John', 'Smith'),
      'corporate-account-close-match',
    ],
    [
      'another one, at a company’s account',
      'corporate',
      'Acme Ltd',
      named('John', 'Smith'),
      'incorrect-account-number',
    ],
    [
      'a company at a person’s account',
      'individual',
      'John Smith',
      company('John Smith'),
      'individual-account-name-matched',
    ],
    ['nearly, at a person’s account', 'individual', 'John Smith', company('J Smith'), 'individual-account-close-match'],
    ['another one, at a person’s account', 'individual', 'John Smith', company('Acme Ltd'), 'incorrect-account-number'],
  ])('%s: of the %s %s', async (_, type, holder, identity, reason) => {
    const { accountNumber, routingCodes } = await openAtBank(sandbox.url, type, holder);
    const { result } = await verifications.verified({ identity, accountNumber, sortCode: routingCodes['sort-code'] });
    const accountHolderName = reason?.endsWith('close-match') ? holder : null;
    expect(result).toEqual({ matched: reason === null, reason, accountHolderName });
  });

  test('that does not exist, or is closed, and an unassigned sort code', async () => {
    const account = await openAtBank(sandbox.url, 'individual', 'Grace Hopperson');
    const sortCode = account.routingCodes['sort-code'];
    const asked = { accountNumber: account.accountNumber, sortCode };
    expect((await verifications.verified(asked)).result.matched).toBe(true);
    await fetch(`${sandbox.url}/bank/accounts/${account.ourReference}/changes`, {
      method: 'POST',
      body: JSON.stringify({ changeReference: 'close:1', kind: 'close' }),
    });
    const closed = await eventually('the closing', async () => {
      const { result, attributes } = await verifications.verified(asked);
      return result.matched ? undefined : { result, attributes };
    });
    expect(closed).toMatchObject({
      result: { reason: 'incorrect-account-number', accountHolderName: null },
      attributes: { schemeReasonCode: 'AC01' },
    });
    expect((await verifications.verified({ sortCode: '999999' })).result.reason).toBe('sort-code-not-supported');
  });
});

describe('the provider that asks', () => {
  test.each([
    ['the default, with no connect', undefined],
    ['the default, with an empty connect', {}],
    ['the default, implicit', { type: 'implicit' }],
    ['the one that is named, explicit', { type: 'explicit', serviceProvider: 'sandbox-bank' }],
    ['the one that is named', { serviceProvider: 'sandbox-bank' }],
  ])('is %s', async (_, connect) => {
    const { serviceProvider } = await verifications.verified(connect === undefined ? {} : { connect });
    expect(serviceProvider).toBe('sandbox-bank');
  });

  test.each([
    ['explicit and not named', { type: 'explicit' }, 'field_required', 'serviceProvider'],
    [
      'implicit and named',
      { type: 'implicit', serviceProvider: 'sandbox-bank' },
      'mutually_exclusive',
      'serviceProvider',
    ],
    ['one that there is not', { type: 'explicit', serviceProvider: 'unknown' }, 'field_invalid', 'serviceProvider'],
    [
      'one that has no directory',
      { type: 'explicit', serviceProvider: 'custom-bank' },
      'field_invalid',
      'serviceProvider',
    ],
    ['another type', { type: 'somehow' }, 'field_invalid', 'type'],
    ['a method, which accounts have', { method: 'built-in' }, 'field_unexpected', 'method'],
  ])('is not %s', async (_, connect, code, field) => {
    const { status, body } = await verifications.verify({ connect });
    expect([status, body.code]).toEqual([400, `common.validation.${code}`]);
    expect(body.messageParameters.slice(0, 2)).toEqual(['connect', field]);
  });

  test('a connect that contradicts itself is named with everything else that is wrong', async () => {
    const connect = { type: 'implicit', serviceProvider: 'sandbox-bank' };
    const { status, body } = await verifications.verify({ connect, beneficiary: { clientId: 'x' } });
    const fields = [body, ...body.errors].map(({ messageParameters: [entity, field] }: Json) => `${entity}.${field}`);
    expect([status, ...fields]).toEqual([400, 'beneficiary.clientId', 'connect.serviceProvider']);
  });

  test('a service whose default provider cannot ask says so, and asks through another that is named', async () => {
    const other = await startApi(database, {
      env: { SANDBOX_URL: sandbox.url },
      users: api.users,
      configuration: (configuration) => ({
        ...configuration,
        directories: {
          ...configuration.directories,
          'pay-uk': { ...configuration.directories['pay-uk'], defaultProvider: 'custom-bank' },
        },
      }),
    });
    try {
      const { status, body } = await verifications.verify({ at: other });
      expect([status, ...body.messageParameters]).toEqual([400, 'connect', 'serviceProvider', 'custom-bank']);
      const named = await verifications.verified({ at: other, connect: { serviceProvider: 'sandbox-bank' } });
      expect(named.result.matched).toBe(true);
    } finally {
      await other.stop();
    }
  });
});

describe('a request is rejected, without a directory query,', () => {
  const sortCode = { 'sort-code': '123456' };
  const account = (change: Json) => ({
    bankAccount: { accountNumber: '12345678', routingCodes: sortCode, ...change },
  });

  test.each<[rule: string, beneficiary: Json, code: string, field: string]>([
    ['without a client', { clientId: null }, 'field_required', 'clientId'],
    ['with a client that is no UUID', { clientId: 'me' }, 'field_invalid', 'clientId'],
    ['without an identity', { identity: null }, 'field_required', 'identity'],
    [
      'with an identity of another type',
      { identity: { type: 'trust', legalName: 'x' } },
      'field_invalid',
      'identity.type',
    ],
    [
      'without a given name',
      { identity: { type: 'individual', familyName: 'Smith' } },
      'field_required',
      'identity.givenName',
    ],
    [
      'without a family name',
      { identity: { type: 'individual', givenName: 'Grace' } },
      'field_required',
      'identity.familyName',
    ],
    ['without a legal name', { identity: { type: 'corporate' } }, 'field_required', 'identity.legalName'],
    ['with a blank name', { identity: { type: 'corporate', legalName: ' ' } }, 'field_invalid', 'identity.legalName'],
    [
      'with a name of 141 characters',
      { identity: { type: 'corporate', legalName: 'x'.repeat(141) } },
      'field_invalid',
      'identity.legalName',
    ],
    [
      'with a company’s given name',
      { identity: { ...COMPANY, givenName: 'Grace' } },
      'field_unexpected',
      'identity.givenName',
    ],
    ['with a full name', { fullName: 'Grace Hopperson' }, 'field_unexpected', 'fullName'],
    ['without a bank account', { bankAccount: null }, 'field_required', 'bankAccount'],
    ['without routing codes', account({ routingCodes: null }), 'field_required', 'bankAccount.routingCodes'],
    ['without a sort code', account({ routingCodes: {} }), 'field_required', 'bankAccount.routingCodes.sort-code'],
    [
      'with a sort code of five digits',
      account({ routingCodes: { 'sort-code': '12345' } }),
      'field_invalid',
      'bankAccount.routingCodes.sort-code',
    ],
    [
      'with a BIC that is none',
      account({ routingCodes: { ...sortCode, bic: 'X' } }),
      'field_invalid',
      'bankAccount.routingCodes.bic',
    ],
    ['without an account number', account({ accountNumber: null }), 'field_required', 'bankAccount.accountNumber'],
    [
      'with an account number of five digits',
      account({ accountNumber: '12345' }),
      'field_invalid',
      'bankAccount.accountNumber',
    ],
    ['with an IBAN', account({ iban: 'GB29NWBK60161331926819' }), 'field_unexpected', 'bankAccount.iban'],
    [
      'with a secondary identification of 141 characters',
      { attributes: { secondaryIdentification: 'x'.repeat(141) } },
      'field_invalid',
      'attributes.secondaryIdentification',
    ],
    [
      'with a blank secondary identification',
      { attributes: { secondaryIdentification: ' ' } },
      'field_invalid',
      'attributes.secondaryIdentification',
    ],
    ['with an attribute that there is not', { attributes: { roll: '1' } }, 'field_unexpected', 'attributes.roll'],
  ])('%s', async (_, beneficiary, code, field) => {
    const asked = scripted.asked;
    const { status, body } = await verifications.verify({ beneficiary, at: scriptedApi });
    const [entity, name] = body.messageParameters;
    expect([status, body.code, entity, name]).toEqual([400, `common.validation.${code}`, 'beneficiary', field]);
    expect(scripted.asked).toBe(asked);
  });

  test('naming all its problems at once', async () => {
    const { body } = await verifications.verify({
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

  test('for another directory, an unknown client, and one that is not active', async () => {
    const asked = scripted.asked;
    const workflow = { code: 'client.unknown.cop' };
    const unknown = await scriptedApi.call('POST', '/beneficiary-verifications', { workflow, data: {} });
    expect([unknown.status, unknown.body.code]).toEqual([400, 'common.workflow.unknown_code']);
    const clientId = randomUUID();
    const foreign = await verifications.verify({ beneficiary: { clientId }, at: scriptedApi });
    expect([foreign.status, foreign.body.code]).toEqual([404, 'common.coding.internal.record_not_found']);
    expect(foreign.body.messageParameters).toEqual(['beneficiary', 'clientId', clientId]);
    const suspended = await moneyWorld(api).client('Suspended');
    await api.database.statement("update clients set status = 'suspended' where id = $1", [suspended]);
    const rejected = await verifications.verify({ beneficiary: { clientId: suspended }, at: scriptedApi });
    expect([rejected.status, rejected.body.code]).toEqual([422, 'client.status.not_active']);
    expect(scripted.asked).toBe(asked);
  });
});
