import { sql } from 'drizzle-orm';
import { refusal } from '../domain/errors.ts';
import type { AccountId, MachineUserId, OutgoingTransferId } from '../domain/ids.ts';
import { lookUpDelayMs, type OutgoingTransferStep, type PaymentReport } from '../domain/outgoing-transfers.ts';
import type { Reader, Transaction } from './client.ts';
import { failInternalIncoming } from './incoming-transfer-work.ts';
import { type LockedAccount, lockAccounts } from './ledger.ts';
import { insert, type NewOutgoingTransfer, newRow, save } from './outgoing-transfer-rows.ts';
import {
  advance,
  applyWord,
  begin,
  incomingOf,
  moveTo,
  type OutgoingTransferRow,
  outgoingTransferEventData,
  posterOf,
  type TransferRules,
  type Work,
} from './outgoing-transfer-work.ts';
import { LISTED_IDS } from './values.ts';
import { wake } from './workflow-wakeups.ts';

export type { NewOutgoingTransfer } from './outgoing-transfer-rows.ts';
export type { OutgoingTransferRow, TransferRules } from './outgoing-transfer-work.ts';

const FIND_DUE_SUBMISSION = `
  SELECT id, submission_attempt AS attempt FROM outgoing_transfers
  WHERE id = ANY (${LISTED_IDS}) AND status = 'processing' AND method = 'built-in'
    AND submission_status = 'unresolved' AND waiting_for = 'provider' AND next_check_at > service_now() + interval '30 minutes'`;

/**
 * Which attempt at submitting the payment is due, as the transfer was last left; null where that is not what it waits for,
 * and when its next check comes near, which `advanceOutgoingTransfer` then puts off. Else that would decide the same and
 * change nothing: this asks without a lock.
 */
export async function findDueSubmission(reader: Reader, id: OutgoingTransferId): Promise<number | null> {
  const due = await reader.find<{ id: string; attempt: number }>(FIND_DUE_SUBMISSION, id);
  return due?.attempt ?? null;
}

/** Moves a transfer as far as its row allows, and says what must be done or waited for outside. Safe to repeat. */
export async function advanceOutgoingTransfer(
  tx: Transaction,
  id: OutgoingTransferId,
  rules: TransferRules,
): Promise<OutgoingTransferStep> {
  const work = await begin(tx, id, rules);
  const step = await advance(work);
  save(work);
  return step;
}

export async function wakeWorkflow(tx: Transaction, id: OutgoingTransferId): Promise<void> {
  await wake(tx, 'outgoing-transfer', workflowIdOf(id));
}

export function workflowIdOf(id: OutgoingTransferId): string {
  return `outgoing-transfer/${id}`;
}

/** Records a look-up, once per count; null = the provider knows nothing new. The next one waits longer. */
export async function recordLookUp(
  tx: Transaction,
  id: OutgoingTransferId,
  count: number,
  report: PaymentReport | null,
  rules: TransferRules,
): Promise<OutgoingTransferStep> {
  const work = await begin(tx, id, rules);
  if (work.transfer.status === 'released' && work.transfer.lookUpCount === count) {
    const lookUpCount = count + 1;
    const nextLookUpAt = new Date(work.now.getTime() + lookUpDelayMs(lookUpCount));
    work.transfer = { ...work.transfer, lookUpCount, nextLookUpAt };
    if (report !== null) await applyWord(work, report);
  }
  const step = await advance(work);
  save(work);
  return step;
}

/** Which payment a callback is about, who says so, and how much it says was paid (null: it does not say). */
export interface ToldPayment {
  readonly id: OutgoingTransferId;
  readonly provider: string;
  readonly claim: { readonly amountMinor: bigint; readonly currency: string } | null;
}

/**
 * Applies a provider's callback, with or without a running workflow, and wakes the workflow when something moved. Of a
 * payment that is not this provider's, or of another amount, it is a break: nothing moves.
 */
export async function applyPaymentReport(
  tx: Transaction,
  { id, provider, claim }: ToldPayment,
  report: PaymentReport,
  rules: TransferRules,
): Promise<'applied' | 'no-effect' | 'break'> {
  const work = await begin(tx, id, rules);
  const { transfer } = work;
  if (transfer.scope === 'internal' || transfer.provider !== provider) return 'break';
  if (claim !== null && (claim.amountMinor !== transfer.amountMinor || claim.currency !== transfer.currency)) {
    return 'break';
  }
  const outcome = await applyWord(work, report);
  save(work);
  if (outcome === 'applied') await wakeWorkflow(tx, id);
  return outcome;
}

/** A caller of a plug-in account reports how its payment went; anything else is an illegal transition. */
export async function reportPluginPayment(
  tx: Transaction,
  id: OutgoingTransferId,
  word: PaymentReport['word'],
  rules: TransferRules,
): Promise<void> {
  const work = await begin(tx, id, rules);
  const report = { word, serviceProviderId: null, serviceProviderReference: null, code: null };
  const { method, scope, status } = work.transfer;
  const legal = method === 'plug-in' && scope === 'external' && (word !== 'returned' || status === 'completed');
  const outcome = legal ? await applyWord(work, report) : 'break';
  if (outcome !== 'applied') throw illegal(work.transfer, word);
  save(work);
  await wakeWorkflow(tx, id);
}

function illegal(transfer: OutgoingTransferRow, to: string): Error {
  return refusal(
    'common.state.illegal_transition',
    ['outgoingTransfer', 'status', to],
    `An outgoing transfer that is ${transfer.status} cannot become ${to}.`,
  );
}

/** Cancels a pending transfer; later it is an illegal transition. */
export async function cancelOutgoingTransfer(
  tx: Transaction,
  id: OutgoingTransferId,
  rules: TransferRules,
): Promise<void> {
  const work = await begin(tx, id, rules);
  if (work.transfer.status !== 'pending') throw illegal(work.transfer, 'cancelled');
  if (work.transfer.scope === 'internal')
    await failInternalIncoming(tx, incomingOf(work.transfer), work.now, 'cancelled');
  moveTo(work, 'cancelled');
  save(work);
  await wakeWorkflow(tx, id);
}

/** Fulfils the authorization of a pending transfer; never by the machine user that made it. */
export async function authorizeOutgoingTransfer(
  tx: Transaction,
  id: OutgoingTransferId,
  by: MachineUserId,
  rules: TransferRules,
): Promise<void> {
  const work = await begin(tx, id, rules);
  if (work.transfer.createdBy === by) {
    throw refusal(
      'common.security.access_denied',
      ['outgoingTransfer', 'requirementConfiguration.authorizationStatus', 'fulfilled'],
      'A machine user never authorizes its own transfer.',
    );
  }
  if (work.transfer.status !== 'pending' || work.transfer.authorizationStatus !== 'not-checked') {
    throw illegal(work.transfer, 'authorized');
  }
  work.transfer = { ...work.transfer, authorizationStatus: 'fulfilled' };
  await advance(work);
  save(work);
  await wakeWorkflow(tx, id);
}

/**
 * Stores a transfer that waits or goes outside, tells of its creation, and moves it as far as it goes at once. `accounts`
 * are its accounts as the caller has locked them. Returns the row as created, which is what the answer shows; that it is
 * written is known when the transaction commits.
 */
export async function createOutgoingTransfer(
  tx: Transaction,
  transfer: NewOutgoingTransfer,
  rules: TransferRules,
  accounts?: ReadonlyMap<AccountId, LockedAccount>,
): Promise<OutgoingTransferRow> {
  const created = newRow(transfer);
  const work = workOfNew(tx, created, rules, accounts ?? (await lockAccounts(tx, accountIdsOf(created))));
  const step = await advance(work);
  insert(work, step.do === 'end' ? null : workflowIdOf(created.id));
  return created;
}

/** Its row is its maker's alone until the commit: it is written once, with what has become of it. */
export function workOfNew(
  tx: Transaction,
  created: OutgoingTransferRow,
  rules: TransferRules,
  accounts: ReadonlyMap<AccountId, LockedAccount>,
): Work {
  return {
    tx,
    post: posterOf(tx),
    now: created.createdAt,
    rules,
    before: created,
    accounts,
    transfer: created,
    entries: [{ type: 'outgoing-transfer-created', data: outgoingTransferEventData(created) }],
    isNew: true,
  };
}

function accountIdsOf({ accountId, destinationAccountId }: OutgoingTransferRow): AccountId[] {
  return destinationAccountId === null ? [accountId] : [accountId, destinationAccountId];
}

// A walk over more waiters than this goes on in the next transaction, so that none holds the account's lock for long.
const ADMISSION_BATCH = 100;

/** Where a walk over an account's waiters goes on. */
export interface AdmissionWalk {
  readonly after: OutgoingTransferId;
  /** What was available when the page before ended, in minor units. */
  readonly availableMinor: bigint;
  /** Money came while the walk was under way: those that it had passed must be asked again. */
  readonly again: boolean;
}

/**
 * Tries the transfers that wait for money in an account, oldest first; returns how many moved, and where the walk goes on
 * in the next transaction (null: it is over).
 */
export async function admitWaitingTransfers(
  tx: Transaction,
  accountId: AccountId,
  rules: TransferRules,
  from: AdmissionWalk | null = null,
  batchSize = ADMISSION_BATCH,
): Promise<{ admitted: number; next: AdmissionWalk | null }> {
  const after = from?.after ?? null;
  const waiters = await tx.execute<{ id: OutgoingTransferId; destination: AccountId | null }>(sql`
    SELECT id, destination_account_id AS destination FROM outgoing_transfers
    WHERE account_id = ${accountId} AND waiting_for = 'balance' AND (${after}::uuid IS NULL OR id > ${after}::uuid)
    ORDER BY id LIMIT ${batchSize}`);
  // All accounts at once, in order; a transfer that starts to wait meanwhile has seen the credit itself.
  const accounts = await lockAccounts(tx, [accountId, ...waiters.flatMap(({ destination }) => destination ?? [])]);
  // A walk only takes money away: more than it left means a credit, which those already passed have not seen.
  const again = from !== null && (from.again || availableMinor(accounts.get(accountId)) > from.availableMinor);
  let admitted = 0;
  for (const { id } of waiters) {
    const work = await begin(tx, id, rules);
    if (work.transfer.waitingFor !== 'balance') continue;
    await advance(work);
    save(work);
    if (work.transfer.status === 'pending') continue;
    admitted += 1;
    await wakeWorkflow(tx, id);
  }
  const last = waiters.length === batchSize ? waiters.at(-1) : undefined;
  if (last !== undefined) {
    const left = await lockAccounts(tx, [accountId]);
    return { admitted, next: { after: last.id, availableMinor: availableMinor(left.get(accountId)), again } };
  }
  await tx.execute(sql`
    UPDATE accounts SET admission_due = ${again}, has_waiters = EXISTS (
      SELECT FROM outgoing_transfers WHERE account_id = ${accountId} AND waiting_for = 'balance')
    WHERE id = ${accountId}`);
  return { admitted, next: null };
}

function availableMinor(account: LockedAccount | undefined): bigint {
  return account === undefined ? 0n : account.postedMinor - account.reservedMinor;
}
