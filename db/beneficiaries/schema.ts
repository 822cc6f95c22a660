import { boolean, jsonb, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import type {
  VerificationBankAccount,
  VerificationIdentification,
  VerificationIdentity,
} from '../../domain/beneficiaries/verifications.ts';
import { DIRECTORIES, VERIFICATION_REASONS } from '../../domain/beneficiaries/verifications.ts';
import type { BeneficiaryVerificationId, ClientId, MachineUserId } from '../../domain/common/ids.ts';

export const beneficiaryVerifications = pgTable('beneficiary_verifications', {
  id: uuid('id').$type<BeneficiaryVerificationId>().primaryKey(),
  clientId: uuid('client_id').$type<ClientId>().notNull(),
  directory: text('directory', { enum: DIRECTORIES }).notNull(),
  provider: text('provider').notNull(),
  providerReference: text('provider_reference').notNull(),
  identity: jsonb('identity').$type<VerificationIdentity>().notNull(),
  bankAccount: jsonb('bank_account').$type<VerificationBankAccount>().notNull(),
  secondaryIdentification: text('secondary_identification'),
  identification: jsonb('identification').$type<VerificationIdentification>(),
  matched: boolean('matched').notNull(),
  reason: text('reason', { enum: VERIFICATION_REASONS }),
  schemeReasonCode: text('scheme_reason_code'),
  accountHolderName: text('account_holder_name'),
  requestedBy: uuid('requested_by').$type<MachineUserId>().notNull(),
  createdAt: timestamp('created_at', { withTimezone: true, mode: 'date' }).notNull(),
});
