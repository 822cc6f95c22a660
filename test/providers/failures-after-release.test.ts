import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { compareStatements } from '../../activities/reconciliation/reconciliation.ts';
import { catchUpWithProviders } from '../../activities/restores.ts';
import { admitWaitingTransfers, listAdmissionsDue } from '../../db/outgoing-transfers/admissions.ts';
import type { Json } from '../harness/api.ts';
import { TESTER } from '../harness/audit.ts';
import { cutAfter } from '../harness/faults/faulty-server.ts';
import { type PaymentsAtBank, startPaymentsAtBank } from '../harness/servers/payments-at-bank.ts';
import { eventually } from '../harness/servers/sandbox.ts';

// A bank books a payment that fails after release twice: out, and back. So does the service, however the failure is reported
// and however little it knew of the payment before.

const HOUR_MS = 3_600_000;
const FUNDS = 5_000;
const FEE = 0.25;
/** The bank releases it and fails it after 0.3 s. */
const FAILS = 10.02;
/** The bank releases it and waits for a lever. */
const STAYS = 10.1;
/** The bank rejects it before release. */
const REJECTED = 10.01;
/** Noon of a Wednesday, a business day of every scheme. */
const NOON = Date.parse('2027-06-16T12:00:00Z');

let payments: PaymentsAtBank;
let account: Json;
let aheadMs = NOON - Date.now();

beforeAll(async () => {
  const fee = { direction: 'outgoing', scheme: null, currency: 'GBP', fixedMinor: 25n, pricing: null } as const;
  const clockOffset = () => `${Math.round(aheadMs)} milliseconds`;
  payments = await startPaymentsAtBank('failures-after-release', { clockOffset, prices: [fee] });
});

beforeEach(async () => {
  aheadMs = NOON - Date.now();
  account = await payments.account(FUNDS);
});

afterEach(async () => {
  await bank('DELETE', '/faults');
  await payments.callbacksDelivered();
  await payments.world.invariantsHold();
});

afterAll(() => payments?.stop());

const bank: PaymentsAtBank['bank'] = (...call) => payments.bank(...call);
const transfer = (id: string) => payments.transfer(id);
const created = (amount: number, accountId: string = account.id) => payments.pay(accountId, amount);
const available = async (): Promise<number> => (await payments.world.balance(account.id)).available;
const failedAtBank = (id: string) =>
  eventually('the failure', async () =>
    (await bank('GET', `/payments/${id}`)).status === 'failed' ? true : undefined,
  );

/** Direction, type and amount of the account's entries about this transfer, oldest first. */
async function entriesOf({ transactionNumber }: Json, accountId: string = account.id): Promise<string[]> {
  const entries = await payments.world.statement(accountId);
  return entries
    .filter((entry) => entry.transactionNumber === transactionNumber)
    .sort((one, other) => one.version - other.version)
    .map(({ direction, entryType, amount }) => `${direction} ${entryType} ${amount}`);
}

const happened = (...words: string[]) => ['created', ...words].map((word) => `outgoing-transfer-${word}`);

/** Entries, events and ids of a payment that was released, and failed afterwards. */
async function failedAfterRelease(id: string): Promise<void> {
  const shown = await transfer(id);
  expect(shown).toMatchObject({ status: 'failed', statusReason: { code: 'AC07' } });
  const { paymentId, paymentReference } = await bank('GET', `/payments/${id}`);
  expect(shown).toMatchObject({ serviceProviderId: paymentId, serviceProviderReference: paymentReference });
  expect(await entriesOf(shown)).toEqual([
    `debit principal ${shown.amount}`,
    `debit fee ${FEE}`,
    `credit principal ${shown.amount}`,
    `credit fee ${FEE}`,
  ]);
  expect(await payments.world.events(id)).toEqual(happened('processing', 'released', 'failed'));
}

describe('a payment that fails after release has both pairs of entries and both events', () => {
  test('twenty at once, whatever overtakes what', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => created(FAILS)));
    await Promise.all(
      ids.map(async (id, number) => {
        if (number % 2 === 0) return payments.steps.go(id);
        // The callback overtakes the answer to the submission.
        const answer = await payments.steps.submit(id, 1);
        await failedAtBank(id);
        await eventually('the callback', async () => ((await transfer(id)).status === 'failed' ? true : undefined));
        return payments.steps.record(id, 1, answer);
      }),
    );
    for (const id of ids) {
      await eventually('the end', async () => ((await transfer(id)).status === 'failed' ? true : undefined));
      await failedAfterRelease(id);
    }
    expect(await available()).toBe(FUNDS);
  });

  const submittedUnheard = async (amount: number) => {
    const id = await created(amount);
    expect(await payments.server.during(cutAfter, () => payments.steps.go(id))).toEqual({ do: 'unanswered' });
    expect(await transfer(id)).toMatchObject({ status: 'processing' });
    return id;
  };

  const ways: readonly (readonly [string, () => Promise<string>])[] = [
    [
      'reported by a callback before the answer to its submission',
      async () => {
        const id = await created(STAYS);
        const answer = await payments.steps.submit(id, 1);
        await bank('POST', `/payments/${id}/reject`, { code: 'AC07' });
        await payments.callbacksDelivered();
        expect(await transfer(id)).toMatchObject({ status: 'failed' });
        expect(await payments.steps.record(id, 1, answer)).toEqual({ do: 'end' });
        return id;
      },
    ],
    [
      'reported by a callback while it is unknown whether it was submitted',
      async () => {
        const id = await submittedUnheard(STAYS);
        await bank('POST', `/payments/${id}/reject`, { code: 'AC07' });
        await payments.callbacksDelivered();
        expect(await payments.steps.go(id)).toEqual({ do: 'end' });
        return id;
      },
    ],
    [
      'reported by a callback that comes twice',
      async () => {
        const id = await submittedUnheard(STAYS);
        await bank('POST', `/payments/${id}/reject`, { code: 'AC07' });
        await bank('POST', `/payments/${id}/reject`, { code: 'AC07' });
        await payments.callbacksDelivered();
        return id;
      },
    ],
    [
      'reported by the look-up that an operator asks for',
      async () => {
        await bank('POST', '/faults', { callbacks: 'held' });
        const id = await submittedUnheard(FAILS);
        await failedAtBank(id);
        expect((await payments.operate('look-up', id)).exit).toBe(2);
        expect(await payments.steps.go(id)).toEqual({ do: 'end' });
        return id;
      },
    ],
    [
      'reported by the answer to a repeated submission and the look-up after it',
      async () => {
        await bank('POST', '/faults', { callbacks: 'held' });
        const id = await submittedUnheard(FAILS);
        await failedAtBank(id);
        expect(await payments.steps.go(id)).toMatchObject({ do: 'wait', for: 'provider' });
        aheadMs += HOUR_MS;
        expect(await payments.steps.go(id)).toEqual({ do: 'end' });
        return id;
      },
    ],
    [
      'found after a restore that lost the submission',
      async () => {
        await bank('POST', '/faults', { callbacks: 'held' });
        const from = new Date(Date.now() - 5_000);
        const id = await submittedUnheard(FAILS);
        await failedAtBank(id);
        const to = new Date(Date.now() + 60_000);
        expect(await catchUpWithProviders({ ...payments.dependencies, initiator: TESTER }, { from, to })).toMatchObject(
          {
            adopted: 1,
          },
        );
        return id;
      },
    ],
  ];

  test.each(ways)('%s', async (_, fail) => {
    const id = await fail();
    await failedAfterRelease(id);
    expect(await available()).toBe(FUNDS);
    await bank('POST', '/faults', { callbacks: 'normal' });
    await payments.callbacksDelivered();
    await failedAfterRelease(id);
    expect(await compareStatements(payments.dependencies, {}, -HOUR_MS)).toMatchObject({ differences: 0, failed: 0 });
  });
});

test('the money that comes back with the report is there for a transfer that waits for it', async () => {
  const [id, waiting] = [await created(STAYS), await created(FUNDS - 5)];
  expect(await transfer(waiting)).toMatchObject({ status: 'pending' });
  await payments.steps.submit(id, 1);
  await bank('POST', `/payments/${id}/reject`, { code: 'AC07' });
  await payments.callbacksDelivered();
  await failedAfterRelease(id);
  expect(await listAdmissionsDue(payments.api.database.reader, 100)).toContain(account.id);
  const { configuration } = payments.api.services;
  await payments.api.database.transaction((tx) => admitWaitingTransfers(tx, account.id, configuration));
  expect(await transfer(waiting)).toMatchObject({ status: 'processing' });
});

describe('a payment that was never released has neither', () => {
  test('because its provider rejected it', async () => {
    const id = await created(REJECTED);
    expect(await payments.steps.go(id)).toEqual({ do: 'end' });
    expect(await payments.world.events(id)).toEqual(happened('processing', 'failed'));
    expect(await entriesOf(await transfer(id))).toEqual([]);
    expect(await available()).toBe(FUNDS);
  });

  test('because its caller, who pays it, says that it failed', async () => {
    const plugIn = await payments.world.account(payments.client, { amount: 100 });
    const id = await created(10, plugIn);
    const outgoingTransfer = { status: 'failed' };
    const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
    const answer = await payments.api.call('PATCH', `/outgoing-transfers/${id}`, body);
    expect(answer.status, answer.text).toBe(200);
    expect(await payments.world.events(id)).toEqual(happened('processing', 'failed'));
    expect(await entriesOf(await transfer(id), plugIn)).toEqual([]);
    expect((await payments.world.balance(plugIn)).available).toBe(100);
  });
});
