import type { StoredEntry } from '../../../../db/bank-files/entries.ts';
import type { AccountReport } from '../../../../domain/bank-files/messages.ts';

/** The message that tells an entry. */
export interface Report {
  readonly fileId: string;
  readonly message: AccountReport['message'];
  readonly occurredAt: Date;
}

/** What a movement turns out to be. */
export type Found = Pick<StoredEntry, 'kind' | 'transferId' | 'code' | 'outcome'>;

export const UNKNOWN: Found = { kind: 'unknown', transferId: null, code: null, outcome: 'waiting' };
