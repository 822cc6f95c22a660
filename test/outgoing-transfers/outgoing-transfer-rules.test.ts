import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Configuration } from '../../config/configuration.ts';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

// Rules of pricing, reviews, schemes and dates. test/outgoing-transfers/outgoing-transfer-parity.test.ts covers the order of rejections.

const NOON = '2027-06-16T12:00:00Z';

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let payer: string;
let source: string;
let euros: string;
let destination: string;

function start(change: Partial<Configuration> = {}, users?: TestApi['users']): Promise<TestApi> {
  return startApi(database, {
    clockOffset: () => `${Math.round((Date.parse(NOON) - Date.now()) / 1000)} seconds`,
    configuration: (configuration) => ({ ...configuration, prices: [], ...change }),
    ...(users === undefined ? {} : { users }),
  });
}

beforeAll(async () => {
  database = await createTestDatabase('transfer-rules');
  api = await start();
  world = moneyWorld(api);
  payer = await world.client('Ada');
  source = await world.account(payer, { amount: 1_000 });
  euros = await world.account(payer, { currency: 'EUR', amount: 1_000 });
  destination = await world.account(await world.client('Grace'));
});

afterAll(async () => {
  await world.invariantsHold();
  await api.stop();
  await database.drop();
});

function internal(change: Json = {}): Json {
  return {
    clientId: payer,
    currency: 'GBP',
    amount: 10,
    scope: 'internal',
    source: { type: 'client-account', accountId: source },
    destination: { type: 'client-account', accountId: destination },
    ...change,
  };
}

function external(bankAccount: string, change: Json = {}): Json {
  const to = { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount };
  return internal({ scope: 'external', scheme: 'faster-payments', destination: to, ...change });
}

function send(outgoingTransfer: Json, workflow: Json = {}, pricing?: Json, to: TestApi = api): Promise<ApiResponse> {
  const body = { workflow: { code: 'client.direct', ...workflow }, data: { outgoingTransfer, pricing } };
  return to.call('POST', '/outgoing-transfers', body);
}

function rejection({ status, body }: ApiResponse): Json {
  return [status, body.code, ...(body.messageParameters ?? []).slice(0, 2)];
}

describe('implicit pricing', () => {
  test.each([
    ['enabled', false],
    ['chargingType', 'fee'],
    ['chargingMethod', 'on-source'],
  ])('carries no %s: it is rejected by name', async (field, value) => {
    const answer = await send(internal(), { pricing: { sourcingMethod: 'implicit', [field]: value } });
    expect(rejection(answer)).toEqual([400, 'common.validation.field_unexpected', 'workflow', `pricing.${field}`]);
  });

  test('says only the sourcing method, or nothing', async () => {
    for (const pricing of [{ sourcingMethod: 'implicit' }, undefined]) {
      expect((await send(internal(), { dryRun: true, pricing })).status).toBe(200);
    }
    const all = { sourcingMethod: 'implicit', enabled: true, chargingType: 'fee', chargingMethod: 'on-source' };
    expect((await send(internal(), { pricing: all })).body.errors).toHaveLength(2);
  });

  test('has no terms: they are rejected once, also where they are malformed', async () => {
    for (const terms of [{ type: 'ratio', ratio: '0.1' }, 5]) {
      const answer = await send(internal(), {}, terms);
      expect([...rejection(answer), answer.body.errors]).toEqual([
        ...[400, 'common.validation.field_invalid', 'data', 'pricing'],
        undefined,
      ]);
    }
  });
});

describe('reviews', () => {
  const reviewed = (direction: 'incoming' | 'outgoing') => {
    const modes = {
      incoming: { rule: 'none', byCurrency: {} },
      outgoing: { rule: 'none', byCurrency: {} },
      rules: [],
    } as const;
    return start({ compliance: { ...modes, [direction]: { rule: 'external', byCurrency: {} } } }, api.users);
  };

  test.each(['now', 'today'])(
    'of incoming transfers only let the sender’s side be reserved while the receiver’s is in review: %s',
    async (when) => {
      const reviewing = await reviewed('incoming');
      const before = [await world.balance(source), await world.balance(destination)];
      const date = when === 'now' ? {} : { transferDate: NOON.slice(0, 10) };
      const answer = await send(internal({ amount: 7, ...date }), {}, undefined, reviewing);
      expect(answer.status, answer.text).toBe(201);
      const { id, requirementConfiguration, incomingTransferId } = answer.body.data.outgoingTransfer;
      expect(requirementConfiguration.complianceCheckStatus).toBe('not-required');
      const { outgoingTransfer } = (await api.call('GET', `/outgoing-transfers/${id}`)).body.data;
      expect(outgoingTransfer).toMatchObject({
        status: 'processing',
        requirementConfiguration: { complianceCheckStatus: 'not-required', balanceCheckStatus: 'fulfilled' },
      });
      const { incomingTransfer } = (await api.call('GET', `/incoming-transfers/${incomingTransferId}`)).body.data;
      expect(incomingTransfer).toMatchObject({ status: 'pending', transferDate: null });
      const [from, to] = [await world.balance(source), await world.balance(destination)];
      expect(from.available).toBeCloseTo((before[0]?.available ?? 0) - 7, 10);
      expect(to.available).toBe(before[1]?.available);
      expect(to.receivable).toBeCloseTo((before[1]?.receivable ?? 0) + 7, 10);
      expect(await world.events(id)).toEqual(['outgoing-transfer-created', 'outgoing-transfer-processing']);
      await world.invariantsHold();
      await reviewing.stop();
    },
  );

  test('of outgoing transfers make the sender’s requirement wait, internal or external', async () => {
    const reviewing = await reviewed('outgoing');
    const bankAccount = await world.beneficiary(payer);
    for (const sent of [internal(), external(bankAccount)]) {
      const { body } = await send(sent, {}, undefined, reviewing);
      const { outgoingTransfer } = (await api.call('GET', `/outgoing-transfers/${body.data.outgoingTransfer.id}`)).body
        .data;
      expect(outgoingTransfer).toMatchObject({
        status: 'pending',
        requirementConfiguration: { complianceCheckStatus: 'not-checked', balanceCheckStatus: 'not-checked' },
      });
    }
    await reviewing.stop();
  });
});

describe('bank data', () => {
  const BANK_ACCOUNT = 'destination.beneficiaryBankAccountId';
  const unavailable = [422, 'transfer.scheme.unavailable', 'outgoingTransfer', BANK_ACCOUNT];
  const fromEuros = { currency: 'EUR', source: { type: 'client-account' } };
  const euro = (bankAccount: string, scheme: string) =>
    external(bankAccount, { ...fromEuros, scheme, source: { type: 'client-account', accountId: euros } });

  test('must have a BIC for swift', async () => {
    const without = await world.beneficiary(payer);
    expect(rejection(await send(external(without, { scheme: 'swift' })))).toEqual(unavailable);
    const routingCodes = { 'sort-code': '601613', bic: 'NWBKGB2L' };
    const having = { country: 'GB', currency: 'GBP', accountNumber: '31926819', routingCodes };
    expect((await send(external(await world.beneficiary(payer, having), { scheme: 'swift' }))).status).toBe(201);
  });

  test.each(['sepa', 'sepa-instant'])(
    'must have an IBAN of the area for %s, whatever country the record names',
    async (scheme) => {
      const turkish = { country: 'DE', currency: 'EUR', iban: 'TR330006100519786457841326' };
      expect(rejection(await send(euro(await world.beneficiary(payer, turkish), scheme)))).toEqual(unavailable);
      const german = { country: 'TR', currency: 'EUR', iban: 'DE89370400440532013000' };
      expect((await send(euro(await world.beneficiary(payer, german), scheme))).status).toBe(201);
    },
  );
});

describe('a transfer date', () => {
  const tooLate = [400, 'transfer.date.invalid', 'outgoingTransfer', 'transferDate'];

  test('is at most two years ahead', async () => {
    const bankAccount = await world.beneficiary(payer);
    for (const [transferDate, expected] of [
      ['2029-06-16', 201],
      ['2029-06-17', 400],
      ['9999-12-30', 400],
    ] as const) {
      for (const sent of [internal({ transferDate }), external(bankAccount, { transferDate })]) {
        const answer = await send(sent);
        expect([transferDate, answer.status]).toEqual([transferDate, expected]);
        if (expected === 400) expect(rejection(answer)).toEqual(tooLate);
      }
    }
  });

  test('or as many as the configuration says', async () => {
    const strict = await start({ transferDateYearsMax: 1 }, api.users);
    expect((await send(internal({ transferDate: '2028-06-16' }), {}, undefined, strict)).status).toBe(201);
    expect(rejection(await send(internal({ transferDate: '2028-06-17' }), {}, undefined, strict))).toEqual(tooLate);
    await strict.stop();
  });
});
