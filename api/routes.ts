import { balanceAdjustmentRoutes } from './accounts/balance-adjustments.ts';
import { accountBalanceRoutes } from './accounts/balances.ts';
import { depositInformationRoutes } from './accounts/deposit-information.ts';
import { accountRoutes } from './accounts/routes.ts';
import { accountStatementExportRoutes } from './accounts/statement-exports.ts';
import { accountStatementRoutes } from './accounts/statements.ts';
import { auditEntryRoutes } from './audit-entries/routes.ts';
import { beneficiaryBankAccountRoutes } from './beneficiaries/bank-accounts.ts';
import { beneficiaryChangeRoutes } from './beneficiaries/changes.ts';
import { beneficiaryRoutes } from './beneficiaries/routes.ts';
import { beneficiaryVerificationRoutes } from './beneficiaries/verifications.ts';
import { clientChangeRoutes } from './clients/changes.ts';
import { clientRelationRoutes } from './clients/relations.ts';
import { clientRoutes } from './clients/routes.ts';
import { complianceCheckRoutes } from './compliance/routes.ts';
import type { AnyRoute } from './http/third-party-route.ts';
import { provisionedAccountCreditRoutes } from './incoming-transfers/provisioned-account-credits.ts';
import { incomingTransferRoutes } from './incoming-transfers/routes.ts';
import { machineUserRoutes } from './machine-users/routes.ts';
import { accountAccessRoutes } from './open-banking/accounts.ts';
import { consentRoutes } from './open-banking/consents.ts';
import { keySetRoutes } from './open-banking/key-sets.ts';
import { paymentRoutes } from './open-banking/payments.ts';
import { consentRequestRoutes } from './open-banking/requests.ts';
import { tokenRoutes } from './open-banking/token.ts';
import { outgoingTransferReferenceRoutes } from './outgoing-transfers/references.ts';
import { outgoingTransferRoutes } from './outgoing-transfers/routes.ts';
import { providerCallbackRoutes } from './providers/callbacks.ts';
import { reconciliationRoutes } from './reconciliation/routes.ts';
import { thirdPartyProviderRoutes } from './third-party-providers/routes.ts';
import { timelineRoutes } from './timelines/routes.ts';
import { userAuthenticationRoutes } from './users/authentications.ts';
import { userClientRelationRoutes } from './users/client-relations.ts';
import { userInvitationRoutes } from './users/invitations.ts';
import { userRoutes } from './users/routes.ts';
import { signUpRoutes } from './users/sign-ups.ts';
import { webhookDeliveryRoutes } from './webhooks/deliveries.ts';
import { eventRoutes } from './webhooks/events.ts';
import { webhookSubscriptionRoutes } from './webhooks/routes.ts';

/** Every route of the service, in the order of the interface specification. One line per resource file. */
export const ROUTES: readonly AnyRoute[] = [
  ...clientRoutes,
  ...clientChangeRoutes,
  ...clientRelationRoutes,
  ...userRoutes,
  ...userInvitationRoutes,
  ...userClientRelationRoutes,
  ...userAuthenticationRoutes,
  ...signUpRoutes,
  ...beneficiaryRoutes,
  ...beneficiaryChangeRoutes,
  ...beneficiaryBankAccountRoutes,
  ...beneficiaryVerificationRoutes,
  ...accountRoutes,
  ...depositInformationRoutes,
  ...balanceAdjustmentRoutes,
  ...accountStatementRoutes,
  ...accountStatementExportRoutes,
  ...accountBalanceRoutes,
  ...provisionedAccountCreditRoutes,
  ...incomingTransferRoutes,
  ...outgoingTransferReferenceRoutes,
  ...outgoingTransferRoutes,
  ...complianceCheckRoutes,
  ...reconciliationRoutes,
  ...consentRoutes,
  ...consentRequestRoutes,
  ...tokenRoutes,
  ...accountAccessRoutes,
  ...paymentRoutes,
  ...keySetRoutes,
  ...thirdPartyProviderRoutes,
  ...machineUserRoutes,
  ...auditEntryRoutes,
  ...timelineRoutes,
  ...providerCallbackRoutes,
  ...webhookSubscriptionRoutes,
  ...webhookDeliveryRoutes,
  ...eventRoutes,
];
