import type { IncomingTransferId } from '../../common/ids.ts';
import { amountNumber } from '../../common/money.ts';
import type { OutgoingTransferStatus } from '../statuses.ts';

/** Why completed money in goes back to its payer, by ISO 20022's external return reason codes. `status-reasons.ts` has their texts. */
export const RETURN_CODES = [
  'AC01',
  'AC03',
  'AC04',
  'AC06',
  'AG01',
  'AM05',
  'AM09',
  'BE01',
  'BE04',
  'CURR',
  'CUST',
  'FOCR',
  'FR01',
  'MD07',
  'MS02',
  'MS03',
  'RC01',
  'RR04',
] as const;
export type ReturnCode = (typeof RETURN_CODES)[number];

/** Of one payment: a person makes few. */
export const RETURNS_MAX = 100;

/** What makes an outgoing transfer the return of an incoming one. Both are null in every other transfer. */
export interface ReturnTerms {
  /** The incoming transfer whose money, all or part of it, goes back to its payer. */
  readonly returnOf: IncomingTransferId | null;
  readonly returnCode: ReturnCode | null;
}

export const NO_RETURN: ReturnTerms = { returnOf: null, returnCode: null };

/** A return, as its incoming transfer shows it. */
export interface ReturnShown {
  readonly id: string;
  readonly amountMinor: bigint;
  readonly returnCode: string | null;
  readonly status: OutgoingTransferStatus;
}

export function presentReturn({ id, amountMinor, returnCode, status }: ReturnShown, currency: string) {
  return { outgoingTransferId: id, amount: amountNumber(amountMinor, currency), code: returnCode ?? '', status };
}
