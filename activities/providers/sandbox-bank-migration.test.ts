import { createServer } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { migrationCalls } from './sandbox-bank-migration.ts';
import { BankConnection } from './sandbox-bank-wire.ts';

type Json = ReturnType<typeof JSON.parse>;

/** A bank whose answers the test scripts. */
const says: { status: number; body: Json; paths: string[] } = { status: 200, body: {}, paths: [] };
const server = createServer((request, response) => {
  says.paths.push(request.url ?? '');
  response.writeHead(says.status, { 'content-type': 'application/json', location: '/elsewhere' });
  response.end(typeof says.body === 'string' ? says.body : JSON.stringify(says.body));
});
let calls: ReturnType<typeof migrationCalls>;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the bank has no port');
  calls = migrationCalls(new BankConnection(`http://127.0.0.1:${address.port}`));
});

beforeEach(() => {
  says.status = 200;
  says.paths = [];
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const PERSON = { type: 'individual', givenName: 'Emmy', familyName: 'Noether' };

test('source ids are parts of a path, whatever they hold', async () => {
  says.status = 404;
  says.body = { error: { ...rejection('not-found'), category: 'technical' } };
  expect(await calls.lookUpClient('../a?b#c/d', {})).toEqual({ outcome: 'not-found' });
  expect(await calls.lookUpBeneficiary('%2F', {})).toEqual({ outcome: 'not-found' });
  expect(says.paths).toEqual(['/bank/existing-clients/..%2Fa%3Fb%23c%2Fd', '/bank/existing-beneficiaries/%252F']);
});

function rejection(code: string, change: Json = {}) {
  return { category: 'functional', origin: 'provider', code, message: 'no', attributes: {}, ...change };
}

describe('a client', () => {
  test('is mapped to the fields of a direct creation, with an address if its type has one', async () => {
    says.body = {
      reference: 'r-1',
      identity: { ...PERSON, birthDate: null, legalName: 'not of a person', identifications: [] },
      address: { country: 'DE', city: null },
      phone: null,
      email: 'emmy@example.org',
      relations: [],
    };
    expect(await calls.lookUpClient('1', {})).toEqual({
      outcome: 'found',
      reference: 'r-1',
      client: {
        identity: { ...PERSON, identifications: [] },
        profile: { identityType: 'individual', residentialAddress: { country: 'DE' }, email: 'emmy@example.org' },
      },
    });
  });

  test('brings its relations, without what the service does not keep of them', async () => {
    const passport = { type: 'passport', identificationNumber: '1' };
    says.body = {
      reference: 'r-2',
      identity: { type: 'corporate', legalName: 'X Ltd', identifications: [passport] },
      address: { country: 'GB' },
      relations: [{ relation: 'director', identity: { ...PERSON, identifications: [passport] }, phone: '+44 1' }],
    };
    expect(await calls.lookUpClient('2', {})).toEqual({
      outcome: 'found',
      reference: 'r-2',
      client: {
        identity: { type: 'corporate', legalName: 'X Ltd', identifications: [passport] },
        profile: { identityType: 'corporate', registrationAddress: { country: 'GB' } },
        relations: [
          { relation: 'director', identity: PERSON, profile: { identityType: 'individual', phone: '+44 1' } },
        ],
      },
    });
  });

  test('keeps values of the wrong type for validation to reject', async () => {
    says.body = '{"reference": "r", "identity": {"type": "individual", "givenName": 7, "familyName": ["x"]}}';
    const found = await calls.lookUpClient('3', {});
    expect(found).toMatchObject({ client: { identity: { givenName: { value: '7' }, familyName: ['x'] } } });
  });

  test('has fields that this version does not know: they are left behind', async () => {
    says.body = { reference: 'r', identity: { ...PERSON, shoeSize: '38' }, riskClass: 'low' };
    expect(await calls.lookUpClient('4', {})).toEqual({
      outcome: 'found',
      reference: 'r',
      client: { identity: PERSON, profile: { identityType: 'individual' } },
    });
  });
});

describe('a beneficiary', () => {
  test('has its owner and its bank accounts', async () => {
    says.body = {
      reference: 'b-1',
      clientReference: 'r-1',
      identity: { type: 'corporate', legalName: 'X Ltd', country: 'GB', incorporationDate: '2001-01-01' },
      fullName: null,
      phone: '+44 1',
      address: { country: 'GB' },
      bankAccounts: [{ country: 'DE', currency: 'EUR', iban: 'DE1', accountNumber: null, routingCodes: {} }],
    };
    expect(await calls.lookUpBeneficiary('1', {})).toEqual({
      outcome: 'found',
      reference: 'b-1',
      clientReference: 'r-1',
      beneficiary: {
        identity: { type: 'corporate', legalName: 'X Ltd' },
        contact: { phone: '+44 1', address: { country: 'GB' } },
        bankAccounts: [{ country: 'DE', currency: 'EUR', iban: 'DE1', routingCodes: {} }],
      },
    });
  });

  test('may have neither identity nor contact', async () => {
    says.body = { reference: 'b', clientReference: 'r', fullName: 'Emmy Noether' };
    expect(await calls.lookUpBeneficiary('2', {})).toMatchObject({
      beneficiary: { fullName: 'Emmy Noether', bankAccounts: [] },
    });
  });
});

const ACCOUNT = {
  sourceId: 'k/1',
  reference: 'a-1',
  clientReference: 'r-1',
  currency: 'GBP',
  country: 'GB',
  balance: 12.5,
  iban: null,
  accountNumber: '31926819',
  routingCodes: { 'sort-code': '040075' },
};
const ACCOUNT_ID = '0190c8a0-5a2b-7cde-8f00-000000000001';

describe('an account', () => {
  test.each([
    [12.5, 1250n],
    [0, 0n],
    [-0.01, -1n],
  ])('has its owner, its numbers and its balance: %s', async (balance, balanceMinor) => {
    says.body = { ...ACCOUNT, balance, ourReference: null, status: 'open' };
    const { sourceId, balance: _, ...account } = ACCOUNT;
    expect(await calls.lookUpExistingAccount(sourceId, {})).toEqual({ outcome: 'found', ...account, balanceMinor });
    expect(says.paths).toEqual(['/bank/existing-accounts/k%2F1']);
  });

  test('is handed over under the id that the bank names, with the balance of that instant', async () => {
    says.body = { ...ACCOUNT, ourReference: ACCOUNT_ID };
    const request = { sourceId: 'k/1', accountId: '0190c8a0-5a2b-7cde-8f00-000000000002', alias: 'Old' };
    expect(await calls.handOverAccount(request, {})).toMatchObject({ accountId: ACCOUNT_ID, balanceMinor: 1250n });
    expect(says.paths).toEqual(['/bank/existing-accounts/k%2F1/hand-over']);
  });

  test('shows with which balance it was handed over', async () => {
    says.body = { ourReference: ACCOUNT_ID, currency: 'GBP', openingBalance: 12.5 };
    const opening = { outcome: 'handed-over', currency: 'GBP', amountMinor: 1250n };
    expect(await calls.lookUpOpeningBalance(ACCOUNT_ID, {})).toEqual(opening);
    says.status = 404;
    says.body = { error: rejection('not-found') };
    expect(await calls.lookUpOpeningBalance(ACCOUNT_ID, {})).toEqual({ outcome: 'not-found' });
  });

  test.each<[string, Json]>([
    ['no balance', { balance: null }],
    ['more decimals than the currency has', { balance: 0.001 }],
    ['a currency that is none', { currency: 'XXX' }],
    ['another source id', { sourceId: 'k/2' }],
    ['an id that is none', { ourReference: 'SBA-1' }],
    ['no id', { ourReference: null }],
  ])('with %s is not handed over: no answer', async (_, change) => {
    says.body = { ...ACCOUNT, ourReference: ACCOUNT_ID, ...change };
    const request = { sourceId: 'k/1', accountId: ACCOUNT_ID, alias: 'Old' };
    await expect(calls.handOverAccount(request, {})).rejects.toMatchObject({ name: 'ProviderUnavailable' });
  });
});

describe('the bank', () => {
  test('rejects for good with 400 and 422', async () => {
    for (const status of [400, 422]) {
      says.status = status;
      says.body = { error: rejection('client-closed') };
      const rejected = { outcome: 'rejected', error: rejection('client-closed') };
      expect(await calls.lookUpClient('1', {})).toEqual(rejected);
      expect(await calls.lookUpBeneficiary('1', {})).toEqual(rejected);
    }
  });

  test.each<[string, number, Json]>([
    ['a failure', 503, { error: rejection('unavailable') }],
    ['a redirect', 302, {}],
    ['a 404 of something before it', 404, 'not here'],
    ['a 404 that is not about the reference', 404, { error: rejection('no-such-path') }],
    ['what is not JSON', 200, '<html>'],
    ['no reference', 200, { identity: PERSON }],
    ['no identity', 200, { reference: 'r' }],
    ['a list in the place of a client', 200, []],
    ['relations that are no list', 200, { reference: 'r', identity: PERSON, relations: 'none' }],
  ])('with %s is no answer', async (_, status, body) => {
    says.status = status;
    says.body = body;
    await expect(calls.lookUpClient('1', {})).rejects.toMatchObject({ name: 'ProviderUnavailable' });
  });

  test('that answers after the deadline is no answer', async () => {
    const slow = createServer(() => {});
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
    const address = slow.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    try {
      const late = migrationCalls(new BankConnection(`http://127.0.0.1:${port}`));
      await expect(late.lookUpClient('1', { deadlineMs: 50 })).rejects.toMatchObject({ reason: 'timeout' });
    } finally {
      slow.closeAllConnections();
      await new Promise((resolve) => slow.close(resolve));
    }
  });
});
