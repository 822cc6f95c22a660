import { recordNotFound } from '../common/errors.ts';
import type { EventEntry } from '../common/events.ts';
import { dateInUtc } from '../common/time/dates.ts';
import { requireTransition } from '../common/transitions.ts';
import { isInReview, presentComplianceCheck } from '../compliance/checks.ts';
import { type IncomingTransferName, NO_WAIT, transitionIncoming } from '../incoming-transfers/changes.ts';
import { decideArrival, type IncomingTransfer } from '../incoming-transfers/incoming-transfers.ts';
import type { AccountGuard, AccountSumChange, RowChange } from '../ledger/changes.ts';
import { availableMinor, isUsable, type LockedAccount, type Posting } from '../ledger/ledger.ts';
import type { Draft } from './outcomes/draft.ts';
import { settleRecall, stepOfRecall } from './outcomes/recalls.ts';
import { isKnownRejection, scheduleRetry } from './outcomes/rejections.ts';
import { requireNotAtBank } from './outcomes/restored.ts';
import { bookReturn } from './outcomes/returns.ts';
import { queueSubmission, stepOfSubmission } from './outcomes/submissions.ts';
import { afterChange, decidePendingTransfer, lookUpDelayMs, priorityOf } from './outgoing-transfers.ts';
import { releasePostings, reversalPostings } from './postings.ts';
import { contradictsAmount, type PaymentReport, reasonCodeOf, statusesAfterReport } from './reports.ts';
import { type OutgoingTransfer, outgoingTransferEventData, totalMinor } from './rows.ts';
import {
  isFinalOutgoingTransferStatus,
  isRecallOpen,
  OUTGOING_TRANSFER_TRANSITIONS,
  type OutgoingTransferStatus,
  type OutgoingTransferStep,
  type OutgoingTransferWait,
  outgoingTransferEventType,
  type Requirements,
} from './statuses.ts';
import type { TransferChange, TransferSituation } from './transfer-changes.ts';

/** Builds a decision on one transfer step by step, without side effects. */
export class TransferDraft implements Draft {
  readonly situation: TransferSituation;
  transfer: OutgoingTransfer;
  incoming: RowChange<IncomingTransfer> | null;
  readonly events: EventEntry[] = [];
  readonly postings: Posting[] = [];
  readonly moves: AccountSumChange[] = [];
  readonly wakes: TransferChange['wakes'][number][] = [];
  #isWaitDecided = false;

  constructor(situation: TransferSituation) {
    this.situation = situation;
    this.transfer = situation.transfer;
    this.incoming = situation.incoming;
    if (situation.before === null) this.#open();
  }

  get source(): LockedAccount {
    const { accountId } = this.transfer;
    const account = this.situation.accounts.get(accountId);
    if (account === undefined) throw recordNotFound('account', 'id', accountId);
    return account;
  }

  set(fields: Partial<OutgoingTransfer>): void {
    this.transfer = { ...this.transfer, ...fields };
  }

  moveTo(status: OutgoingTransferStatus, fields: Partial<OutgoingTransfer> = {}): void {
    requireTransition('outgoing transfer', OUTGOING_TRANSFER_TRANSITIONS, this.transfer.status, status);
    this.set({ ...fields, status, waitingFor: null, waitingSince: null, waitingUntil: null });
    this.#isWaitDecided = false;
    this.addEvent(outgoingTransferEventType(status));
  }

  wake(): void {
    this.wakes.push(`outgoing-transfer/${this.transfer.id}`);
  }

  wakeReceiversSide(): void {
    this.wakes.push(`incoming-transfer/${this.receiversSide().after.id}`);
  }

  /** Advances the transfer as far as possible and returns the next outside step. */
  advance(): OutgoingTransferStep {
    while (this.transfer.status === 'pending') {
      const { transfer, source } = this;
      const { now, rules, accounts, mayBeAtBank } = this.situation;
      const destination = transfer.destinationAccountId === null ? null : accounts.get(transfer.destinationAccountId);
      const decision = decidePendingTransfer(
        { ...transfer, totalMinor: totalMinor(transfer) },
        {
          now,
          schemes: rules.schemes,
          rollLimit: rules.rollLimit,
          mayBeAtBank,
          accountsActive: isUsable(source) && (destination == null || isUsable(destination)),
          destinationGone: destination?.status === 'closed' || destination?.status === 'declined',
          availableMinor: availableMinor(source),
        },
      );
      switch (decision.decision) {
        case 'roll':
        case 'reschedule':
          this.set({
            transferDate: decision.transferDate,
            cutOffAt: decision.cutOffAt,
            rollCount: transfer.rollCount + (decision.decision === 'roll' ? 1 : 0),
            // The result for the previous date does not apply to the new one.
            transferDateStatus: 'not-checked',
          });
          break;
        case 'fail':
          this.set(decision.requirements);
          this.fail(decision.failureCode);
          break;
        case 'wait':
          this.set(decision.requirements);
          if (decision.for === 'balance') this.moves.push({ accountId: transfer.accountId, waits: true });
          return this.wait(decision.for, decision.until);
        case 'process':
          this.startProcessing(decision.requirements);
      }
    }
    if (this.transfer.status === 'processing' && this.transfer.scope === 'internal') this.#deliver();
    return this.#stepOfOpenPayment();
  }

  /** Reserves the money. */
  startProcessing(requirements: Requirements): void {
    const { accountId } = this.transfer;
    const reservedMinor = totalMinor(this.transfer);
    this.moves.push({ accountId, reservedMinor });
    this.moveTo('processing', { ...requirements, reservedMinor });
  }

  /** Settles a reserved internal transfer, unless its receiver's side is in review, or its receiver may not be credited. */
  #deliver(): void {
    const { now, accounts } = this.situation;
    const incoming = this.receiversSide();
    const { accountId, amountMinor, receivableMinor } = incoming.after;
    const receiver = accountId === null ? undefined : accounts.get(accountId);
    if (receiver === undefined) throw new Error(`incoming transfer ${incoming.after.id} was read without its account`);
    const arrival = decideArrival(receiver);
    if (isInReview(incoming.after) || arrival.status === 'on-hold') {
      this.#setReceivable(amountMinor);
      return;
    }
    if (arrival.status === 'failed') {
      this.fail(arrival.failureCode);
      return;
    }
    if (receivableMinor > 0n) this.#setReceivable(0n);
    this.#release({});
    const completed = { status: 'completed', transferDate: dateInUtc(now) } as const;
    this.incoming = transitionIncoming(this.receiversSide(), now, { ...completed, ...NO_WAIT });
    this.moveTo('completed');
  }

  /** Sets the amount that the receiver's account expects from this transfer. */
  #setReceivable(receivableMinor: bigint): void {
    const incoming = this.receiversSide();
    const { accountId, receivableMinor: before } = incoming.after;
    if (accountId === null || receivableMinor === before) return;
    this.moves.push({ accountId, receivableMinor: receivableMinor - before });
    this.incoming = transitionIncoming(incoming, this.situation.now, { receivableMinor });
  }

  /** Fails a transfer without its bank's word. */
  fail(failureCode: string, failureMessage: string | null = null): void {
    requireNotAtBank(this.situation, 'failed');
    this.#failed(failureCode, failureMessage);
  }

  /** Drops its reservation or, after release, reverses both entries. */
  #failed(failureCode: string, failureMessage: string | null = null): void {
    const { transfer } = this;
    if (transfer.status === 'processing') {
      this.moves.push({ accountId: transfer.accountId, reservedMinor: -transfer.reservedMinor });
    }
    if (transfer.status === 'released') this.postings.push(...reversalPostings(transfer, this.situation.now));
    if (transfer.scope === 'internal') this.failReceiversSide(failureCode);
    this.moveTo('failed', { reservedMinor: 0n, failureCode, failureMessage });
  }

  failReceiversSide(failureCode: string): void {
    if (isInReview(this.receiversSide().after)) this.wakeReceiversSide();
    this.#setReceivable(0n);
    const failed = { status: 'failed', failureCode } as const;
    this.incoming = transitionIncoming(this.receiversSide(), this.situation.now, { ...failed, ...NO_WAIT });
  }

  /**
   * Applies a report from the provider or the plug-in caller. `break`: it contradicts a settled state, or has another amount
   * or currency; nothing changes. `nameOfReturn` identifies the returned money.
   */
  apply(report: PaymentReport, nameOfReturn: IncomingTransferName | null): 'applied' | 'no-effect' | 'break' {
    if (report.claim !== undefined && contradictsAmount(report.claim, this.transfer)) return 'break';
    const { rejectedAttempt } = report;
    if (rejectedAttempt !== undefined) {
      // The rejection of an earlier attempt says nothing about later ones.
      if (isKnownRejection(this.transfer, rejectedAttempt)) return 'no-effect';
      if (scheduleRetry(this, rejectedAttempt, report.code)) return 'applied';
    }
    const statuses = statusesAfterReport(this.transfer.status, report);
    if (statuses === null) return 'break';
    if (report.outcome === 'queued') return queueSubmission(this, report.queuedAttempt ?? 0);
    const { transfer } = this;
    const provider = {
      submissionStatus: 'resolved',
      serviceProviderId: transfer.serviceProviderId ?? report.serviceProviderId,
      serviceProviderReference: transfer.serviceProviderReference ?? report.serviceProviderReference,
    } as const;
    const failureCode = reasonCodeOf(report, transfer.method);
    for (const status of statuses) {
      if (status === 'released') this.#release(provider);
      else if (status === 'failed') this.#failed(failureCode, report.message);
      else this.moveTo(status, provider);
    }
    if (report.outcome !== 'returned') return statuses.length > 0 ? 'applied' : 'no-effect';
    return bookReturn(this, report, nameOfReturn);
  }

  /** The resulting change; null if nothing changed. `guards`: the conditions on accounts that are not locked yet. */
  change(guards: readonly AccountGuard[] = []): TransferChange | null {
    settleRecall(this);
    const { before, transfer, now } = { ...this.situation, transfer: this.transfer };
    const isChanged = before === null || transfer !== before || this.events.length > 0;
    const isIncomingChanged = this.incoming !== null && this.incoming.after !== this.incoming.before;
    if (!isChanged && !isIncomingChanged) return null;
    const after = afterChange(before, transfer, this.#isWaitDecided, now);
    return {
      now,
      outgoing: isChanged ? { before, after, events: this.events } : null,
      incoming: isIncomingChanged ? this.incoming : null,
      accounts: this.moves,
      postings: this.postings,
      guards,
      wakes: this.wakes,
      priority: priorityOf(transfer, now),
    };
  }

  /** A new transfer's events; the workflow of the receiver's side exists while that is in review. */
  #open(): void {
    this.addEvent('outgoing-transfer-created');
    const { transfer, incoming } = this;
    if (incoming !== null && isInReview(incoming.after)) this.wakeReceiversSide();
    if (!isInReview(transfer)) return;
    const data = { ...outgoingTransferEventData(transfer), complianceCheck: presentComplianceCheck(transfer) };
    this.events.push({ type: 'outgoing-transfer-compliance-in-review', data });
  }

  addEvent(type: string): void {
    this.events.push({ type, data: outgoingTransferEventData(this.transfer) });
  }

  wait(waitingFor: OutgoingTransferWait, until: Date | null): OutgoingTransferStep {
    const { now } = this.situation;
    const waitingSince = this.transfer.waitingFor === waitingFor ? (this.transfer.waitingSince ?? now) : now;
    this.set({ waitingFor, waitingSince, waitingUntil: until });
    this.#isWaitDecided = true;
    return { do: 'wait', for: waitingFor, until: until?.toISOString() ?? null };
  }

  /** The next step of an open payment: submit it, look it up, or wait. */
  #stepOfOpenPayment(): OutgoingTransferStep {
    settleRecall(this);
    const { transfer, situation } = this;
    if (isRecallOpen(transfer)) return stepOfRecall(this);
    if (isFinalOutgoingTransferStatus(transfer.status)) return { do: 'end' };
    if (transfer.scope === 'internal') {
      return this.wait(isInReview(this.receiversSide().after) ? 'compliance' : 'account', null);
    }
    if (transfer.method === 'plug-in') return this.wait('caller', null);
    const isQueued = transfer.status === 'processing' && transfer.submissionStatus === 'queued';
    if (transfer.status === 'processing' && !isQueued) return stepOfSubmission(this);
    const nextLookUpAt =
      transfer.nextLookUpAt ?? new Date(situation.now.getTime() + lookUpDelayMs(transfer.lookUpCount));
    this.set({ nextLookUpAt });
    if (nextLookUpAt.getTime() <= situation.now.getTime()) return { do: 'look-up', count: transfer.lookUpCount };
    return this.wait(isQueued ? 'provider-decision' : 'provider', nextLookUpAt);
  }

  #release(fields: Partial<OutgoingTransfer>): void {
    const receiver = this.transfer.scope === 'internal' ? this.receiversSide().after : null;
    this.postings.push(...releasePostings(this.transfer, receiver, this.situation.now));
    this.moveTo('released', { ...fields, reservedMinor: 0n });
  }

  explain(code: string | null, message: string | null = null): void {
    this.set({ failureCode: code, failureMessage: message });
  }

  receiversSide(): RowChange<IncomingTransfer> {
    const { id, incomingTransferId } = this.transfer;
    if (this.incoming === null || this.incoming.after.id !== incomingTransferId) {
      throw new Error(`outgoing transfer ${id} was read without its incoming transfer`);
    }
    return this.incoming;
  }
}
