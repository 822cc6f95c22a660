import { findOpenRow, restart, TemporalUnanswered } from '../../cli/operations/workflows/restart.ts';
import { listWebhookDeliveries, RESENT_MAX, retryFailedDeliveries } from '../../db/webhooks/deliveries.ts';
import { DomainError } from '../../domain/common/errors.ts';
import type { Remedy } from '../remedies/remedy.ts';

type Resource = 'outgoing-transfer' | 'incoming-transfer';

/** Makes the failed deliveries of a transfer due now. */
export function resendWebhooks(resource: Resource, page: string): Remedy {
  return {
    kind: `resend-webhooks-of-${resource}`,
    label: 'Resend webhooks',
    resource,
    page,
    roles: ['admin'],
    movesMoney: false,
    async preview({ services, params }) {
      const filter = { resourceId: params.id ?? '', status: 'failed' } as const;
      const { totalElements } = await listWebhookDeliveries(services.database.reader, filter, { size: 1, offset: 0 });
      const count = Math.min(totalElements, RESENT_MAX);
      return {
        title: 'Resend its webhooks',
        consequences: [
          `${count} deliveries about it have failed for good. They are tried again now, and then by their schedule; receivers know each by its event’s id.`,
        ],
        ...(totalElements === 0 ? { unavailable: 'No delivery about it has failed.' } : {}),
      };
    },
    async act({ services, params }, _, initiator) {
      const count = await services.database.transaction((tx) => retryFailedDeliveries(tx, params.id ?? '', initiator));
      return count === 0
        ? { state: 'unchanged', text: 'No delivery about it has failed.' }
        : { state: 'unknown', text: `${count} deliveries are on their way. Their answers appear here.` };
    },
  };
}

/** The rules may never let a decision be recorded: then only the command goes on. */
function withoutDecisions(workflow: string): string {
  return `Decisions that can never be recorded, such as those of a person who made the payment, are left behind by the command: fas workflows restart ${workflow} --anyway`;
}

/** Ends the present run of a transfer's workflow; a fresh one continues from the row. */
export function restartWorkflow(resource: Resource, page: string): Remedy {
  return {
    kind: `restart-workflow-of-${resource}`,
    label: 'Restart its workflow',
    resource,
    page,
    roles: ['operator'],
    movesMoney: false,
    async preview({ services, params }) {
      const workflow = `${resource}/${params.id}`;
      return {
        title: `Restart ${workflow}`,
        consequences: [
          'The present run of its workflow ends, and a fresh one continues from what the database says. Nothing is paid twice.',
          'It is not done while decisions of compliance have reached only the run: they are shown, and must be recorded first.',
          withoutDecisions(workflow),
        ],
        ...(await unavailableOf(() => findOpenRow(services.database.reader, workflow))),
      };
    },
    async act({ services, params }, _, initiator) {
      const { database, temporal } = services;
      const workflow = `${resource}/${params.id}`;
      try {
        const asked = { workflow, by: 'restarted in the console', anyway: false };
        const { result, unrecorded } = await restart({ database, temporal, initiator }, asked);
        if (result === 'restarted') {
          return { state: 'unknown', text: 'The run is ended. A fresh one begins once Temporal has received it.' };
        }
        const decisions = unrecorded.map(({ decisionId, result: decided }) => `${decisionId} (${decided})`).join(', ');
        return result === 'not-ended'
          ? {
              state: 'unchanged',
              text: `Its run goes on: it has decisions that are not recorded: ${decisions}. ${withoutDecisions(workflow)}`,
            }
          : { state: 'unchanged', text: 'Another person has just restarted it.' };
      } catch (error) {
        if (!(error instanceof TemporalUnanswered)) throw error;
        return { state: 'unknown', text: `${error.message} Do it again once Temporal answers: it is safe to repeat.` };
      }
    },
  };
}

async function unavailableOf(find: () => Promise<unknown>): Promise<{ readonly unavailable?: string }> {
  try {
    await find();
    return {};
  } catch (error) {
    if (error instanceof DomainError) return { unavailable: 'It has no workflow: nothing is under way for it.' };
    throw error;
  }
}
