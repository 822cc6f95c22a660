import {
  bigint,
  boolean,
  customType,
  date,
  integer,
  json,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
  timestamp,
  uuid,
} from 'drizzle-orm/pg-core';
import { ACCOUNT_STATUSES, CONNECTION_STATES, type ConnectionError } from '../../domain/accounts/accounts.ts';
import { PROVIDER_ACCOUNT_STATUSES } from '../../domain/accounts/connections.ts';
import type { BeneficiaryContact, BeneficiaryIdentity } from '../../domain/beneficiaries/beneficiaries.ts';
import type { ClientIdentity, ClientProfile, ClientRelation } from '../../domain/clients/clients.ts';
import type {
  AccountId,
  BeneficiaryBankAccountId,
  BeneficiaryId,
  ClientId,
  IncomingTransferId,
  MachineUserId,
  OutgoingTransferId,
  ProvisionedAccountCreditId,
} from '../../domain/common/ids.ts';
import { PROCEDURE_RESULTS } from '../../domain/compliance/procedures.ts';
import type { ScreeningResult } from '../../domain/compliance/rules.ts';
import { INCOMING_TRANSFER_WAITS, type PartyAccount } from '../../domain/incoming-transfers/incoming-transfers.ts';
import { SUBMISSION_STATUSES } from '../../domain/outgoing-transfers/outcomes/progress.ts';
import type { BeneficiaryShown } from '../../domain/outgoing-transfers/outgoing-transfers.ts';
import type { ReturnCode } from '../../domain/outgoing-transfers/requests/return-terms.ts';
import { OUTGOING_TRANSFER_WAITS, RECALL_STATUSES } from '../../domain/outgoing-transfers/statuses.ts';
import { EARLIEST_INSTANT } from '../query/values.ts';

/**
 * The tables that several nouns query, for Drizzle; those of one noun are in its own schema.ts. The migrations decide what a table is:
 * test/schema.test.ts compares the declarations with them.
 */
export const clients = pgTable('clients', {
  id: uuid('id').$type<ClientId>().primaryKey(),
  clientNumber: text('client_number').notNull(),
  status: text('status', { enum: ['pending', 'active', 'inactive', 'suspended', 'closed', 'declined'] }).notNull(),
  identityType: text('identity_type', { enum: ['individual', 'corporate'] }).notNull(),
  identity: jsonb('identity').$type<ClientIdentity>().notNull(),
  profile: jsonb('profile').$type<ClientProfile>().notNull(),
  fullName: text('full_name').notNull(),
  email: text('email'),
  country: text('country'),
  revision: bigint('revision', { mode: 'bigint' }).notNull().default(1n),
  eventSequence: bigint('event_sequence', { mode: 'bigint' }).notNull().default(0n),
  createdAt: timestamp('created_at', { withTimezone: true, mode: 'date' }).notNull(),
});

export const clientRelations = pgTable('client_relations', {
  id: uuid('id').primaryKey(),
  clientId: uuid('client_id').$type<ClientId>().notNull(),
  relation: text('relation', {
    enum: ['director', 'shareholder', 'director-and-shareholder', 'authorized-person'],
  }).notNull(),
  identity: jsonb('identity').$type<ClientRelation['identity']>().notNull(),
  profile: jsonb('profile').$type<ClientProfile>().notNull(),
  fullName: text('full_name').notNull(),
  revision: bigint('revision', { mode: 'bigint' }).notNull().default(1n),
  createdAt: timestamp('created_at', { withTimezone: true, mode: 'date' }).notNull(),
});

export const beneficiaries = pgTable('beneficiaries', {
  id: uuid('id').$type<BeneficiaryId>().primaryKey(),
  clientId: uuid('client_id').$type<ClientId>().notNull(),
  identityType: text('identity_type', { enum: ['individual', 'corporate'] }),
  identity: jsonb('identity').$type<BeneficiaryIdentity>(),
  fullName: text('full_name').notNull(),
  title: text('title'),
  contact: jsonb('contact').$type<BeneficiaryContact>(),
  revision: bigint('revision', { mode: 'bigint' }).notNull().default(1n),
  eventSequence: bigint('event_sequence', { mode: 'bigint' }).notNull().default(0n),
  createdAt: timestamp('created_at', { withTimezone: true, mode: 'date' }).notNull(),
});

export const beneficiaryBankAccounts = pgTable('beneficiary_bank_accounts', {
  id: uuid('id').$type<BeneficiaryBankAccountId>().primaryKey(),
  beneficiaryId: uuid('beneficiary_id').$type<BeneficiaryId>().notNull(),
  status: text('status', { enum: ['active', 'inactive'] }).notNull(),
  accountHolderName: text('account_holder_name').notNull(),
  accountHolderType: text('account_holder_type', { enum: ['individual', 'corporate'] }),
  bankName: text('bank_name'),
  alias: text('alias'),
  country: text('country').notNull(),
  currency: text('currency').notNull(),
  accountNumber: text('account_number'),
  iban: text('iban'),
  routingCodes: jsonb('routing_codes').$type<Readonly<Record<string, string>>>().notNull().default({}),
  revision: bigint('revision', { mode: 'bigint' }).notNull().default(1n),
  createdAt: timestamp('created_at', { withTimezone: true, mode: 'date' }).notNull(),
});

export const accounts = pgTable('accounts', {
  id: uuid('id').$type<AccountId>().primaryKey(),
  clientId: uuid('client_id').$type<ClientId>().notNull(),
  mainAccountId: uuid('main_account_id').$type<AccountId>(),
  /** Written only by triggers. */
  mainAccountStatus: text('main_account_status', { enum: ACCOUNT_STATUSES }),
  status: text('status', { enum: ['pending', 'active', 'inactive', 'suspended', 'closed', 'declined'] }).notNull(),
  method: text('method', { enum: ['built-in', 'plug-in'] }).notNull(),
  provider: text('provider').notNull(),
  country: text('country').notNull(),
  currency: text('currency').notNull(),
  alias: text('alias').notNull(),
  routingCodes: jsonb('routing_codes').$type<Readonly<Record<string, string>>>(),
  iban: text('iban'),
  accountNumber: text('account_number'),
  ledgerNumber: text('ledger_number').notNull(),
  accountHolderName: text('account_holder_name').notNull(),
  accountHolderIdentityType: text('account_holder_identity_type', { enum: ['individual', 'corporate'] }).notNull(),
  connectionId: uuid('connection_id'),
  connectionState: text('connection_state', { enum: CONNECTION_STATES }),
  connectionStatus: text('connection_status', { enum: ['active', 'inactive', 'closed'] }),
  connectionReference: text('connection_reference'),
  connectionError: jsonb('connection_error').$type<ConnectionError>(),
  providerStatus: text('provider_status', { enum: PROVIDER_ACCOUNT_STATUSES }),
  providerStatusNumber: bigint('provider_status_number', { mode: 'bigint' }),
  requestedChange: text('requested_change', { enum: ['open', 'close'] }),
  changeAttempt: integer('change_attempt').notNull().default(0),
  changeSubmittedAt: timestamp('change_submitted_at', { withTimezone: true, mode: 'date' }),
  nextLookUpAt: timestamp('next_look_up_at', { withTimezone: true, mode: 'date' }),
  nextCheckAt: timestamp('next_check_at', { withTimezone: true, mode: 'date' }),
  postedMinor: bigint('posted_minor', { mode: 'bigint' }).notNull().default(0n),
  reservedMinor: bigint('reserved_minor', { mode: 'bigint' }).notNull().default(0n),
  receivableMinor: bigint('receivable_minor', { mode: 'bigint' }).notNull().default(0n),
  version: bigint('version', { mode: 'bigint' }).notNull().default(0n),
  lastEntryAt: timestamp('last_entry_at', { withTimezone: true, mode: 'date' }).notNull().default(EARLIEST_INSTANT),
  hasWaiters: boolean('has_waiters').notNull().default(false),
  admissionDue: boolean('admission_due').notNull().default(false),
  partyAccountId: bigint('party_account_id', { mode: 'bigint' }),
  revision: bigint('revision', { mode: 'bigint' }).notNull().default(1n),
  eventSequence: bigint('event_sequence', { mode: 'bigint' }).notNull().default(0n),
  createdAt: timestamp('created_at', { withTimezone: true, mode: 'date' }).notNull(),
});

export const postings = pgTable('postings', {
  id: bigint('id', { mode: 'bigint' }).generatedAlwaysAsIdentity().primaryKey(),
  postedAt: timestamp('posted_at', { withTimezone: true, mode: 'date' }).notNull(),
  debitAccountId: uuid('debit_account_id').notNull(),
  creditAccountId: uuid('credit_account_id').notNull(),
  amountMinor: bigint('amount_minor', { mode: 'bigint' }).notNull(),
  debitVersion: bigint('debit_version', { mode: 'bigint' }),
  debitBalanceAfterMinor: bigint('debit_balance_after_minor', { mode: 'bigint' }),
  creditVersion: bigint('credit_version', { mode: 'bigint' }),
  creditBalanceAfterMinor: bigint('credit_balance_after_minor', { mode: 'bigint' }),
  outgoingTransferId: uuid('outgoing_transfer_id').$type<OutgoingTransferId>(),
  incomingTransferId: uuid('incoming_transfer_id').$type<IncomingTransferId>(),
  currency: text('currency').notNull(),
  debitTransactionNumber: text('debit_transaction_number').notNull(),
  creditTransactionNumber: text('credit_transaction_number').notNull(),
  debitTransactionType: text('debit_transaction_type', {
    enum: ['incoming-transfer', 'outgoing-transfer', 'exchange-transaction', 'balance-adjustment', 'fee-sweep'],
  }).notNull(),
  creditTransactionType: text('credit_transaction_type', {
    enum: ['incoming-transfer', 'outgoing-transfer', 'exchange-transaction', 'balance-adjustment', 'fee-sweep'],
  }).notNull(),
  entryType: text('entry_type', {
    enum: ['principal', 'fee', 'principal-sell', 'principal-buy', 'cancellation-fee'],
  }).notNull(),
  narrative: text('narrative'),
});

export const outgoingTransfers = pgTable('outgoing_transfers', {
  id: uuid('id').$type<OutgoingTransferId>().primaryKey(),
  transactionNumber: text('transaction_number').notNull(),
  clientId: uuid('client_id').$type<ClientId>().notNull(),
  accountId: uuid('account_id').$type<AccountId>().notNull(),
  status: text('status', { enum: ['pending', 'processing', 'released', 'completed', 'cancelled', 'failed'] }).notNull(),
  scope: text('scope', { enum: ['internal', 'external'] }).notNull(),
  scheme: text('scheme'),
  currency: text('currency').notNull(),
  amountMinor: bigint('amount_minor', { mode: 'bigint' }).notNull(),
  feeMinor: bigint('fee_minor', { mode: 'bigint' }).notNull().default(0n),
  reservedMinor: bigint('reserved_minor', { mode: 'bigint' }).notNull().default(0n),
  transferDate: date('transfer_date', { mode: 'string' }).notNull(),
  originalTransferDate: date('original_transfer_date', { mode: 'string' }).notNull(),
  rollCount: integer('roll_count').notNull().default(0),
  cutOffAt: timestamp('cut_off_at', { withTimezone: true, mode: 'date' }),
  description: text('description'),
  transferReasonId: uuid('transfer_reason_id'),
  transferCustomReason: text('transfer_custom_reason'),
  schemeAttributes: jsonb('scheme_attributes'),
  destinationAccountId: uuid('destination_account_id').$type<AccountId>(),
  destinationPartyAccountId: bigint('destination_party_account_id', { mode: 'bigint' }),
  beneficiaryId: uuid('beneficiary_id').$type<BeneficiaryId>(),
  beneficiaryBankAccountId: uuid('beneficiary_bank_account_id').$type<BeneficiaryBankAccountId>(),
  beneficiary: jsonb('beneficiary').$type<BeneficiaryShown>(),
  returned: boolean('returned').notNull().default(false),
  incomingTransferId: uuid('incoming_transfer_id').$type<IncomingTransferId>(),
  returnOf: uuid('return_of').$type<IncomingTransferId>(),
  returnCode: text('return_code').$type<ReturnCode>(),
  authorizationStatus: text('authorization_status', {
    enum: ['not-checked', 'fulfilled', 'not-fulfilled', 'not-required'],
  }).notNull(),
  complianceCheckStatus: text('compliance_check_status', {
    enum: ['not-checked', 'fulfilled', 'not-fulfilled', 'not-required'],
  }).notNull(),
  complianceResult: text('compliance_result', { enum: PROCEDURE_RESULTS }),
  complianceDecidedAt: timestamp('compliance_decided_at', { withTimezone: true, mode: 'date' }),
  complianceDecidedBy: text('compliance_decided_by'),
  complianceRule: jsonb('compliance_rule').$type<ScreeningResult['rule']>(),
  transferDateStatus: text('transfer_date_status', { enum: ['not-checked', 'fulfilled', 'not-fulfilled'] }).notNull(),
  balanceCheckStatus: text('balance_check_status', { enum: ['not-checked', 'fulfilled', 'not-fulfilled'] }).notNull(),
  method: text('method', { enum: ['built-in', 'plug-in'] }).notNull(),
  provider: text('provider').notNull(),
  serviceProviderId: text('service_provider_id'),
  serviceProviderReference: text('service_provider_reference'),
  ...paymentProgressColumns(),
  failureCode: text('failure_code'),
  failureMessage: text('failure_message'),
  waitingFor: text('waiting_for', { enum: OUTGOING_TRANSFER_WAITS }),
  waitingSince: timestamp('waiting_since', { withTimezone: true, mode: 'date' }),
  waitingUntil: timestamp('waiting_until', { withTimezone: true, mode: 'date' }),
  nextCheckAt: timestamp('next_check_at', { withTimezone: true, mode: 'date' }),
  createdBy: uuid('created_by'),
  requestId: text('request_id'),
  revision: bigint('revision', { mode: 'bigint' }).notNull().default(1n),
  eventSequence: bigint('event_sequence', { mode: 'bigint' }).notNull().default(0n),
  createdAt: timestamp('created_at', { withTimezone: true, mode: 'date' }).notNull(),
  updatedAt: timestamp('updated_at', { withTimezone: true, mode: 'date' }).notNull(),
});

export const incomingTransfers = pgTable('incoming_transfers', {
  id: uuid('id').$type<IncomingTransferId>().primaryKey(),
  transactionNumber: text('transaction_number').notNull(),
  clientId: uuid('client_id').$type<ClientId>(),
  accountId: uuid('account_id').$type<AccountId>(),
  status: text('status', { enum: ['pending', 'on-hold', 'completed', 'failed'] }).notNull(),
  scope: text('scope', { enum: ['internal', 'external'] }).notNull(),
  scheme: text('scheme'),
  currency: text('currency').notNull(),
  amountMinor: bigint('amount_minor', { mode: 'bigint' }).notNull(),
  feeMinor: bigint('fee_minor', { mode: 'bigint' }).notNull().default(0n),
  receivableMinor: bigint('receivable_minor', { mode: 'bigint' }).notNull().default(0n),
  inSuspense: boolean('in_suspense').notNull().default(false),
  returnIds: uuid('return_ids').array().$type<readonly OutgoingTransferId[]>().notNull().default([]),
  returningMinor: bigint('returning_minor', { mode: 'bigint' }).notNull().default(0n),
  transferDate: date('transfer_date', { mode: 'string' }),
  outgoingTransferId: uuid('outgoing_transfer_id').$type<OutgoingTransferId>(),
  senderAccountId: uuid('sender_account_id').$type<AccountId>(),
  senderPartyAccountId: bigint('sender_party_account_id', { mode: 'bigint' }),
  receiverPartyAccountId: bigint('receiver_party_account_id', { mode: 'bigint' }),
  provisionedAccountCreditId: uuid('provisioned_account_credit_id').$type<ProvisionedAccountCreditId>(),
  provider: text('provider').notNull(),
  method: text('method', { enum: ['built-in', 'plug-in'] }).notNull(),
  serviceProviderId: text('service_provider_id'),
  serviceProviderReference: text('service_provider_reference'),
  returnOf: uuid('return_of').$type<OutgoingTransferId>(),
  returnReference: text('return_reference'),
  senderInformation: text('sender_information'),
  senderName: text('sender_name'),
  senderAccount: jsonb('sender_account').$type<PartyAccount>(),
  receiverAccount: jsonb('receiver_account').$type<PartyAccount>(),
  complianceCheckStatus: text('compliance_check_status', {
    enum: ['not-checked', 'fulfilled', 'not-fulfilled', 'not-required'],
  })
    .notNull()
    .default('not-required'),
  complianceResult: text('compliance_result', { enum: PROCEDURE_RESULTS }),
  complianceDecidedAt: timestamp('compliance_decided_at', { withTimezone: true, mode: 'date' }),
  complianceDecidedBy: text('compliance_decided_by'),
  complianceRule: jsonb('compliance_rule').$type<ScreeningResult['rule']>(),
  holdReason: text('hold_reason', {
    enum: ['account-not-active', 'client-not-active', 'no-match', 'ambiguous-match', 'held-by-provider'],
  }),
  failureCode: text('failure_code'),
  sendBackStatus: text('send_back_status', { enum: ['none', 'due', 'done'] })
    .notNull()
    .default('none'),
  waitingFor: text('waiting_for', { enum: INCOMING_TRANSFER_WAITS }),
  waitingSince: timestamp('waiting_since', { withTimezone: true, mode: 'date' }),
  waitingUntil: timestamp('waiting_until', { withTimezone: true, mode: 'date' }),
  nextCheckAt: timestamp('next_check_at', { withTimezone: true, mode: 'date' }),
  revision: bigint('revision', { mode: 'bigint' }).notNull().default(1n),
  eventSequence: bigint('event_sequence', { mode: 'bigint' }).notNull().default(0n),
  createdAt: timestamp('created_at', { withTimezone: true, mode: 'date' }).notNull(),
  updatedAt: timestamp('updated_at', { withTimezone: true, mode: 'date' }).notNull(),
});

export const workflowWakeups = pgTable('workflow_wakeups', {
  workflowId: text('workflow_id').primaryKey(),
  workflowType: text('workflow_type').notNull(),
  priority: smallint('priority').notNull().default(3),
  generation: bigint('generation', { mode: 'bigint' }).notNull().default(1n),
  attemptCount: integer('attempt_count').notNull().default(0),
  nextAttemptAt: timestamp('next_attempt_at', { withTimezone: true, mode: 'date' }).notNull(),
  claimToken: uuid('claim_token'),
  claimedUntil: timestamp('claimed_until', { withTimezone: true, mode: 'date' }),
  parkedAt: timestamp('parked_at', { withTimezone: true, mode: 'date' }),
  lastError: text('last_error'),
  createdAt: timestamp('created_at', { withTimezone: true, mode: 'date' }).notNull(),
  traceparent: text('traceparent'),
});

/** The event log. */
export const events = pgTable('events', {
  id: uuid('id').primaryKey(),
  firstPosition: bigint('first_position', { mode: 'bigint' }),
  entryCount: smallint('entry_count').notNull(),
  module: text('module').notNull(),
  resourceId: uuid('resource_id').notNull(),
  firstSequence: bigint('first_sequence', { mode: 'bigint' }).notNull(),
  occurredAt: timestamp('occurred_at', { withTimezone: true, mode: 'date' }).notNull(),
  entries: json('entries').notNull(),
  traceparent: text('traceparent'),
});

export const eventSequencer = pgTable('event_sequencer', {
  single: boolean('single').primaryKey().default(true),
  lastPosition: bigint('last_position', { mode: 'bigint' }).notNull(),
});

export const eventLogStart = pgTable('event_log_start', {
  single: boolean('single').primaryKey().default(true),
  firstPosition: bigint('first_position', { mode: 'bigint' }).notNull(),
});

const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });

/** Idempotency keys. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    machineUserId: uuid('machine_user_id').$type<MachineUserId>().notNull(),
    method: text('method').notNull(),
    path: text('path').notNull(),
    key: text('key').notNull(),
    requestHash: bytea('request_hash').notNull(),
    responseStatus: integer('response_status'),
    responseBody: text('response_body'),
    createdAt: timestamp('created_at', { withTimezone: true, mode: 'date' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.machineUserId, table.method, table.path, table.key] })],
);

/** The columns of `outgoing_transfers` that record the progress of a payment at its provider. */
export function paymentProgressColumns() {
  return {
    submissionAttempt: integer('submission_attempt').notNull().default(0),
    submissionStatus: text('submission_status', { enum: SUBMISSION_STATUSES }).notNull().default('none'),
    retryCount: integer('retry_count').notNull().default(0),
    retryAt: timestamp('retry_at', { withTimezone: true, mode: 'date' }),
    rejectionCode: text('rejection_code'),
    lookUpCount: integer('look_up_count').notNull().default(0),
    nextLookUpAt: timestamp('next_look_up_at', { withTimezone: true, mode: 'date' }),
    returnedMinor: bigint('returned_minor', { mode: 'bigint' }).notNull().default(0n),
    recallNumber: integer('recall_number').notNull().default(0),
    recallStatus: text('recall_status', { enum: RECALL_STATUSES }),
  };
}
