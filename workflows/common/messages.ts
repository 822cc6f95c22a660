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

/** Temporal's interceptors continue the trace of this header. */
export const TRACE_HEADER = '_tracer-data';

/**
 * A decision about the compliance check of the transfer whose workflow receives it. Permission to signal is compliance authority
 * (docs/runbook/transfers.md).
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

/** Types whose rows the command `why` explains by id, and the folder of their pages in the console. */
const EXPLAINED: ReadonlyMap<string, string> = new Map<WorkflowType, string>([
  ['outgoing-transfer', 'outgoing-transfers'],
  ['incoming-transfer', 'incoming-transfers'],
  ['account-connection', 'accounts'],
  ['consent', 'consents'],
]);

/** The text below the summary, fixed at the start: where to read more, even while no worker runs. */
export function staticDetails(type: string, workflowId: string, consoleUrl: string | null): string | undefined {
  const folder = EXPLAINED.get(type);
  if (folder === undefined) return undefined;
  const id = resourceIdOf(workflowId);
  const page = consoleUrl === null ? '' : `${consoleUrl}/${folder}/${id} or `;
  return `To see what it waits for: ${page}\`npm run -s operate -- why ${id}\``;
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
