import { createSandboxBank } from '../../../../activities/providers/sandbox-bank.ts';
import type { TestApi } from '../../api.ts';
import { accountStory, moneyStory, plugInAccountStory, subAccountStory } from './accounts.ts';
import { machineUserStory, reconciliationBreakStory, thirdPartyProviderStory, webhookStory } from './administration.ts';
import { BAKERY_DIRECTORY, bankAccountStory, beneficiaryStory, verificationStory } from './beneficiaries.ts';
import { consentStory } from './consents.ts';
import { clientRelationStory, clientStory, invitationStory, userStory } from './parties.ts';
import type { Story } from './story.ts';
import { heldMoneyStory, recallStory, returnStory, transferStory } from './transfers.ts';

/** What an API needs so that it can take every write of the stories, as many as come. */
export const STORY_OPTIONS = {
  env: { PUBLIC_URL: 'https://accounts.example' },
  directories: BAKERY_DIRECTORY,
  providers: new Map([['sandbox-bank', createSandboxBank({ url: 'http://127.0.0.1:9', secret: 'secret' })]]),
  configuration: (configuration: TestApi['services']['configuration']) => ({
    ...configuration,
    prices: [],
    rateLimit: { requestsPerSecond: 1_000_000 },
  }),
};

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
  recall: recallStory,
  return: returnStory,
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

/** Writes that need a transaction, by route and workflow, and why. */
export const WRITES_IN_TRANSACTIONS: Readonly<Record<string, string>> = {
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
  'PATCH /incoming-transfers/{id}/compliance-check direct': TRANSFER,
  'PATCH /outgoing-transfers/{id}/compliance-check direct': TRANSFER,
  'POST /open-banking/{countryCode}/consents direct': 'reads the third party for its event after it has written',
  'PATCH /open-banking/{countryCode}/consents/{id} direct': 'locks the user, its relations and accounts, then signs',
  'POST /open-banking/{countryCode}/payments direct': TRANSFER,
  'POST /webhook-subscriptions direct': 'counts the subscriptions under an advisory lock',
  'POST /webhook-subscriptions/{webhookSubscriptionId}/replay direct':
    'writes as many deliveries as there are events, by a statement of its own',
};
