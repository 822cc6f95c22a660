import type { AccountId, ClientId } from '../frame/ids.ts';

/** A client account as a decision about its money sees it. Amounts in minor units. */
export interface LockedAccount {
  readonly id: AccountId;
  readonly clientId: ClientId;
  readonly clientStatus: string;
  readonly status: string;
  readonly currency: string;
  readonly country: string;
  readonly provider: string;
  readonly method: 'built-in' | 'plug-in';
  /** Its provider is closing it: it sends and receives nothing new, but money on its way still arrives. */
  readonly closing: boolean;
  readonly postedMinor: bigint;
  readonly reservedMinor: bigint;
  /** The row by which a transfer that is made now shows the account; null while it has only ever had its first. */
  readonly partyAccountId: bigint | null;
}

/** The account and the client that owns it are active. */
export function isUsable(account: LockedAccount): boolean {
  return account.status === 'active' && account.clientStatus === 'active' && !account.closing;
}

export function availableMinor({ postedMinor, reservedMinor }: LockedAccount): bigint {
  return postedMinor - reservedMinor;
}

export type SystemAccountKind = 'settlement' | 'fee-revenue' | 'suspense' | 'correction';

/** One side of a posting: a client account, or the provider's system account of a kind. */
export type LedgerSide = AccountId | { readonly provider: string; readonly kind: SystemAccountKind };

export type TransactionType = 'incoming-transfer' | 'outgoing-transfer' | 'balance-adjustment' | 'fee-sweep';

/** A row of the ledger: a positive amount in minor units, from one side to the other. */
export interface Posting {
  readonly now: Date;
  readonly debit: LedgerSide;
  readonly credit: LedgerSide;
  readonly amountMinor: bigint;
  readonly currency: string;
  /** The transaction number and type that each side's statement shows; one value serves both where they agree. */
  readonly debitNumber: string;
  readonly creditNumber?: string;
  readonly debitType: TransactionType;
  readonly creditType?: TransactionType;
  readonly entryType: 'principal' | 'fee';
  readonly outgoingTransferId?: string | null;
  readonly incomingTransferId?: string | null;
  readonly narrative?: string | null;
  /** The part of the debited account's reservation that this posting uses up. */
  readonly releaseMinor?: bigint;
}
