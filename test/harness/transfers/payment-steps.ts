import { MockActivityEnvironment } from '@temporalio/testing';
import type { ActivityDependencies } from '../../../activities/common/dependencies.ts';
import {
  type IncomingTransferNext,
  incomingTransferProviderCalls,
  incomingTransferTransitions,
} from '../../../activities/incoming-transfers/activities.ts';
import {
  type OutgoingTransferNext,
  outgoingTransferProviderCalls,
  outgoingTransferTransitions,
} from '../../../activities/outgoing-transfers/activities.ts';
import { ProviderUnavailable } from '../../../activities/providers/port.ts';
import { DatabaseUnavailable, LockTimeout } from '../../../db/postgres/failures.ts';
import type { Reader } from '../../../db/query/database.ts';
import type { PaymentReport } from '../../../domain/outgoing-transfers/reports.ts';

export interface PaymentSteps {
  /** As the transfer's workflow: acts until it waits or ends, or the bank gives no answer. */
  go(id: string): Promise<OutgoingTransferNext | { readonly do: 'unanswered' }>;
  /** One step outside. */
  act(id: string, next: OutgoingTransferNext): Promise<OutgoingTransferNext>;
  /** Submits the payment, and leaves the answer to be recorded. */
  submit(id: string, attempt: number): Promise<PaymentReport | null>;
  record(id: string, attempt: number, report: PaymentReport | null): Promise<OutgoingTransferNext>;
}

/** The steps of outgoing transfers' workflows, taken one by one, without Temporal. */
export function paymentSteps(dependencies: ActivityDependencies): PaymentSteps {
  const calls = outgoingTransferProviderCalls(dependencies);
  const transitions = outgoingTransferTransitions(dependencies);
  const submit = (id: string, attempt: number) => run(calls.submitOutgoingTransfer, id, attempt);
  const record = (id: string, attempt: number, report: PaymentReport | null) =>
    run(transitions.recordOutgoingTransferSubmission, id, attempt, report);

  async function act(id: string, next: OutgoingTransferNext): Promise<OutgoingTransferNext> {
    switch (next.do) {
      case 'submit':
        return record(id, next.attempt, await submit(id, next.attempt));
      case 'look-up': {
        const report = await run(calls.lookUpOutgoingTransfer, id, next.count);
        return run(transitions.recordOutgoingTransferLookUp, id, next.count, report);
      }
      case 'recall': {
        const report = await run(calls.recallOutgoingTransfer, id, next.number);
        return run(transitions.recordOutgoingTransferRecall, id, report);
      }
      default:
        return next;
    }
  }

  return {
    act,
    submit,
    record,
    go: async (id) => {
      let next = await run(transitions.advanceOutgoingTransfer, id);
      try {
        while (next.do !== 'wait' && next.do !== 'end') next = await act(id, next);
      } catch (error) {
        if (error instanceof ProviderUnavailable) return { do: 'unanswered' };
        throw error;
      }
      return next;
    },
  };
}

function run<Given extends unknown[], Result>(
  activity: (...given: Given) => Promise<Result>,
  ...given: Given
): Promise<Result> {
  return inTime(() => new MockActivityEnvironment().run<Given, Result, typeof activity>(activity, ...given));
}

/** As Temporal does, tries a step again that missed its two seconds, as on a busy machine. It has done nothing, and may be repeated. */
export async function inTime<Result>(step: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable || error instanceof LockTimeout)) throw error;
    }
  }
}

/** As the workflow of money in: acts until it waits or ends. Reviews are decided by the test. */
export function incomingSteps(dependencies: ActivityDependencies) {
  const { advanceIncomingTransfer, recordIncomingTransferSentBack } = incomingTransferTransitions(dependencies);
  const { sendBackIncomingTransfer } = incomingTransferProviderCalls(dependencies);
  async function go(id: string): Promise<IncomingTransferNext> {
    const next = await run(advanceIncomingTransfer, id);
    if (next.do !== 'send-back') return next;
    await run(sendBackIncomingTransfer, id);
    return run(recordIncomingTransferSentBack, id);
  }

  return {
    go,
    /** Runs those that have been woken, once each, as the relay and their workflows do. */
    goWoken: async (reader: Reader) => {
      const woken = await reader.statement<{ id: string }>(
        `DELETE FROM workflow_wakeups WHERE workflow_type = 'incoming-transfer' RETURNING substr(workflow_id, 19) AS id`,
        [],
      );
      for (const { id } of woken) await go(id);
    },
  };
}
