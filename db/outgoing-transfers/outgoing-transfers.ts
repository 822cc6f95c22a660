import { refusal } from '../../domain/frame/errors.ts';
import type { AccountId, OutgoingTransferId } from '../../domain/frame/ids.ts';
import type { PaymentClaim } from '../../domain/outgoing-transfers/claims.ts';
import { lookUpDelayMs, type OutgoingTransferStep } from '../../domain/outgoing-transfers/outgoing-transfers.ts';
import type { PaymentReport } from '../../domain/outgoing-transfers/reports.ts';
import type { Reader, Transaction } from '../driver/client.ts';
import { LISTED_IDS } from '../driver/values.ts';
import type { Initiator } from '../frame/audit-entries.ts';
import { wake } from '../frame/workflow-wakeups.ts';
import { failInternalIncoming } from '../incoming-transfers/work.ts';
import { type LockedAccount, lockAccounts } from '../ledger/ledger.ts';
import { recordDifference } from '../ledger/reconciliation.ts';
import { outgoingTransferEventData } from '../ledger/transfer-event-data.ts';
import { audit } from './audit.ts';
import { insert, type NewOutgoingTransfer, newRow, save } from './rows.ts';
import {
  advance,
  applyWord,
  begin,
  incomingOf,
  moveTo,
  type OutgoingTransferRow,
  posterOf,
  type TransferRules,
  type Work,
} from './work.ts';

export type { NewOutgoingTransfer } from './rows.ts';
export type { OutgoingTransferRow, TransferRules } from './work.ts';

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

/** What a look-up found: a provider's word, which always says of how much. */
export type LookedUpPayment = PaymentReport & { readonly claim: PaymentClaim };

/**
 * Records a look-up, once per count; null = the provider knows nothing new. The next one waits longer. A payment of other
 * money is a break for a person to look at: nothing moves.
 */
export async function recordLookUp(
  tx: Transaction,
  id: OutgoingTransferId,
  count: number,
  found: LookedUpPayment | null,
  rules: TransferRules,
): Promise<OutgoingTransferStep> {
  const work = await begin(tx, id, rules);
  const { provider, currency } = work.transfer;
  if (work.transfer.status === 'released' && work.transfer.lookUpCount === count) {
    const lookUpCount = count + 1;
    const nextLookUpAt = new Date(work.now.getTime() + lookUpDelayMs(lookUpCount));
    work.transfer = { ...work.transfer, lookUpCount, nextLookUpAt };
    if (found !== null && (await applyWord(work, found)) === 'break') {
      const payment = { direction: 'out', reference: id } as const;
      await recordDifference(tx, { provider, currency }, payment, 'statement-amount-differs');
    }
  }
  const step = await advance(work);
  save(work);
  return step;
}

/** Which payment a callback is about, and who says so. */
export interface ToldPayment {
  readonly id: OutgoingTransferId;
  readonly provider: string;
}

/**
 * Applies a provider's callback, with or without a running workflow, and wakes the workflow when something moved. Of a
 * payment that is not this provider's, or of another amount, it is a break: nothing moves.
 */
export async function applyPaymentReport(
  tx: Transaction,
  { id, provider }: ToldPayment,
  report: PaymentReport,
  rules: TransferRules,
): Promise<'applied' | 'no-effect' | 'break'> {
  const work = await begin(tx, id, rules);
  const { transfer } = work;
  if (transfer.scope === 'internal' || transfer.provider !== provider) return 'break';
  const outcome = await applyWord(work, report);
  save(work);
  if (outcome === 'applied') await wakeWorkflow(tx, id);
  return outcome;
}

/**
 * A caller of a plug-in account reports how its payment went. What the row already says, or implies, changes nothing, so that
 * a report can be repeated; what contradicts it is an illegal transition.
 */
export async function reportPluginPayment(
  tx: Transaction,
  id: OutgoingTransferId,
  report: PaymentReport,
  initiator: Initiator,
  rules: TransferRules,
): Promise<void> {
  const work = await begin(tx, id, rules);
  const { word } = report;
  const { method, scope, status } = work.transfer;
  const legal = method === 'plug-in' && scope === 'external' && (word !== 'returned' || status === 'completed');
  if (legal) refuseOtherPayment(work.transfer, report);
  const outcome = legal && fitsRecorded(work.transfer, report) ? await applyWord(work, report) : 'break';
  if (outcome === 'break') throw illegal(work.transfer, word);
  if (outcome === 'no-effect') return refuseNewNames(work.transfer, report);
  audit(work, 'reported', initiator);
  save(work);
  await wakeWorkflow(tx, id);
}

/** The provider's names of a payment stay what they were reported as first. */
function refuseOtherPayment(transfer: OutgoingTransferRow, report: PaymentReport): void {
  refuseNames(transfer, report, (known) => known !== null);
}

/** A report that changes nothing cannot add a name either: dropping it silently would mislead its caller. */
function refuseNewNames(transfer: OutgoingTransferRow, report: PaymentReport): void {
  refuseNames(transfer, report, () => true);
}

function refuseNames(
  transfer: OutgoingTransferRow,
  report: PaymentReport,
  applies: (known: string | null) => boolean,
): void {
  for (const field of ['serviceProviderId', 'serviceProviderReference'] as const) {
    const [known, reported] = [transfer[field], report[field]];
    if (reported === null || known === reported || !applies(known)) continue;
    const message = `The payment was reported with another ${field}, or with none.`;
    throw refusal('common.state.illegal_transition', ['outgoingTransfer', field, reported], message);
  }
}

/** Whether the report can have come before what is recorded: a payment that failed without a release was never released. */
function fitsRecorded(transfer: OutgoingTransferRow, { word }: PaymentReport): boolean {
  return !(word === 'released' && transfer.status === 'failed' && transfer.submissionStatus !== 'resolved');
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
  initiator: Initiator,
  rules: TransferRules,
): Promise<void> {
  const work = await begin(tx, id, rules);
  if (work.transfer.status !== 'pending') throw illegal(work.transfer, 'cancelled');
  if (work.transfer.scope === 'internal')
    await failInternalIncoming(tx, incomingOf(work.transfer), work.now, 'transfer.cancelled');
  moveTo(work, 'cancelled');
  audit(work, 'cancelled', initiator);
  save(work);
  await wakeWorkflow(tx, id);
}

/** Fulfils the authorization of a pending transfer; never by the machine user that made it. */
export async function authorizeOutgoingTransfer(
  tx: Transaction,
  id: OutgoingTransferId,
  initiator: Initiator,
  rules: TransferRules,
): Promise<void> {
  const work = await begin(tx, id, rules);
  if (work.transfer.createdBy === initiator.actor) {
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
  audit(work, 'authorized', initiator);
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
