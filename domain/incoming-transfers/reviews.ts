import { type ComplianceDecision, decideCheck, isInReview } from '../compliance/checks.ts';
import type { LockedAccount } from '../ledger/ledger.ts';
import { type IncomingChange, transitionIncoming } from './changes.ts';
import {
  decideArrival,
  type HoldReason,
  type IncomingTransfer,
  isFinalIncomingTransferStatus,
} from './incoming-transfers.ts';
import { failFromSuspense, settleFromSuspense } from './suspense.ts';

/**
 * Records a decision about an external payment; null if it is already recorded. Once approved, the money goes where its
 * account allows, or stays with the provider that holds it. `match`: the account, or why there is none.
 */
export function decideIncomingReview(
  transfer: IncomingTransfer,
  match: { readonly account: LockedAccount | null; readonly hold: HoldReason | null },
  decision: ComplianceDecision,
  now: Date,
): IncomingChange | null {
  const check = decideCheck(transfer, isFinalIncomingTransferStatus(transfer.status), decision, now);
  if (check === null) return null;
  const incoming = { before: transfer, after: { ...transfer, ...check }, events: [] };
  const stays = { accounts: [], postings: [], wakes: [] };
  if (isInReview(check)) return { ...stays, incoming: transitionIncoming(incoming, now, {}) };
  const wakes = [`incoming-transfer/${transfer.id}`] as const;
  if (check.complianceCheckStatus === 'not-fulfilled') {
    const account = transfer.accountId === null ? null : match.account;
    return { ...failFromSuspense(incoming, account, 'compliance.rejected', now), wakes };
  }
  // Held by the provider, which releases it later.
  if (transfer.status === 'on-hold') return { ...stays, incoming: transitionIncoming(incoming, now, {}), wakes };
  const arrival = decideArrival(match.account, match.hold);
  return { ...settleFromSuspense(incoming, match.account, arrival, now), wakes };
}
