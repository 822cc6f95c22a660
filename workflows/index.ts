/** Every workflow, exported under the name that Temporal knows (see messages.ts). */
export { accountConnection as 'account-connection' } from './accounts/workflow.ts';
export { housekeeping } from './housekeeping.ts';
export { incomingTransfer as 'incoming-transfer' } from './incoming-transfers/workflow.ts';
export { consent } from './open-banking/workflow.ts';
export { outgoingTransfer as 'outgoing-transfer' } from './outgoing-transfers/workflow.ts';
export { reconciliation } from './reconciliation/workflow.ts';
export { signUp as 'user-invitation' } from './users/workflow.ts';
export { webhookDelivery as 'webhook-delivery' } from './webhooks/workflow.ts';
