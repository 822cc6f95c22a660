import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NameDirectory } from '../../activities/providers/directories/directory-port.ts';
import { DIRECTORY_RULES, directoryResult } from '../../domain/beneficiaries/directories.ts';
import { DIRECTORIES, type DirectoryCode } from '../../domain/beneficiaries/verifications.ts';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { auditOf } from '../harness/audit.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

// A payment that names the verification whose result its payer saw is recorded with that result, whichever directory it is of.

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let client: string;

/** A directory that answers with the code that the request has as the payee's name. */
const echo = (directory: DirectoryCode): NameDirectory => ({
  provider: 'sandbox-bank',
  verifyName: async ({ name, reference }) => {
    const result = directoryResult(directory, name, 'Real Holder');
    if (result === null) throw new Error(`${name} is no code of ${directory}`);
    return { result, reference };
  },
});

interface Payable {
  readonly verified: Json;
  /** The same account as a beneficiary has it, in every way in which it can. */
  readonly paid: readonly Json[];
  readonly other: Json;
  readonly currency: string;
  readonly scheme: string;
}

const PAYABLE: Readonly<Record<DirectoryCode, Payable>> = {
  'pay-uk': {
    verified: { accountNumber: '31926819', routingCodes: { 'sort-code': '60-16-13' } },
    paid: [
      { country: 'GB', currency: 'GBP', accountNumber: '31926819', routingCodes: { 'sort-code': '601613' } },
      { country: 'GB', currency: 'GBP', iban: 'GB29NWBK60161331926819' },
    ],
    other: { country: 'GB', currency: 'GBP', accountNumber: '31926818', routingCodes: { 'sort-code': '601613' } },
    currency: 'GBP',
    scheme: 'faster-payments',
  },
  'eu-vop': {
    verified: { iban: 'DE89 3704 0044 0532 0130 00' },
    paid: [{ country: 'DE', currency: 'EUR', iban: 'DE89370400440532013000' }],
    other: { country: 'DE', currency: 'EUR', iban: 'DE02120300000000202051' },
    currency: 'EUR',
    scheme: 'sepa',
  },
};

beforeAll(async () => {
  database = await createTestDatabase('payments-after-verification');
  api = await startApi(database, {
    directories: {
      'pay-uk': new Map([['sandbox-bank', echo('pay-uk')]]),
      'eu-vop': new Map([['sandbox-bank', echo('eu-vop')]]),
    },
  });
  world = moneyWorld(api);
  client = await world.client();
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

async function verified(directory: DirectoryCode, code: string, owner = client): Promise<string> {
  const identity = { type: 'corporate', legalName: code };
  const { body, text } = await api.call('POST', '/beneficiary-verifications', {
    workflow: { code: `client.${directory}.cop` },
    data: { beneficiary: { clientId: owner, identity, bankAccount: PAYABLE[directory].verified } },
  });
  expect(body.data?.beneficiaryVerification, text).toBeDefined();
  return body.data.beneficiaryVerification.id;
}

describe.each(DIRECTORIES)('a payment after a verification by %s', (directory) => {
  const { paid, other, currency, scheme } = PAYABLE[directory];
  const notMatched =
    Object.entries(DIRECTORY_RULES[directory].reasons).find(([, reason]) => reason !== null)?.[0] ?? '';
  let accountId: string;
  let payees: readonly string[];

  beforeAll(async () => {
    accountId = await world.account(client, { currency, amount: 1_000 });
    payees = await Promise.all(paid.map((bankAccount) => world.beneficiary(client, bankAccount)));
  });

  const transfer = (beneficiaryVerificationId: string, change: Json = {}) => ({
    clientId: client,
    ...{ currency, amount: 1, scope: 'external', scheme, beneficiaryVerificationId },
    source: { type: 'client-account', accountId },
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: payees[0] },
    ...change,
  });
  const pay = (outgoingTransfer: Json, { key = randomUUID(), dryRun = false } = {}): Promise<ApiResponse> =>
    api.call(
      'POST',
      '/outgoing-transfers',
      { workflow: { code: 'client.direct', dryRun }, data: { outgoingTransfer } },
      dryRun ? {} : { key },
    );

  const entries = async (id: string) => auditOf(api.database.reader, id);

  test('is recorded with who paid and the result, for every code of the directory', async () => {
    for (const [code, reason] of Object.entries(DIRECTORY_RULES[directory].reasons)) {
      const verification = await verified(directory, code);
      for (const payee of payees) {
        const destination = { type: 'beneficiary-bank-account', beneficiaryBankAccountId: payee };
        const { status, body, text, headers } = await pay(transfer(verification, { destination }));
        expect(status, text).toBe(201);
        const recorded = await entries(body.data.outgoingTransfer.id);
        expect(recorded).toEqual([
          {
            resource: 'outgoing-transfer',
            action: reason === null ? 'paid-after-match' : 'paid-without-match',
            actor: api.users.operator.id,
            requestId: headers.get('request-id'),
            before: null,
            after: {
              beneficiaryVerificationId: verification,
              directory,
              matched: reason === null,
              reason,
              schemeReasonCode: reason === null ? null : code,
            },
          },
        ]);
      }
    }
  });

  test('is recorded once, however often the request comes', async () => {
    const verification = await verified(directory, notMatched);
    const key = randomUUID();
    const first = await pay(transfer(verification), { key });
    const second = await pay(transfer(verification), { key });
    expect([first.status, second.text]).toEqual([201, first.text]);
    expect(await entries(first.body.data.outgoingTransfer.id)).toHaveLength(1);
  });

  test('is recorded in a batch, in which only the items that name a verification of their account are created', async () => {
    const verification = await verified(directory, notMatched);
    const elsewhere = await world.beneficiary(client, other);
    const destination = { type: 'beneficiary-bank-account', beneficiaryBankAccountId: elsewhere };
    const items = [
      { reference: randomUUID(), outgoingTransfer: transfer(verification) },
      { reference: randomUUID(), outgoingTransfer: transfer(verification, { destination }) },
      { reference: randomUUID(), outgoingTransfer: transfer(verification, { beneficiaryVerificationId: undefined }) },
    ];
    const { body, text } = await api.call('POST', '/outgoing-transfers/batch', {
      workflow: { code: 'client.direct' },
      data: { items },
    });
    const results: Json[] = body.data?.results ?? [];
    expect(
      results.map(({ result }) => result),
      text,
    ).toEqual(['created', 'rejected', 'created']);
    const [named, rejected, unnamed] = results;
    expect(rejected.error.messageParameters[1]).toBe('beneficiaryVerificationId');
    expect((await entries(named.outgoingTransfer.id)).map(({ action }: Json) => action)).toEqual([
      'paid-without-match',
    ]);
    expect(await entries(unnamed.outgoingTransfer.id)).toEqual([]);
  });

  test('is rejected, also in a dry run, if the verification is unknown, of another client or of another account', async () => {
    const verification = await verified(directory, notMatched);
    const elsewhere = await world.beneficiary(client, other);
    const ofOthers = await verified(directory, notMatched, await world.client('Grace'));
    const destination = { type: 'beneficiary-bank-account', beneficiaryBankAccountId: elsewhere };
    for (const dryRun of [true, false]) {
      for (const [sent, status, code] of [
        [transfer(randomUUID()), 404, 'common.coding.internal.record_not_found'],
        [transfer(ofOthers), 404, 'common.coding.internal.record_not_found'],
        [transfer(verification, { destination }), 400, 'common.validation.field_invalid'],
        [transfer('none'), 400, 'common.validation.field_invalid'],
      ] as const) {
        const answer = await pay(sent, { dryRun });
        expect([answer.status, answer.body.code, answer.body.messageParameters[1]], answer.text).toEqual([
          status,
          code,
          'beneficiaryVerificationId',
        ]);
      }
    }
  });

  test('is no internal transfer', async () => {
    const destination = { type: 'client-account', accountId: await world.account(client, { currency }) };
    const sent = transfer(await verified(directory, notMatched), { scope: 'internal', scheme: undefined, destination });
    const { status, body } = await pay(sent);
    expect([status, body.messageParameters[1]]).toEqual([400, 'beneficiaryVerificationId']);
  });
});
