import { type AccountId, asId, type IncomingTransferId } from '../../domain/common/ids.ts';
import type { HoldReason, IncomingTransfer } from '../../domain/incoming-transfers/incoming-transfers.ts';
import type { LockedAccount } from '../../domain/ledger/ledger.ts';
import { readClock } from '../common/clock.ts';
import { readAccounts } from '../ledger/ledger.ts';
import type { Reader } from '../query/database.ts';
import { namedReceiverOf, TRANSFER } from './holds.ts';
import { matchPayment } from './payment-matching.ts';

// What decisions about incoming transfers would be decided from now, without locks: to show them before they are made.

export interface IncomingSituation {
  readonly transfer: IncomingTransfer;
  /** Its own account, or the one that its money matches now. */
  readonly account: LockedAccount | null;
  /** Why there is no account. */
  readonly hold: HoldReason | null;
  readonly now: Date;
}

/** Null: there is no such transfer. */
export async function readIncomingSituation(reader: Reader, id: IncomingTransferId): Promise<IncomingSituation | null> {
  const [transfer, now] = await Promise.all([reader.find(TRANSFER, id), readClock(reader)]);
  if (transfer === null) return null;
  if (transfer.accountId !== null) {
    return { transfer, account: await readAccount(reader, transfer.accountId), hold: null, now };
  }
  const matched = await matchPayment(reader, namedReceiverOf(transfer));
  if (matched.match === 'one') {
    return { transfer, account: await readAccount(reader, matched.accountId), hold: null, now };
  }
  return { transfer, account: null, hold: matched.match === 'none' ? 'no-match' : 'ambiguous-match', now };
}

export async function readAccount(reader: Reader, id: AccountId): Promise<LockedAccount | null> {
  return (await readAccounts(reader, [id])).get(asId(id)) ?? null;
}
