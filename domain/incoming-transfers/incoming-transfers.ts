import { type AccountStatus, isFinalAccountStatus } from '../accounts/accounts.ts';
import { presentRoutingCodes } from '../accounts/identifiers/routing-codes.ts';
import type {
  AccountId,
  ClientId,
  IncomingTransferId,
  OutgoingTransferId,
  ProvisionedAccountCreditId,
} from '../common/ids.ts';
import type { Transitions } from '../common/transitions.ts';
import { type CheckedTransfer, UNDECIDED } from '../compliance/checks.ts';

/** Incoming transfers: the transition table, and the decision about money that has arrived. */
export const INCOMING_TRANSFER_STATUSES = ['pending', 'on-hold', 'completed', 'failed'] as const;
export type IncomingTransferStatus = (typeof INCOMING_TRANSFER_STATUSES)[number];

export const INCOMING_TRANSFER_TRANSITIONS: Transitions<IncomingTransferStatus> = {
  pending: ['completed', 'failed', 'on-hold'],
  'on-hold': ['pending', 'completed', 'failed'],
  completed: [],
  failed: [],
};

export function isFinalIncomingTransferStatus(status: IncomingTransferStatus): boolean {
  return INCOMING_TRANSFER_TRANSITIONS[status].length === 0;
}

export const HOLD_REASONS = [
  'account-not-active',
  'client-not-active',
  'no-match',
  'ambiguous-match',
  'held-by-provider',
] as const;
export type HoldReason = (typeof HOLD_REASONS)[number];

/** What an open transfer waits for; a failed one waits for its provider to return the money. */
export const INCOMING_TRANSFER_WAITS = ['compliance', 'account', 'match', 'outgoing-transfer', 'provider'] as const;
export type IncomingTransferWait = (typeof INCOMING_TRANSFER_WAITS)[number];

/** The next step of the transfer's workflow. `until` is an ISO instant; null waits for a signal only. */
export type IncomingTransferStep =
  | { readonly do: 'end' }
  | { readonly do: 'wait'; readonly for: IncomingTransferWait; readonly until: string | null }
  | { readonly do: 'review' }
  | { readonly do: 'send-back' };

export type ArrivalDecision =
  | { readonly status: 'completed' }
  | { readonly status: 'failed'; readonly failureCode: string }
  | { readonly status: 'on-hold'; readonly holdReason: HoldReason };

/**
 * Decides what happens to money for the matched account, by the status of the account and its client. Without an account,
 * or while the provider holds the money, the transfer is held for the reason `hold`.
 */
export function decideArrival(
  account: { status: string; clientStatus: string } | null,
  hold: HoldReason | null = null,
): ArrivalDecision {
  if (hold === 'held-by-provider') return { status: 'on-hold', holdReason: hold };
  if (account === null) return { status: 'on-hold', holdReason: hold ?? 'no-match' };
  if (account.status === 'closed' || account.status === 'declined') {
    return { status: 'failed', failureCode: 'account.closed' };
  }
  if (account.status !== 'active') return { status: 'on-hold', holdReason: 'account-not-active' };
  if (account.clientStatus !== 'active') return { status: 'on-hold', holdReason: 'client-not-active' };
  return { status: 'completed' };
}

export function waitOfHold(reason: HoldReason): IncomingTransferWait {
  switch (reason) {
    case 'account-not-active':
    case 'client-not-active':
      return 'account';
    case 'no-match':
    case 'ambiguous-match':
      return 'match';
    case 'held-by-provider':
      return 'provider';
  }
}

/** An account whose ledger number appears in a payment's reference. */
export interface ReceiverCandidate {
  readonly id: AccountId;
  readonly mainAccountId: AccountId | null;
  readonly status: AccountStatus;
}

/** The account of a payment. `mainAccountId` is set if it is a sub-account. */
export type PaymentMatch =
  | { readonly match: 'one'; readonly accountId: AccountId; readonly mainAccountId: AccountId | null }
  | { readonly match: 'none' | 'ambiguous' };

/**
 * Chooses between the account that the bank details identify (null: none) and those whose ledger numbers appear in the
 * reference. Given bank details, only their account and its sub-accounts count. Money for a closed sub-account belongs to its
 * main account. If two receivers remain, an operator decides.
 */
export function chooseReceiver(main: AccountId | null, named: readonly ReceiverCandidate[]): PaymentMatch {
  const receivers = new Map<AccountId, AccountId | null>();
  for (const { id, mainAccountId, status } of named) {
    if (main !== null && id !== main && mainAccountId !== main) continue;
    if (mainAccountId === null || isFinalAccountStatus(status)) receivers.set(mainAccountId ?? id, null);
    else receivers.set(id, mainAccountId);
  }
  const [first, second] = receivers;
  if (second !== undefined) return { match: 'ambiguous' };
  if (first !== undefined) return { match: 'one', accountId: first[0], mainAccountId: first[1] };
  return main === null ? { match: 'none' } : { match: 'one', accountId: main, mainAccountId: null };
}

/** The event of a status. `incoming-transfer-on-hold` is beyond the specification. */
export function incomingTransferEventType(status: IncomingTransferStatus): string {
  return `incoming-transfer-${status}`;
}

/** A transfer as stored, with the accounts it names. Amounts in minor units; the fee is in `currency`. */
export interface IncomingTransferRecord {
  readonly id: string;
  readonly clientId: string | null;
  readonly accountId: string | null;
  readonly transactionNumber: string;
  readonly status: IncomingTransferStatus;
  readonly currency: string;
  readonly amountMinor: bigint;
  readonly feeMinor: bigint;
  readonly scope: 'internal' | 'external';
  readonly scheme: string | null;
  readonly outgoingTransferId: string | null;
  readonly returnOf: string | null;
  readonly provisionedAccountCreditId: string | null;
  readonly provider: string;
  readonly serviceProviderId: string | null;
  readonly serviceProviderReference: string | null;
  readonly senderInformation: string | null;
  readonly senderName: string | null;
  readonly transferDate: string | null;
  readonly holdReason: HoldReason | null;
  readonly failureCode: string | null;
}

/** All columns of a transfer. */
export interface IncomingTransfer extends IncomingTransferRecord, CheckedTransfer {
  readonly id: IncomingTransferId;
  readonly clientId: ClientId | null;
  readonly accountId: AccountId | null;
  readonly outgoingTransferId: OutgoingTransferId | null;
  /** The outgoing transfer that was returned, in full or in part. */
  readonly returnOf: OutgoingTransferId | null;
  /** The provider's id of the return; null if it gave none. */
  readonly returnReference: string | null;
  readonly provisionedAccountCreditId: ProvisionedAccountCreditId | null;
  /** The amount still to be credited to the account, in minor units. */
  readonly receivableMinor: bigint;
  readonly inSuspense: boolean;
  /** The outgoing transfers that return it, oldest first. */
  readonly returnIds: readonly OutgoingTransferId[];
  /** The sum of its returns that have neither failed nor been cancelled, in minor units. */
  readonly returningMinor: bigint;
  readonly senderAccountId: AccountId | null;
  /** The rows by which an internal transfer shows its accounts. */
  readonly senderPartyAccountId: bigint | null;
  readonly receiverPartyAccountId: bigint | null;
  readonly method: 'built-in' | 'plug-in';
  readonly senderAccount: PartyAccount | null;
  readonly receiverAccount: PartyAccount | null;
  readonly sendBackStatus: 'none' | 'due' | 'done';
  readonly waitingFor: IncomingTransferWait | null;
  readonly waitingSince: Date | null;
  readonly waitingUntil: Date | null;
  readonly nextCheckAt: Date | null;
  readonly revision: bigint;
  readonly eventSequence: bigint;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The defaults of a new transfer. */
const UNTOUCHED = {
  clientId: null,
  accountId: null,
  scheme: null,
  feeMinor: 0n,
  receivableMinor: 0n,
  inSuspense: false,
  returnIds: [],
  returningMinor: 0n,
  transferDate: null,
  outgoingTransferId: null,
  senderAccountId: null,
  senderPartyAccountId: null,
  receiverPartyAccountId: null,
  provisionedAccountCreditId: null,
  serviceProviderId: null,
  serviceProviderReference: null,
  returnOf: null,
  returnReference: null,
  senderInformation: null,
  senderName: null,
  senderAccount: null,
  receiverAccount: null,
  complianceCheckStatus: 'not-required',
  ...UNDECIDED,
  holdReason: null,
  failureCode: null,
  sendBackStatus: 'none',
  waitingFor: null,
  waitingSince: null,
  waitingUntil: null,
  nextCheckAt: null,
  revision: 1n,
  eventSequence: 0n,
} as const satisfies Partial<IncomingTransfer>;

type Untouched = keyof typeof UNTOUCHED;

export type NewIncomingTransfer = Omit<IncomingTransfer, Untouched> & Partial<Pick<IncomingTransfer, Untouched>>;

// All fields from the start: V8 takes 100 us to add this many to an object after a spread.
const TEMPLATE: Readonly<Record<keyof IncomingTransfer, unknown>> = {
  ...UNTOUCHED,
  id: null,
  transactionNumber: null,
  status: null,
  scope: null,
  currency: null,
  amountMinor: null,
  provider: null,
  method: null,
  createdAt: null,
  updatedAt: null,
};

export function newIncomingTransfer(transfer: NewIncomingTransfer): IncomingTransfer {
  return Object.assign({ ...TEMPLATE }, UNTOUCHED, transfer);
}

/** A bank account as transfers show it (specification 2.1); every field may be null. */
export interface PartyAccount {
  readonly accountHolderName: string | null;
  readonly alias: string | null;
  readonly ledgerNumber: string | null;
  readonly accountNumber: string | null;
  readonly iban: string | null;
  readonly country: string | null;
  readonly currency: string | null;
  readonly routingCodes: Readonly<Record<string, string>> | null;
}

/** What one party of an internal transfer learns about the other in addition to its account: type and names only. */
export interface HolderIdentity {
  readonly type: 'individual' | 'corporate';
  readonly givenName?: string;
  readonly familyName?: string;
  readonly legalName?: string;
}

/** A bank account in the form in which transfers show it. */
export function presentPartyAccount<Account extends Pick<PartyAccount, 'routingCodes'>>(account: Account): Account {
  return { ...account, routingCodes: presentRoutingCodes(account.routingCodes) };
}
