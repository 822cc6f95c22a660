import { namedReceiverOf } from '../../db/incoming-transfers/holds.ts';
import { findNearAccounts, type NearHolder, readNearHolders } from '../../db/incoming-transfers/near-accounts.ts';
import { readAccounts } from '../../db/ledger/ledger.ts';
import type { Reader } from '../../db/query/database.ts';
import type { AccountId } from '../../domain/common/ids.ts';
import { asId } from '../../domain/common/ids.ts';
import type { IncomingChange } from '../../domain/incoming-transfers/changes.ts';
import type { IncomingTransfer } from '../../domain/incoming-transfers/incoming-transfers.ts';
import { commonOf, differenceOf, type NearAccount } from '../../domain/incoming-transfers/near-accounts.ts';
import { decideAssignment } from '../../domain/incoming-transfers/operator-commands.ts';
import { availableMinor, type LockedAccount } from '../../domain/ledger/ledger.ts';
import { decided } from '../remedies/decided.ts';

/** What assigning the money to the account would do, or why it cannot be. */
export type Assignment =
  | { readonly account: LockedAccount; readonly change: IncomingChange; readonly availableAfterMinor: bigint }
  | { readonly account: LockedAccount | null; readonly rejected: string };

/** An account that the money may be for. */
export interface Candidate {
  readonly near: NearAccount;
  readonly holder: NearHolder | null;
  /** `IBAN of the payment` */
  readonly common: string;
  /** Why it was not chosen. */
  readonly difference: string;
  readonly assignment: Assignment;
}

export function assignmentTo(
  transfer: IncomingTransfer,
  account: LockedAccount | null,
  actor: string,
  now: Date,
): Assignment {
  const decision = decided(() => decideAssignment(transfer, account, actor, now));
  if ('rejected' in decision || account === null) {
    return { account, rejected: 'rejected' in decision ? decision.rejected : 'There is no such account.' };
  }
  const { change } = decision;
  const credited = change.incoming.after.status === 'completed' ? transfer.amountMinor - transfer.feeMinor : 0n;
  return { account, change, availableAfterMinor: availableMinor(account) + credited };
}

/** The accounts that come near the money, the best evidence first, with what speaks for and against each. */
export async function readCandidates(
  reader: Reader,
  transfer: IncomingTransfer,
  actor: string,
  now: Date,
): Promise<{ readonly candidates: readonly Candidate[]; readonly areMore: boolean }> {
  const { receiver, near, areMore } = await findNearAccounts(reader, namedReceiverOf(transfer));
  const ids = near.map(({ id }) => asId<AccountId>(id));
  const [accounts, holders] = await Promise.all([readAccounts(reader, ids), readNearHolders(reader, ids, transfer)]);
  const candidates = near.map((account) => ({
    near: account,
    holder: holders.get(account.id) ?? null,
    common: commonOf(account, receiver),
    difference: differenceOf(account, receiver, near),
    assignment: assignmentTo(transfer, accounts.get(asId(account.id)) ?? null, actor, now),
  }));
  return { candidates, areMore };
}
