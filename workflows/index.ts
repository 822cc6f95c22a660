/** Everything durable: each workflow by the name under which Temporal knows it (messages.ts lists the names). */
export { accountConnection as 'account-connection' } from './accounts.ts';
export { housekeeping } from './housekeeping.ts';
export { incomingTransfer as 'incoming-transfer' } from './incoming-transfers.ts';
export { outgoingTransfer as 'outgoing-transfer' } from './outgoing-transfers.ts';
export { userInvitation as 'user-invitation' } from './user-invitations.ts';
export { webhookDelivery as 'webhook-delivery' } from './webhook-deliveries.ts';
