// Written from the OpenAPI document by
// UPDATE_DOCUMENTS=1 npm test -- test/openapi/client/client-source.test.ts

import type * as Types from './types.ts';

/** What each webhook carries, by `<module>.<type>`. */
export interface WebhookEvents {
  'incoming-transfers.incoming-transfer-pending': Types.IncomingTransferPendingEvent;
  'incoming-transfers.incoming-transfer-compliance-in-review': Types.IncomingTransferComplianceInReviewEvent;
  'incoming-transfers.incoming-transfer-completed': Types.IncomingTransferCompletedEvent;
  'incoming-transfers.incoming-transfer-failed': Types.IncomingTransferFailedEvent;
  'incoming-transfers.incoming-transfer-on-hold': Types.IncomingTransferOnHoldEvent;
  'outgoing-transfers.outgoing-transfer-created': Types.OutgoingTransferCreatedEvent;
  'outgoing-transfers.outgoing-transfer-compliance-in-review': Types.OutgoingTransferComplianceInReviewEvent;
  'outgoing-transfers.outgoing-transfer-processing': Types.OutgoingTransferProcessingEvent;
  'outgoing-transfers.outgoing-transfer-released': Types.OutgoingTransferReleasedEvent;
  'outgoing-transfers.outgoing-transfer-completed': Types.OutgoingTransferCompletedEvent;
  'outgoing-transfers.outgoing-transfer-cancelled': Types.OutgoingTransferCancelledEvent;
  'outgoing-transfers.outgoing-transfer-failed': Types.OutgoingTransferFailedEvent;
  'outgoing-transfers.outgoing-transfer-returned': Types.OutgoingTransferReturnedEvent;
  'outgoing-transfers.outgoing-transfer-recall-rejected': Types.OutgoingTransferRecallRejectedEvent;
  'accounts.account-activated': Types.AccountActivatedEvent;
  'accounts.account-inactivated': Types.AccountInactivatedEvent;
  'accounts.account-suspended': Types.AccountSuspendedEvent;
  'accounts.account-closed': Types.AccountClosedEvent;
  'accounts.account-declined': Types.AccountDeclinedEvent;
  'accounts.account-information-updated': Types.AccountInformationUpdatedEvent;
  'accounts.connection-creation-instructed': Types.AccountConnectionCreationInstructedEvent;
  'accounts.connection-created': Types.AccountConnectionCreatedEvent;
  'accounts.connection-creation-failed': Types.AccountConnectionCreationFailedEvent;
  'accounts.connection-update-instructed': Types.AccountConnectionUpdateInstructedEvent;
  'accounts.connection-updated': Types.AccountConnectionUpdatedEvent;
  'accounts.connection-update-failed': Types.AccountConnectionUpdateFailedEvent;
  'clients.created': Types.ClientCreatedEvent;
  'clients.connection-created': Types.ClientConnectionCreatedEvent;
  'clients.status-changed': Types.ClientStatusChangedEvent;
  'open-banking-consents.consent-requested': Types.ConsentRequestedEvent;
  'open-banking-consents.consent-approved': Types.ConsentApprovedEvent;
  'open-banking-consents.consent-authorised': Types.ConsentAuthorisedEvent;
  'open-banking-consents.consent-rejected': Types.ConsentRejectedEvent;
  'open-banking-consents.consent-revoked': Types.ConsentRevokedEvent;
  'open-banking-consents.consent-expired': Types.ConsentExpiredEvent;
  'open-banking-consents.consent-consumed': Types.ConsentConsumedEvent;
  'users.user-created': Types.UserCreatedEvent;
  'users.user-updated': Types.UserUpdatedEvent;
  'beneficiaries.beneficiary-created': Types.BeneficiaryCreatedEvent;
  'beneficiaries.beneficiary-updated': Types.BeneficiaryUpdatedEvent;
  'beneficiaries.beneficiary-bank-account-created': Types.BeneficiaryBankAccountCreatedEvent;
  'beneficiaries.beneficiary-bank-account-updated': Types.BeneficiaryBankAccountUpdatedEvent;
  'webhook-subscriptions.ping': Types.PingEvent;
}

export const WEBHOOK_NAMES: readonly (keyof WebhookEvents)[] = [
  'incoming-transfers.incoming-transfer-pending',
  'incoming-transfers.incoming-transfer-compliance-in-review',
  'incoming-transfers.incoming-transfer-completed',
  'incoming-transfers.incoming-transfer-failed',
  'incoming-transfers.incoming-transfer-on-hold',
  'outgoing-transfers.outgoing-transfer-created',
  'outgoing-transfers.outgoing-transfer-compliance-in-review',
  'outgoing-transfers.outgoing-transfer-processing',
  'outgoing-transfers.outgoing-transfer-released',
  'outgoing-transfers.outgoing-transfer-completed',
  'outgoing-transfers.outgoing-transfer-cancelled',
  'outgoing-transfers.outgoing-transfer-failed',
  'outgoing-transfers.outgoing-transfer-returned',
  'outgoing-transfers.outgoing-transfer-recall-rejected',
  'accounts.account-activated',
  'accounts.account-inactivated',
  'accounts.account-suspended',
  'accounts.account-closed',
  'accounts.account-declined',
  'accounts.account-information-updated',
  'accounts.connection-creation-instructed',
  'accounts.connection-created',
  'accounts.connection-creation-failed',
  'accounts.connection-update-instructed',
  'accounts.connection-updated',
  'accounts.connection-update-failed',
  'clients.created',
  'clients.connection-created',
  'clients.status-changed',
  'open-banking-consents.consent-requested',
  'open-banking-consents.consent-approved',
  'open-banking-consents.consent-authorised',
  'open-banking-consents.consent-rejected',
  'open-banking-consents.consent-revoked',
  'open-banking-consents.consent-expired',
  'open-banking-consents.consent-consumed',
  'users.user-created',
  'users.user-updated',
  'beneficiaries.beneficiary-created',
  'beneficiaries.beneficiary-updated',
  'beneficiaries.beneficiary-bank-account-created',
  'beneficiaries.beneficiary-bank-account-updated',
  'webhook-subscriptions.ping',
];
