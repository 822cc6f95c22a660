// Written from the OpenAPI document by
// UPDATE_DOCUMENTS=1 npm test -- test/openapi/client/client-source.test.ts

import type * as Types from './types.ts';

/** What each route takes and answers. */
export interface Routes {
  'POST /clients': { body: Types.CreateClientRequest; answer: Types.CreateClientResponse };
  'GET /clients': { body: undefined; answer: Types.ClientListResponse };
  'GET /clients/{clientId}': { body: undefined; answer: Types.ClientResponse };
  'PATCH /clients/{clientId}': { body: Types.UpdateClientRequest; answer: Types.ClientResponse };
  'POST /clients/{clientId}/relations': { body: Types.CreateClientRelationsRequest; answer: Types.CreateClientRelationsResponse };
  'GET /clients/{clientId}/relations': { body: undefined; answer: Types.ClientRelationListResponse };
  'PATCH /clients/{clientId}/relations/{clientRelationId}': { body: Types.UpdateClientRelationRequest; answer: Types.ClientRelationResponse };
  'DELETE /clients/{clientId}/relations/{clientRelationId}': { body: undefined; answer: Types.DeleteClientRelationResponse };
  'GET /clients/{clientId}/relations/{clientRelationId}': { body: undefined; answer: Types.ClientRelationResponse };
  'POST /users': { body: Types.CreateUserRequest; answer: Types.CreateUserResponse };
  'GET /users': { body: undefined; answer: Types.UserListResponse };
  'PATCH /users/{userId}': { body: Types.UpdateUserRequest; answer: Types.UserResponse };
  'GET /users/{userId}': { body: undefined; answer: Types.UserResponse };
  'GET /users/{userEmail}/invitations': { body: undefined; answer: Types.UserInvitationListResponse };
  'GET /users/{userEmail}/invitations/{usersInvitationId}': { body: undefined; answer: Types.UserInvitationResponse };
  'PATCH /users/{userEmail}/invitations/{usersInvitationId}': { body: Types.UpdateUserInvitationRequest; answer: Types.UserInvitationResponse };
  'POST /users/{userId}/client-relations': { body: Types.CreateUserClientRelationsRequest; answer: Types.CreateUserClientRelationsResponse };
  'GET /users/{userId}/client-relations': { body: undefined; answer: Types.UserClientRelationListResponse };
  'GET /users/{userId}/client-relations/{id}': { body: undefined; answer: Types.UserClientRelationResponse };
  'PATCH /users/{userId}/client-relations/{id}': { body: Types.UpdateUserClientRelationRequest; answer: Types.UserClientRelationResponse };
  'POST /user-authentications': { body: Types.AuthenticateUserRequest; answer: Types.AuthenticateUserResponse };
  'POST /users/{userId}/password-reset': { body: Types.ResetUserPasswordRequest; answer: Types.PasswordResetResponse };
  'POST /beneficiaries': { body: Types.CreateBeneficiaryRequest; answer: Types.CreateBeneficiaryResponse };
  'GET /beneficiaries': { body: undefined; answer: Types.BeneficiaryListResponse };
  'GET /beneficiaries/{beneficiaryId}': { body: undefined; answer: Types.BeneficiaryResponse };
  'PATCH /beneficiaries/{beneficiaryId}': { body: Types.UpdateBeneficiaryRequest; answer: Types.BeneficiaryResponse };
  'POST /beneficiaries/{beneficiaryId}/bank-accounts': { body: Types.CreateBeneficiaryBankAccountRequest; answer: Types.BeneficiaryBankAccountResponse };
  'GET /beneficiaries/{beneficiaryId}/bank-accounts': { body: undefined; answer: Types.BeneficiaryBankAccountListResponse };
  'PATCH /beneficiaries/{beneficiaryId}/bank-accounts/{id}': { body: Types.UpdateBeneficiaryBankAccountRequest; answer: Types.BeneficiaryBankAccountResponse };
  'GET /beneficiaries/{beneficiaryId}/bank-accounts/{id}': { body: undefined; answer: Types.BeneficiaryBankAccountResponse };
  'GET /beneficiary-bank-account-requirements': { body: undefined; answer: Types.BeneficiaryBankAccountRequirementResponse };
  'POST /beneficiary-verifications': { body: Types.CreateBeneficiaryVerificationRequest; answer: Types.BeneficiaryVerificationResponse };
  'POST /accounts': { body: Types.CreateAccountRequest; answer: Types.CreateAccountResponse };
  'GET /accounts': { body: undefined; answer: Types.AccountListResponse };
  'PATCH /accounts/{accountId}': { body: Types.UpdateAccountRequest; answer: Types.AccountResponse };
  'GET /accounts/{accountId}': { body: undefined; answer: Types.GetAccountResponse };
  'GET /accounts/{id}/deposit-information': { body: undefined; answer: Types.GetDepositInformationResponse };
  'POST /accounts/{id}/balance-adjustments': { body: Types.CreateBalanceAdjustmentRequest; answer: Types.BalanceAdjustmentResponse };
  'GET /accounts/{accountId}/account-statements': { body: undefined; answer: Types.AccountStatementListResponse };
  'GET /accounts/{accountId}/account-statements/export': { body: undefined; answer: string };
  'GET /accounts/{accountId}/balances': { body: undefined; answer: Types.BalanceResponse };
  'POST /provisioned-account-credits': { body: Types.CreateProvisionedAccountCreditRequest; answer: Types.ProvisionedAccountCreditResponse };
  'GET /provisioned-account-credits': { body: undefined; answer: Types.ProvisionedAccountCreditListResponse };
  'GET /provisioned-account-credits/{id}': { body: undefined; answer: Types.ProvisionedAccountCreditResponse };
  'GET /incoming-transfers/{id}': { body: undefined; answer: Types.IncomingTransferResponse };
  'GET /incoming-transfers': { body: undefined; answer: Types.IncomingTransferListResponse };
  'POST /incoming-transfers/{id}/assign': { body: Types.AssignIncomingTransferRequest; answer: Types.IncomingTransferResponse };
  'POST /incoming-transfers/{id}/return': { body: Types.ReturnIncomingTransferRequest; answer: Types.IncomingTransferResponse };
  'GET /accounts/{accountId}/outgoing-transfer-schemes/{destinationCountry}': { body: undefined; answer: Types.ListOutgoingTransferSchemesResponse };
  'GET /accounts/{accountId}/transfer-reasons/{country}': { body: undefined; answer: Types.ListAccountTransferReasonsResponse };
  'GET /transfer-reasons/{country}': { body: undefined; answer: Types.ListTransferReasonsResponse };
  'GET /accounts/{accountId}/outgoing-transfer-date-metadata/{transferScope}/{transferScheme}': { body: undefined; answer: Types.GetOutgoingTransferDateMetadataResponse };
  'POST /outgoing-transfers': { body: Types.CreateOutgoingTransferRequest; answer: Types.CreatedOutgoingTransferResponse | Types.PlannedOutgoingTransferResponse };
  'GET /outgoing-transfers': { body: undefined; answer: Types.OutgoingTransferListResponse };
  'POST /outgoing-transfers/batch': { body: Types.CreateOutgoingTransferBatchRequest; answer: Types.CreateOutgoingTransferBatchResponse };
  'PATCH /outgoing-transfers/{id}': { body: Types.UpdateOutgoingTransferRequest; answer: Types.OutgoingTransferResponse };
  'GET /outgoing-transfers/{id}': { body: undefined; answer: Types.OutgoingTransferResponse };
  'POST /outgoing-transfers/{id}/recall': { body: Types.RecallOutgoingTransferRequest; answer: Types.OutgoingTransferResponse };
  'GET /incoming-transfers/{id}/compliance-check': { body: undefined; answer: Types.ComplianceCheckResponse };
  'PATCH /incoming-transfers/{id}/compliance-check': { body: Types.UpdateIncomingTransferComplianceCheckRequest; answer: Types.ComplianceCheckResponse };
  'GET /outgoing-transfers/{id}/compliance-check': { body: undefined; answer: Types.ComplianceCheckResponse };
  'PATCH /outgoing-transfers/{id}/compliance-check': { body: Types.UpdateOutgoingTransferComplianceCheckRequest; answer: Types.ComplianceCheckResponse };
  'GET /reconciliations': { body: undefined; answer: Types.ReconciliationListResponse };
  'GET /reconciliations/{id}': { body: undefined; answer: Types.ReconciliationResponse };
  'GET /reconciliation-breaks': { body: undefined; answer: Types.ReconciliationBreakListResponse };
  'GET /reconciliation-breaks/{id}': { body: undefined; answer: Types.ReconciliationBreakResponse };
  'PATCH /reconciliation-breaks/{id}': { body: Types.ResolveReconciliationBreakRequest; answer: Types.ReconciliationBreakResponse };
  'GET /open-banking/{countryCode}/consents/{id}': { body: undefined; answer: Types.ConsentResponse };
  'PATCH /open-banking/{countryCode}/consents/{id}': { body: Types.UpdateConsentRequest; answer: Types.ConsentOutcomeResponse };
  'GET /open-banking/{countryCode}/consents': { body: undefined; answer: Types.ConsentListResponse };
  'POST /open-banking/{countryCode}/consents': { body: Types.RequestConsentRequest; answer: Types.ConsentResponse };
  'GET /open-banking/{countryCode}/accounts': { body: undefined; answer: Types.ListAccessedAccountsResponse };
  'GET /open-banking/{countryCode}/accounts/{id}/balances': { body: undefined; answer: Types.ListAccessedBalancesResponse };
  'GET /open-banking/{countryCode}/accounts/{id}/transactions': { body: undefined; answer: Types.AccessedTransactionListResponse };
  'POST /open-banking/{countryCode}/payments': { body: Types.CreateConsentedPaymentRequest; answer: Types.CreatedPaymentResponse };
  'POST /third-party-providers': { body: Types.CreateThirdPartyProviderRequest; answer: Types.ThirdPartyProviderResponse };
  'GET /third-party-providers': { body: undefined; answer: Types.ThirdPartyProviderListResponse };
  'GET /third-party-providers/{thirdPartyProviderId}': { body: undefined; answer: Types.ThirdPartyProviderResponse };
  'PATCH /third-party-providers/{thirdPartyProviderId}': { body: Types.UpdateThirdPartyProviderRequest; answer: Types.ThirdPartyProviderResponse };
  'POST /machine-users': { body: Types.CreateMachineUserRequest; answer: Types.MachineUserResponse };
  'GET /machine-users': { body: undefined; answer: Types.MachineUserListResponse };
  'GET /machine-users/{machineUserId}': { body: undefined; answer: Types.MachineUserResponse };
  'PATCH /machine-users/{machineUserId}': { body: Types.UpdateMachineUserRequest; answer: Types.MachineUserResponse };
  'POST /machine-users/{machineUserId}/keys': { body: Types.CreateMachineUserKeyRequest; answer: Types.MachineUserResponse };
  'DELETE /machine-users/{machineUserId}/keys/{keyId}': { body: undefined; answer: Types.DeleteMachineUserKeyResponse };
  'GET /audit-entries': { body: undefined; answer: Types.AuditEntryListResponse };
  'GET /audit-entries/export': { body: undefined; answer: string };
  'GET /clients/{clientId}/timeline': { body: undefined; answer: Types.GetClientTimelineResponse };
  'GET /accounts/{accountId}/timeline': { body: undefined; answer: Types.GetAccountTimelineResponse };
  'GET /incoming-transfers/{id}/timeline': { body: undefined; answer: Types.GetIncomingTransferTimelineResponse };
  'GET /outgoing-transfers/{id}/timeline': { body: undefined; answer: Types.GetOutgoingTransferTimelineResponse };
  'GET /open-banking/{countryCode}/consents/{id}/timeline': { body: undefined; answer: Types.GetConsentTimelineResponse };
  'POST /webhook-subscriptions': { body: Types.CreateWebhookSubscriptionRequest; answer: Types.WebhookSubscriptionWithSecretResponse };
  'GET /webhook-subscriptions': { body: undefined; answer: Types.WebhookSubscriptionListResponse };
  'GET /webhook-subscriptions/{webhookSubscriptionId}': { body: undefined; answer: Types.WebhookSubscriptionResponse };
  'PATCH /webhook-subscriptions/{webhookSubscriptionId}': { body: Types.UpdateWebhookSubscriptionRequest; answer: Types.WebhookSubscriptionResponse };
  'DELETE /webhook-subscriptions/{webhookSubscriptionId}': { body: undefined; answer: Types.DeleteWebhookSubscriptionResponse };
  'POST /webhook-subscriptions/{webhookSubscriptionId}/rotate-secret': { body: Types.RotateWebhookSubscriptionSecretRequest; answer: Types.WebhookSubscriptionWithSecretResponse };
  'POST /webhook-subscriptions/{webhookSubscriptionId}/ping': { body: Types.PingWebhookSubscriptionRequest; answer: Types.WebhookDeliveryResponse };
  'POST /webhook-subscriptions/{webhookSubscriptionId}/replay': { body: Types.ReplayWebhookSubscriptionRequest; answer: Types.ReplayWebhookSubscriptionResponse };
  'GET /webhook-deliveries': { body: undefined; answer: Types.WebhookDeliveryListResponse };
  'GET /webhook-deliveries/{webhookDeliveryId}': { body: undefined; answer: Types.WebhookDeliveryResponse };
  'POST /webhook-deliveries/{webhookDeliveryId}/retry': { body: Types.RetryWebhookDeliveryRequest; answer: Types.WebhookDeliveryResponse };
  'GET /events': { body: undefined; answer: Types.EventListResponse };
}

/** The id of each operation. */
export const OPERATIONS: Readonly<Record<string, string>> = {
  'POST /clients': 'createClient',
  'GET /clients': 'listClients',
  'GET /clients/{clientId}': 'getClient',
  'PATCH /clients/{clientId}': 'updateClient',
  'POST /clients/{clientId}/relations': 'createClientRelations',
  'GET /clients/{clientId}/relations': 'listClientRelations',
  'PATCH /clients/{clientId}/relations/{clientRelationId}': 'updateClientRelation',
  'DELETE /clients/{clientId}/relations/{clientRelationId}': 'deleteClientRelation',
  'GET /clients/{clientId}/relations/{clientRelationId}': 'getClientRelation',
  'POST /users': 'createUser',
  'GET /users': 'listUsers',
  'PATCH /users/{userId}': 'updateUser',
  'GET /users/{userId}': 'getUser',
  'GET /users/{userEmail}/invitations': 'listUserInvitations',
  'GET /users/{userEmail}/invitations/{usersInvitationId}': 'getUserInvitation',
  'PATCH /users/{userEmail}/invitations/{usersInvitationId}': 'updateUserInvitation',
  'POST /users/{userId}/client-relations': 'createUserClientRelations',
  'GET /users/{userId}/client-relations': 'listUserClientRelations',
  'GET /users/{userId}/client-relations/{id}': 'getUserClientRelation',
  'PATCH /users/{userId}/client-relations/{id}': 'updateUserClientRelation',
  'POST /user-authentications': 'authenticateUser',
  'POST /users/{userId}/password-reset': 'resetUserPassword',
  'POST /beneficiaries': 'createBeneficiary',
  'GET /beneficiaries': 'listBeneficiaries',
  'GET /beneficiaries/{beneficiaryId}': 'getBeneficiary',
  'PATCH /beneficiaries/{beneficiaryId}': 'updateBeneficiary',
  'POST /beneficiaries/{beneficiaryId}/bank-accounts': 'createBeneficiaryBankAccount',
  'GET /beneficiaries/{beneficiaryId}/bank-accounts': 'listBeneficiaryBankAccounts',
  'PATCH /beneficiaries/{beneficiaryId}/bank-accounts/{id}': 'updateBeneficiaryBankAccount',
  'GET /beneficiaries/{beneficiaryId}/bank-accounts/{id}': 'getBeneficiaryBankAccount',
  'GET /beneficiary-bank-account-requirements': 'getBeneficiaryBankAccountRequirement',
  'POST /beneficiary-verifications': 'createBeneficiaryVerification',
  'POST /accounts': 'createAccount',
  'GET /accounts': 'listAccounts',
  'PATCH /accounts/{accountId}': 'updateAccount',
  'GET /accounts/{accountId}': 'getAccount',
  'GET /accounts/{id}/deposit-information': 'getDepositInformation',
  'POST /accounts/{id}/balance-adjustments': 'createBalanceAdjustment',
  'GET /accounts/{accountId}/account-statements': 'listAccountStatements',
  'GET /accounts/{accountId}/account-statements/export': 'exportAccountStatements',
  'GET /accounts/{accountId}/balances': 'getAccountBalance',
  'POST /provisioned-account-credits': 'createProvisionedAccountCredit',
  'GET /provisioned-account-credits': 'listProvisionedAccountCredits',
  'GET /provisioned-account-credits/{id}': 'getProvisionedAccountCredit',
  'GET /incoming-transfers/{id}': 'getIncomingTransfer',
  'GET /incoming-transfers': 'listIncomingTransfers',
  'POST /incoming-transfers/{id}/assign': 'assignIncomingTransfer',
  'POST /incoming-transfers/{id}/return': 'returnIncomingTransfer',
  'GET /accounts/{accountId}/outgoing-transfer-schemes/{destinationCountry}': 'listOutgoingTransferSchemes',
  'GET /accounts/{accountId}/transfer-reasons/{country}': 'listAccountTransferReasons',
  'GET /transfer-reasons/{country}': 'listTransferReasons',
  'GET /accounts/{accountId}/outgoing-transfer-date-metadata/{transferScope}/{transferScheme}': 'getOutgoingTransferDateMetadata',
  'POST /outgoing-transfers': 'createOutgoingTransfer',
  'GET /outgoing-transfers': 'listOutgoingTransfers',
  'POST /outgoing-transfers/batch': 'createOutgoingTransferBatch',
  'PATCH /outgoing-transfers/{id}': 'updateOutgoingTransfer',
  'GET /outgoing-transfers/{id}': 'getOutgoingTransfer',
  'POST /outgoing-transfers/{id}/recall': 'recallOutgoingTransfer',
  'GET /incoming-transfers/{id}/compliance-check': 'getIncomingTransferComplianceCheck',
  'PATCH /incoming-transfers/{id}/compliance-check': 'updateIncomingTransferComplianceCheck',
  'GET /outgoing-transfers/{id}/compliance-check': 'getOutgoingTransferComplianceCheck',
  'PATCH /outgoing-transfers/{id}/compliance-check': 'updateOutgoingTransferComplianceCheck',
  'GET /reconciliations': 'listReconciliations',
  'GET /reconciliations/{id}': 'getReconciliation',
  'GET /reconciliation-breaks': 'listReconciliationBreaks',
  'GET /reconciliation-breaks/{id}': 'getReconciliationBreak',
  'PATCH /reconciliation-breaks/{id}': 'resolveReconciliationBreak',
  'GET /open-banking/{countryCode}/consents/{id}': 'getConsent',
  'PATCH /open-banking/{countryCode}/consents/{id}': 'updateConsent',
  'GET /open-banking/{countryCode}/consents': 'listConsents',
  'POST /open-banking/{countryCode}/consents': 'requestConsent',
  'GET /open-banking/{countryCode}/accounts': 'listAccessedAccounts',
  'GET /open-banking/{countryCode}/accounts/{id}/balances': 'listAccessedBalances',
  'GET /open-banking/{countryCode}/accounts/{id}/transactions': 'listAccessedTransactions',
  'POST /open-banking/{countryCode}/payments': 'createConsentedPayment',
  'POST /third-party-providers': 'createThirdPartyProvider',
  'GET /third-party-providers': 'listThirdPartyProviders',
  'GET /third-party-providers/{thirdPartyProviderId}': 'getThirdPartyProvider',
  'PATCH /third-party-providers/{thirdPartyProviderId}': 'updateThirdPartyProvider',
  'POST /machine-users': 'createMachineUser',
  'GET /machine-users': 'listMachineUsers',
  'GET /machine-users/{machineUserId}': 'getMachineUser',
  'PATCH /machine-users/{machineUserId}': 'updateMachineUser',
  'POST /machine-users/{machineUserId}/keys': 'createMachineUserKey',
  'DELETE /machine-users/{machineUserId}/keys/{keyId}': 'deleteMachineUserKey',
  'GET /audit-entries': 'listAuditEntries',
  'GET /audit-entries/export': 'exportAuditEntries',
  'GET /clients/{clientId}/timeline': 'getClientTimeline',
  'GET /accounts/{accountId}/timeline': 'getAccountTimeline',
  'GET /incoming-transfers/{id}/timeline': 'getIncomingTransferTimeline',
  'GET /outgoing-transfers/{id}/timeline': 'getOutgoingTransferTimeline',
  'GET /open-banking/{countryCode}/consents/{id}/timeline': 'getConsentTimeline',
  'POST /webhook-subscriptions': 'createWebhookSubscription',
  'GET /webhook-subscriptions': 'listWebhookSubscriptions',
  'GET /webhook-subscriptions/{webhookSubscriptionId}': 'getWebhookSubscription',
  'PATCH /webhook-subscriptions/{webhookSubscriptionId}': 'updateWebhookSubscription',
  'DELETE /webhook-subscriptions/{webhookSubscriptionId}': 'deleteWebhookSubscription',
  'POST /webhook-subscriptions/{webhookSubscriptionId}/rotate-secret': 'rotateWebhookSubscriptionSecret',
  'POST /webhook-subscriptions/{webhookSubscriptionId}/ping': 'pingWebhookSubscription',
  'POST /webhook-subscriptions/{webhookSubscriptionId}/replay': 'replayWebhookSubscription',
  'GET /webhook-deliveries': 'listWebhookDeliveries',
  'GET /webhook-deliveries/{webhookDeliveryId}': 'getWebhookDelivery',
  'POST /webhook-deliveries/{webhookDeliveryId}/retry': 'retryWebhookDelivery',
  'GET /events': 'listEvents',
};

/** Those that answer files; all others answer JSON. */
export const FILES: readonly string[] = ['exportAccountStatements', 'exportAuditEntries'];

/** The POSTs without an Idempotency-Key, of this client or not. */
export const PATHS_WITHOUT_KEY: readonly string[] = [
  '/sign-up/{token}',
  '/open-banking/{countryCode}/token',
  '/provider-callbacks/{provider}',
];

/** The codes with which each operation may be rejected. */
export interface ErrorCodes {
  createClient: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.idempotency.in_progress' | 'common.idempotency.key_reused' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.state.illegal_transition' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code' | 'connect.method.type_mismatch' | 'connect.provider.unavailable' | 'connect.resource.invalid' | 'connect.resource.not_found';
  listClients: 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  getClient: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  updateClient: 'client.close.not_empty' | 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.state.illegal_transition' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  createClientRelations: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.idempotency.in_progress' | 'common.idempotency.key_reused' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  listClientRelations: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  updateClientRelation: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  deleteClientRelation: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  getClientRelation: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  createUser: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.idempotency.in_progress' | 'common.idempotency.key_reused' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.state.illegal_transition' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  listUsers: 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  updateUser: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.state.illegal_transition' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  getUser: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  listUserInvitations: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  getUserInvitation: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  updateUserInvitation: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.state.illegal_transition' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  createUserClientRelations: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.idempotency.in_progress' | 'common.idempotency.key_reused' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.state.illegal_transition' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  listUserClientRelations: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  getUserClientRelation: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  updateUserClientRelation: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  authenticateUser: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.idempotency.in_progress' | 'common.idempotency.key_reused' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code' | 'user.authentication.failed';
  resetUserPassword: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.idempotency.in_progress' | 'common.idempotency.key_reused' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code' | 'user.password.not_set' | 'user.status.not_active';
  createBeneficiary: 'client.status.not_active' | 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.idempotency.in_progress' | 'common.idempotency.key_reused' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.state.illegal_transition' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code' | 'connect.client.mismatch' | 'connect.client.not_connected' | 'connect.method.type_mismatch' | 'connect.provider.unavailable' | 'connect.resource.invalid' | 'connect.resource.not_found';
  listBeneficiaries: 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  getBeneficiary: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  updateBeneficiary: 'beneficiary.bank_account.update_not_allowed' | 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  createBeneficiaryBankAccount: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.idempotency.in_progress' | 'common.idempotency.key_reused' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  listBeneficiaryBankAccounts: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  updateBeneficiaryBankAccount: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  getBeneficiaryBankAccount: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  getBeneficiaryBankAccountRequirement: 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  createBeneficiaryVerification: 'client.status.not_active' | 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.idempotency.in_progress' | 'common.idempotency.key_reused' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code' | 'connect.provider.unavailable';
  createAccount: 'account.client.mismatch' | 'account.currency.mismatch' | 'account.status.not_active' | 'account.sub_account.nested' | 'client.status.not_active' | 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.idempotency.in_progress' | 'common.idempotency.key_reused' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.state.illegal_transition' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code' | 'connect.client.mismatch' | 'connect.client.not_connected' | 'connect.method.type_mismatch' | 'connect.offer.unavailable' | 'connect.provider.unavailable' | 'connect.resource.invalid' | 'connect.resource.not_found';
  listAccounts: 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  updateAccount: 'account.close.not_empty' | 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.state.illegal_transition' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  getAccount: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  getDepositInformation: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  createBalanceAdjustment: 'account.balance.insufficient' | 'account.currency.mismatch' | 'account.status.not_active' | 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.idempotency.in_progress' | 'common.idempotency.key_reused' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  listAccountStatements: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  exportAccountStatements: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  getAccountBalance: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  createProvisionedAccountCredit: 'account.client.mismatch' | 'account.currency.mismatch' | 'account.method.mismatch' | 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.idempotency.in_progress' | 'common.idempotency.key_reused' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  listProvisionedAccountCredits: 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  getProvisionedAccountCredit: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  getIncomingTransfer: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  listIncomingTransfers: 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  assignIncomingTransfer: 'account.currency.mismatch' | 'account.method.mismatch' | 'account.status.not_active' | 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.idempotency.in_progress' | 'common.idempotency.key_reused' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.state.illegal_transition' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  returnIncomingTransfer: 'account.status.not_active' | 'client.status.not_active' | 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.idempotency.in_progress' | 'common.idempotency.key_reused' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.state.illegal_transition' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code' | 'transfer.amount.limit_exceeded' | 'transfer.scheme.unavailable';
  listOutgoingTransferSchemes: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  listAccountTransferReasons: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  listTransferReasons: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  getOutgoingTransferDateMetadata: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected' | 'transfer.scheme.unavailable';
  createOutgoingTransfer: 'account.balance.insufficient' | 'account.client.mismatch' | 'account.currency.mismatch' | 'account.status.not_active' | 'beneficiary.bank_account.not_active' | 'client.status.not_active' | 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.idempotency.in_progress' | 'common.idempotency.key_reused' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code' | 'transfer.amount.limit_exceeded' | 'transfer.attribute.invalid' | 'transfer.client.mismatch' | 'transfer.date.invalid' | 'transfer.scheme.unavailable';
  listOutgoingTransfers: 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  createOutgoingTransferBatch: 'account.balance.insufficient' | 'account.client.mismatch' | 'account.currency.mismatch' | 'account.status.not_active' | 'beneficiary.bank_account.not_active' | 'client.status.not_active' | 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.idempotency.in_progress' | 'common.idempotency.key_reused' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code' | 'transfer.amount.limit_exceeded' | 'transfer.attribute.invalid' | 'transfer.client.mismatch' | 'transfer.date.invalid' | 'transfer.scheme.unavailable';
  updateOutgoingTransfer: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.state.illegal_transition' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  getOutgoingTransfer: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  recallOutgoingTransfer: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.idempotency.in_progress' | 'common.idempotency.key_reused' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.state.illegal_transition' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code' | 'transfer.recall.unavailable';
  getIncomingTransferComplianceCheck: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  updateIncomingTransferComplianceCheck: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.state.illegal_transition' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code' | 'compliance.external.not_enabled';
  getOutgoingTransferComplianceCheck: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  updateOutgoingTransferComplianceCheck: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.state.illegal_transition' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code' | 'compliance.external.not_enabled';
  listReconciliations: 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  getReconciliation: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  listReconciliationBreaks: 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  getReconciliationBreak: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  resolveReconciliationBreak: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.state.illegal_transition' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  getConsent: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected' | 'consent.country.not_supported';
  updateConsent: 'account.currency.mismatch' | 'account.status.not_active' | 'client.status.not_active' | 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.validation.mutually_exclusive' | 'common.workflow.unknown_code' | 'consent.accounts.limit_exceeded' | 'consent.country.not_supported' | 'consent.status.invalid' | 'third_party_provider.redirect_uri.not_registered' | 'third_party_provider.status.not_active' | 'user.client_relation.not_allowed' | 'user.status.not_active';
  listConsents: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected' | 'consent.country.not_supported';
  requestConsent: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.idempotency.in_progress' | 'common.idempotency.key_reused' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code' | 'consent.country.not_supported' | 'third_party_provider.redirect_uri.not_registered';
  listAccessedAccounts: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected' | 'consent.country.not_supported';
  listAccessedBalances: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected' | 'consent.country.not_supported';
  listAccessedTransactions: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected' | 'consent.country.not_supported';
  createConsentedPayment: 'account.status.not_active' | 'client.status.not_active' | 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.idempotency.in_progress' | 'common.idempotency.key_reused' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code' | 'consent.content.mismatch' | 'consent.country.not_supported' | 'consent.status.invalid' | 'transfer.amount.limit_exceeded' | 'transfer.date.invalid' | 'transfer.scheme.unavailable';
  createThirdPartyProvider: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.idempotency.in_progress' | 'common.idempotency.key_reused' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  listThirdPartyProviders: 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  getThirdPartyProvider: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  updateThirdPartyProvider: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  createMachineUser: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.idempotency.in_progress' | 'common.idempotency.key_reused' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.state.illegal_transition' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  listMachineUsers: 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  getMachineUser: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  updateMachineUser: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.state.illegal_transition' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  createMachineUserKey: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.idempotency.in_progress' | 'common.idempotency.key_reused' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.state.illegal_transition' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  deleteMachineUserKey: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  listAuditEntries: 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  exportAuditEntries: 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  getClientTimeline: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  getAccountTimeline: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  getIncomingTransferTimeline: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  getOutgoingTransferTimeline: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  getConsentTimeline: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected' | 'consent.country.not_supported';
  createWebhookSubscription: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.idempotency.in_progress' | 'common.idempotency.key_reused' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  listWebhookSubscriptions: 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  getWebhookSubscription: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  updateWebhookSubscription: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  deleteWebhookSubscription: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  rotateWebhookSubscriptionSecret: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.idempotency.in_progress' | 'common.idempotency.key_reused' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  pingWebhookSubscription: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.idempotency.in_progress' | 'common.idempotency.key_reused' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.state.illegal_transition' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  replayWebhookSubscription: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.idempotency.in_progress' | 'common.idempotency.key_reused' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.state.illegal_transition' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  listWebhookDeliveries: 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  getWebhookDelivery: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
  retryWebhookDelivery: 'common.coding.internal.record_not_found' | 'common.dependency.unavailable' | 'common.idempotency.in_progress' | 'common.idempotency.key_reused' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.state.illegal_transition' | 'common.validation.field_invalid' | 'common.validation.field_required' | 'common.validation.field_unexpected' | 'common.validation.limit_exceeded' | 'common.workflow.unknown_code';
  listEvents: 'common.dependency.unavailable' | 'common.internal.error' | 'common.rate.limited' | 'common.security.access_denied' | 'common.security.unauthenticated' | 'common.validation.field_invalid' | 'common.validation.field_unexpected';
}
