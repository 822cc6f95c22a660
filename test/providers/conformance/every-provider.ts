import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AccountRequest,
  handsOverAccounts,
  missingCalls,
  opensAccounts,
  type Provider,
  ProviderUnavailable,
  type ReturnRequest,
} from '../../../activities/providers/port.ts';
import { type CallOptions, stepReference } from '../../../activities/providers/ports/common.ts';
import {
  type PaymentRequest,
  type PaymentState,
  recallReference,
} from '../../../activities/providers/ports/payment-port.ts';
import type { StatementEntry } from '../../../activities/providers/ports/statement-port.ts';
import { eventually } from '../../harness/servers/sandbox.ts';

/*
 * What activities/providers/port.ts says of every provider, however it is reached, and whether it answers at once or hours later. Groups of
 * calls that a provider need not have are asked for by what its port has. over-http.ts adds what may go wrong with answers over HTTP.
 */

export interface ProviderUnderTest {
  readonly port: Provider;
  /** Of its payments, and of the position that its statement tells. */
  readonly currency: string;
  /** A payment that is to be submitted. The last two digits of its amount choose what becomes of it, as in the sandbox. */
  payment(amountMinor: bigint): Promise<PaymentRequest>;
  /** The next submission of a payment whose last one was rejected. */
  nextAttempt(request: PaymentRequest): Promise<PaymentRequest>;
  /** What a look-up says of a payment that failed after its release: a bank of files tells its debit, and its return. */
  readonly afterFailure: 'failed' | 'returned';
  /** A payment in from outside; returns the provider's id. */
  payIn(amountMinor: bigint, currency: string): Promise<string>;
  /** The return of a new payment in that is not credited. */
  sendBack(amountMinor: bigint): Promise<ReturnRequest>;
  /** Has a part of a payment come back. */
  returnPart(request: PaymentRequest, returnedMinor: bigint): Promise<void>;
  /** What an account request needs in addition to its id and client; null if the provider opens none. */
  readonly account: Omit<AccountRequest, 'accountId' | 'clientReference'> | null;
  /** The source id of an account that can be handed over; null if the provider hands none over. */
  readonly handedOver: (() => Promise<string>) | null;
  /** Ends the provider's day; returns a time of which its statement then tells all. */
  endDay(): Promise<{ readonly from: Date; readonly to: Date }>;
  stop(): Promise<void>;
}

const PATIENT: CallOptions = { deadlineMs: 60_000 };
const COMPLETED = 12_345n;
const REJECTED = 70_001n;
const FAILED = 70_002n;
const RELEASED = 70_010n;
const REJECTED_ONCE = 70_011n;

export function keepsThePort(name: string, start: () => Promise<ProviderUnderTest>): void {
  describe(`${name} keeps the port of providers`, () => {
    let provider: ProviderUnderTest;
    beforeAll(async () => {
      provider = await start();
    });
    afterAll(async () => {
      await provider?.stop();
    });
    const running = () => provider;
    /** What the statement is to tell of each payment. */
    const expected = new Map<string, readonly Partial<StatementEntry>[]>();

    test('has all calls of a group or none', () => {
      expect(missingCalls(running().port)).toEqual([]);
    });
    describe('accounts', () => accountsOf(running));
    describe('migration', () => migrationOf(running));
    // At once: a bank of files takes its time for each.
    describe.concurrent('payments', () => {
      paymentsOf(running, expected);
      moneyInOf(running, expected);
    });
    // The last, as it ends the day.
    describe('the statement', () => statementOf(running, expected));
  });
}

type Running = () => ProviderUnderTest;
type Expected = Map<string, readonly Partial<StatementEntry>[]>;

async function open(outcome: Promise<unknown>): Promise<void> {
  await expect(outcome).rejects.toBeInstanceOf(ProviderUnavailable);
}

/** The payment's state at the provider, once it is the expected one. */
function found({ port }: ProviderUnderTest, { ourReference }: PaymentRequest, outcome: PaymentState['outcome']) {
  return eventually(`${ourReference} is ${outcome}`, async () => {
    const state = await port.lookUpPayment(ourReference, PATIENT);
    return state.outcome === outcome ? state : undefined;
  });
}

async function submitted(provider: ProviderUnderTest, amountMinor: bigint): Promise<PaymentRequest> {
  const request = await provider.payment(amountMinor);
  await provider.port.submitPayment(request, PATIENT);
  return request;
}

async function paid(provider: ProviderUnderTest): Promise<PaymentRequest> {
  const request = await submitted(provider, COMPLETED);
  await found(provider, request, 'completed');
  return request;
}

const debit = ({ amountMinor, currency, ourReference }: PaymentRequest): Partial<StatementEntry> => ({
  kind: 'payment-out',
  direction: 'debit',
  amountMinor,
  currency,
  ourReference,
});
const credit = ({ currency, ourReference }: PaymentRequest, amountMinor: bigint): Partial<StatementEntry> => ({
  kind: 'payment-out-returned',
  direction: 'credit',
  amountMinor,
  currency,
  ourReference,
});

function accountsOf(running: Running): void {
  test('an account is opened and changed once, however often, and unknown references are not found', async ({
    skip,
  }) => {
    const { port, account } = running();
    if (!opensAccounts(port)) return skip('the provider opens no accounts');
    if (account === null) throw new Error('it opens accounts: say what a request needs');
    const client = {
      clientId: randomUUID(),
      identityType: 'corporate',
      fullName: 'Payroll Ltd',
      country: 'GB',
    } as const;
    const connected = await port.connectClient(client, PATIENT);
    expect(connected).toMatchObject({ outcome: 'connected' });
    expect(await port.connectClient(client, PATIENT)).toEqual(connected);
    if (connected.outcome !== 'connected') return;
    const accountId = randomUUID();
    const change = { accountId, changeReference: stepReference(accountId, 'alias', 1) };
    expect(await port.lookUpAccount(accountId, PATIENT)).toEqual({ outcome: 'not-found' });
    const request = { ...account, accountId, clientReference: connected.reference };
    await Promise.all([1, 2].map(() => port.openAccount(request, PATIENT)));
    const opened = await eventually('the account is opened', async () => {
      const state = await port.lookUpAccount(accountId, PATIENT);
      return state.outcome === 'opened' ? state : undefined;
    });
    expect(await port.openAccount(request, PATIENT)).toEqual(opened);
    expect(await port.lookUpAccountChange(change, PATIENT)).toEqual({ outcome: 'not-found' });
    for (const _ of [1, 2]) {
      const asked = { ...change, change: { kind: 'alias', alias: 'Wages' } } as const;
      expect(await port.changeAccount(asked, PATIENT)).toEqual({ outcome: 'changed' });
    }
    expect(await port.lookUpAccountChange(change, PATIENT)).toEqual({ outcome: 'changed' });
  });
}

function migrationOf(running: Running): void {
  test('an account is handed over once, under the id of the first request, and unknown ids are not found', async ({
    skip,
  }) => {
    const { port, handedOver } = running();
    if (!handsOverAccounts(port)) return skip('the provider hands no accounts over');
    if (handedOver === null) throw new Error('it hands accounts over: make one');
    const [unknown, first, second] = [randomUUID(), randomUUID(), randomUUID()];
    for (const call of ['lookUpClient', 'lookUpBeneficiary', 'lookUpExistingAccount', 'lookUpOpeningBalance'] as const)
      expect(await port[call](unknown, PATIENT), call).toEqual({ outcome: 'not-found' });
    const request = { sourceId: unknown, accountId: first, alias: 'Main' };
    expect(await port.handOverAccount(request, PATIENT)).toEqual({ outcome: 'not-found' });
    const sourceId = await handedOver();
    const existing = await port.lookUpExistingAccount(sourceId, PATIENT);
    if (existing.outcome !== 'found') throw new Error('the provider does not know its own account');
    for (const accountId of [first, second]) {
      const answer = await port.handOverAccount({ ...request, sourceId, accountId }, PATIENT);
      expect(answer).toMatchObject({ outcome: 'found', accountId: first, balanceMinor: existing.balanceMinor });
    }
    const { balanceMinor: amountMinor, currency } = existing;
    const balance = { outcome: 'handed-over', amountMinor, currency };
    expect(await port.lookUpOpeningBalance(first, PATIENT)).toEqual(balance);
  });
}

function paymentsOf(running: Running, expected: Expected): void {
  test('one that is submitted many times, at once and later, is paid once, and found as the provider has it', async () => {
    const provider = running();
    const request = await provider.payment(COMPLETED);
    await Promise.all([1, 2, 3].map(() => provider.port.submitPayment(request, PATIENT)));
    const { amountMinor, currency } = request;
    expect(await found(provider, request, 'completed')).toMatchObject({ amountMinor, currency });
    for (const attempt of [1, 2]) {
      const again = await provider.port.submitPayment({ ...request, attempt }, PATIENT);
      expect(again).toMatchObject({ outcome: 'completed' });
    }
    expected.set(request.ourReference, [debit(request)]);
  });

  test('one whose submission was given up is open, and paid once when it is submitted again', async () => {
    const provider = running();
    const request = await provider.payment(COMPLETED);
    await open(provider.port.submitPayment(request, { ...PATIENT, signal: AbortSignal.abort() }));
    await provider.port.submitPayment(request, PATIENT);
    await found(provider, request, 'completed');
    expected.set(request.ourReference, [debit(request)]);
  });

  test('another amount under its reference is no outcome, and is never paid', async () => {
    const provider = running();
    const request = await submitted(provider, COMPLETED);
    const other = { ...request, amountMinor: COMPLETED - 100n };
    await open(provider.port.submitPayment(other, PATIENT));
    expect(await found(provider, request, 'completed')).toMatchObject({ amountMinor: COMPLETED });
    expected.set(request.ourReference, [debit(request)]);
  });

  test('one that the provider does not know is not found', async () => {
    for (const reference of [randomUUID(), 'not an id of ours'])
      expect(await running().port.lookUpPayment(reference, PATIENT)).toEqual({ outcome: 'not-found' });
  });

  test('a rejected attempt stays rejected; a later one is another, paid once under the same reference', async () => {
    const provider = running();
    const request = await submitted(provider, REJECTED_ONCE);
    const rejected = { outcome: 'rejected', error: { code: 'BE08' } };
    expect(await found(provider, request, 'rejected')).toMatchObject({ ...rejected, attempt: 1 });
    expect(await provider.port.submitPayment(request, PATIENT)).toMatchObject(rejected);
    const next = await provider.nextAttempt(request);
    expect(next).toEqual({ ...request, attempt: 2 });
    await Promise.all([1, 2].map(() => provider.port.submitPayment(next, PATIENT)));
    await found(provider, next, 'completed');
    for (const attempt of [2, 3]) {
      const again = await provider.port.submitPayment({ ...request, attempt }, PATIENT);
      expect(again).toMatchObject({ outcome: 'completed' });
    }
    // Of the first attempt, or of the payment.
    const late = await provider.port.submitPayment(request, PATIENT);
    expect(['rejected', 'completed']).toContain(late.outcome);
    expected.set(request.ourReference, [debit(request)]);
  });

  test('a look-up carries amount and currency, whatever has become of the payment', async () => {
    const provider = running();
    const outcomes = [
      [REJECTED, 'rejected'],
      [FAILED, provider.afterFailure],
      [RELEASED, 'accepted'],
    ] as const;
    const looks = outcomes.map(async ([amountMinor, outcome]) => {
      const request = await submitted(provider, amountMinor);
      const { currency } = request;
      expect(await found(provider, request, outcome)).toMatchObject({ amountMinor, currency });
      if (outcome === 'rejected') expected.set(request.ourReference, []);
    });
    await Promise.all(looks);
  });

  test('of returns it says how much came back by each', async () => {
    const provider = running();
    const request = await paid(provider);
    const returned = async (parts: number) => {
      const state = await found(provider, request, 'returned');
      return state.outcome === 'returned' && state.returns.length === parts ? state.returns : undefined;
    };
    await provider.returnPart(request, 4_000n);
    await eventually('the first return is told', () => returned(1));
    await provider.returnPart(request, 2_345n);
    const returns = await eventually('the second return is told', () => returned(2));
    expect(returns.map(({ returnedMinor, code }) => [returnedMinor, code])).toEqual([
      [4_000n, 'AC06'],
      [2_345n, 'AC06'],
    ]);
    expect(new Set(returns.map(({ returnReference }) => returnReference)).size).toBe(2);
    expected.set(request.ourReference, [debit(request), credit(request, 2_345n), credit(request, 4_000n)]);
  });

  test('a recall is asked for once, however often, and looked up with its payment', async ({ skip }) => {
    const provider = running();
    const { port } = provider;
    if (port.recallPayment === undefined) return skip('the provider takes no recalls');
    const request = await paid(provider);
    const { ourReference } = request;
    const recall = { ourReference, recallReference: recallReference(ourReference, 1) };
    for (const _ of [1, 2]) expect(await port.recallPayment(recall, PATIENT)).toEqual({ outcome: 'asked' });
    expect(await found(provider, request, 'returned')).toMatchObject({ returns: [{ returnedMinor: COMPLETED }] });
    const state = await eventually('the recall is answered', async () => {
      const state = await port.lookUpPayment(ourReference, PATIENT);
      return 'recall' in state && state.recall?.outcome !== 'asked' ? state.recall : undefined;
    });
    expect(state).toEqual({ recallReference: recall.recallReference, outcome: 'accepted' });
    expected.set(ourReference, [debit(request), credit(request, COMPLETED)]);
  });
}

function moneyInOf(running: Running, expected: Expected): void {
  test('money in is looked up with its amount and currency, and unknown ids are not found', async () => {
    const { port, payIn } = running();
    const looks = ['GBP', 'JPY', 'KWD'].map(async (currency) => {
      const id = await payIn(7_770n, currency);
      const money = { amountMinor: 7_770n, currency };
      expect(await port.lookUpPaymentIn(id, PATIENT)).toMatchObject({ outcome: 'received', returned: false, ...money });
    });
    await Promise.all(looks);
    expect(await port.lookUpPaymentIn(randomUUID(), PATIENT)).toEqual({ outcome: 'not-found' });
  });

  test('money in goes back in full and once, however often it is asked for', async () => {
    const { port, sendBack } = running();
    const request = await sendBack(2_550n);
    const asked = await Promise.all([1, 2, 3].map(() => port.returnPayment(request, PATIENT)));
    for (const { outcome } of asked) expect(['returned', 'queued']).toContain(outcome);
    const { ourReference, ...told } = {
      ourReference: request.incomingTransferId,
      kind: 'payment-in-sent-back',
      direction: 'debit',
      amountMinor: request.amountMinor,
      currency: request.currency,
      serviceProviderId: request.serviceProviderId,
    } as const;
    expected.set(ourReference, [{ ...told, ourReference }]);
    await eventually('it has gone back', async () => {
      const { outcome } = await port.returnPayment(request, PATIENT);
      return outcome === 'returned' ? true : undefined;
    });
    const state = await port.lookUpPaymentIn(request.serviceProviderId, PATIENT);
    expect(state).toMatchObject({ outcome: 'received', returned: true, amountMinor: request.amountMinor });
  });
}

function statementOf(running: Running, expected: Expected): void {
  test('tells each payment and each return once, page by page, and nothing that cannot be read', async () => {
    const { port, currency, endDay } = running();
    const period = await endDay();
    const entries = await eventually('the statement of the day', async () => {
      const all: StatementEntry[] = [];
      let after: string | undefined;
      do {
        const request = { currency, ...period, ...(after === undefined ? {} : { after }) };
        const page = await port.fetchStatement(request, PATIENT).catch((error: unknown) => {
          if (error instanceof ProviderUnavailable) return null;
          throw error;
        });
        if (page === null) return undefined;
        expect(page.unreadable).toEqual([]);
        all.push(...page.entries);
        after = page.next ?? undefined;
      } while (after !== undefined);
      return all;
    });
    expect(new Set(entries.map(({ entryId }) => entryId)).size).toBe(entries.length);
    expect(expected.size).toBeGreaterThan(5);
    for (const [reference, wanted] of expected) {
      const own = entries.filter(({ ourReference }) => ourReference === reference);
      expect(own, reference).toHaveLength(wanted.length);
      for (const entry of wanted) expect(own).toContainEqual(expect.objectContaining(entry));
    }
    const outside = await port.fetchStatement({ currency, from: new Date(0), to: new Date(1) }, PATIENT);
    expect(outside).toMatchObject({ entries: [], next: null });
  });
}
