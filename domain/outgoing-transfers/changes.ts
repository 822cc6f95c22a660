import { rejection } from '../common/errors.ts';
import type { IncomingTransferName } from '../incoming-transfers/changes.ts';
import { availableMinor } from '../ledger/ledger.ts';
import { TransferDraft } from './drafts.ts';
import { applyReports, outcomeOfBoth, splitReturns } from './look-ups.ts';
import { rescheduleAttempt } from './outcomes/rejections.ts';
import { requireNotAtBank } from './outcomes/restored.ts';
import { situationAfter } from './outcomes/returns.ts';
import { contradictsAmount, type LookedUpPayment, type PaymentReport, type ReportOutcome } from './reports.ts';
import { rejectMakers } from './requests/makers.ts';
import { type OutgoingTransfer, totalMinor } from './rows.ts';
import type { OutgoingTransferStatus, OutgoingTransferStep, RequirementStatus, Requirements } from './statuses.ts';
import type { Decided, TransferChange, TransferSituation } from './transfer-changes.ts';

// Each function decides from a situation; db/transfers/transfer-changes.ts applies the change, null for none. A DomainError rejects
// a command that is not allowed.

interface Reported {
  readonly change: TransferChange | null;
  readonly outcome: ReportOutcome;
}

/** Creates a transfer and advances it as far as possible; `change.outgoing.after` is the result. */
export function decideCreation(situation: TransferSituation): {
  readonly change: TransferChange;
  readonly step: OutgoingTransferStep;
} {
  const draft = new TransferDraft(situation);
  const step = draft.advance();
  if (step.do !== 'end') draft.wake();
  const { id, status, clientStatus, closing } = draft.source;
  const reserved = draft.transfer.reservedMinor;
  const change = draft.change([{ accountId: id, status, clientStatus, closing, availableMinor: reserved }]);
  if (change === null) throw new Error('a transfer that is made is always written');
  return { change, step };
}

export function decideAdvance(situation: TransferSituation): Decided {
  const draft = new TransferDraft(situation);
  const step = draft.advance();
  return { change: draft.change(), step };
}

/** Retries a transfer that waits for money, and wakes its workflow if it no longer does. It may also just roll. */
export function decideAdmission(situation: TransferSituation): {
  readonly change: TransferChange | null;
  readonly status: OutgoingTransferStatus;
} {
  const draft = new TransferDraft(situation);
  draft.advance();
  const { status } = draft.transfer;
  if (status !== 'pending') draft.wake();
  return { change: draft.change(), status };
}

/** Reschedules a transfer whose date or cut-off is no longer in the calendars, and wakes it. Null for any other. */
export function decideReschedule(situation: TransferSituation): TransferChange | null {
  const { transfer, rules } = situation;
  const { transferDate, cutOffAt } = transfer;
  if (rules.schemes.isInForce(transfer, { transferDate, cutOff: cutOffAt })) return null;
  const draft = new TransferDraft(situation);
  if (transfer.status === 'pending') draft.advance();
  else if (!rescheduleAttempt(draft)) return null;
  draft.wake();
  return draft.change();
}

/**
 * Applies a submission's outcome, once per attempt; a late or repeated call only returns the next step. The attempt's own answer
 * takes precedence over a look-up that did not find the payment.
 */
export function decideSubmission(
  situation: TransferSituation,
  attempt: number,
  report: PaymentReport,
  nameOfReturn: IncomingTransferName | null,
): Decided {
  const draft = new TransferDraft(situation);
  const { submissionStatus, submissionAttempt } = situation.transfer;
  const isOpen = submissionStatus === 'unresolved' || submissionStatus === 'not-found' || submissionStatus === 'queued';
  if (isOpen && submissionAttempt === attempt) {
    // What the provider has may be an earlier attempt, which it did not know when it was looked up.
    if (report.outcome === 'queued') draft.set({ submissionAttempt: report.queuedAttempt ?? attempt });
    else draft.set({ submissionStatus: 'resolved' });
    draft.apply(report, nameOfReturn);
  }
  const step = draft.advance();
  return { change: draft.change(), step };
}

/** Applies a provider's callback, whether or not a workflow is running, and wakes the workflow if the transfer changed. */
export function decideCallback(
  situation: TransferSituation,
  provider: string,
  report: PaymentReport,
  nameOfReturn: IncomingTransferName | null,
): Reported {
  if (!isPaymentOf(situation.transfer, provider)) return BREAK;
  return applied(new TransferDraft(situation), report, nameOfReturn);
}

/**
 * After a restore, applies what the provider did with a transfer since the backup, even if the transfer is pending again.
 * `break`: it cannot be booked, because the row has ended differently, belongs to another provider, has another amount or
 * currency, or lacks the money.
 */
export function decideAdoption(
  situation: TransferSituation,
  provider: string,
  found: LookedUpPayment,
  draw: () => IncomingTransferName,
): { readonly changes: readonly TransferChange[]; readonly outcome: ReportOutcome } {
  const { transfer } = situation;
  if (!isPaymentOf(transfer, provider) || contradictsAmount(found.claim, transfer)) return NOTHING_ADOPTED;
  const draft = new TransferDraft(situation);
  if (transfer.status === 'pending') {
    if (availableMinor(draft.source) < totalMinor(transfer)) return NOTHING_ADOPTED;
    draft.startProcessing(fulfilledRequirements(transfer));
  }
  const [first, ...others] = splitReturns(found);
  const { change, outcome } = applied(draft, first, found.outcome === 'returned' ? draw() : null);
  const rest = applyReports(change === null ? situation : situationAfter(situation, change), others, draw);
  return {
    changes: [...(change === null ? [] : [change]), ...rest.changes],
    outcome: outcomeOfBoth(outcome, rest.outcome),
  };
}

const NOTHING_ADOPTED = { changes: [], outcome: 'break' } as const;
const BREAK: Reported = { change: null, outcome: 'break' };

function isPaymentOf(transfer: OutgoingTransfer, provider: string): boolean {
  return transfer.scope === 'external' && transfer.provider === provider;
}

function applied(draft: TransferDraft, report: PaymentReport, nameOfReturn: IncomingTransferName | null): Reported {
  const outcome = draft.apply(report, nameOfReturn);
  if (outcome === 'break') return BREAK;
  if (outcome === 'applied') draft.wake();
  return { change: draft.change(), outcome };
}

/** A submitted transfer had met all its requirements. */
function fulfilledRequirements({ authorizationStatus, complianceCheckStatus }: OutgoingTransfer): Requirements {
  const met = (status: RequirementStatus) => (status === 'not-required' ? status : 'fulfilled');
  return {
    authorizationStatus: met(authorizationStatus),
    complianceCheckStatus: met(complianceCheckStatus),
    transferDateStatus: 'fulfilled',
    balanceCheckStatus: 'fulfilled',
  };
}

/**
 * Applies the report of a plug-in account's caller about its payment. A report that the row already reflects changes nothing,
 * so it can be repeated; one that contradicts the row is an illegal transition.
 */
export function decidePluginReport(
  situation: TransferSituation,
  report: PaymentReport,
  nameOfReturn: IncomingTransferName | null,
): TransferChange | null {
  const { transfer } = situation;
  const legal =
    transfer.method === 'plug-in' &&
    transfer.scope === 'external' &&
    (report.outcome !== 'returned' || transfer.status === 'completed');
  if (!legal) throw illegal(transfer, report.outcome);
  // The first reported provider id and reference are final.
  rejectNames(transfer, report, (known) => known !== null);
  const draft = new TransferDraft(situation);
  const outcome = fitsRecorded(transfer, report) ? draft.apply(report, nameOfReturn) : 'break';
  if (outcome === 'break') throw illegal(transfer, report.outcome);
  if (outcome === 'no-effect') {
    // A report without effect cannot add an id or reference: dropping it silently would mislead the caller.
    rejectNames(transfer, report, () => true);
    return null;
  }
  draft.wake();
  return draft.change();
}

function rejectNames(
  transfer: OutgoingTransfer,
  report: PaymentReport,
  applies: (known: string | null) => boolean,
): void {
  for (const field of ['serviceProviderId', 'serviceProviderReference'] as const) {
    const [known, reported] = [transfer[field], report[field]];
    if (reported === null || known === reported || !applies(known)) continue;
    const message = `The payment was already reported with a different ${field}, or without one.`;
    throw rejection('common.state.illegal_transition', ['outgoingTransfer', field, reported], message);
  }
}

/** Whether the report fits the recorded history: a payment that failed unreleased was never released. */
function fitsRecorded(transfer: OutgoingTransfer, { outcome }: PaymentReport): boolean {
  return !(outcome === 'released' && transfer.status === 'failed' && transfer.submissionStatus !== 'resolved');
}

/** Cancels a pending transfer; from `processing` on this is an illegal transition. */
export function decideCancellation(situation: TransferSituation): TransferChange | null {
  if (situation.transfer.status !== 'pending') throw illegal(situation.transfer, 'cancelled');
  requireNotAtBank(situation, 'cancelled');
  const draft = new TransferDraft(situation);
  if (situation.transfer.scope === 'internal') draft.failReceiversSide('transfer.cancelled');
  draft.moveTo('cancelled');
  draft.wake();
  return draft.change();
}

/** Cancels a transfer whose authorization is still open, by one who may authorize but not cancel others. */
export function decideAuthorizationRejection(situation: TransferSituation): TransferChange | null {
  if (situation.transfer.authorizationStatus !== 'not-checked') throw illegal(situation.transfer, 'rejected');
  return decideCancellation(situation);
}

/**
 * Authorizes a pending transfer. Its makers may not (its creator, and every other actor who caused it), nor who has reviewed it, or the
 * receiver's side of an internal one.
 */
export function decideAuthorization(
  situation: TransferSituation,
  actor: string,
  otherMakers: readonly string[],
): TransferChange | null {
  const { transfer, incoming } = situation;
  const reviewers = [transfer.complianceDecidedBy, incoming?.after.complianceDecidedBy ?? null];
  rejectMakers([transfer.createdBy, ...reviewers, ...otherMakers], actor);
  if (transfer.status !== 'pending' || transfer.authorizationStatus !== 'not-checked') {
    throw illegal(transfer, 'authorized');
  }
  const draft = new TransferDraft(situation);
  draft.set({ authorizationStatus: 'fulfilled' });
  draft.advance();
  draft.wake();
  return draft.change();
}

function illegal(transfer: OutgoingTransfer, to: string): Error {
  return rejection(
    'common.state.illegal_transition',
    ['outgoingTransfer', 'status', to],
    `An outgoing transfer that is ${transfer.status} cannot become ${to}.`,
  );
}
