import type { OutgoingTransferId } from '../frame/ids.ts';

/** Of an incoming transfer that is a payment of ours come back, in full or in part. */
export interface Returned {
  readonly returnOf: OutgoingTransferId | null;
  /** The provider's id of the return; null if it gave none. */
  readonly returnReference: string | null;
}

export const NO_RETURN = { returnOf: null, returnReference: null } as const satisfies Returned;
