import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { ComplianceReviews, ComplianceTransitions } from '../../activities/compliance/activities.ts';
import { REVIEW, TRANSITION } from '../frame/policies.ts';
import type { Outside } from '../frame/waits.ts';

const { reviewTransfer } = proxyActivities<ComplianceReviews>({
  ...REVIEW,
  summary: 'Judge the transfer by the rules of the built-in review',
});
const { recordComplianceJudgement } = proxyLocalActivities<ComplianceTransitions>({
  ...TRANSITION,
  summary: 'Record what the rules say',
});

/** Lets the service's own rules judge a transfer. Until they can, it stays in review, where a person may still decide. */
export function reviewByRules<Next>(
  type: 'incoming-transfer' | 'outgoing-transfer',
  id: string,
  advance: (id: string) => Promise<Next>,
  { ask }: Outside<Next>,
) {
  return ask(
    () => reviewTransfer(type, id),
    async (judgement) => {
      await recordComplianceJudgement(type, id, judgement);
      return advance(id);
    },
  );
}
