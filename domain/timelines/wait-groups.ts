import type { IncomingTransferWait } from '../incoming-transfers/incoming-transfers.ts';
import type { ConsentWait } from '../open-banking/consents.ts';
import type { OutgoingTransferWait } from '../outgoing-transfers/statuses.ts';

/**
 * On whom or what a transfer, an account or a consent waits, in the terms of who watches them. `other-side`: on the sender's side of an
 * internal transfer, or on a third party.
 */
export const WAIT_GROUPS = ['person', 'date', 'bank', 'money', 'other-side'] as const;
export type WaitGroup = (typeof WAIT_GROUPS)[number];

/** An account waits as a transfer does; a consent that is granted waits only for its end. */
type WatchedWait = OutgoingTransferWait | IncomingTransferWait | Exclude<ConsentWait, 'grant-expiry'>;

export const GROUP_OF_WAIT: Readonly<Record<WatchedWait, WaitGroup>> = {
  authorization: 'person',
  compliance: 'person',
  account: 'person',
  match: 'person',
  caller: 'person',
  date: 'date',
  'next-window': 'date',
  retry: 'date',
  provider: 'bank',
  'provider-decision': 'bank',
  recall: 'bank',
  balance: 'money',
  'outgoing-transfer': 'other-side',
  'account-holder': 'person',
  exchange: 'other-side',
};

/** The waits of a group. */
export function waitsIn(group: WaitGroup): WatchedWait[] {
  const waits = Object.keys(GROUP_OF_WAIT).filter((wait): wait is WatchedWait => Object.hasOwn(GROUP_OF_WAIT, wait));
  return waits.filter((wait) => GROUP_OF_WAIT[wait] === group);
}
