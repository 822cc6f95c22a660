import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { ComplianceReviews, ComplianceTransitions } from '../../activities/compliance/activities.ts';
import { REVIEW, TRANSITION } from '../common/policies.ts';
import type { ExternalCalls } from '../common/waits.ts';

const { reviewTransfer } = proxyActivities<ComplianceReviews>({
  ...REVIEW,
  summary: 'Screen the transfer by the built-in rules',
});
const { recordComplianceJudgement } = proxyLocalActivities<ComplianceTransitions>({
  ...TRANSITION,
  summary: 'Record the screening result',
});

/** Screens a transfer by the built-in rules. Until that succeeds it stays in review, where a person may still decide. */
export function screenByRules<Next>(
  type: 'incoming-transfer' | 'outgoing-transfer',
  id: string,
  advance: (id: string) => Promise<Next>,
  { ask }: ExternalCalls<Next>,
) {
  return ask(
    () => reviewTransfer(type, id),
    async (result) => {
      await recordComplianceJudgement(type, id, result);
      return advance(id);
    },
  );
}
