import type { OutgoingTransferId } from '../../domain/frame/ids.ts';
import { isOfOtherMoney } from '../../domain/outgoing-transfers/claims.ts';
import type { RequirementStatus, Requirements } from '../../domain/outgoing-transfers/outgoing-transfers.ts';
import type { Transaction } from '../driver/client.ts';
import { type LookedUpPayment, wakeWorkflow } from './outgoing-transfers.ts';
import { save } from './rows.ts';
import { applyWord, begin, type OutgoingTransferRow, process, source, type TransferRules, totalMinor } from './work.ts';

/**
 * After a restore: applies what the provider did with a transfer before our row was set back, also with one that is
 * pending again. `break`: it cannot be booked, because the row ended otherwise, is none of the provider's or of other
 * money, or the money is not there; nothing moves.
 */
export async function adoptPayment(
  tx: Transaction,
  { id, provider }: { readonly id: OutgoingTransferId; readonly provider: string },
  found: LookedUpPayment,
  rules: TransferRules,
): Promise<'applied' | 'no-effect' | 'break'> {
  const work = await begin(tx, id, rules);
  const { transfer } = work;
  if (transfer.scope === 'internal' || transfer.provider !== provider) return 'break';
  // Before anything is reserved for it.
  if (isOfOtherMoney(found.claim, transfer)) return 'break';
  if (transfer.status === 'pending') {
    const account = source(work);
    if (account.postedMinor - account.reservedMinor < totalMinor(transfer)) return 'break';
    await process(work, onceFulfilled(transfer));
  }
  const outcome = await applyWord(work, found);
  if (outcome === 'break') return outcome;
  save(work);
  if (outcome === 'applied') await wakeWorkflow(tx, id);
  return outcome;
}

/** The requirements of a transfer that was submitted all held then. */
function onceFulfilled({ authorizationStatus, complianceCheckStatus }: OutgoingTransferRow): Requirements {
  const met = (status: RequirementStatus) => (status === 'not-required' ? status : 'fulfilled');
  return {
    authorizationStatus: met(authorizationStatus),
    complianceCheckStatus: met(complianceCheckStatus),
    transferDateStatus: 'fulfilled',
    balanceCheckStatus: 'fulfilled',
  };
}
