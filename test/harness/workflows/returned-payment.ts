import { loadConfiguration } from '../../../config/configuration.ts';
import {
  type AccountId,
  asId,
  type ClientId,
  type IncomingTransferId,
  type OutgoingTransferId,
} from '../../../domain/common/ids.ts';
import { newIncomingTransfer } from '../../../domain/incoming-transfers/incoming-transfers.ts';
import type { LockedAccount } from '../../../domain/ledger/ledger.ts';
import { newOutgoingTransfer, type OutgoingTransfer } from '../../../domain/outgoing-transfers/rows.ts';
import type { OutgoingTransferStatus } from '../../../domain/outgoing-transfers/statuses.ts';
import type { TransferSituation } from '../../../domain/outgoing-transfers/transfer-changes.ts';

/** Noon of a Wednesday. */
export const NOW = new Date('2027-06-16T12:00:00Z');
const ID = asId<OutgoingTransferId>('01900000-0000-7000-8000-000000000001');
export const PAYER: LockedAccount = {
  id: asId<AccountId>('01900000-0000-7000-8000-000000000002'),
  clientId: asId<ClientId>('01900000-0000-7000-8000-000000000003'),
  clientStatus: 'active',
  status: 'active',
  currency: 'GBP',
  country: 'GB',
  accountHolderName: 'Ada Lovelace',
  provider: 'sandbox-bank',
  method: 'built-in',
  closing: false,
  postedMinor: 0n,
  reservedMinor: 0n,
  partyAccountId: null,
};
const INCOMING = asId<IncomingTransferId>('01900000-0000-7000-8000-000000000004');
export const draw = () => ({ id: INCOMING, transactionNumber: '20270616-RETURN' });
const { id: accountId, clientId, currency, provider, method } = PAYER;

/** A payment of 100.00, of which 30.00 came back as `first` and is booked. It is looked up while it is released or recalled. */
export function returnedInPart(
  status: OutgoingTransferStatus,
  fields: Partial<OutgoingTransfer> = {},
): TransferSituation {
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
    ...fields,
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
  const { schemes } = loadConfiguration({});
  return {
    before: transfer,
    transfer,
    incoming: { before: booked, after: booked, events: [] },
    returns: [booked],
    accounts: new Map([[accountId, PAYER]]),
    now: NOW,
    mayBeAtBank: false,
    rules: { rollLimit: 3, retryLimit: 3, retryPauseSeconds: 60, schemes },
  };
}
