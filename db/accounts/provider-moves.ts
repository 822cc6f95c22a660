import { isFinalAccountStatus } from '../../domain/accounts/accounts.ts';
import { canFollow, type ProviderAccountMove } from '../../domain/accounts/connections.ts';
import type { AccountId } from '../../domain/frame/ids.ts';
import type { Transaction } from '../driver/client.ts';
import { updateRow } from '../driver/queries/rows.ts';
import { accounts } from '../frame/schema.ts';
import { awaitMigrations, type CallbackOutcome } from '../providers/callbacks.ts';
import { lockAccount, wakeAccountConnection } from './accounts.ts';
import { followProvider, insertBreak, isOfAnother } from './connections.ts';

/**
 * Applies a provider's move. A report that a later one overtook changes nothing; one that overtakes the news of the opening
 * is applied with it. What cannot be followed is a reconciliation break: the account of another provider, one that ended, or
 * one that is closed with money in it (it is suspended).
 */
export async function applyProviderMove(
  tx: Transaction,
  { accountId, status, number }: ProviderAccountMove<AccountId>,
  provider: string,
): Promise<CallbackOutcome> {
  let locked = await lockAccount(tx, accountId);
  if (locked === null) {
    await awaitMigrations(tx, provider);
    locked = await lockAccount(tx, accountId);
  }
  if (locked === null) return 'waiting';
  const { row, account } = locked;
  const details = { status, number: number.toString() };
  if (await isOfAnother(tx, locked, provider, details)) return 'break';
  if (row.providerStatusNumber !== null && number <= row.providerStatusNumber) return 'no-effect';
  await updateRow(tx, accounts, accountId, { providerStatus: status, providerStatusNumber: number });
  if (account.status === 'pending') return 'applied';
  if (status === 'closed' && isFinalAccountStatus(account.status)) return 'no-effect';
  if (!canFollow(account, status)) {
    await insertBreak(tx, locked, 'account-outcome-contradicts', { ...details, toldBy: provider });
    return 'break';
  }
  await followProvider(tx, locked, { account, events: [] }, status);
  // A workflow that waits for a closing asked for here has nothing left to do.
  if (status === 'closed' && row.requestedChange !== null) await wakeAccountConnection(tx, accountId);
  return 'applied';
}

const EARLY_MOVE = `
  SELECT payload ->> 'status' AS status, (payload ->> 'number')::bigint AS number FROM provider_callbacks
  WHERE our_reference = $1 AND outcome = 'waiting' AND provider = $2 AND kind = 'account-status-changed'
  ORDER BY number DESC LIMIT 1`;

/**
 * Follows the last move that the provider reported before the account was here. Its callback stays as it is: a holder of the
 * account's lock never waits for a callback's row. The caller has locked out callbacks (`lockMigrations`).
 */
export async function applyEarlyMove(tx: Transaction, accountId: AccountId, provider: string): Promise<void> {
  const [move] = await tx.statement<Pick<ProviderAccountMove<AccountId>, 'status' | 'number'>>(EARLY_MOVE, [
    accountId,
    provider,
  ]);
  if (move !== undefined) await applyProviderMove(tx, { accountId, ...move }, provider);
}
