import { isFinalAccountStatus } from '../../domain/accounts/accounts.ts';
import { canApplyProviderStatus, type ProviderStatusChange } from '../../domain/accounts/connections.ts';
import type { AccountId } from '../../domain/common/ids.ts';
import { accounts } from '../common/schema.ts';
import { awaitMigrations, type CallbackOutcome } from '../providers/callbacks.ts';
import type { Transaction } from '../query/database.ts';
import { updateRow } from '../query/rows.ts';
import { lockAccount, wakeAccountConnection } from './accounts.ts';
import { insertBreak, reportsOtherProvidersAccount, saveProviderStatus } from './connections.ts';

/**
 * Applies a status change that the provider reports. A report older than one already applied changes nothing; one that arrives before
 * the opening is applied with it. A report that cannot be followed is a reconciliation break: about another provider's account, about one
 * that has ended, or about one that is closed with money in it (it is suspended).
 */
export async function applyProviderStatusChange(
  tx: Transaction,
  { accountId, status, number }: ProviderStatusChange<AccountId>,
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
  if (await reportsOtherProvidersAccount(tx, locked, provider, details)) return 'break';
  if (row.providerStatusNumber !== null && number <= row.providerStatusNumber) return 'no-effect';
  await updateRow(tx, accounts, accountId, { providerStatus: status, providerStatusNumber: number });
  if (account.status === 'pending') return 'applied';
  if (status === 'closed' && isFinalAccountStatus(account.status)) return 'no-effect';
  if (!canApplyProviderStatus(account, status)) {
    await insertBreak(tx, locked, 'account-outcome-contradicts', { ...details, toldBy: provider });
    return 'break';
  }
  await saveProviderStatus(tx, locked, { account, events: [] }, status);
  // A workflow that waits for a closing requested here has nothing left to do.
  if (status === 'closed' && row.requestedChange !== null) await wakeAccountConnection(tx, accountId);
  return 'applied';
}

const EARLY_STATUS_CHANGE = `
  SELECT payload ->> 'status' AS status, (payload ->> 'number')::bigint AS number FROM provider_callbacks
  WHERE our_reference = $1 AND outcome = 'waiting' AND provider = $2 AND kind = 'account-status-changed'
  ORDER BY number DESC LIMIT 1`;

/**
 * Applies the last status that the provider reported before the account was recorded here. The callback's row stays as it is: a
 * holder of the account's lock never waits for a callback's row. The caller has locked out callbacks (`lockMigrations`).
 */
export async function applyEarlyStatusChange(tx: Transaction, accountId: AccountId, provider: string): Promise<void> {
  const [move] = await tx.statement<Pick<ProviderStatusChange<AccountId>, 'status' | 'number'>>(EARLY_STATUS_CHANGE, [
    accountId,
    provider,
  ]);
  if (move !== undefined) await applyProviderStatusChange(tx, { accountId, ...move }, provider);
}
