import { bigint, jsonb, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import type { AccountId, ClientId, ProvisionedAccountCreditId } from '../../domain/common/ids.ts';
import type { Address } from '../../domain/common/parties/addresses.ts';
import type { PartyAccount } from '../../domain/incoming-transfers/incoming-transfers.ts';

export const provisionedAccountCredits = pgTable('provisioned_account_credits', {
  id: uuid('id').$type<ProvisionedAccountCreditId>().primaryKey(),
  clientId: uuid('client_id').$type<ClientId>(),
  accountId: uuid('account_id').$type<AccountId>(),
  amountMinor: bigint('amount_minor', { mode: 'bigint' }).notNull(),
  currency: text('currency').notNull(),
  scope: text('scope', { enum: ['internal', 'external'] }).notNull(),
  scheme: text('scheme'),
  senderBankAccount: jsonb('sender_bank_account').$type<PartyAccount>(),
  senderName: text('sender_name'),
  senderAddress: jsonb('sender_address').$type<Address>(),
  senderToReceiverInformation: text('sender_to_receiver_information'),
  receiverAccount: jsonb('receiver_account').$type<PartyAccount>(),
  serviceProviderId: text('service_provider_id'),
  provider: text('provider').notNull(),
  createdAt: timestamp('created_at', { withTimezone: true, mode: 'date' }).notNull(),
});
