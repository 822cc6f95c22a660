/**
 * What the outside may know of workflows: their names, ids, the one signal that wakes them, and task queues. The API
 * and the relay import this file and nothing else of workflows/.
 */
export const TASK_QUEUES = {
  workflows: 'workflows',
  providers: 'providers',
  webhooks: 'webhooks',
} as const;

/** "Look at your row again": no payload, so that a duplicate or a late one is harmless. */
export const CHANGED_SIGNAL = 'changed';

export const WORKFLOW_TYPES = [
  'account-connection',
  'outgoing-transfer',
  'incoming-transfer',
  'user-invitation',
  'webhook-delivery',
  'housekeeping',
] as const;

export type WorkflowType = (typeof WORKFLOW_TYPES)[number];

export function workflowId(type: WorkflowType, resourceId: string): string {
  return `${type}/${resourceId}`;
}

/** The id of the row that a workflow stands for. */
export function resourceIdOf(workflowId: string): string {
  return workflowId.slice(workflowId.indexOf('/') + 1);
}

/** What Temporal's lists show of a workflow, fixed at its start. */
export function staticSummary(type: string, workflowId: string): string {
  const words = type.replaceAll('-', ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)} ${resourceIdOf(workflowId)}`;
}

/** Webhook deliveries are spread over this many long-lived workflows, by subscription. */
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
