import { expect, test } from 'vitest';
import {
  type AccountId,
  asId,
  type ClientId,
  type IncomingTransferId,
  type OutgoingTransferId,
} from '../../frame/ids.ts';
import { newIncomingTransfer } from '../../incoming-transfers/incoming-transfers.ts';
import type { LockedAccount } from '../../ledger/ledger.ts';
import { Schemes } from '../../providers/schemes.ts';
import { decideAdoption, type LookedUpPayment } from '../changes.ts';
import { decideLookedUpReturns, decideLookUp } from '../look-ups.ts';
import type { OutgoingTransferStatus } from '../outgoing-transfers.ts';
import { newOutgoingTransfer } from '../rows.ts';
import type { TransferSituation } from '../transfer-changes.ts';

const NOW = new Date('2027-06-16T12:00:00Z');
const ID = asId<OutgoingTransferId>('01900000-0000-7000-8000-000000000001');
const ACCOUNT: LockedAccount = {
  id: asId<AccountId>('01900000-0000-7000-8000-000000000002'),
  clientId: asId<ClientId>('01900000-0000-7000-8000-000000000003'),
  clientStatus: 'active',
  status: 'active',
  currency: 'GBP',
  country: 'GB',
  provider: 'sandbox-bank',
  method: 'built-in',
  closing: false,
  postedMinor: 0n,
  reservedMinor: 0n,
  partyAccountId: null,
};
const INCOMING = asId<IncomingTransferId>('01900000-0000-7000-8000-000000000004');
const draw = () => ({ id: INCOMING, transactionNumber: '20270616-RETURN' });
const { id: accountId, clientId, currency, provider, method } = ACCOUNT;

/** A payment of 100.00, of which 30.00 came back as `first` and is booked. It is looked up while it is released or recalled. */
function situation(status: OutgoingTransferStatus): TransferSituation {
  const of = { currency, provider, method, scope: 'external', createdAt: NOW, updatedAt: NOW } as const;
  const transfer = newOutgoingTransfer({
    ...of,
    id: ID,
    transactionNumber: '20270616-PAYMENT',
    clientId,
    accountId,
    status,
    scheme: 'faster-payments',
    amountMinor: 10_000n,
    transferDate: '2027-06-16',
    originalTransferDate: '2027-06-16',
    authorizationStatus: 'not-required',
    complianceCheckStatus: 'not-required',
    transferDateStatus: 'fulfilled',
    balanceCheckStatus: 'fulfilled',
    submissionStatus: 'resolved',
    submissionAttempt: 1,
    nextLookUpAt: NOW,
    returned: true,
    returnedMinor: 3_000n,
    incomingTransferId: INCOMING,
    recallNumber: 1,
    recallStatus: 'asked',
  });
  const booked = newIncomingTransfer({
    ...of,
    id: INCOMING,
    transactionNumber: '20270616-FIRST',
    status: 'completed',
    amountMinor: 3_000n,
    returnOf: ID,
    returnReference: 'first',
  });
  const schemes = new Schemes({ rules: {}, calendars: () => new Map(), calendarByCurrency: {} });
  return {
    before: transfer,
    transfer,
    incoming: { before: booked, after: booked, events: [] },
    returns: [booked],
    accounts: new Map([[accountId, ACCOUNT]]),
    now: NOW,
    rules: { rollLimit: 3, retryLimit: 3, retryPauseSeconds: 60, schemes },
  };
}

/** A provider's answer with these returns, oldest first. */
function found(...returns: readonly (readonly [reference: string, amountMinor: string])[]): LookedUpPayment {
  const all = returns.map(([reference, amountMinor]) => ({ reference, amountMinor, code: 'AC06' }));
  const { code, ...last } = all.at(-1) ?? { reference: '', amountMinor: '0', code: null };
  return {
    word: 'returned',
    serviceProviderId: 'p-1',
    serviceProviderReference: null,
    code,
    claim: { amountMinor: '10000', currency, returned: last },
    returnsBefore: all.slice(0, -1),
  };
}

const OTHER_THAN_BOOKED = found(['first', '2900'], ['second', '1000'], ['third', '2000']);
const AS_BOOKED = found(['first', '3000'], ['second', '1000'], ['third', '2000']);

const DECISIONS = {
  'a look-up': (answer: LookedUpPayment) => decideLookUp(situation('completed'), 0, answer, draw),
  'an operator’s look-up': (answer: LookedUpPayment) => decideLookedUpReturns(situation('completed'), answer, draw),
  'an adoption': (answer: LookedUpPayment) => decideAdoption(situation('completed'), provider, answer, draw),
};

test.each(Object.entries(DECISIONS))(
  '%s that has another amount of a booked return than is booked is a break, and books the new returns',
  (_, decide) => {
    for (const [answer, expected] of [
      [OTHER_THAN_BOOKED, 'break'],
      [AS_BOOKED, 'applied'],
    ] as const) {
      const { changes, outcome } = decide(answer);
      expect(outcome).toBe(expected);
      expect(changes.flatMap(({ incoming }) => incoming?.after.amountMinor ?? [])).toEqual([1_000n, 2_000n]);
      expect(changes.at(-1)?.outgoing?.after.returnedMinor).toBe(6_000n);
    }
  },
);
