import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ProviderEvent, ProviderUnavailable } from '../../activities/providers/port.ts';
import type { PaymentRequest } from '../../activities/providers/ports/payment-port.ts';
import { createSandboxBank } from '../../activities/providers/sandbox-bank.ts';
import { paymentReferenceOf } from '../../domain/common/payment-references.ts';
import {
  type CallbackReceiver,
  eventually,
  type RunningSandbox,
  SANDBOX_SECRET,
  startCallbackReceiver,
  startSandbox,
  temporaryDirectory,
} from '../harness/servers/sandbox.ts';
import { returnInFull } from './conformance/sandbox-payments.ts';

const directory = temporaryDirectory();
let receiver: CallbackReceiver;
let sandbox: RunningSandbox;
let bank: ReturnType<typeof createSandboxBank>;

beforeAll(async () => {
  receiver = await startCallbackReceiver();
  sandbox = await startSandbox({ directory: directory.path, callbackUrl: receiver.url });
  bank = createSandboxBank({ url: sandbox.url, secret: SANDBOX_SECRET });
});

afterAll(async () => {
  await sandbox?.stop();
  await receiver?.close();
  directory.remove();
});

function paymentOf(amountMinor: bigint, change: Partial<PaymentRequest> = {}): PaymentRequest {
  const ourReference = randomUUID();
  return {
    ourReference,
    paymentReference: paymentReferenceOf(ourReference),
    attempt: 1,
    amountMinor,
    currency: 'GBP',
    scheme: 'faster-payments',
    debtor: {
      accountId: randomUUID(),
      name: 'Payer Ltd',
      country: 'GB',
      iban: null,
      accountNumber: '12345678',
      routingCodes: { 'sort-code': '040075' },
    },
    creditor: {
      name: 'Zoë Payee',
      country: 'GB',
      iban: null,
      accountNumber: '87654321',
      routingCodes: { 'sort-code': '200000' },
    },
    remittanceText: 'invoice 17',
    attributes: {},
    ...change,
  };
}

/** The verified events about a payment, in the order in which they came. */
function eventsAbout(ourReference: string): ProviderEvent[] {
  return receiver.received
    .flatMap(({ headers, rawBody }) => bank.verifyCallback(headers, rawBody, new Date()))
    .filter((event) => 'ourReference' in event && event.ourReference === ourReference);
}

function eventAbout(ourReference: string, type: ProviderEvent['type']): Promise<ProviderEvent> {
  return eventually(`${type} about ${ourReference}`, () =>
    eventsAbout(ourReference).find((event) => event.type === type),
  );
}

async function post(path: string, body?: unknown): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await fetch(`${sandbox.url}/bank${path}`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body ?? {}),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

async function entriesOf(ourReference: string): Promise<{ kind: string; amountMinor: bigint }[]> {
  const range = { currency: 'GBP', from: new Date(0), to: new Date(Date.now() + 60_000) };
  const { entries, next } = await bank.fetchStatement(range, {});
  expect(next).toBeNull();
  return entries
    .filter((entry) => entry.ourReference === ourReference)
    .map(({ kind, amountMinor }) => ({ kind, amountMinor }));
}

/** Waits until the bank has nothing left to send: after that no callback can arrive. */
async function callbacksSent(): Promise<void> {
  await eventually('an empty callback queue', async () => {
    const { pending } = (await (await fetch(`${sandbox.url}/bank/callbacks`)).json()) as { pending: number };
    return pending === 0 ? true : undefined;
  });
}

describe('the last two digits of a payment out choose its outcome', () => {
  test('any other amount is completed in the answer, and no callback follows', async () => {
    const payment = paymentOf(12_345n);
    const answer = await bank.submitPayment(payment, {});
    expect(answer).toMatchObject({ outcome: 'completed' });
    const { amountMinor, currency } = payment;
    expect(await bank.lookUpPayment(payment.ourReference, {})).toEqual({ ...answer, amountMinor, currency });
    await callbacksSent();
    expect(eventsAbout(payment.ourReference)).toEqual([]);
    expect(await entriesOf(payment.ourReference)).toEqual([{ kind: 'payment-out', amountMinor: 12_345n }]);
  });

  test('.01 is rejected before release: AC03, nothing booked', async () => {
    const payment = paymentOf(10_001n);
    const rejected = { outcome: 'rejected', error: { category: 'functional', origin: 'customer', code: 'AC03' } };
    expect(await bank.submitPayment(payment, {})).toMatchObject(rejected);
    expect(await bank.submitPayment(payment, {})).toMatchObject(rejected);
    expect(await bank.lookUpPayment(payment.ourReference, {})).toMatchObject(rejected);
    expect(await entriesOf(payment.ourReference)).toEqual([]);
  });

  test('.02 fails after release: AC07, booked and booked back', async () => {
    const payment = paymentOf(10_002n);
    expect(await bank.submitPayment(payment, {})).toMatchObject({ outcome: 'accepted' });
    const event = await eventAbout(payment.ourReference, 'payment-failed');
    expect(event).toMatchObject({ code: 'AC07', amountMinor: 10_002n, currency: 'GBP' });
    expect(await bank.lookUpPayment(payment.ourReference, {})).toMatchObject({ outcome: 'failed', code: 'AC07' });
    expect(await entriesOf(payment.ourReference)).toEqual([
      { kind: 'payment-out', amountMinor: 10_002n },
      { kind: 'payment-out-failed', amountMinor: 10_002n },
    ]);
  });

  test('.03 is completed, then returned: AC06, the money comes back', async () => {
    const payment = paymentOf(10_003n);
    expect(await bank.submitPayment(payment, {})).toMatchObject({ outcome: 'completed' });
    const event = await eventAbout(payment.ourReference, 'payment-returned');
    expect(event).toMatchObject({ code: 'AC06', amountMinor: 10_003n, returnReference: expect.any(String) });
    expect(eventsAbout(payment.ourReference)).toHaveLength(1);
    expect(await bank.lookUpPayment(payment.ourReference, {})).toMatchObject({
      outcome: 'returned',
      amountMinor: 10_003n,
      returns: [
        {
          code: 'AC06',
          returnedMinor: 10_003n,
          returnReference: 'returnReference' in event ? event.returnReference : '',
        },
      ],
    });
    expect(await entriesOf(payment.ourReference)).toEqual([
      { kind: 'payment-out', amountMinor: 10_003n },
      { kind: 'payment-out-returned', amountMinor: 10_003n },
    ]);
  });

  test('.04 never calls back: a look-up finds it completed', async () => {
    const payment = paymentOf(10_004n);
    expect(await bank.submitPayment(payment, {})).toMatchObject({ outcome: 'accepted' });
    await eventually('completion by look-up', async () => {
      const state = await bank.lookUpPayment(payment.ourReference, {});
      return state.outcome === 'completed' ? state : undefined;
    });
    await callbacksSent();
    expect(eventsAbout(payment.ourReference)).toEqual([]);
  });

  test('.05 takes effect and cuts the connection: unknown, then the first result, booked once', async () => {
    const payment = paymentOf(10_005n);
    await expect(bank.submitPayment(payment, {})).rejects.toThrow(ProviderUnavailable);
    expect(await bank.lookUpPayment(payment.ourReference, {})).toMatchObject({ outcome: 'completed' });
    expect(await bank.submitPayment(payment, {})).toMatchObject({ outcome: 'completed' });
    expect(await entriesOf(payment.ourReference)).toHaveLength(1);
  });

  test('.06 answers 503 twice without effect, then works', async () => {
    const payment = paymentOf(10_006n);
    for (const _ of [1, 2]) {
      await expect(bank.submitPayment(payment, {})).rejects.toMatchObject({ reason: 'status 503' });
      expect(await bank.lookUpPayment(payment.ourReference, {})).toEqual({ outcome: 'not-found' });
    }
    expect(await bank.submitPayment(payment, {})).toMatchObject({ outcome: 'completed' });
    expect(await entriesOf(payment.ourReference)).toHaveLength(1);
  });

  test('.07 answers after ten seconds: a shorter deadline leaves it unknown, the next submission finds it done', async () => {
    const payment = paymentOf(10_007n);
    await expect(bank.submitPayment(payment, { deadlineMs: 3_000 })).rejects.toMatchObject({ reason: 'timeout' });
    // Shorter than the ten seconds that the first one waits.
    expect(await bank.submitPayment(payment, { deadlineMs: 8_000 })).toMatchObject({ outcome: 'completed' });
    const patient = paymentOf(20_007n);
    expect(await bank.submitPayment(patient, { deadlineMs: 120_000 })).toMatchObject({ outcome: 'completed' });
  });

  test('.08 calls back twice, with one event id', async () => {
    const payment = paymentOf(10_008n);
    expect(await bank.submitPayment(payment, {})).toMatchObject({ outcome: 'accepted' });
    const events = await eventually('two callbacks', () => {
      const found = eventsAbout(payment.ourReference);
      return found.length >= 2 ? found : undefined;
    });
    expect(events.map(({ type }) => type)).toEqual(['payment-completed', 'payment-completed']);
    expect(new Set(events.map(({ providerEventId }) => providerEventId)).size).toBe(1);
    expect(await entriesOf(payment.ourReference)).toHaveLength(1);
  });

  test('.09 calls back before it answers', async () => {
    const payment = paymentOf(10_009n);
    const answer = await bank.submitPayment(payment, {});
    // The callback arrives with the answer, which still says released.
    expect(eventsAbout(payment.ourReference).map(({ type }) => type)).toEqual(['payment-completed']);
    expect(answer).toMatchObject({ outcome: 'accepted' });
    expect(await bank.lookUpPayment(payment.ourReference, {})).toMatchObject({ outcome: 'completed' });
  });

  test('.10 stays released until it is settled, rejected or returned', async () => {
    const [settled, rejected, returned] = [paymentOf(10n), paymentOf(110n), paymentOf(210n)];
    for (const payment of [settled, rejected, returned]) {
      expect(await bank.submitPayment(payment, {})).toMatchObject({ outcome: 'accepted' });
    }
    await callbacksSent();
    expect(eventsAbout(settled.ourReference)).toEqual([]);

    expect(await post(`/payments/${settled.ourReference}/settle`)).toMatchObject({ status: 200 });
    await eventAbout(settled.ourReference, 'payment-completed');
    expect(await post(`/payments/${rejected.ourReference}/reject`)).toMatchObject({ status: 200 });
    await eventAbout(rejected.ourReference, 'payment-failed');
    expect(await post(`/payments/${returned.ourReference}/return`, { code: 'MD09' })).toMatchObject({ status: 200 });
    expect(await eventAbout(returned.ourReference, 'payment-returned')).toMatchObject({ code: 'MD09' });
    expect(eventsAbout(returned.ourReference).map(({ type }) => type)).toEqual([
      'payment-completed',
      'payment-returned',
    ]);

    // A repetition changes nothing; another outcome is a conflict.
    expect(await post(`/payments/${settled.ourReference}/settle`)).toMatchObject({ status: 200 });
    expect(await post(`/payments/${settled.ourReference}/reject`)).toMatchObject({ status: 409 });
    expect(await post(`/payments/${rejected.ourReference}/return`)).toMatchObject({ status: 409 });
    expect(await post(`/payments/${randomUUID()}/settle`)).toMatchObject({ status: 404 });
    expect(await entriesOf(settled.ourReference)).toHaveLength(1);
  });

  test('.13 is released as .10 is, and its look-ups are answered with 400', async () => {
    const payment = paymentOf(10_013n);
    expect(await bank.submitPayment(payment, {})).toMatchObject({ outcome: 'accepted' });
    expect((await fetch(`${sandbox.url}/bank/payments/${payment.ourReference}`)).status).toBe(400);
    await expect(bank.lookUpPayment(payment.ourReference, {})).rejects.toMatchObject({ reason: 'status 400' });
    expect(await post(`/payments/${payment.ourReference}/settle`)).toMatchObject({ status: 200 });
    await eventAbout(payment.ourReference, 'payment-completed');
    expect((await fetch(`${sandbox.url}/bank/payments/${payment.ourReference}`)).status).toBe(400);
  });

  test('a part comes back: the look-up, the callback and the statement say how much', async () => {
    const payment = paymentOf(10_000n);
    await bank.submitPayment(payment, {});
    const lever = `/payments/${payment.ourReference}/return`;
    const part = { code: 'MD09', amount: 25.5 };
    const shown = { status: 'returned', amount: 100, returnedAmount: 25.5, code: 'MD09' };
    expect(await post(lever, part)).toMatchObject({ status: 200, body: shown });
    const returned = { code: 'MD09', returnedMinor: 2_550n };
    const money = { amountMinor: 10_000n, currency: 'GBP' };
    expect(await eventAbout(payment.ourReference, 'payment-returned')).toMatchObject({ ...money, ...returned });
    const found = await bank.lookUpPayment(payment.ourReference, {});
    expect(found).toMatchObject({ outcome: 'returned', ...money, returns: [returned] });
    expect(await entriesOf(payment.ourReference)).toEqual([
      { kind: 'payment-out', amountMinor: 10_000n },
      { kind: 'payment-out-returned', amountMinor: 2_550n },
    ]);
    // A repetition changes nothing.
    expect(await post(lever, part)).toMatchObject({ status: 200, body: shown });
    expect(await entriesOf(payment.ourReference)).toHaveLength(2);
  });

  test('several parts come back: another amount or reference is another return, up to what was paid', async () => {
    const payment = paymentOf(10_000n);
    await bank.submitPayment(payment, {});
    const lever = `/payments/${payment.ourReference}/return`;
    const twice = { amount: 25.5, returnReference: 'second' };
    for (const part of [{ amount: 25.5 }, twice, twice, { amount: 9 }]) {
      expect(await post(lever, part)).toMatchObject({ status: 200 });
    }
    expect(await post(lever, { ...twice, amount: 1 })).toMatchObject({ status: 409 });
    expect(await post(lever, { amount: 40.01 })).toMatchObject({ status: 409 });
    expect(await post(lever)).toMatchObject({ status: 200, body: { returnedAmount: 100 } });
    expect(await post(lever)).toMatchObject({ status: 200, body: { returnedAmount: 100 } });
    expect(await post(lever, { amount: 1 })).toMatchObject({ status: 409 });
    const returned = [2_550n, 2_550n, 900n, 4_000n];
    const found = await bank.lookUpPayment(payment.ourReference, {});
    expect(found).toMatchObject({ returns: returned.map((returnedMinor) => ({ returnedMinor })) });
    const entries = returned.map((amountMinor) => ({ kind: 'payment-out-returned', amountMinor }));
    expect(await entriesOf(payment.ourReference)).toEqual([{ kind: 'payment-out', amountMinor: 10_000n }, ...entries]);
    expect(eventsAbout(payment.ourReference).length).toBeLessThanOrEqual(returned.length);
  });

  test.each<[string, string, Record<string, unknown>, string]>([
    ['return', 'a field that it does not know', { ammount: 5 }, 'ammount'],
    ['return', 'more than was paid', { amount: 100.11 }, 'amount'],
    ['return', 'nothing', { amount: 0 }, 'amount'],
    ['return', 'an amount below zero', { amount: -5 }, 'amount'],
    ['return', 'a third decimal of sterling', { amount: 5.005 }, 'amount'],
    ['return', 'an amount that is no number', { amount: 'half' }, 'amount'],
    ['return', 'an amount that is a list', { amount: [5] }, 'amount'],
    ['return', 'an empty code', { code: '' }, 'code'],
    ['return', 'a code that is too long', { code: 'AC06-AC06-AC06' }, 'code'],
    ['reject', 'an amount', { amount: 5 }, 'amount'],
    ['settle', 'a code', { code: 'AC06' }, 'code'],
  ])('the lever %s with %s is 400, names the field and moves nothing', async (lever, _, body, field) => {
    const payment = paymentOf(10_010n);
    await bank.submitPayment(payment, {});
    const answer = await post(`/payments/${payment.ourReference}/${lever}`, body);
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'invalid-request', attributes: { field } } } });
    expect(await bank.lookUpPayment(payment.ourReference, {})).toMatchObject({ outcome: 'accepted' });
  });

  test('the digits count in minor units, also where the currency has none or three', async () => {
    const yen = paymentOf(1_001n, { currency: 'JPY', scheme: 'swift' });
    expect(await bank.submitPayment(yen, {})).toMatchObject({ outcome: 'rejected' });
    const dinar = paymentOf(1_100n, { currency: 'KWD', scheme: 'swift' });
    expect(await bank.submitPayment(dinar, {})).toMatchObject({ outcome: 'completed' });
  });
});

describe('a reference names one payment', () => {
  test('ten submissions at once are one payment with one answer', async () => {
    const payment = paymentOf(55_500n);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => bank.submitPayment({ ...payment, attempt: index + 1 }, {})),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(await entriesOf(payment.ourReference)).toHaveLength(1);
  });

  test('another amount or creditor under the same reference is a conflict, and never read as a rejection', async () => {
    const payment = paymentOf(55_600n);
    await bank.submitPayment(payment, {});
    const creditor = { ...payment.creditor, accountNumber: '11111111' };
    for (const other of [{ amountMinor: 55_700n }, { creditor }]) {
      await expect(bank.submitPayment({ ...payment, ...other }, {})).rejects.toMatchObject({ reason: 'status 409' });
    }
    expect(await entriesOf(payment.ourReference)).toEqual([{ kind: 'payment-out', amountMinor: 55_600n }]);
  });

  test('an unknown reference is not found; a wrong path proves nothing', async () => {
    expect(await bank.lookUpPayment(randomUUID(), {})).toEqual({ outcome: 'not-found' });
    const astray = createSandboxBank({ url: `${sandbox.url}/elsewhere`, secret: SANDBOX_SECRET });
    await expect(astray.lookUpPayment(randomUUID(), {})).rejects.toThrow(ProviderUnavailable);
  });
});

describe('look-ups that an intermediary answers', () => {
  test.each([
    ['rejected', 400, 'application/json'],
    ['gateway', 404, 'text/html; charset=UTF-8'],
  ])(
    '%s: the bank does not answer about payments, accounts and changes, and still takes payments',
    async (lookUps, status, type) => {
      const payment = paymentOf(55_700n);
      expect(await post('/faults', { lookUps })).toMatchObject({ status: 200, body: { lookUps } });
      expect(await bank.submitPayment(payment, {})).toMatchObject({ outcome: 'completed' });
      const { ourReference } = payment;
      const paths = ['payments', 'payments-in', 'accounts'].map((path) => `${path}/${ourReference}`);
      for (const path of [...paths, `accounts/${ourReference}/changes/1`]) {
        const answer = await fetch(`${sandbox.url}/bank/${path}`);
        expect([answer.status, answer.headers.get('content-type')]).toEqual([status, type]);
      }
      await fetch(`${sandbox.url}/bank/faults`, { method: 'DELETE' });
      expect(await bank.lookUpPayment(ourReference, {})).toMatchObject({ outcome: 'completed' });
    },
  );

  test('an unknown value is 400', async () => {
    expect(await post('/faults', { lookUps: 'odd' })).toMatchObject({ status: 400 });
  });
});

describe('payments in', () => {
  const good = { amount: 25.5, currency: 'GBP', scheme: 'faster-payments', iban: 'GB33BUKB20201555555555' };

  test('are booked, reported by a callback, and may name an unknown receiver', async () => {
    const body = {
      ...good,
      senderName: 'Ann Payer',
      senderAccount: { iban: 'DE89370400440532013000', country: 'DE' },
      reference: 'rent',
    };
    const answer = await post('/payments-in', body);
    expect(answer).toMatchObject({ status: 201, body: { amount: 25.5, status: 'booked' } });
    const received = await eventually('payment-received', () =>
      receiver.received
        .flatMap(({ headers, rawBody }) => bank.verifyCallback(headers, rawBody, new Date()))
        .find((event) => 'serviceProviderId' in event && event.serviceProviderId === answer.body.paymentId),
    );
    expect(received).toMatchObject({
      type: 'payment-received',
      amountMinor: 2_550n,
      currency: 'GBP',
      scheme: 'faster-payments',
      senderName: 'Ann Payer',
      senderAccount: { iban: 'DE89370400440532013000', country: 'DE', accountNumber: null, ledgerNumber: null },
      receiver: { iban: 'GB33BUKB20201555555555', accountNumber: null, routingCodes: {} },
      remittanceText: 'rent',
    });
  });

  test.each([
    ['too many decimals', { amount: 1.005 }, 'amount'],
    ['an amount of zero', { amount: 0 }, 'amount'],
    ['an amount that is no number', { amount: true }, 'amount'],
    ['an unknown currency', { currency: 'XXX' }, 'currency'],
    ['a scheme of another currency', { scheme: 'sepa' }, 'scheme'],
    ['no scheme', { scheme: undefined }, 'scheme'],
    ['a wrong IBAN', { iban: 'GB33BUKB20201555555556' }, 'iban'],
    ['no receiver', { iban: undefined }, 'iban'],
    ['an account number without a routing code', { iban: undefined, accountNumber: '12345678' }, 'routingCodes'],
  ])('%s is 400 and names the field', async (_, change, field) => {
    const answer = await post('/payments-in', { ...good, ...change });
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'invalid-request', attributes: { field } } } });
  });

  test('amounts are validated by their digits, as text or as a number; broken JSON is 400', async () => {
    const exact = `{"amount":9007199254740.93,"currency":"GBP","scheme":"chaps","reference":"x"}`;
    expect((await post('/payments-in', exact)).body).toMatchObject({ amount: 9007199254740.93 });
    expect((await post('/payments-in', { ...good, amount: '0.30' })).body).toMatchObject({ amount: 0.3 });
    expect((await post('/payments-in', '{"amount":')).status).toBe(400);
    expect((await post('/payments-in', '{"amount":1,"amount":2}')).status).toBe(400);
    expect((await post('/payments-in', { ...good, reference: 'x'.repeat(70_000) })).status).toBe(413);
  });

  test('go back whole and once', async () => {
    const { body } = await post('/payments-in', good);
    const request = returnInFull(String(body.paymentId), 2_550n);
    const first = await bank.returnPayment(request, {});
    expect(first).toMatchObject({ outcome: 'returned' });
    expect(await bank.returnPayment(request, {})).toEqual(first);
    expect(await entriesOf(request.incomingTransferId)).toEqual([
      { kind: 'payment-in-sent-back', amountMinor: 2_550n },
    ]);
    expect(await bank.returnPayment({ ...request, amountMinor: 1n }, {})).toMatchObject({ outcome: 'rejected' });
    const other = { ...request, incomingTransferId: randomUUID() };
    await expect(bank.returnPayment(other, {})).rejects.toMatchObject({ reason: 'status 409' });
    // Nor is it returned a second time by a payment.
    const returnOf = { serviceProviderId: String(body.paymentId), code: 'CUST' };
    const again = await bank.submitPayment({ ...paymentOf(150n), returnOf }, {});
    expect(again).toMatchObject({ outcome: 'rejected', error: { code: 'ARDT' } });
  });

  test('go back in parts, of which one that fails no longer counts; then no longer whole', async () => {
    const { body } = await post('/payments-in', { ...good, amount: 100 });
    const returnOf = { serviceProviderId: String(body.paymentId), code: 'CUST' };
    const part = (minor: bigint) => ({ ...paymentOf(minor), returnOf });
    const failing = part(6_002n);
    expect(await bank.submitPayment(failing, {})).toMatchObject({ outcome: 'accepted' });
    const tooMuch = await bank.submitPayment(part(4_000n), {});
    expect(tooMuch).toMatchObject({ outcome: 'rejected', error: { code: 'AM09' } });
    await eventually('it has failed', async () => {
      const { outcome } = await bank.lookUpPayment(failing.ourReference, {});
      return outcome === 'failed' ? true : undefined;
    });
    const kept = part(4_000n);
    expect(await bank.submitPayment(kept, {})).toMatchObject({ outcome: 'completed' });
    const shown = await (await fetch(`${sandbox.url}/bank/payments-in/${body.paymentId}`)).json();
    expect(shown).toMatchObject({
      status: 'booked',
      returns: [
        { ourReference: failing.ourReference, amount: 60.02, code: 'CUST', status: 'failed' },
        { ourReference: kept.ourReference, amount: 40, code: 'CUST', status: 'completed' },
      ],
    });
    const sentBack = await bank.returnPayment(returnInFull(returnOf.serviceProviderId, 10_000n), {});
    expect(sentBack).toMatchObject({ outcome: 'rejected' });
    const unknown = { serviceProviderId: randomUUID(), code: 'CUST' };
    const stray = await bank.submitPayment({ ...paymentOf(150n), returnOf: unknown }, {});
    expect(stray).toMatchObject({ outcome: 'rejected', error: { code: 'NOOR' } });
  });
});

test('the statement, page by page, sums to the pooled position', async () => {
  await post('/payments-in', { amount: 100, currency: 'EUR', scheme: 'sepa', reference: 'a' });
  await bank.submitPayment(paymentOf(3_000n, { currency: 'EUR', scheme: 'sepa' }), {});
  await post('/payments-in', { amount: '0.07', currency: 'EUR', scheme: 'sepa-instant', reference: 'b' });

  const amounts: number[] = [];
  let after = '0';
  for (;;) {
    const path = `/bank/statement?account=EUR&limit=2&after=${after}`;
    const page = (await (await fetch(sandbox.url + path)).json()) as {
      entries: { amount: number; direction: string }[];
      next: string | null;
    };
    expect(page.entries.length).toBeLessThanOrEqual(2);
    amounts.push(...page.entries.map(({ amount, direction }) => (direction === 'credit' ? amount : -amount)));
    if (page.next === null) break;
    after = page.next;
  }
  expect(amounts).toEqual([100, -30, 0.07]);
  const { positions } = (await (await fetch(`${sandbox.url}/bank/positions`)).json()) as {
    positions: Record<string, unknown>[];
  };
  expect(positions).toContainEqual(
    expect.objectContaining({
      currency: 'EUR',
      position: 70.07,
      paymentsIn: { count: 2, amount: 100.07 },
      paymentsOut: { count: 1, amount: 30 },
    }),
  );
});
