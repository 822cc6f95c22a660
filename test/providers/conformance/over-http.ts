import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AccountCalls,
  type AccountRequest,
  CallbackRejected,
  type Provider,
  ProviderUnavailable,
} from '../../../activities/providers/port.ts';
import { type CallOptions, stepReference } from '../../../activities/providers/ports/common.ts';
import { type PaymentRequest, recallReference } from '../../../activities/providers/ports/payment-port.ts';
import {
  answered,
  changed,
  cutAfter,
  cutBefore,
  cutWithin,
  type Fault,
  type FaultyServer,
  silent,
  type WireAnswer,
} from '../../harness/faults/faulty-server.ts';
import { returnInFull } from './sandbox-payments.ts';

/*
 * What activities/providers/port.ts says of answers that are spoiled, held for an adapter over HTTP: its provider is behind a server that
 * spoils them. A new adapter over HTTP joins by one call of `keepsTheProviderContract` in a test file of its own, and by its row of
 * conformance.test.ts as every provider does.
 */

export interface AdapterUnderTest {
  /** Reaches its provider through `server`. */
  readonly port: Required<Omit<Provider, 'hasStatementOf'>>;
  readonly server: FaultyServer;
  /** The provider's own rejection of a request as invalid, with nothing done. */
  readonly ownRejections: readonly WireAnswer[];
  /** The provider's own statement that it does not know a reference. */
  readonly ownNotFound: WireAnswer;
  /** An amount as the provider writes it. */
  amountOnTheWire(amountMinor: bigint, currency: string): string;
  /** A payment that the provider completes at once. */
  payment(amountMinor: bigint): PaymentRequest;
  /** A payment that the provider rejects once, for a retryable reason. */
  rejectedOnce(): PaymentRequest;
  /** Whether the provider takes a payment as the return that it is, up to what came in. Otherwise it pays it like any other. */
  readonly knowsReturns: boolean;
  /** Has a part of a payment come back; resolves when the provider has booked it. */
  returnPart(ourReference: string, returnedMinor: bigint): Promise<void>;
  /** What an account request needs in addition to its id and client. */
  readonly account: Omit<AccountRequest, 'accountId' | 'clientReference'>;
  /** A payment in from outside; returns the provider's id. */
  payIn(amountMinor: bigint, currency: string): Promise<string>;
  /** A page of the statement in which the entry about a payment cannot be read. */
  spoilEntry(page: string, ourReference: string): string;
  /** The callback about a payment's return, as it came. */
  returnCallback(ourReference: string): Promise<SignedCallback>;
  sign(rawBody: Buffer, at: Date): SignedCallback;
  stop(): Promise<void>;
}

export interface SignedCallback {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly rawBody: Buffer;
}

/** A call that has an outcome without faults, and the same call about something else. */
interface Prepared {
  readonly call: (options: CallOptions) => Promise<unknown>;
  readonly other: (options: CallOptions) => Promise<unknown>;
}

interface PortCall {
  readonly name: string;
  readonly kind: 'instruction' | 'look-up' | 'statement';
  readonly prepare: (adapter: AdapterUnderTest) => Promise<Prepared>;
}

const HTML = 'text/html; charset=utf-8';
const page = (status: number): WireAnswer => ({
  status,
  body: `<h1>${status}</h1>`,
  headers: { 'content-type': HTML },
});

/** None of these is the provider's own statement about the request, for any call. */
const OPEN: readonly (readonly [string, Fault])[] = [
  ['a connection that is cut before the answer', cutBefore],
  ['a connection that is cut after the effect', cutAfter],
  ['a connection that is cut within the answer', cutWithin],
  ...[301, 400, 401, 403, 404, 405, 408, 409, 410, 413, 422, 429, 500, 502, 503, 504].map(
    (status) => [`a gateway’s page with status ${status}`, answered(page(status))] as const,
  ),
  ['a page with status 200', answered(page(200))],
  ['an empty answer', answered({ status: 200, body: '' })],
  ['half an answer', answered({ status: 200, body: '{"status":' })],
  ['JSON of another kind', answered({ status: 200, body: '{"ok":true}' })],
  ['a list', answered({ status: 200, body: '[]' })],
  ['an empty error', answered({ status: 404, body: '{"error":{}}' })],
];

/** Long enough for a provider on a busy machine; calls that must end by themselves get less. */
const PATIENT: CallOptions = { deadlineMs: 60_000 };
const SOON: CallOptions = { deadlineMs: 200 };

const CALLS: readonly PortCall[] = [
  {
    name: 'connectClient',
    kind: 'instruction',
    prepare: async ({ port }) => ({ call: connecting(port), other: connecting(port) }),
  },
  {
    name: 'openAccount',
    kind: 'instruction',
    prepare: async (adapter) => ({ call: await opening(adapter), other: await opening(adapter) }),
  },
  {
    name: 'changeAccount',
    kind: 'instruction',
    prepare: async (adapter) => ({
      call: (await changing(adapter)).change,
      other: (await changing(adapter)).change,
    }),
  },
  {
    name: 'submitPayment',
    kind: 'instruction',
    prepare: async ({ port, payment }) => {
      const [one, other] = [payment(12_345n), payment(12_345n)];
      return {
        call: (options) => port.submitPayment(one, options),
        other: (options) => port.submitPayment(other, options),
      };
    },
  },
  {
    name: 'submitPayment, as a return to a payer',
    kind: 'instruction',
    prepare: async (adapter) => {
      const [one, other] = [await returning(adapter, 2_550n), await returning(adapter, 2_550n)];
      return {
        call: (options) => adapter.port.submitPayment(one, options),
        other: (options) => adapter.port.submitPayment(other, options),
      };
    },
  },
  {
    name: 'recallPayment',
    kind: 'instruction',
    prepare: async (adapter) => ({ call: await recalling(adapter), other: await recalling(adapter) }),
  },
  {
    name: 'returnPayment',
    kind: 'instruction',
    prepare: async (adapter) => ({ call: await sendingBack(adapter), other: await sendingBack(adapter) }),
  },
  {
    name: 'lookUpAccount',
    kind: 'look-up',
    prepare: async (adapter) => {
      const [one, other] = [await openedAccount(adapter), await openedAccount(adapter)];
      return {
        call: (options) => adapter.port.lookUpAccount(one, options),
        other: (options) => adapter.port.lookUpAccount(other, options),
      };
    },
  },
  {
    name: 'lookUpAccountChange',
    kind: 'look-up',
    prepare: async (adapter) => {
      const [one, other] = [await changing(adapter), await changing(adapter)];
      for (const { change } of [one, other]) await change(PATIENT);
      return {
        call: (options) => adapter.port.lookUpAccountChange(one.reference, options),
        other: (options) => adapter.port.lookUpAccountChange(other.reference, options),
      };
    },
  },
  {
    name: 'lookUpPayment',
    kind: 'look-up',
    prepare: async (adapter) => {
      const [one, other] = [await paid(adapter), await paid(adapter)];
      return {
        call: (options) => adapter.port.lookUpPayment(one.ourReference, options),
        other: (options) => adapter.port.lookUpPayment(other.ourReference, options),
      };
    },
  },
  {
    name: 'lookUpPaymentIn',
    kind: 'look-up',
    prepare: async ({ port, payIn }) => {
      const [one, other] = [await payIn(2_550n, 'GBP'), await payIn(2_550n, 'GBP')];
      return {
        call: (options) => port.lookUpPaymentIn(one, options),
        other: (options) => port.lookUpPaymentIn(other, options),
      };
    },
  },
  {
    name: 'fetchStatement',
    kind: 'statement',
    prepare: async (adapter) => {
      await paid(adapter);
      const call = (options: CallOptions) => adapter.port.fetchStatement(everything('GBP'), options);
      return { call, other: call };
    },
  },
];

function everything(currency: string) {
  return { currency, from: new Date(0), to: new Date('2100-01-01T00:00:00Z') };
}

function connecting(port: AccountCalls) {
  const client = { clientId: randomUUID(), identityType: 'corporate', fullName: 'Payroll Ltd', country: 'GB' } as const;
  return (options: CallOptions) => port.connectClient(client, options);
}

async function accountRequest({ port, account }: AdapterUnderTest): Promise<AccountRequest> {
  const connected = await connecting(port)(PATIENT);
  if (connected.outcome !== 'connected') throw new Error('the client was rejected');
  return { ...account, accountId: randomUUID(), clientReference: connected.reference };
}

async function opening(adapter: AdapterUnderTest) {
  const request = await accountRequest(adapter);
  return (options: CallOptions) => adapter.port.openAccount(request, options);
}

async function openedAccount(adapter: AdapterUnderTest): Promise<string> {
  const request = await accountRequest(adapter);
  await adapter.port.openAccount(request, PATIENT);
  return until(
    () => adapter.port.lookUpAccount(request.accountId, PATIENT),
    ({ outcome }) => outcome === 'opened',
  ).then(() => request.accountId);
}

/** For a provider that takes recalls. */
async function recalling(adapter: AdapterUnderTest) {
  const { ourReference } = await paid(adapter);
  const request = { ourReference, recallReference: recallReference(ourReference, 1) };
  return async (options: CallOptions) => adapter.port.recallPayment?.(request, options);
}

/** Another alias: a change that the provider carries out at once, however often it is asked. */
async function changing(adapter: AdapterUnderTest) {
  const accountId = await openedAccount(adapter);
  const reference = { accountId, changeReference: stepReference(accountId, 'alias', 1) };
  const request = { ...reference, change: { kind: 'alias', alias: 'Wages' } } as const;
  return { reference, change: (options: CallOptions) => adapter.port.changeAccount(request, options) };
}

async function paid({ port, payment }: AdapterUnderTest): Promise<PaymentRequest> {
  const request = payment(12_345n);
  expect(await port.submitPayment(request, PATIENT)).toMatchObject({ outcome: 'completed' });
  return request;
}

/** The return of a part of a payment in, by default of a new one. */
async function returning(
  { payment, payIn }: AdapterUnderTest,
  amountMinor: bigint,
  serviceProviderId?: string,
): Promise<PaymentRequest> {
  const returnOf = { serviceProviderId: serviceProviderId ?? (await payIn(10_050n, 'GBP')), code: 'CUST' };
  const request = payment(amountMinor);
  // As the payer's bank wrote it: no IBAN at all.
  return { ...request, creditor: { ...request.creditor, iban: 'GB00 UNKNOWN' }, returnOf };
}

async function sendingBack({ port, payIn }: AdapterUnderTest) {
  const request = returnInFull(await payIn(2_550n, 'GBP'), 2_550n);
  return (options: CallOptions) => port.returnPayment(request, options);
}

async function until<Value>(look: () => Promise<Value>, good: (value: Value) => boolean): Promise<Value> {
  for (let looks = 0; looks < 2_000; looks += 1) {
    const value = await look();
    if (good(value)) return value;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error('it never came to be');
}

async function open(outcome: Promise<unknown>): Promise<void> {
  await expect(outcome).rejects.toBeInstanceOf(ProviderUnavailable);
}

export function keepsTheProviderContract(name: string, start: () => Promise<AdapterUnderTest>): void {
  describe(`${name} keeps the contract of a provider’s adapter`, () => {
    let adapter: AdapterUnderTest;
    beforeAll(async () => {
      adapter = await start();
    });
    afterAll(async () => {
      await adapter?.stop();
    });
    const running = () => adapter;

    describe.each(CALLS)('$name', (call) => answersOf(call, running));
    describe('payments out', () => paymentsOf(running));
    describe('the statement', () => statementOf(running));
    describe('callbacks', () => callbacksOf(running));
  });
}

/** Which answers of one call are outcomes, and which leave it open. */
function answersOf({ kind, prepare }: PortCall, running: () => AdapterUnderTest): void {
  let prepared: Prepared;
  beforeAll(async () => {
    prepared = await prepare(running());
  });

  test('the provider’s own answer is one, and the same again', async () => {
    const first = await prepared.call(PATIENT);
    expect(await prepared.call(PATIENT)).toEqual(first);
  });

  test.each(OPEN)('%s leaves the outcome open', async (_, fault) => {
    await open(running().server.during(fault, () => prepared.call(PATIENT)));
    await prepared.call(PATIENT);
  });

  test('silence and an end from outside leave the outcome open', async () => {
    await open(running().server.during(silent, () => prepared.call(SOON)));
    await open(prepared.call({ ...PATIENT, signal: AbortSignal.abort() }));
  });

  test('the provider’s rejection of the request is an outcome of instructions only', async () => {
    expect(running().ownRejections.length).toBeGreaterThan(0);
    for (const rejection of running().ownRejections) {
      const outcome = running().server.during(answered(rejection), () => prepared.call(PATIENT));
      if (kind === 'instruction') expect(await outcome).toMatchObject({ outcome: 'rejected' });
      else await open(outcome);
    }
  });

  test('the provider’s own words with a status that says nothing leave the outcome open', async () => {
    const [rejection] = running().ownRejections;
    for (const status of [401, 403, 405, 409, 410, 429, 500, 503]) {
      const fault = answered({ status, body: rejection?.body ?? '' });
      await open(running().server.during(fault, () => prepared.call(PATIENT)));
    }
  });

  test('not-found is the provider’s own word, and an outcome of look-ups only', async () => {
    const outcome = running().server.during(answered(running().ownNotFound), () => prepared.call(PATIENT));
    if (kind === 'look-up') expect(await outcome).toEqual({ outcome: 'not-found' });
    else await open(outcome);
  });

  test.skipIf(kind === 'statement')('the answer about another reference leaves the outcome open', async () => {
    const { server } = running();
    await prepared.other(PATIENT);
    const mixedUp = server.exchanges.at(-1)?.answer;
    if (mixedUp === undefined) throw new Error('the call did not reach the provider');
    await open(server.during(answered(mixedUp), () => prepared.call(PATIENT)));
  });
}

function paymentsOf(running: () => AdapterUnderTest): void {
  test('one that took effect unheard is paid once, and asked again it answers as at first', async () => {
    const { port, server, payment } = running();
    const request = payment(54_300n);
    await open(server.during(cutAfter, () => port.submitPayment(request, PATIENT)));
    const again = await Promise.all([1, 2, 3].map(() => port.submitPayment({ ...request, attempt: 2 }, PATIENT)));
    expect(new Set(again.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(again[0]).toMatchObject({ outcome: 'completed' });
    expect(await entriesOf(port, request.ourReference)).toMatchObject([{ kind: 'payment-out', amountMinor: 54_300n }]);
    const sent = server.exchanges.filter(({ requestBody }) => requestBody.includes(request.ourReference));
    expect(sent).toHaveLength(4);
  });

  test('one that never arrived is unknown to the provider, and goes out with the same reference', async () => {
    const { port, server, payment } = running();
    const request = payment(54_400n);
    await open(server.during(cutBefore, () => port.submitPayment(request, PATIENT)));
    expect(await port.lookUpPayment(request.ourReference, PATIENT)).toEqual({ outcome: 'not-found' });
    expect(await port.submitPayment(request, PATIENT)).toMatchObject({ outcome: 'completed' });
    expect(await entriesOf(port, request.ourReference)).toHaveLength(1);
  });

  test('a rejected attempt stays rejected; a later one is another, paid once under the same reference', async () => {
    const { port, server, rejectedOnce } = running();
    const request = rejectedOnce();
    const again = { ...request, attempt: 2 };
    const rejected = { outcome: 'rejected', error: { code: 'BE08' } };
    for (const _ of [1, 2]) expect(await port.submitPayment(request, PATIENT)).toMatchObject(rejected);
    expect(await port.lookUpPayment(request.ourReference, PATIENT)).toMatchObject({ ...rejected, attempt: 1 });
    // The rejection of the attempt before, from a cache, is no answer to this one.
    const stale = server.exchanges.findLast(({ requestBody }) => requestBody.includes(request.ourReference))?.answer;
    if (stale === undefined) throw new Error('nothing was sent');
    await open(server.during(answered(stale), () => port.submitPayment(again, PATIENT)));
    await open(server.during(cutAfter, () => port.submitPayment(again, PATIENT)));
    for (const attempt of [2, 1, 3]) {
      expect(await port.submitPayment({ ...request, attempt }, PATIENT)).toMatchObject({ outcome: 'completed' });
    }
    expect(await entriesOf(port, request.ourReference)).toMatchObject([{ kind: 'payment-out' }]);
  });

  test('the answer to a submission that is of another amount leaves its outcome open', async () => {
    const { port, server, payment, amountOnTheWire } = running();
    const request = payment(54_500n);
    const [sent, other] = [54_500n, 44_500n].map((minor) => amountOnTheWire(minor, request.currency));
    const fault = changed((body) => body.replaceAll(sent ?? '', other ?? ''));
    await open(server.during(fault, () => port.submitPayment(request, PATIENT)));
  });

  test('a look-up says what the provider says, also of an amount that was never sent', async () => {
    const { port, server, amountOnTheWire } = running();
    const { ourReference, currency } = await paid(running());
    const [sent, other] = [12_345n, 12_344n].map((minor) => amountOnTheWire(minor, currency));
    const fault = changed((body) => body.replaceAll(sent ?? '', other ?? ''));
    const found = await server.during(fault, () => port.lookUpPayment(ourReference, PATIENT));
    expect(found).toMatchObject({ outcome: 'completed', amountMinor: 12_344n, currency });
  });

  test('money in goes back in parts, each once and with outcomes like any payment; more than came is rejected', async () => {
    const { port, server, knowsReturns } = running();
    const first = await returning(running(), 2_550n);
    const id = first.returnOf?.serviceProviderId ?? '';
    await open(server.during(cutAfter, () => port.submitPayment(first, PATIENT)));
    const unknown = { country: null, iban: null, accountNumber: null, routingCodes: {} };
    const last = await returning(running(), 7_500n, id);
    const rest = { ...last, creditor: { ...last.creditor, ...unknown } };
    for (const part of [first, rest, first, rest]) {
      expect(await port.submitPayment(part, PATIENT)).toMatchObject({ outcome: 'completed' });
    }
    for (const { ourReference, amountMinor } of [first, rest]) {
      expect(await port.lookUpPayment(ourReference, PATIENT)).toMatchObject({ outcome: 'completed', amountMinor });
      expect(await entriesOf(port, ourReference)).toMatchObject([
        { kind: 'payment-out', direction: 'debit', amountMinor },
      ]);
    }
    // The payment in itself stays as it was: a return is a movement of its own.
    expect(await port.lookUpPaymentIn(id, PATIENT)).toMatchObject({ amountMinor: 10_050n, returned: false });
    if (!knowsReturns) return;
    for (const more of [await returning(running(), 150n, id), await returning(running(), 10_150n)]) {
      expect(await port.submitPayment(more, PATIENT)).toMatchObject({ outcome: 'rejected' });
      expect(await entriesOf(port, more.ourReference)).toEqual([]);
    }
  });
}

async function entriesOf(port: Provider, ourReference: string) {
  const { entries } = await port.fetchStatement(everything('GBP'), PATIENT);
  return entries.filter((entry) => entry.ourReference === ourReference);
}

function statementOf(running: () => AdapterUnderTest): void {
  test('an entry that cannot be read is named, each time the same, and hides no other', async () => {
    const { port, server, spoilEntry } = running();
    const [one, spoiled, other] = [await paid(running()), await paid(running()), await paid(running())];
    const fault = changed((body) => spoilEntry(body, spoiled.ourReference));
    const pages = await server.during(fault, async () => [
      await port.fetchStatement(everything('GBP'), PATIENT),
      await port.fetchStatement(everything('GBP'), PATIENT),
    ]);
    const whole = await port.fetchStatement(everything('GBP'), PATIENT);
    expect(whole.unreadable).toEqual([]);
    for (const { entries, unreadable } of pages) {
      expect(unreadable).toHaveLength(1);
      expect(unreadable).toEqual(pages[0]?.unreadable);
      expect(entries).toHaveLength(whole.entries.length - 1);
      const references = entries.map(({ ourReference }) => ourReference);
      expect(references).toEqual(expect.arrayContaining([one.ourReference, other.ourReference]));
      expect(references).not.toContain(spoiled.ourReference);
    }
  });
}

function callbacksOf(running: () => AdapterUnderTest): void {
  let genuine: SignedCallback;
  let returned: PaymentRequest;
  beforeAll(async () => {
    returned = await paid(running());
    await running().returnPart(returned.ourReference, 345n);
    genuine = await running().returnCallback(returned.ourReference);
  });
  const reasonOf = ({ headers, rawBody }: SignedCallback, now = new Date()): string => {
    try {
      running().port.verifyCallback(headers, rawBody, now);
    } catch (error) {
      if (error instanceof CallbackRejected) return error.reason;
      throw error;
    }
    return 'taken';
  };

  test('carry amount and currency, of a return what came back', () => {
    const events = running().port.verifyCallback(genuine.headers, genuine.rawBody, new Date());
    expect(events).toMatchObject([
      {
        type: 'payment-returned',
        ourReference: returned.ourReference,
        amountMinor: 12_345n,
        returnedMinor: 345n,
        currency: 'GBP',
        providerEventId: expect.any(String),
      },
    ]);
  });

  test('that are changed anywhere, or not signed, are forged', () => {
    expect(reasonOf(genuine)).toBe('taken');
    const changedBody = Buffer.from(genuine.rawBody);
    const last = changedBody.length - 2;
    changedBody[last] = (changedBody[last] ?? 0) ^ 1;
    expect(reasonOf({ ...genuine, rawBody: changedBody })).toBe('signature');
    expect(reasonOf({ ...genuine, headers: {} })).toBe('signature');
  });

  test('that are an hour old or early have no effect', () => {
    for (const offsetMs of [3_600_000, -3_600_000]) {
      expect(reasonOf(genuine, new Date(Date.now() + offsetMs))).toBe('timestamp');
    }
  });

  test.each(['', '{', '[]', '{"type":"something-else"}', 'null'])('signed and not understood: %j', (body) => {
    const now = new Date();
    expect(reasonOf(running().sign(Buffer.from(body), now), now)).toBe('malformed');
  });
}
