import { accountStory, moneyStory, plugInAccountStory, subAccountStory } from './accounts.ts';
import { machineUserStory, reconciliationBreakStory, thirdPartyProviderStory, webhookStory } from './administration.ts';
import { bankAccountStory, beneficiaryStory, verificationStory } from './beneficiaries.ts';
import { consentStory } from './consents.ts';
import { clientRelationStory, clientStory, invitationStory, userStory } from './parties.ts';
import type { Story } from './storyteller.ts';
import { heldMoneyStory, transferStory } from './transfers.ts';

export const WRITE_STORIES: Readonly<Record<string, Story>> = {
  client: clientStory,
  'client-relation': clientRelationStory,
  user: userStory,
  invitation: invitationStory,
  beneficiary: beneficiaryStory,
  'bank-account': bankAccountStory,
  verification: verificationStory,
  account: accountStory,
  'plug-in-account': plugInAccountStory,
  'sub-account': subAccountStory,
  money: moneyStory,
  transfer: transferStory,
  'held-money': heldMoneyStory,
  consent: consentStory,
  'machine-user': machineUserStory,
  'third-party-provider': thirdPartyProviderStory,
  webhook: webhookStory,
  'reconciliation-break': reconciliationBreakStory,
};

const LEDGER = 'locks accounts and moves money by functions of the ledger';
const MIGRATION = 'looks for what was migrated before by statements of its own';
const TRANSFER = 'locks a transfer with its accounts by statements of its own';
const OPEN = 'not a write of a caller of the interface';

/** Writes that share their transaction with no other, by route and workflow, and why. */
export const WRITES_ALONE: Readonly<Record<string, string>> = {
  'POST /clients migration': MIGRATION,
  'POST /beneficiaries migration': MIGRATION,
  'POST /accounts client.migration': MIGRATION,
  'POST /user-authentications password': 'counts failures, and keeps no answer',
  'POST /users/{userId}/password-reset direct': 'locks the earlier resets of the user by their status',
  'POST /sign-up/{token}': OPEN,
  'POST /open-banking/{countryCode}/token': OPEN,
  'POST /provider-callbacks/{provider}': OPEN,
  'POST /accounts/{id}/balance-adjustments correction': LEDGER,
  'POST /accounts/{id}/balance-adjustments synchronization': LEDGER,
  'POST /provisioned-account-credits client.direct': LEDGER,
  'POST /outgoing-transfers client.direct': 'shares statements of its own, which store the answer too',
  'POST /outgoing-transfers/{id}/recall direct': TRANSFER,
  'PATCH /incoming-transfers/{id}/compliance-check direct': TRANSFER,
  'PATCH /outgoing-transfers/{id}/compliance-check direct': TRANSFER,
  'POST /open-banking/{countryCode}/consents direct': 'reads the third party for its event after it has written',
  'PATCH /open-banking/{countryCode}/consents/{id} direct': 'locks the user, its relations and accounts, then signs',
  'POST /open-banking/{countryCode}/payments direct': TRANSFER,
  'POST /webhook-subscriptions direct': 'counts the subscriptions under an advisory lock',
  'POST /webhook-subscriptions/{webhookSubscriptionId}/replay direct':
    'writes as many deliveries as there are events, by a statement of its own',
};
