import { ActionableError } from '../../common/actionable-error.ts';
import { text } from '../../common/answers.ts';
import {
  approveConsent,
  authoriseConsent,
  consumeConsent,
  expireConsent,
  rejectConsent,
  requestConsent,
  revokeConsent,
} from './consents.ts';
import {
  accountOf,
  addBankAccount,
  bankAccountOf,
  beneficiaryOf,
  changeAccount,
  clientOf,
  issuedAccount,
  newBeneficiary,
  newClient,
  newUser,
  openedAccount,
} from './parties.ts';
import {
  cancel,
  moveOrPay,
  payForReview,
  payOut,
  recall,
  receive,
  receiveForReview,
  receiveUnmatched,
  returnToPayer,
} from './transfers.ts';
import { type GivenKind, givenAs, type Stage } from './world.ts';

/** How an event is caused. */
export interface Trigger {
  /** What `--for` may name. */
  readonly takes: readonly GivenKind[];
  /** Returns the id of the resource whose event it is; the event may follow later. */
  readonly cause: (stage: Stage) => Promise<string>;
  /** It is delivered to the given subscription only, and not in the event log. */
  readonly isDelivery?: true;
}

const OWNERS = ['account', 'client'] as const;

async function moveAtBank(stage: Stage, status: 'suspended' | 'inactive'): Promise<string> {
  const id = text(await accountOf(stage), 'id');
  await stage.world.sandbox(`/bank/accounts/${id}/status`, { status });
  return id;
}

async function close(stage: Stage, account?: { alias: string }): Promise<string> {
  const { id } = account === undefined ? await accountOf(stage) : await openedAccount(stage, account);
  return changeAccount(stage, `${id}`, { status: 'closed' });
}

async function issue(stage: Stage, account: { alias?: string } = {}): Promise<string> {
  return text(await issuedAccount(stage, account), 'id');
}

/** An alias by which the bank rejects the opening, and one by which it rejects the closing (docs/sandbox.md). */
const OPENING_FAILS = { alias: 'fail-functional' };
const CLOSING_FAILS = { alias: 'close-fail-functional' };

async function changeClientStatus(stage: Stage): Promise<string> {
  const id = await clientOf(stage);
  const status = givenAs(stage, 'client')?.status === 'suspended' ? 'active' : 'suspended';
  const body = { workflow: { code: 'direct' }, data: { client: { status } } };
  await stage.world.call('PATCH', `/clients/${id}`, body, await stage.world.complianceToken());
  return id;
}

async function changeUser(stage: Stage): Promise<string> {
  const given = givenAs(stage, 'user');
  const id = given === null ? await newUser(stage, await clientOf(stage)) : text(given, 'id');
  const body = { workflow: { code: 'human.external.direct' }, data: { user: { profile: { phone: phone() } } } };
  await stage.world.call('PATCH', `/users/${id}`, body);
  return id;
}

/** Another one each time: an unchanged resource has no event. */
function phone(): string {
  return `+44${String(Date.now()).slice(-10)}`;
}

async function changeBeneficiary(stage: Stage): Promise<string> {
  const id = await beneficiaryOf(stage);
  const body = { workflow: { code: 'direct' }, data: { beneficiary: { contact: { phone: phone() } } } };
  await stage.world.call('PATCH', `/beneficiaries/${id}`, body);
  return id;
}

async function changeBankAccount(stage: Stage): Promise<string> {
  const given = givenAs(stage, 'beneficiary');
  const beneficiary = given ?? (await newBeneficiary(stage, await clientOf(stage)));
  const beneficiaryId = text(beneficiary, 'id');
  const id = given === null ? bankAccountOf(beneficiary) : await addBankAccount(stage, beneficiaryId);
  const body = { workflow: { code: 'direct' }, data: { beneficiaryBankAccount: { alias: 'Triggered' } } };
  await stage.world.call('PATCH', `/beneficiaries/${beneficiaryId}/bank-accounts/${id}`, body);
  return beneficiaryId;
}

async function ping(stage: Stage): Promise<string> {
  const given = givenAs(stage, 'webhook-subscription');
  if (given === null) throw new ActionableError('Give --for ID: a ping is for one webhook subscription.');
  const id = text(given, 'id');
  const body = { workflow: { code: 'direct' }, data: {} };
  return text(
    await stage.world.call('POST', `/webhook-subscriptions/${id}/ping`, body),
    'data',
    'webhookDelivery',
    'id',
  );
}

/** Every event of the service, by its name in the OpenAPI document. */
export const TRIGGERS: Readonly<Record<string, Trigger>> = {
  'incoming-transfers.incoming-transfer-pending': { takes: OWNERS, cause: receive },
  'incoming-transfers.incoming-transfer-compliance-in-review': { takes: OWNERS, cause: receiveForReview },
  'incoming-transfers.incoming-transfer-completed': { takes: OWNERS, cause: receive },
  'incoming-transfers.incoming-transfer-failed': { takes: ['incoming-transfer'], cause: returnToPayer },
  'incoming-transfers.incoming-transfer-on-hold': { takes: [], cause: receiveUnmatched },
  'outgoing-transfers.outgoing-transfer-created': { takes: OWNERS, cause: (stage) => payOut(stage, '10.00') },
  'outgoing-transfers.outgoing-transfer-compliance-in-review': { takes: OWNERS, cause: payForReview },
  'outgoing-transfers.outgoing-transfer-processing': { takes: OWNERS, cause: (stage) => payOut(stage, '10.00') },
  'outgoing-transfers.outgoing-transfer-released': { takes: OWNERS, cause: (stage) => payOut(stage, '10.10') },
  'outgoing-transfers.outgoing-transfer-completed': {
    takes: [...OWNERS, 'outgoing-transfer'],
    cause: (stage) => moveOrPay(stage, 'settle', '10.00'),
  },
  'outgoing-transfers.outgoing-transfer-cancelled': { takes: ['client', 'outgoing-transfer'], cause: cancel },
  'outgoing-transfers.outgoing-transfer-failed': {
    takes: [...OWNERS, 'outgoing-transfer'],
    cause: (stage) => moveOrPay(stage, 'reject', '10.01'),
  },
  'outgoing-transfers.outgoing-transfer-returned': {
    takes: [...OWNERS, 'outgoing-transfer'],
    cause: (stage) => moveOrPay(stage, 'return', '10.03'),
  },
  'outgoing-transfers.outgoing-transfer-recall-rejected': { takes: OWNERS, cause: recall },
  'accounts.account-activated': { takes: ['client'], cause: issue },
  'accounts.account-inactivated': { takes: OWNERS, cause: (stage) => moveAtBank(stage, 'inactive') },
  'accounts.account-suspended': { takes: OWNERS, cause: (stage) => moveAtBank(stage, 'suspended') },
  'accounts.account-closed': { takes: OWNERS, cause: close },
  'accounts.account-declined': { takes: ['client'], cause: (stage) => issue(stage, OPENING_FAILS) },
  'accounts.account-information-updated': {
    takes: OWNERS,
    cause: async (stage) => changeAccount(stage, text(await accountOf(stage), 'id'), { alias: `Alias ${Date.now()}` }),
  },
  'accounts.connection-creation-instructed': { takes: ['client'], cause: issue },
  'accounts.connection-created': { takes: ['client'], cause: issue },
  'accounts.connection-creation-failed': { takes: ['client'], cause: (stage) => issue(stage, OPENING_FAILS) },
  'accounts.connection-update-instructed': { takes: OWNERS, cause: close },
  'accounts.connection-updated': { takes: OWNERS, cause: close },
  'accounts.connection-update-failed': { takes: ['client'], cause: (stage) => close(stage, CLOSING_FAILS) },
  'clients.created': { takes: [], cause: newClient },
  'clients.connection-created': {
    takes: ['client'],
    cause: async (stage) => text(await issuedAccount(stage), 'clientId'),
  },
  'clients.status-changed': { takes: ['client'], cause: changeClientStatus },
  'open-banking-consents.consent-requested': { takes: [], cause: requestConsent },
  'open-banking-consents.consent-approved': { takes: OWNERS, cause: approveConsent },
  'open-banking-consents.consent-authorised': { takes: OWNERS, cause: authoriseConsent },
  'open-banking-consents.consent-rejected': { takes: ['consent'], cause: rejectConsent },
  'open-banking-consents.consent-revoked': { takes: [...OWNERS, 'consent'], cause: revokeConsent },
  'open-banking-consents.consent-expired': { takes: ['client'], cause: expireConsent },
  'open-banking-consents.consent-consumed': { takes: OWNERS, cause: consumeConsent },
  'users.user-created': { takes: OWNERS, cause: async (stage) => newUser(stage, await clientOf(stage)) },
  'users.user-updated': { takes: ['user', ...OWNERS], cause: changeUser },
  'beneficiaries.beneficiary-created': {
    takes: OWNERS,
    cause: async (stage) => text(await newBeneficiary(stage, await clientOf(stage)), 'id'),
  },
  'beneficiaries.beneficiary-updated': { takes: ['beneficiary', ...OWNERS], cause: changeBeneficiary },
  'beneficiaries.beneficiary-bank-account-created': {
    takes: ['beneficiary', ...OWNERS],
    cause: async (stage) => {
      const id = await beneficiaryOf(stage);
      await addBankAccount(stage, id);
      return id;
    },
  },
  'beneficiaries.beneficiary-bank-account-updated': { takes: ['beneficiary', ...OWNERS], cause: changeBankAccount },
  'webhook-subscriptions.ping': { takes: ['webhook-subscription'], cause: ping, isDelivery: true },
};
