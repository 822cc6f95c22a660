import {
  type BalanceAdjustment,
  type BalanceAdjustmentRequest,
  balanceAdjustmentPosting,
  checkBalanceAdjustment,
  presentBalanceAdjustment,
} from '../../domain/accounts/balance-adjustments.ts';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { AccountId, BalanceAdjustmentId } from '../../domain/common/ids.ts';
import type { LockedAccount } from '../../domain/ledger/ledger.ts';
import { appendAuditEntry, type Initiator } from '../common/audit-entries.ts';
import { readClock } from '../common/clock.ts';
import { newId } from '../common/ids.ts';
import { lockAccounts, post } from '../ledger/ledger.ts';
import { sendWithCommit, type Transaction } from '../query/database.ts';
import { drawTransactionNumber } from '../transfers/transaction-numbers.ts';

/**
 * Moves money by hand (specification 4.5): decides the request under the account's lock, and writes its one posting, its record
 * and its audit entry. A credit admits transfers that wait for money in the account, as every credit does.
 */
export async function adjustBalance(
  tx: Transaction,
  id: AccountId,
  request: BalanceAdjustmentRequest,
  initiator: Initiator,
): Promise<BalanceAdjustment> {
  const [accounts, now] = await Promise.all([lockAccounts(tx, [id]), readClock(tx)]);
  const account = accounts.get(id);
  if (account === undefined) throw recordNotFound('account', 'id', id);
  checkBalanceAdjustment(request, account);
  const adjustment = postAdjustment(tx, request, account, now);
  audit(tx, adjustment, initiator);
  return adjustment;
}

/** Posts and records an adjustment of a locked account. */
export function postAdjustment(
  tx: Transaction,
  request: BalanceAdjustmentRequest,
  account: LockedAccount,
  now: Date,
): BalanceAdjustment {
  const adjustment = {
    ...request,
    id: newId<BalanceAdjustmentId>(),
    transactionNumber: drawTransactionNumber('other', now),
  };
  sendWithCommit(post(tx, balanceAdjustmentPosting(adjustment, account, now)));
  record(tx, adjustment, now);
  return adjustment;
}

// The posting is the last one of this session.
const RECORD = `
  INSERT INTO balance_adjustments (id, account_id, posting_id, transaction_number, workflow_code, workflow_type,
    workflow_transaction_type, direction, currency, amount_minor, description, unconnected_service_provider, created_at)
  VALUES ($1, $2, currval(pg_get_serial_sequence('postings', 'id')), $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`;

function record(tx: Transaction, adjustment: BalanceAdjustment, now: Date): void {
  const { workflow } = adjustment;
  const values = [
    adjustment.id,
    adjustment.accountId,
    adjustment.transactionNumber,
    workflow.code,
    workflow.type,
    workflow.code === 'correction' ? workflow.transactionType : null,
    adjustment.direction,
    adjustment.currency,
    adjustment.amountMinor,
    adjustment.description,
    adjustment.unconnectedServiceProvider,
    now,
  ];
  sendWithCommit(tx.statement(RECORD, values));
}

/** Omits the description, free text that may name a person; the record and the statement keep it. */
function audit(tx: Transaction, adjustment: BalanceAdjustment, initiator: Initiator): void {
  const { id, description: _, ...shown } = presentBalanceAdjustment(adjustment);
  appendAuditEntry(tx, {
    initiator,
    resource: 'balance-adjustment',
    resourceId: id,
    action: 'created',
    after: { workflow: adjustment.workflow, ...shown },
  });
}
