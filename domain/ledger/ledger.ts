import type { AccountId, ClientId } from '../common/ids.ts';

/** A client account for decisions about its money. Amounts in minor units. */
export interface LockedAccount {
  readonly id: AccountId;
  readonly clientId: ClientId;
  readonly clientStatus: string;
  /** For an active sub-account, the status of its main account: until that is active, the sub-account neither sends nor receives. */
  readonly status: string;
  readonly currency: string;
  readonly country: string;
  /** Personal data. */
  readonly accountHolderName: string;
  readonly provider: string;
  readonly method: 'built-in' | 'plug-in';
  /** The provider is closing the account: it makes no new payments, but still receives money. */
  readonly closing: boolean;
  readonly postedMinor: bigint;
  readonly reservedMinor: bigint;
  /** The row in which a new transfer records the account's details; null while the account still has its first row. */
  readonly partyAccountId: bigint | null;
}

/** Whether the account and its client are active. */
export function isUsable(account: LockedAccount): boolean {
  return account.status === 'active' && account.clientStatus === 'active' && !account.closing;
}

export function availableMinor({ postedMinor, reservedMinor }: LockedAccount): bigint {
  return postedMinor - reservedMinor;
}

export type SystemAccountKind = 'settlement' | 'fee-revenue' | 'suspense' | 'correction';

/** One side of a posting: a client account, or one of the provider's system accounts. */
export type LedgerSide = AccountId | { readonly provider: string; readonly kind: SystemAccountKind };

export type TransactionType = 'incoming-transfer' | 'outgoing-transfer' | 'balance-adjustment' | 'fee-sweep';

/** A ledger row: a positive amount in minor units from one side to the other. */
export interface Posting {
  readonly now: Date;
  readonly debit: LedgerSide;
  readonly credit: LedgerSide;
  readonly amountMinor: bigint;
  readonly currency: string;
  /** The transaction number and type on each side's statement; one value serves both sides if they are equal. */
  readonly debitNumber: string;
  readonly creditNumber?: string;
  readonly debitType: TransactionType;
  readonly creditType?: TransactionType;
  readonly entryType: 'principal' | 'fee';
  readonly outgoingTransferId?: string | null;
  readonly incomingTransferId?: string | null;
  readonly narrative?: string | null;
  /** The part of the debited account's reservation that this posting uses. */
  readonly releaseMinor?: bigint;
}
