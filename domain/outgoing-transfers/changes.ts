import { refusal } from '../frame/errors.ts';
import type { IncomingTransferName } from '../incoming-transfers/changes.ts';
import { availableMinor } from '../ledger/ledger.ts';
import { TransferDraft, type TransferSituation } from './drafts.ts';
import {
  lookUpDelayMs,
  type OutgoingTransferStatus,
  type OutgoingTransferStep,
  type RequirementStatus,
  type Requirements,
} from './outgoing-transfers.ts';
import type { PaymentReport } from './reports.ts';
import { isOfOtherMoney, type PaymentClaim } from './reports.ts';
import { type OutgoingTransfer, totalMinor } from './rows.ts';
import type { TransferChange } from './transfer-changes.ts';

// Each decision is made from a situation alone and answers a change as a value, which the one writer applies (db/ledger/transfer-changes.ts).
// Null as the change: nothing is to be written. What may not be done at all is refused by a DomainError.

/** What a look-up found: a provider's report, which always says of how much. */
export type LookedUpPayment = PaymentReport & { readonly claim: PaymentClaim };

export type ReportOutcome = 'applied' | 'no-effect' | 'break';

interface Decided {
  readonly change: TransferChange | null;
  readonly step: OutgoingTransferStep;
}

interface Reported {
  readonly change: TransferChange | null;
  readonly outcome: ReportOutcome;
}

/** Makes a transfer and moves it as far as it goes at once; `change.outgoing.after` is what has become of it. */
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

/** Tries a transfer that waits for money again; its workflow is woken when it no longer does. It may only roll, too. */
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

/** The outcome of a submission, once per attempt; a later or repeated one only says what is next. */
export function decideSubmission(
  situation: TransferSituation,
  attempt: number,
  report: PaymentReport,
  nameOfReturn: IncomingTransferName | null,
): Decided {
  const draft = new TransferDraft(situation);
  const { submissionStatus, submissionAttempt } = situation.transfer;
  if (submissionStatus === 'unresolved' && submissionAttempt === attempt) {
    draft.set({ submissionStatus: 'resolved' });
    draft.apply(report, nameOfReturn);
  }
  const step = draft.advance();
  return { change: draft.change(), step };
}

/** A look-up, once per count; null = the provider knows nothing new. The next one waits longer. */
export function decideLookUp(
  situation: TransferSituation,
  count: number,
  found: LookedUpPayment | null,
  nameOfReturn: IncomingTransferName | null,
): Decided & { readonly outcome: ReportOutcome } {
  const draft = new TransferDraft(situation);
  let outcome: ReportOutcome = 'no-effect';
  if (situation.transfer.status === 'released' && situation.transfer.lookUpCount === count) {
    const lookUpCount = count + 1;
    draft.set({ lookUpCount, nextLookUpAt: new Date(situation.now.getTime() + lookUpDelayMs(lookUpCount)) });
    if (found !== null) outcome = draft.apply(found, nameOfReturn);
  }
  const step = draft.advance();
  return { change: draft.change(), step, outcome };
}

/** A provider's callback about one of its payments, with or without a running workflow, which is woken when something moved. */
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
 * After a restore: what the provider did with a transfer before our row was set back, also with one that is pending again.
 * `break`: it cannot be booked, because the row ended otherwise, is none of the provider's or of other money, or the money
 * is not there.
 */
export function decideAdoption(
  situation: TransferSituation,
  provider: string,
  found: LookedUpPayment,
  nameOfReturn: IncomingTransferName | null,
): Reported {
  const { transfer } = situation;
  if (!isPaymentOf(transfer, provider) || isOfOtherMoney(found.claim, transfer)) return BREAK;
  const draft = new TransferDraft(situation);
  if (transfer.status === 'pending') {
    if (availableMinor(draft.source) < totalMinor(transfer)) return BREAK;
    draft.startProcessing(onceFulfilled(transfer));
  }
  return applied(draft, found, nameOfReturn);
}

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

/** The requirements of a transfer that was submitted all held then. */
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
 * A caller of a plug-in account reports how its payment went. What the row already says, or implies, changes nothing, so that
 * a report can be repeated; what contradicts it is an illegal transition.
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
  // The provider's names of a payment stay what they were reported as first.
  refuseNames(transfer, report, (known) => known !== null);
  const draft = new TransferDraft(situation);
  const outcome = fitsRecorded(transfer, report) ? draft.apply(report, nameOfReturn) : 'break';
  if (outcome === 'break') throw illegal(transfer, report.word);
  if (outcome === 'no-effect') {
    // A report that changes nothing cannot add a name either: dropping it silently would mislead its caller.
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

/** Whether the report can have come before what is recorded: a payment that failed without a release was never released. */
function fitsRecorded(transfer: OutgoingTransfer, { word }: PaymentReport): boolean {
  return !(word === 'released' && transfer.status === 'failed' && transfer.submissionStatus !== 'resolved');
}

/** Cancels a pending transfer; later it is an illegal transition. */
export function decideCancellation(situation: TransferSituation): TransferChange | null {
  if (situation.transfer.status !== 'pending') throw illegal(situation.transfer, 'cancelled');
  const draft = new TransferDraft(situation);
  if (situation.transfer.scope === 'internal') draft.failReceiversSide('transfer.cancelled');
  draft.moveTo('cancelled');
  draft.wake();
  return draft.change();
}

/** Fulfils the authorization of a pending transfer; never by the machine user that made it. */
export function decideAuthorization(situation: TransferSituation, actor: string): TransferChange | null {
  const { transfer } = situation;
  if (transfer.createdBy === actor) {
    throw refusal(
      'common.security.access_denied',
      ['outgoingTransfer', 'requirementConfiguration.authorizationStatus', 'fulfilled'],
      'A machine user never authorizes its own transfer.',
    );
  }
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
  return refusal(
    'common.state.illegal_transition',
    ['outgoingTransfer', 'status', to],
    `An outgoing transfer that is ${transfer.status} cannot become ${to}.`,
  );
}
