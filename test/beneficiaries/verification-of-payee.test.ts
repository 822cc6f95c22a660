import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAGIC_IBANS } from '../../sandbox/directory/magic-accounts.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { moneyWorld } from '../harness/money.ts';
import { COMPANY, DIRECTORY_CASES, openAtBank, PERSON, verificationsOf } from '../harness/parties/verifications.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { eventually, type RunningSandbox, startSandbox, temporaryDirectory } from '../harness/servers/sandbox.ts';

// The directory eu-vop, against the real sandbox process: a row is a rule. What all directories have in common is in beneficiary-verifications.test.ts.

const folder = temporaryDirectory();
let sandbox: RunningSandbox;
let database: TestDatabase;
let api: TestApi;
let client: string;

beforeAll(async () => {
  sandbox = await startSandbox({ directory: folder.path, callbackUrl: 'http://127.0.0.1:9/unused' });
  database = await createTestDatabase('verification-of-payee');
  api = await startApi(database, { env: { SANDBOX_URL: sandbox.url } });
  client = await moneyWorld(api).client();
});

afterAll(async () => {
  await api?.stop();
  await sandbox?.stop();
  await database?.drop();
  folder.remove();
});

const EURO = { currency: 'EUR', country: 'DE' };
const MATCHING = DIRECTORY_CASES['eu-vop'].bankAccount;
const named = (givenName: string, familyName: string) => ({ type: 'individual', givenName, familyName });
const company = (legalName: string) => ({ type: 'corporate', legalName });
const magic = (shows: string) => [...MAGIC_IBANS].find(([, payee]) => payee.shows === shows)?.[0];

function verify(beneficiary: Json = {}, connect?: Json) {
  const { verify: ask } = verificationsOf(api, () => client);
  return ask({ directory: 'eu-vop', beneficiary, ...(connect === undefined ? {} : { connect }) });
}

async function verified(beneficiary: Json = {}): Promise<Json> {
  const { status, body, text } = await verify(beneficiary);
  expect(status, text).toBe(201);
  return body.data.beneficiaryVerification;
}

describe('the directory’s answers', () => {
  test.each([
    ['a match', undefined, null, null, null],
    ['another name', 'another name', 'NMTC', 'incorrect-account-number', null],
    ['a similar name', 'a similar name', 'CMTC', 'close-match', 'Jürgen Groß'],
    ['a similar name in Greek', 'a similar name in Greek', 'CMTC', 'close-match', 'Γεώργιος Παπαδόπουλος'],
    ['a closed account', 'a closed account', 'NOAP', 'account-type-not-supported', null],
    ['what cannot be read', 'an answer that no one can read', 'NOAP', 'account-type-not-supported', null],
  ])('%s', async (_, shows, schemeReasonCode, reason, accountHolderName) => {
    const bankAccount = shows === undefined ? MATCHING : { iban: magic(shows) };
    const { attributes, result } = await verified({ bankAccount });
    expect(result).toEqual({ matched: reason === null, reason, accountHolderName });
    expect(attributes).toEqual({ secondaryIdentification: null, identification: null, schemeReasonCode });
  });

  test('a bank that takes no part gives none', async () => {
    const { result, attributes } = await verified({ bankAccount: { iban: 'FR1420041010050500013M02606' } });
    expect(result).toEqual({ matched: false, reason: 'account-type-not-supported', accountHolderName: null });
    expect(attributes.schemeReasonCode).toBe('NOAP');
  });

  test('are shown with what was asked, in its normal form, and are kept with caller and client', async () => {
    const { iban } = MATCHING;
    const spaced = `${iban.slice(0, 4)} ${iban.slice(4).toLowerCase()}`;
    const bankAccount = { iban: spaced, routingCodes: { bic: 'SBNKDE2L' } };
    const asked = { bankAccount, attributes: { secondaryIdentification: 'Invoice 17' } };
    const verification = await verified(asked);
    const bank = { accountNumber: null, iban, routingCodes: { bic: 'SBNKDE2L' } };
    expect(verification).toMatchObject({
      ...{ clientId: client, directory: 'eu-vop', serviceProvider: 'sandbox-bank' },
      ...{ identity: PERSON, beneficiaryIdentity: PERSON, bankAccount: bank, beneficiaryBankAccount: bank },
      attributes: { secondaryIdentification: 'Invoice 17', identification: null, schemeReasonCode: null },
    });
    const row = (await verificationsOf(api, () => client).stored()).find(({ id }) => id === verification.id);
    expect(row).toMatchObject({
      ...{ client_id: client, directory: 'eu-vop', requested_by: api.users.operator.id, matched: true },
      ...{ bank_account: { iban, routingCodes: { bic: 'SBNKDE2L' } }, identification: null },
    });
  });
});

describe('a euro account of the sandbox bank', () => {
  test.each<[rule: string, type: string, holder: string, identity: Json, reason: string | null]>([
    ['accents', 'individual', 'José Álvarez', named('Jose', 'ALVAREZ'), null],
    ['an umlaut as two letters', 'individual', 'Jürgen Groß', named('Juergen', 'Gross'), null],
    ['another script', 'individual', 'Иван Петров', named('ИВАН', 'ПЕТРОВ'), null],
    ['an initial', 'individual', 'Katherine Green', named('K', 'Green'), 'close-match'],
    ['another person', 'individual', 'Katherine Green', named('Peter', 'Brown'), 'incorrect-account-number'],
    ['a way of writing the legal form', 'corporate', 'Weber GmbH', company('Weber G.m.b.H.'), null],
    ['no legal form', 'corporate', 'Weber GmbH', company('Weber'), 'close-match'],
    ['another company', 'corporate', 'Weber GmbH', company('Bäckerei Schulz GmbH'), 'incorrect-account-number'],
    // The scheme does not say what the payee is: only the name counts.
    ['a person at a company’s account', 'corporate', 'John Smith', named('John', 'Smith'), null],
  ])('%s: of the %s %s', async (_, type, holder, identity, reason) => {
    const { iban } = await openAtBank(sandbox.url, type, holder, EURO);
    const { result } = await verified({ identity, bankAccount: { iban } });
    const accountHolderName = reason === 'close-match' ? holder : null;
    expect(result).toEqual({ matched: reason === null, reason, accountHolderName });
  });

  test('that is closed gives no answer', async () => {
    const { iban, ourReference } = await openAtBank(sandbox.url, 'individual', 'Grace Hopperson', EURO);
    expect((await verified({ bankAccount: { iban } })).result.matched).toBe(true);
    await fetch(`${sandbox.url}/bank/accounts/${ourReference}/changes`, {
      method: 'POST',
      body: JSON.stringify({ changeReference: 'close:1', kind: 'close' }),
    });
    const closed = await eventually('the closing', async () => {
      const { result } = await verified({ bankAccount: { iban } });
      return result.matched ? undefined : result;
    });
    expect(closed).toMatchObject({ reason: 'account-type-not-supported', accountHolderName: null });
  });
});

describe('a company’s identifier in place of its name', () => {
  const identification = (type: string, identificationNumber: string) => ({ type, identificationNumber });
  const LEI = identification('lei', '529900T8BM49AURSDO55');
  const ask = (iban: string | undefined, identifier: Json) =>
    verified({ identity: COMPANY, bankAccount: { iban }, attributes: { identification: identifier } });

  test.each([
    ['is right', MATCHING.iban, null],
    ['is another’s', magic('another name'), 'incorrect-account-number'],
    ['is never nearly right', magic('a similar name'), 'incorrect-account-number'],
    ['cannot be compared', magic('a closed account'), 'account-type-not-supported'],
    ['has no answer that can be read', magic('an answer that no one can read'), 'account-type-not-supported'],
  ])('%s', async (_, iban, reason) => {
    for (const identifier of [
      LEI,
      identification('vat-number', 'DE123456789'),
      identification('registration-number', '1'),
    ]) {
      const { result, attributes } = await ask(iban, identifier);
      expect(result).toEqual({ matched: reason === null, reason, accountHolderName: null });
      expect(attributes.identification).toEqual(identifier);
    }
  });

  test('is compared with what the bank knows of its client, and cannot be if it knows none', async () => {
    const send = async (path: string, body: Json): Promise<Json> =>
      (await fetch(`${sandbox.url}/bank${path}`, { method: 'POST', body: JSON.stringify(body) })).json();
    const known = await send('/existing-clients', {
      sourceId: 'known-company',
      identity: { ...COMPANY, identifications: [identification('lei', LEI.identificationNumber)] },
    });
    const unknown = await openAtBank(sandbox.url, 'corporate', COMPANY.legalName, EURO);
    expect((await ask(unknown.iban, LEI)).result.reason).toBe('account-type-not-supported');
    const account = { ourReference: 'of-known-company', clientReference: known.reference, alias: 'EUR Account' };
    await send('/accounts', { ...account, accountHolderName: COMPANY.legalName, ...EURO });
    const { iban } = await eventually('the opening', async () => {
      const opened: Json = await (await fetch(`${sandbox.url}/bank/accounts/of-known-company`)).json();
      return opened.status === 'open' ? opened : undefined;
    });
    expect((await ask(iban, LEI)).result.matched).toBe(true);
    expect((await ask(iban, identification('lei', 'HWUPKR0MPOU8FGXBT394'))).result.reason).toBe(
      'incorrect-account-number',
    );
  });
});

describe('a request is rejected, without a directory query,', () => {
  const account = (change: Json) => ({ bankAccount: { ...MATCHING, ...change } });
  const identified = (type: string, identificationNumber: string) => ({
    identity: COMPANY,
    attributes: { identification: { type, identificationNumber } },
  });

  test.each<[rule: string, beneficiary: Json, code: string, field: string]>([
    ['without an IBAN', { bankAccount: {} }, 'field_required', 'bankAccount.iban'],
    ['with wrong check digits', account({ iban: 'DE97999123000000000001' }), 'field_invalid', 'bankAccount.iban'],
    [
      'with an IBAN of a country that the directory does not know',
      account({ iban: 'CH9300762011623852957' }),
      'field_invalid',
      'bankAccount.iban',
    ],
    [
      'with a sterling account’s IBAN',
      account({ iban: 'GB29NWBK60161331926819' }),
      'field_invalid',
      'bankAccount.iban',
    ],
    ['with an account number', account({ accountNumber: '12345678' }), 'field_unexpected', 'bankAccount.accountNumber'],
    [
      'with a BIC that is none',
      account({ routingCodes: { bic: 'X' } }),
      'field_invalid',
      'bankAccount.routingCodes.bic',
    ],
    [
      'with names too long for the scheme',
      { identity: named('x'.repeat(70), 'y'.repeat(70)) },
      'field_invalid',
      'identity.familyName',
    ],
    [
      'with an LEI of wrong check digits',
      identified('lei', '529900T8BM49AURSDO56'),
      'field_invalid',
      'attributes.identification.identificationNumber',
    ],
    [
      'with an identifier that the scheme does not have',
      identified('passport', 'C01X00T47'),
      'field_invalid',
      'attributes.identification.type',
    ],
    [
      'with a person’s identifier',
      { ...identified('vat-number', 'DE123456789'), identity: PERSON },
      'field_invalid',
      'attributes.identification',
    ],
  ])('%s', async (_, beneficiary, code, field) => {
    const { status, body } = await verify(beneficiary);
    const [entity, name] = body.messageParameters;
    expect([status, body.code, entity, name]).toEqual([400, `common.validation.${code}`, 'beneficiary', field]);
  });

  test('an identifier, which Confirmation of Payee does not compare', async () => {
    const { attributes } = identified('vat-number', 'DE123456789');
    const { status, body } = await verificationsOf(api, () => client).verify({ beneficiary: { attributes } });
    const [, name] = body.messageParameters;
    expect([status, body.code, name]).toEqual([400, 'common.validation.field_unexpected', 'attributes.identification']);
  });
});

test.each([
  ['GB', 'GBP', 'pay-uk'],
  ['JE', 'GBP', 'pay-uk'],
  ['DE', 'EUR', 'eu-vop'],
  ['GP', 'EUR', 'eu-vop'],
  ['GB', 'EUR', null],
  ['SE', 'EUR', null],
  ['SE', 'SEK', null],
  ['US', 'USD', null],
])('the requirements of an account in %s in %s name the directory %s', async (country, currency, directory) => {
  const prefix = 'data.beneficiaryBankAccountRequirement';
  const path = `/beneficiary-bank-account-requirements?${prefix}.currency=${currency}&${prefix}.country=${country}`;
  const { body } = await api.call('GET', path);
  expect(body.data.beneficiaryBankAccountRequirement.verificationDirectory).toBe(directory);
});

describe('the sandbox’s routing and verification service', () => {
  const request = (change: Json = {}) => ({
    party: { name: 'Grace Hopperson' },
    partyAccount: { iban: MATCHING.iban },
    requestingAgent: { financialInstitutionId: { bicfi: 'SBNKDE2L' } },
    ...change,
  });
  const HEADERS = {
    'x-request-id': '0199c4a0-5b1e-4c3a-9d42-0c2f6f3a1b01',
    'x-request-timestamp': '2026-01-05T10:00:00.000Z',
  };
  const post = (body: Json, headers: Record<string, string> = HEADERS) =>
    fetch(`${sandbox.url}/directory/vop/v1/payee-verifications`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  test('answers as the scheme does', async () => {
    const response = await post(request());
    expect([response.status, response.headers.get('x-request-id')]).toEqual([200, HEADERS['x-request-id']]);
    expect(response.headers.get('x-response-timestamp')).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(await response.json()).toEqual({ partyNameMatch: 'MTCH' });
  });

  const lei = (value: string) => ({ party: { identification: { organisationId: { lei: value } } } });
  test.each<[rule: string, body: Json, headers: Record<string, string>, status: number, code: string]>([
    ['no request id', request(), { ...HEADERS, 'x-request-id': '' }, 400, 'FORMAT_ERROR'],
    ['a request id that is no UUID', request(), { ...HEADERS, 'x-request-id': '17' }, 400, 'FORMAT_ERROR'],
    ['no timestamp', request(), { ...HEADERS, 'x-request-timestamp': '' }, 400, 'TIMESTAMP_INVALID'],
    ['a timestamp that is none', request(), { ...HEADERS, 'x-request-timestamp': 'today' }, 400, 'TIMESTAMP_INVALID'],
    ['no payee', request({ party: {} }), HEADERS, 400, 'FORMAT_ERROR'],
    ['a name of 141 characters', request({ party: { name: 'x'.repeat(141) } }), HEADERS, 400, 'FORMAT_ERROR'],
    ['a field that there is not', request({ party: { payerName: 'x' } }), HEADERS, 400, 'FORMAT_ERROR'],
    [
      'an IBAN of wrong check digits',
      request({ partyAccount: { iban: 'DE97999123000000000001' } }),
      HEADERS,
      400,
      'FORMAT_ERROR',
    ],
    ['an LEI of wrong check digits', request(lei('529900T8BM49AURSDO56')), HEADERS, 400, 'FORMAT_ERROR'],
    ['two remittance texts', request({ unstructuredRemittanceInformation: ['a', 'b'] }), HEADERS, 400, 'FORMAT_ERROR'],
    ['no requesting bank', request({ requestingAgent: undefined }), HEADERS, 400, 'FORMAT_ERROR'],
    [
      'a stranger',
      request({ requestingAgent: { financialInstitutionId: { bicfi: 'DEUTDEFF' } } }),
      HEADERS,
      401,
      'CLIENT_INVALID',
    ],
  ])('rejects %s', async (_, body, headers, status, code) => {
    const response = await post(body, headers);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect([response.status, await response.json()]).toEqual([status, expect.objectContaining({ code, status })]);
  });
});
