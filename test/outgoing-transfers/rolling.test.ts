import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { advanceOutgoingTransfer } from '../../db/outgoing-transfers/outgoing-transfers.ts';
import { asId, type OutgoingTransferId } from '../../domain/common/ids.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

// Transfers by schemes that never close, which wait for money that does not come.

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let payer: string;
/** The service clock's time; it runs on from there. */
let shows = { at: 0, since: 0 };

beforeAll(async () => {
  database = await createTestDatabase('rolling');
  setClock('2027-03-26T12:00:00Z');
  api = await startApi(database, {
    clockOffset: () => `${shows.at - shows.since} milliseconds`,
    configuration: (configuration) => ({ ...configuration, prices: [] }),
  });
  world = moneyWorld(api);
  payer = await world.client('Ada');
});

afterEach(() => world.invariantsHold());

afterAll(async () => {
  await api.stop();
  await database.drop();
});

function setClock(instant: string): void {
  shows = { at: Date.parse(instant), since: Date.now() };
}

const GERMAN = { country: 'DE', currency: 'EUR', iban: 'DE89370400440532013000' };

async function make(kind: string): Promise<Json> {
  const currency = kind === 'sepa-instant' ? 'EUR' : 'GBP';
  const source = { type: 'client-account', accountId: await world.account(payer, { currency, amount: 1 }) };
  const to =
    kind === 'internal'
      ? { type: 'client-account', accountId: await world.account(payer) }
      : {
          type: 'beneficiary-bank-account',
          beneficiaryBankAccountId: await world.beneficiary(payer, currency === 'EUR' ? GERMAN : undefined),
        };
  const outgoingTransfer = {
    clientId: payer,
    currency,
    amount: 50,
    scope: kind === 'internal' ? 'internal' : 'external',
    scheme: kind === 'internal' ? null : kind,
    transferDate: '2027-03-27',
    source,
    destination: to,
  };
  const answer = await api.call('POST', '/outgoing-transfers', {
    workflow: { code: 'client.direct' },
    data: { outgoingTransfer },
  });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.outgoingTransfer;
}

const advance = (id: string) =>
  api.database.transaction((tx) =>
    advanceOutgoingTransfer(tx, asId<OutgoingTransferId>(id), api.services.configuration),
  );

async function read(id: string): Promise<Json> {
  return (await api.call('GET', `/outgoing-transfers/${id}`)).body.data.outgoingTransfer;
}

/** The ends of the days from 27 March on, as the clocks of the scheme's zone show them; they change on the 28th. */
const ENDS: readonly [kind: string, ends: readonly string[]][] = [
  ['internal', ['28T00', '29T00', '30T00', '31T00']],
  ['faster-payments', ['28T00', '28T23', '29T23', '30T23']],
  ['sepa-instant', ['27T23', '28T22', '29T22', '30T22']],
];

describe('a transfer whose scheme never closes', () => {
  test.each(ENDS)(
    '%s waits until the end of its day and rolls then, never shown with a day of the past',
    async (kind, ends) => {
      setClock('2027-03-26T12:00:00Z');
      const { id } = await make(kind);
      setClock('2027-03-27T12:00:00Z');
      for (const [rolls, end] of ends.entries()) {
        const instant = `2027-03-${end}:00:00`;
        expect(await advance(id)).toEqual({ do: 'wait', for: 'balance', until: `${instant}.000Z` });
        expect(await read(id)).toMatchObject({
          transferDate: `2027-03-${27 + rolls}`,
          originalTransferDate: '2027-03-27',
          rollCount: rolls,
          cutOffDateTime: null,
          status: 'pending',
        });
        setClock(`${instant}Z`);
      }
      await advance(id);
      expect(await read(id)).toMatchObject({ transferDate: '2027-03-31', rollCount: 4, status: 'pending' });
    },
  );

  test('fails after five rolls, the receiving side of an internal one too', async () => {
    setClock('2027-03-26T12:00:00Z');
    const { id, incomingTransferId } = await make('internal');
    for (let day = 28; day <= 31; day += 1) {
      setClock(`2027-03-${day}T00:00:00Z`);
      await advance(id);
    }
    setClock('2027-04-01T12:00:00Z');
    expect(await advance(id)).toMatchObject({ do: 'wait', until: '2027-04-02T00:00:00.000Z' });
    expect(await read(id)).toMatchObject({ status: 'pending', rollCount: 5, transferDate: '2027-04-01' });
    setClock('2027-04-02T00:00:00Z');
    expect(await advance(id)).toEqual({ do: 'end' });
    const reason = { code: 'transfer.roll.limit_exceeded' };
    expect(await read(id)).toMatchObject({ status: 'failed', rollCount: 5, statusReason: reason });
    const { body } = await api.call('GET', `/incoming-transfers/${incomingTransferId}`);
    expect(body.data.incomingTransfer).toMatchObject({ status: 'failed', statusReason: reason });
  });

  test('that waits for its authorization wakes at the end of the day too', async () => {
    setClock('2027-03-26T12:00:00Z');
    const { id } = await make('faster-payments');
    await api.database.reader.statement(
      `UPDATE outgoing_transfers SET authorization_status = 'not-checked' WHERE id = $1`,
      [id],
    );
    const until = '2027-03-28T00:00:00.000Z';
    expect(await advance(id)).toEqual({ do: 'wait', for: 'authorization', until });
  });
});
