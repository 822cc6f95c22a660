import { afterEach, beforeEach, expect, test } from 'vitest';
import { ProviderUnavailable } from '../../activities/providers/port.ts';
import type { PaymentRequest } from '../../activities/providers/ports/payment-port.ts';
import { createSandboxBank } from '../../activities/providers/sandbox-bank.ts';
import {
  type CallbackReceiver,
  eventually,
  type RunningSandbox,
  SANDBOX_SECRET,
  startCallbackReceiver,
  startSandbox,
  temporaryDirectory,
} from '../harness/servers/sandbox.ts';
import { payment as paymentRequest } from './conformance/sandbox-payments.ts';

let directory: ReturnType<typeof temporaryDirectory>;
let receiver: CallbackReceiver;
let sandbox: RunningSandbox;
let bank: ReturnType<typeof createSandboxBank>;

beforeEach(async () => {
  directory = temporaryDirectory();
  receiver = await startCallbackReceiver();
  await start();
});

afterEach(async () => {
  await sandbox?.kill();
  await receiver?.close();
  directory.remove();
});

async function start(): Promise<void> {
  sandbox = await startSandbox({ directory: directory.path, callbackUrl: receiver.url });
  bank = createSandboxBank({ url: sandbox.url, secret: SANDBOX_SECRET });
}

async function get<Body>(path: string): Promise<Body> {
  return (await (await fetch(`${sandbox.url}/bank${path}`)).json()) as Body;
}

async function faults(body: Record<string, unknown> | null): Promise<void> {
  const request = body === null ? { method: 'DELETE' } : { method: 'POST', body: JSON.stringify(body) };
  expect((await fetch(`${sandbox.url}/bank/faults`, request)).status).toBe(200);
}

async function payIn(amount: string): Promise<string> {
  const body = JSON.stringify({ amount, currency: 'GBP', scheme: 'chaps', reference: 'x' });
  const answer = await fetch(`${sandbox.url}/bank/payments-in`, { method: 'POST', body });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { paymentId: string }).paymentId;
}

function events() {
  return receiver.received.flatMap(({ headers, rawBody }) => bank.verifyCallback(headers, rawBody, new Date()));
}

interface Statement {
  entries: { sequence: number; amount: number; direction: string; position: number; ourReference: string | null }[];
}

async function wholeStatement(): Promise<Statement['entries']> {
  return (await get<Statement>('/statement?account=GBP&limit=10000')).entries;
}

test('killed under load and started again, it knows every payment that it has answered, once', async () => {
  const acknowledged: { payment: PaymentRequest; serviceProviderId: string }[] = [];
  const unknown: PaymentRequest[] = [];
  for (let round = 0; round < 3; round += 1) {
    let killed = false;
    const payers = Array.from({ length: 8 }, async () => {
      while (!killed) {
        const payment = paymentRequest(1_000n);
        try {
          const answer = await bank.submitPayment(payment, {});
          if (answer.outcome !== 'completed') throw new Error(`a plain payment is ${answer.outcome}`);
          acknowledged.push({ payment, serviceProviderId: answer.serviceProviderId });
        } catch (error) {
          if (!(error instanceof ProviderUnavailable)) throw error;
          unknown.push(payment);
          return;
        }
      }
    });
    const before = acknowledged.length;
    await eventually('payments', () => (acknowledged.length > before + 100 ? true : undefined));
    await sandbox.kill();
    killed = true;
    await Promise.all(payers);
    await start();
  }

  expect(acknowledged.length).toBeGreaterThan(300);
  for (const payment of unknown) await bank.submitPayment(payment, {});
  for (const { payment, serviceProviderId } of acknowledged) {
    expect(await bank.lookUpPayment(payment.ourReference, {})).toMatchObject({ serviceProviderId });
  }
  const entries = await wholeStatement();
  const references = entries.map(({ ourReference }) => ourReference);
  const expected = [...acknowledged.map(({ payment }) => payment.ourReference), ...unknown.map((p) => p.ourReference)];
  expect(references.sort()).toEqual(expected.sort());
  expect(entries.map(({ sequence }) => sequence)).toEqual(entries.map((_, index) => index + 1));
  expect(entries.at(-1)?.position).toBe(-10 * entries.length);
});

test('undelivered callbacks and pending actions survive a kill', async () => {
  receiver.status = 500;
  const paidIn = await payIn('12.34');
  const returned = paymentRequest(5_003n);
  await bank.submitPayment(returned, {});
  await eventually('a rejected callback', () => receiver.received[0]);
  await sandbox.kill();
  receiver.received.length = 0;
  receiver.status = 200;
  await start();

  const all = await eventually('both callbacks', () => {
    const found = events();
    return found.length >= 2 ? found : undefined;
  });
  expect(all.map(({ type }) => type).sort()).toEqual(['payment-received', 'payment-returned']);
  expect(all.find(({ type }) => type === 'payment-received')).toMatchObject({ serviceProviderId: paidIn });
  expect(all.find(({ type }) => type === 'payment-returned')).toMatchObject({ ourReference: returned.ourReference });
  const entries = await wholeStatement();
  const sum = entries.reduce((total, { amount, direction }) => total + (direction === 'credit' ? amount : -amount), 0);
  expect(entries).toHaveLength(3);
  expect(sum).toBeCloseTo(12.34, 10);
  expect(entries.at(-1)?.position).toBe(12.34);
});

test('payments with every outcome are shown after a kill as before it', async () => {
  const payments = await Promise.all(
    // Plain, failed, open, tried again, its recall rejected.
    [5_050n, 5_002n, 5_010n, 5_011n, 5_014n, 5_050n].map(async (amountMinor) => {
      const payment = paymentRequest(amountMinor);
      await bank.submitPayment(payment, {});
      return payment.ourReference;
    }),
  );
  const [inParts, , , , recalled, whole] = payments;
  const lever = (path: string, body: Record<string, unknown>) =>
    fetch(`${sandbox.url}/bank/payments/${path}`, { method: 'POST', body: JSON.stringify(body) });
  for (const amount of [12.34, 5]) expect((await lever(`${inParts}/return`, { amount })).status).toBe(200);
  expect((await lever(`${whole}/return`, {})).status).toBe(200);
  expect((await lever(`${recalled}/recalls`, { recallReference: 'again' })).status).toBe(202);
  await eventually('all callbacks', async () =>
    (await get<{ pending: number }>('/callbacks')).pending === 0 &&
    events().some(({ type }) => type === 'payment-recall-rejected')
      ? true
      : undefined,
  );
  const shown = () => Promise.all(payments.map((reference) => get<Record<string, unknown>>(`/payments/${reference}`)));
  const before = await shown();
  expect(before[0]).toMatchObject({ returnedAmount: 17.34, returns: [{ amount: 12.34 }, { amount: 5 }] });
  const statementBefore = await wholeStatement();
  await sandbox.kill();
  await start();
  expect(await shown()).toEqual(before);
  expect(await wholeStatement()).toEqual(statementBefore);
});

test('a callback is sent again with the same id until it is taken', async () => {
  receiver.status = 503;
  await payIn('1');
  await eventually('three attempts', () => (receiver.received.length >= 3 ? true : undefined));
  receiver.status = 200;
  await eventually('delivery', async () =>
    (await get<{ pending: number }>('/callbacks')).pending === 0 ? true : undefined,
  );
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
});

test('faults: away, cut after the effect, held and released callbacks', async () => {
  const payment = paymentRequest(2_000n);
  await faults({ errorRate: 1 });
  await expect(bank.submitPayment(payment, {})).rejects.toMatchObject({ reason: 'status 503' });
  await faults({ errorRate: 0 });
  expect(await bank.lookUpPayment(payment.ourReference, {})).toEqual({ outcome: 'not-found' });

  await faults({ cutRate: 1 });
  await expect(bank.submitPayment(payment, {})).rejects.toMatchObject({ reason: 'connection' });
  await faults(null);
  expect(await bank.lookUpPayment(payment.ourReference, {})).toMatchObject({ outcome: 'completed' });

  await faults({ latencyMs: 2_000 });
  await expect(bank.lookUpPayment(payment.ourReference, { deadlineMs: 200 })).rejects.toMatchObject({
    reason: 'timeout',
  });
  await faults({ latencyMs: 0, callbacks: 'held' });
  await payIn('1');
  await payIn('2');
  await bank.submitPayment(paymentRequest(2_100n), {});
  expect(await get('/callbacks')).toEqual({ pending: 2 });
  expect(receiver.received).toEqual([]);
  await faults({ callbacks: 'shuffled' });
  await eventually('delivery', () => (receiver.received.length >= 2 ? true : undefined));

  expect((await fetch(`${sandbox.url}/bank/faults`, { method: 'POST', body: '{"errorRate":2}' })).status).toBe(400);
});

test('SIGTERM ends it in order, with status 0, also while a caller waits for a late answer', async () => {
  const late = bank.submitPayment(paymentRequest(1_007n), {}).catch((error: unknown) => error);
  await eventually('the payment', async () => ((await wholeStatement()).length === 1 ? true : undefined));
  expect(await sandbox.stop()).toBe(0);
  expect(await late).toBeInstanceOf(ProviderUnavailable);
  await start();
  expect(await wholeStatement()).toHaveLength(1);
});
