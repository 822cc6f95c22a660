import type { Transaction, TransactionOptions } from '../db/client.ts';
import { advanceOutgoingTransfer, findDueSubmission, recordLookUp } from '../db/outgoing-transfers.ts';
import { readSubmission } from '../db/payment-submissions.ts';
import { recordSubmission, recordTakenSubmission } from '../db/submission-records.ts';
import { asId, type OutgoingTransferId } from '../domain/ids.ts';
import type { OutgoingTransferStep, PaymentReport } from '../domain/outgoing-transfers.ts';
import type { WithWait } from '../domain/waits.ts';
import { type ActivityDependencies, providerOf } from './dependencies.ts';
import { whileHeartbeating } from './heartbeats.ts';
import { endWhenGone, TRANSITION_LIMITS, withWait } from './open-work.ts';
import type { PaymentState } from './providers/port.ts';
import { SubmissionsClosed } from './submissions.ts';

/** What the transfer's workflow does next. Ids and codes only: workflow histories hold no personal data. */
export type OutgoingTransferNext = WithWait<OutgoingTransferStep>;

export type OutgoingTransferTransitions = ReturnType<typeof outgoingTransferTransitions>;
export type OutgoingTransferProviderCalls = ReturnType<typeof outgoingTransferProviderCalls>;

export function outgoingTransferTransitions({
  database,
  configuration: rules,
  logger,
}: Pick<ActivityDependencies, 'database' | 'configuration' | 'logger'>) {
  function next(
    id: string,
    step: (tx: Transaction) => Promise<OutgoingTransferStep>,
    limits: TransactionOptions = TRANSITION_LIMITS,
  ): Promise<OutgoingTransferNext> {
    return endWhenGone(logger, id, () =>
      database.transaction(async (tx) => withWait(tx, 'outgoing-transfer', id, await step(tx)), limits),
    );
  }
  return {
    async advanceOutgoingTransfer(id: string): Promise<OutgoingTransferNext> {
      const endsAt = performance.now() + TRANSITION_LIMITS.deadlineMs;
      const attempt = await findDueSubmission(database.reader, idOf(id));
      if (attempt !== null) return { do: 'submit', attempt };
      return next(id, (tx) => advanceOutgoingTransfer(tx, idOf(id), rules), limitsUntil(endsAt));
    },
    async recordOutgoingTransferSubmission(
      id: string,
      attempt: number,
      report: PaymentReport,
    ): Promise<OutgoingTransferNext> {
      const endsAt = performance.now() + TRANSITION_LIMITS.deadlineMs;
      const step = await recordTakenSubmission(database, idOf(id), attempt, report, rules);
      if (step !== null) return withWait(database.reader, 'outgoing-transfer', id, step);
      return next(id, (tx) => recordSubmission(tx, idOf(id), attempt, report, rules), limitsUntil(endsAt));
    },
    async recordOutgoingTransferLookUp(
      id: string,
      count: number,
      report: PaymentReport | null,
    ): Promise<OutgoingTransferNext> {
      return next(id, (tx) => recordLookUp(tx, idOf(id), count, report, rules));
    },
  };
}

export function outgoingTransferProviderCalls(dependencies: ActivityDependencies) {
  const { database } = dependencies;
  return {
    /** Goes out with the same reference each time, so that the provider pays once. */
    async submitOutgoingTransfer(id: string, attempt: number): Promise<PaymentReport> {
      const { provider, payment, areSubmissionsClosed } = await readSubmission(database.reader, idOf(id));
      if (areSubmissionsClosed) throw new SubmissionsClosed();
      return whileHeartbeating(async (signal) => {
        const answer = await providerOf(dependencies, provider).submitPayment({ ...payment, attempt }, { signal });
        return reportOf(answer);
      });
    },
    /** Null when the provider does not know the payment, which proves nothing. */
    async lookUpOutgoingTransfer(id: string, _count: number): Promise<PaymentReport | null> {
      const { provider } = await readSubmission(database.reader, idOf(id));
      return whileHeartbeating(async (signal) => {
        const state = await providerOf(dependencies, provider).lookUpPayment(id, { signal });
        return state.outcome === 'not-found' ? null : reportOf(state);
      });
    },
  };
}

/** What is left of a transition's time after a first part of it. */
function limitsUntil(endsAt: number): TransactionOptions {
  return { ...TRANSITION_LIMITS, deadlineMs: Math.max(1, endsAt - performance.now()) };
}

function idOf(id: string): OutgoingTransferId {
  return asId<OutgoingTransferId>(id);
}

const WORDS = {
  accepted: 'released',
  completed: 'completed',
  failed: 'failed',
  returned: 'returned',
} as const;

/** What an answer or a look-up says of the payment, in the words of the transition table. */
export function reportOf(state: PaymentState): PaymentReport {
  if (state.outcome === 'refused') {
    return { word: 'failed', serviceProviderId: null, serviceProviderReference: null, code: state.error.code };
  }
  return {
    word: WORDS[state.outcome],
    serviceProviderId: state.serviceProviderId,
    serviceProviderReference: state.serviceProviderReference,
    code: 'code' in state ? state.code : null,
  };
}
