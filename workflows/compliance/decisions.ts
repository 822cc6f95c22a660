import { proxyLocalActivities } from '@temporalio/workflow';
import type { ComplianceTransitions } from '../../activities/compliance/activities.ts';
import { parseSignalledDecision } from '../../domain/compliance/procedures.ts';
import { COMPLIANCE_DECISION_SIGNAL, type ComplianceDecisionSignal } from '../common/messages.ts';
import { TRANSITION } from '../common/policies.ts';
import type { Inbox } from '../common/waits.ts';

const { recordComplianceDecision } = proxyLocalActivities<ComplianceTransitions>({
  ...TRANSITION,
  summary: 'Record a decision of the compliance check',
});

/** The compliance decisions signalled to a transfer's workflow. `undecided`: those that the previous run left. */
export function complianceDecisions(
  type: 'incoming-transfer' | 'outgoing-transfer',
  undecided: readonly ComplianceDecisionSignal[],
): Inbox<ComplianceDecisionSignal> {
  return {
    signal: COMPLIANCE_DECISION_SIGNAL,
    parse: parseSignalledDecision,
    handle: (id, decision) => recordComplianceDecision(type, id, decision),
    unhandled: [...undecided],
  };
}
