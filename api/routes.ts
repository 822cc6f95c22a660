import { accountStatementRoutes } from './account-statements.ts';
import { accountRoutes } from './accounts.ts';
import { beneficiaryRoutes } from './beneficiaries.ts';
import { beneficiaryBankAccountRoutes } from './beneficiary-bank-accounts.ts';
import { beneficiaryChangeRoutes } from './beneficiary-changes.ts';
import { beneficiaryVerificationRoutes } from './beneficiary-verifications.ts';
import { clientChangeRoutes } from './client-changes.ts';
import { clientRelationRoutes } from './client-relations.ts';
import { clientRoutes } from './clients.ts';
import { depositInformationRoutes } from './deposit-information.ts';
import { eventRoutes } from './events.ts';
import type { OpenRoute, Route } from './frame/route.ts';
import { incomingTransferRoutes } from './incoming-transfers.ts';
import { machineUserRoutes } from './machine-users.ts';
import { outgoingTransferReferenceRoutes } from './outgoing-transfer-references.ts';
import { outgoingTransferRoutes } from './outgoing-transfers.ts';
import { providerCallbackRoutes } from './provider-callbacks.ts';
import { provisionedAccountCreditRoutes } from './provisioned-account-credits.ts';
import { signUpRoutes } from './sign-ups.ts';
import { userClientRelationRoutes } from './user-client-relations.ts';
import { userInvitationRoutes } from './user-invitations.ts';
import { userRoutes } from './users.ts';
import { webhookDeliveryRoutes } from './webhook-deliveries.ts';
import { webhookSubscriptionRoutes } from './webhook-subscriptions.ts';

/** Every route of the service, in the order of the interface specification. One line per resource file. */
export const ROUTES: readonly (Route | OpenRoute)[] = [
  ...clientRoutes,
  ...clientChangeRoutes,
  ...clientRelationRoutes,
  ...userRoutes,
  ...userInvitationRoutes,
  ...userClientRelationRoutes,
  ...signUpRoutes,
  ...beneficiaryRoutes,
  ...beneficiaryChangeRoutes,
  ...beneficiaryBankAccountRoutes,
  ...beneficiaryVerificationRoutes,
  ...accountRoutes,
  ...depositInformationRoutes,
  ...accountStatementRoutes,
  ...provisionedAccountCreditRoutes,
  ...incomingTransferRoutes,
  ...outgoingTransferReferenceRoutes,
  ...outgoingTransferRoutes,
  ...machineUserRoutes,
  ...providerCallbackRoutes,
  ...webhookSubscriptionRoutes,
  ...webhookDeliveryRoutes,
  ...eventRoutes,
];
