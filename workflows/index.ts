/** Everything durable: each workflow by the name under which Temporal knows it (messages.ts lists the names). */
export { accountConnection as 'account-connection' } from './accounts/workflow.ts';
export { housekeeping } from './housekeeping.ts';
export { incomingTransfer as 'incoming-transfer' } from './incoming-transfers/workflow.ts';
export { outgoingTransfer as 'outgoing-transfer' } from './outgoing-transfers/workflow.ts';
export { signUp as 'user-invitation' } from './users/workflow.ts';
export { webhookDelivery as 'webhook-delivery' } from './webhooks/workflow.ts';
