import {
  advanceOutgoingTransfer,
  findDueSubmission,
  recordAcceptedSubmission,
  recordLookUp,
  recordSubmission,
} from '../../db/outgoing-transfers/outgoing-transfers.ts';
import { readDueSubmission, readProviderOf } from '../../db/outgoing-transfers/payment-submissions.ts';
import { readDueRecall, recordRecallAnswer } from '../../db/outgoing-transfers/recalls.ts';
import type { Transaction, TransactionOptions } from '../../db/query/database.ts';
import { asId, type OutgoingTransferId } from '../../domain/common/ids.ts';
import type { WithWait } from '../../domain/common/waits.ts';
import type { RecallReport } from '../../domain/outgoing-transfers/outcomes/recalls.ts';
import type { LookedUpPayment, PaymentReport } from '../../domain/outgoing-transfers/reports.ts';
import type { OutgoingTransferStep } from '../../domain/outgoing-transfers/statuses.ts';
import { type ActivityDependencies, providerOf } from '../common/dependencies.ts';
import { whileHeartbeating } from '../common/heartbeats.ts';
import { endWhenGone, TRANSITION_LIMITS, withWait } from '../common/open-work.ts';
import { requireOpenSubmissions } from '../common/submissions.ts';
import type { Rejected } from '../providers/ports/common.ts';
import {
  type PaymentAnswer,
  type PaymentReturn,
  type PaymentState,
  type RecallState,
  recallNumber,
  recallReference,
} from '../providers/ports/payment-port.ts';

/** The workflow's next step. Ids and codes only: histories contain no personal data. */
export type OutgoingTransferNext = WithWait<OutgoingTransferStep>;

export type OutgoingTransferTransitions = ReturnType<typeof outgoingTransferTransitions>;
export type OutgoingTransferProviderCalls = ReturnType<typeof outgoingTransferProviderCalls>;

export function outgoingTransferTransitions({
  database,
  configuration: rules,
  logger,
}: Pick<ActivityDependencies, 'database' | 'configuration' | 'logger'>) {
  const { releasesPerSecond } = rules;
  function next(
    id: string,
    step: (tx: Transaction) => Promise<OutgoingTransferStep>,
    limits: TransactionOptions = TRANSITION_LIMITS,
  ): Promise<OutgoingTransferNext> {
    return endWhenGone(logger, id, () =>
      database.transaction(
        async (tx) => withWait(tx, 'outgoing-transfer', id, await step(tx), releasesPerSecond),
        limits,
      ),
    );
  }
  return {
    async advanceOutgoingTransfer(id: string): Promise<OutgoingTransferNext> {
      const endsAt = performance.now() + TRANSITION_LIMITS.deadlineMs;
      const attempt = await findDueSubmission(database.reader, idOf(id));
      if (attempt !== null) return { do: 'submit', attempt };
      return next(id, (tx) => advanceOutgoingTransfer(tx, idOf(id), rules), limitsUntil(endsAt));
    },
    /** Without a report nothing was submitted, and the row decides the next step. */
    async recordOutgoingTransferSubmission(
      id: string,
      attempt: number,
      report: PaymentReport | null,
    ): Promise<OutgoingTransferNext> {
      if (report === null) return next(id, (tx) => advanceOutgoingTransfer(tx, idOf(id), rules));
      const endsAt = performance.now() + TRANSITION_LIMITS.deadlineMs;
      const step = await recordAcceptedSubmission(database, idOf(id), attempt, report, rules);
      if (step !== null) return withWait(database.reader, 'outgoing-transfer', id, step, releasesPerSecond);
      return next(id, (tx) => recordSubmission(tx, idOf(id), attempt, report, rules), limitsUntil(endsAt));
    },
    async recordOutgoingTransferRecall(id: string, report: RecallReport | null): Promise<OutgoingTransferNext> {
      if (report === null) return next(id, (tx) => advanceOutgoingTransfer(tx, idOf(id), rules));
      return next(id, (tx) => recordRecallAnswer(tx, idOf(id), report, rules));
    },
    async recordOutgoingTransferLookUp(
      id: string,
      count: number,
      report: LookedUpPayment | null,
    ): Promise<OutgoingTransferNext> {
      return next(id, (tx) => recordLookUp(tx, idOf(id), count, report ?? 'not-found', rules));
    },
  };
}

export function outgoingTransferProviderCalls(dependencies: ActivityDependencies) {
  const { database } = dependencies;
  return {
    /**
     * Submits under the same reference each time, so that the provider pays once. Null, with nothing sent, unless the
     * row still expects this attempt: scheduling an activity must not be enough to move money.
     */
    async submitOutgoingTransfer(id: string, attempt: number): Promise<PaymentReport | null> {
      const due = await readDueSubmission(database.reader, idOf(id), attempt);
      if (due === null) return null;
      const { provider, payment, areSubmissionsClosed } = due;
      if (areSubmissionsClosed) await requireOpenSubmissions(database.reader);
      return whileHeartbeating(async (signal) => {
        const answer = await providerOf(dependencies, provider).submitPayment({ ...payment, attempt }, { signal });
        return answer.outcome === 'rejected' ? rejectionOf(answer, attempt) : wordOf(answer);
      });
    },
    /**
     * Requests the recall from the provider, under the same reference each time. Null, with nothing requested, unless the row
     * still expects this recall.
     */
    async recallOutgoingTransfer(id: string, number: number): Promise<RecallReport | null> {
      const provider = await readDueRecall(database.reader, idOf(id), number);
      if (provider === null) return null;
      return whileHeartbeating(async (signal) => {
        const adapter = providerOf(dependencies, provider);
        // The provider takes no recalls. If an earlier request got through, its return is booked like any other.
        if (adapter.recallPayment === undefined) return { number, outcome: 'rejected' };
        const request = { ourReference: id, recallReference: recallReference(id, number) };
        const { outcome } = await adapter.recallPayment(request, { signal });
        return { number, outcome };
      });
    },
    /** Null if the provider does not know the payment, which proves nothing. */
    async lookUpOutgoingTransfer(id: string, _count: number): Promise<LookedUpPayment | null> {
      const provider = await readProviderOf(database.reader, idOf(id));
      return whileHeartbeating(async (signal) => {
        const state = await providerOf(dependencies, provider).lookUpPayment(id, { signal });
        return state.outcome === 'not-found' ? null : reportOf(id, state);
      });
    },
  };
}

/** The time that is left for the second part of a transition. */
function limitsUntil(endsAt: number): TransactionOptions {
  return { ...TRANSITION_LIMITS, deadlineMs: Math.max(1, endsAt - performance.now()) };
}

function idOf(id: string): OutgoingTransferId {
  return asId<OutgoingTransferId>(id);
}

const OUTCOMES = {
  queued: 'queued',
  accepted: 'released',
  completed: 'completed',
  failed: 'failed',
  returned: 'returned',
} as const;

/** A look-up's result as an outcome of the transition table. */
export function reportOf(ourReference: string, state: PaymentState): LookedUpPayment {
  const { currency, recall } = state;
  const returns = state.outcome === 'returned' ? state.returns.map(returnOf) : [];
  const last = returns.at(-1);
  const returned = last === undefined ? null : { reference: last.reference, amountMinor: last.amountMinor };
  const reported = state.outcome === 'rejected' ? rejectionOf(state, state.attempt) : wordOf(state);
  return {
    ...reported,
    code: last?.code ?? reported.code,
    claim: { amountMinor: state.amountMinor.toString(), currency, returned },
    ...(returns.length > 1 ? { returnsBefore: returns.slice(0, -1) } : {}),
    ...(recall == null ? {} : { recall: recallOf(ourReference, recall) }),
  };
}

function returnOf({ returnReference, returnedMinor, code }: PaymentReturn) {
  return { reference: returnReference, amountMinor: returnedMinor.toString(), code };
}

/** Number 0 is a recall that we did not request. */
function recallOf(ourReference: string, { recallReference: reference, outcome }: RecallState): RecallReport {
  return { number: recallNumber(ourReference, reference) ?? 0, outcome };
}

const UNNAMED = { serviceProviderId: null, serviceProviderReference: null };

function rejectionOf({ error }: Rejected, attempt: number): PaymentReport {
  return { outcome: 'failed', ...UNNAMED, rejectedAttempt: attempt, code: error.code };
}

function wordOf(state: Exclude<PaymentAnswer | PaymentState, Rejected>): PaymentReport {
  const { serviceProviderId, serviceProviderReference } = state.outcome === 'queued' ? UNNAMED : state;
  return {
    outcome: OUTCOMES[state.outcome],
    serviceProviderId,
    serviceProviderReference,
    code: 'code' in state ? state.code : null,
    ...(state.outcome === 'queued' ? { queuedAttempt: state.attempt } : {}),
    ...(state.outcome === 'failed' ? { failedAfterRelease: true } : {}),
  };
}
