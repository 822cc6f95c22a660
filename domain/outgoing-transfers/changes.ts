import { type ComplianceDecision, decideCheck, isInReview } from '../compliance/checks.ts';
import { refusal } from '../frame/errors.ts';
import { type IncomingTransferName, moveIncoming } from '../incoming-transfers/changes.ts';
import { isFinalIncomingTransferStatus } from '../incoming-transfers/incoming-transfers.ts';
import { availableMinor } from '../ledger/ledger.ts';
import { TransferDraft } from './drafts.ts';
import { bookEach, eachReturn, outcomeOfBoth } from './look-ups.ts';
import type { RecallReport } from './outcomes/recalls.ts';
import { rescheduleAttempt } from './outcomes/refusals.ts';
import { situationAfter } from './outcomes/returns.ts';
import type {
  OutgoingTransferStatus,
  OutgoingTransferStep,
  RequirementStatus,
  Requirements,
} from './outgoing-transfers.ts';
import { isOfOtherMoney, type PaymentClaim, type PaymentReport } from './reports.ts';
import { requireAnother } from './requests/makers.ts';
import { type OutgoingTransfer, totalMinor } from './rows.ts';
import type { TransferChange, TransferSituation } from './transfer-changes.ts';

// Each function decides from a situation; db/ledger/transfer-changes.ts applies the change, null for none. A DomainError rejects what
// is not allowed at all.

/** A look-up's result: a provider's report, which always includes the amount. Earlier releases knew neither further field. */
export type LookedUpPayment = PaymentReport & {
  readonly claim: PaymentClaim;
  /** Of a payment that came back in parts, all but the last one, which the report is about; oldest first. */
  readonly returnsBefore?: readonly (NonNullable<PaymentClaim['returned']> & { readonly code: string })[];
  /** The latest recall that the provider knows. */
  readonly recall?: RecallReport | null;
};

export type ReportOutcome = 'applied' | 'no-effect' | 'break';

export interface Decided {
  readonly change: TransferChange | null;
  readonly step: OutgoingTransferStep;
}

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

/** Moves a transfer that waits for a date or cut-off which the calendars no longer give, and wakes it. Null for any other. */
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
 * says more than a look-up that did not find the payment.
 */
export function decideSubmission(
  situation: TransferSituation,
  attempt: number,
  report: PaymentReport,
  nameOfReturn: IncomingTransferName | null,
): Decided {
  const draft = new TransferDraft(situation);
  const { submissionStatus, submissionAttempt } = situation.transfer;
  const isOpen = submissionStatus === 'unresolved' || submissionStatus === 'not-found';
  if (isOpen && submissionAttempt === attempt) {
    draft.set({ submissionStatus: 'resolved' });
    draft.apply(report, nameOfReturn);
  }
  const step = draft.advance();
  return { change: draft.change(), step };
}

/** Applies a provider's callback, whether or not a workflow is running, and wakes the workflow if the transfer moved. */
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
 * `break`: it cannot be booked, because the row has ended otherwise, belongs to another provider, has another amount or
 * currency, or lacks the money.
 */
export function decideAdoption(
  situation: TransferSituation,
  provider: string,
  found: LookedUpPayment,
  draw: () => IncomingTransferName,
): { readonly changes: readonly TransferChange[]; readonly outcome: ReportOutcome } {
  const { transfer } = situation;
  if (!isPaymentOf(transfer, provider) || isOfOtherMoney(found.claim, transfer)) return NOTHING_ADOPTED;
  const draft = new TransferDraft(situation);
  if (transfer.status === 'pending') {
    if (availableMinor(draft.source) < totalMinor(transfer)) return NOTHING_ADOPTED;
    draft.startProcessing(onceFulfilled(transfer));
  }
  const [first, ...others] = eachReturn(found);
  const { change, outcome } = applied(draft, first, found.word === 'returned' ? draw() : null);
  const rest = bookEach(change === null ? situation : situationAfter(situation, change), others, draw);
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
function onceFulfilled({ authorizationStatus, complianceCheckStatus }: OutgoingTransfer): Requirements {
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
    (report.word !== 'returned' || transfer.status === 'completed');
  if (!legal) throw illegal(transfer, report.word);
  // The first reported provider id and reference are final.
  refuseNames(transfer, report, (known) => known !== null);
  const draft = new TransferDraft(situation);
  const outcome = fitsRecorded(transfer, report) ? draft.apply(report, nameOfReturn) : 'break';
  if (outcome === 'break') throw illegal(transfer, report.word);
  if (outcome === 'no-effect') {
    // A report without effect cannot add an id or reference: dropping it silently would mislead the caller.
    refuseNames(transfer, report, () => true);
    return null;
  }
  draft.wake();
  return draft.change();
}

function refuseNames(
  transfer: OutgoingTransfer,
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

/** Whether the report fits the recorded history: a payment that failed unreleased was never released. */
function fitsRecorded(transfer: OutgoingTransfer, { word }: PaymentReport): boolean {
  return !(word === 'released' && transfer.status === 'failed' && transfer.submissionStatus !== 'resolved');
}

/** Cancels a pending transfer; from `processing` on this is an illegal transition. */
export function decideCancellation(situation: TransferSituation): TransferChange | null {
  if (situation.transfer.status !== 'pending') throw illegal(situation.transfer, 'cancelled');
  const draft = new TransferDraft(situation);
  if (situation.transfer.scope === 'internal') draft.failReceiversSide('transfer.cancelled');
  draft.moveTo('cancelled');
  draft.wake();
  return draft.change();
}

/** Authorizes a pending transfer. Its makers may not: who created it, and who else caused it. */
export function decideAuthorization(
  situation: TransferSituation,
  actor: string,
  otherMakers: readonly string[],
): TransferChange | null {
  const { transfer } = situation;
  requireAnother([transfer.createdBy, ...otherMakers], actor);
  if (transfer.status !== 'pending' || transfer.authorizationStatus !== 'not-checked') {
    throw illegal(transfer, 'authorized');
  }
  const draft = new TransferDraft(situation);
  draft.set({ authorizationStatus: 'fulfilled' });
  draft.advance();
  draft.wake();
  return draft.change();
}

/**
 * Records a compliance decision about a transfer, whatever else it waits for; null if it says what is recorded. Throws where
 * nothing is left to decide.
 */
export function decideOutgoingReview(
  situation: TransferSituation,
  decision: ComplianceDecision,
): TransferChange | null {
  const { transfer, now } = situation;
  const check = decideCheck(transfer, transfer.status !== 'pending', decision, now);
  if (check === null) return null;
  const draft = new TransferDraft(situation);
  draft.set(check);
  if (isInReview(check)) return draft.change();
  // Also fails a transfer that is rejected.
  draft.advance();
  draft.wake();
  return draft.change();
}

/** The same for the receiver's side of an internal transfer, reserved or not; settles or fails both sides. */
export function decideReceiversReview(
  situation: TransferSituation,
  decision: ComplianceDecision,
): TransferChange | null {
  const { now } = situation;
  const draft = new TransferDraft(situation);
  const incoming = draft.receiversSide();
  const check = decideCheck(incoming.after, isFinalIncomingTransferStatus(incoming.after.status), decision, now);
  if (check === null) return null;
  if (isInReview(check)) {
    draft.incoming = moveIncoming(incoming, now, check);
    return draft.change();
  }
  const waits = { waitingFor: 'outgoing-transfer', waitingSince: now, nextCheckAt: null } as const;
  draft.incoming = moveIncoming(incoming, now, { ...check, ...waits });
  draft.wakeReceiversSide();
  if (check.complianceCheckStatus === 'not-fulfilled') draft.fail('compliance.rejected');
  else draft.advance();
  draft.wake();
  return draft.change();
}

function illegal(transfer: OutgoingTransfer, to: string): Error {
  return refusal(
    'common.state.illegal_transition',
    ['outgoingTransfer', 'status', to],
    `An outgoing transfer that is ${transfer.status} cannot become ${to}.`,
  );
}
