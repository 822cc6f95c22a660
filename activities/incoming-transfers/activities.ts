import { advanceIncomingTransfer, recordReturn } from '../../db/incoming-transfers/incoming-transfers.ts';
import { readReturn } from '../../db/outgoing-transfers/payment-submissions.ts';
import type { Transaction } from '../../db/query/database.ts';
import { asId, type IncomingTransferId } from '../../domain/common/ids.ts';
import type { WithWait } from '../../domain/common/waits.ts';
import type { IncomingTransferStep } from '../../domain/incoming-transfers/incoming-transfers.ts';
import { type ActivityDependencies, providerOf } from '../common/dependencies.ts';
import { whileHeartbeating } from '../common/heartbeats.ts';
import { endWhenGone, TRANSITION_LIMITS, withWait } from '../common/open-work.ts';
import { requireOpenSubmissions } from '../common/submissions.ts';

export type IncomingTransferNext = WithWait<IncomingTransferStep>;

export type IncomingTransferTransitions = ReturnType<typeof incomingTransferTransitions>;
export type IncomingTransferProviderCalls = ReturnType<typeof incomingTransferProviderCalls>;

export function incomingTransferTransitions({ database, configuration: rules, logger }: ActivityDependencies) {
  function next(id: string, step: (tx: Transaction) => Promise<IncomingTransferStep>): Promise<IncomingTransferNext> {
    return endWhenGone(logger, id, () =>
      database.transaction(async (tx) => withWait(tx, 'incoming-transfer', id, await step(tx)), TRANSITION_LIMITS),
    );
  }
  return {
    async advanceIncomingTransfer(id: string): Promise<IncomingTransferNext> {
      return next(id, (tx) => advanceIncomingTransfer(tx, asId<IncomingTransferId>(id), rules));
    },
    async recordIncomingTransferSentBack(id: string): Promise<IncomingTransferNext> {
      return next(id, (tx) => recordReturn(tx, asId<IncomingTransferId>(id)));
    },
  };
}

/** "Closed account number": the ISO 20022 reason for returning a payment that cannot be booked. */
const RETURN_CODE = 'AC04';

export function incomingTransferProviderCalls(dependencies: ActivityDependencies) {
  const { database } = dependencies;
  return {
    /**
     * True once the provider has taken the money back; false if it will report that. A rejection keeps throwing until an operator resolves it.
     */
    async sendBackIncomingTransfer(id: string): Promise<boolean> {
      await requireOpenSubmissions(database.reader);
      const { provider, due, request } = await readReturn(database.reader, asId<IncomingTransferId>(id));
      if (!due) return true;
      return whileHeartbeating(async (signal) => {
        const answer = await providerOf(dependencies, provider).returnPayment(
          { ...request, code: RETURN_CODE },
          { signal },
        );
        if (answer.outcome === 'rejected') throw new ReturnRejected(answer.error.code);
        return answer.outcome === 'returned';
      });
    },
  };
}

/** The provider rejects the return: the money stays in suspense. */
export class ReturnRejected extends Error {
  constructor(code: string) {
    super(`the provider rejected the return: ${code}`);
    // The failure type in workflow histories.
    this.name = 'SendBackRejected';
  }
}
