/**
 * What other folders may know of workflows: names, ids, task queues and the wake-up signal. The API and the relay
 * import nothing else from workflows/.
 */
export const TASK_QUEUES = {
  workflows: 'workflows',
  providers: 'providers',
  webhooks: 'webhooks',
} as const;

/** "Your row has changed": no payload, so duplicates and late signals are harmless. */
export const CHANGED_SIGNAL = 'changed';

/**
 * A decision about the compliance check of the transfer whose workflow gets it. Whoever may signal is a compliance authority
 * (docs/operations.md).
 */
export const COMPLIANCE_DECISION_SIGNAL = 'compliance-decision';
export type { SignalledDecision as ComplianceDecisionSignal } from '../../domain/compliance/procedures.ts';

export const WORKFLOW_TYPES = [
  'account-connection',
  'outgoing-transfer',
  'incoming-transfer',
  'user-invitation',
  'consent',
  'webhook-delivery',
  'housekeeping',
  'reconciliation',
] as const;

export type WorkflowType = (typeof WORKFLOW_TYPES)[number];

export function workflowId(type: WorkflowType, resourceId: string): string {
  return `${type}/${resourceId}`;
}

/** The id of the row that a workflow represents. */
export function resourceIdOf(workflowId: string): string {
  return workflowId.slice(workflowId.indexOf('/') + 1);
}

/** The description in Temporal's lists, fixed at the start. */
export function staticSummary(type: string, workflowId: string): string {
  const words = type.replaceAll('-', ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)} ${resourceIdOf(workflowId)}`;
}

/** Types whose rows `why` explains by their id. */
const EXPLAINED: ReadonlySet<string> = new Set<WorkflowType>([
  'outgoing-transfer',
  'incoming-transfer',
  'account-connection',
  'consent',
]);

/** What stands below the summary, fixed at the start: where to read more, also while no worker runs. */
export function staticDetails(type: string, workflowId: string): string | undefined {
  return EXPLAINED.has(type)
    ? `What it waits for: \`npm run -s operate -- why ${resourceIdOf(workflowId)}\``
    : undefined;
}

/** Number of long-lived workflows that share webhook deliveries, by subscription. */
export const WEBHOOK_SHARDS = 4;

export const SEARCH_ATTRIBUTES = {
  ClientId: 'KEYWORD',
  AccountId: 'KEYWORD',
  TransferStatus: 'KEYWORD',
  Scheme: 'KEYWORD',
  Currency: 'KEYWORD',
  Provider: 'KEYWORD',
  WaitingFor: 'KEYWORD',
} as const;
