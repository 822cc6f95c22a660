import { bigint, customType, jsonb, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import type {
  AccountId,
  ConsentId,
  OutgoingTransferId,
  SigningKeyId,
  ThirdPartyProviderId,
  UserId,
} from '../../domain/common/ids.ts';
import type { Currency } from '../../domain/common/money.ts';
import {
  CONSENT_SCOPES,
  CONSENT_STATUSES,
  type CreditorAccount,
  PAYMENT_SCOPES,
  PAYMENT_TYPES,
} from '../../domain/open-banking/consents.ts';

const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' });
const bytea = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' });

export const openBankingConsents = pgTable('open_banking_consents', {
  id: uuid('id').$type<ConsentId>().primaryKey(),
  thirdPartyProviderId: uuid('third_party_provider_id').$type<ThirdPartyProviderId>().notNull(),
  status: text('status', { enum: CONSENT_STATUSES }).notNull(),
  scope: text('scope', { enum: CONSENT_SCOPES }).notNull(),
  paymentScope: text('payment_scope', { enum: PAYMENT_SCOPES }),
  paymentType: text('payment_type', { enum: PAYMENT_TYPES }),
  instructedAmountMinor: bigint('instructed_amount_minor', { mode: 'bigint' }),
  instructedCurrency: text('instructed_currency').$type<Currency>(),
  creditorAccount: jsonb('creditor_account').$type<CreditorAccount>(),
  currencyOfTransfer: text('currency_of_transfer').$type<Currency>(),
  requestedExecutionAt: instant('requested_execution_at'),
  redirectUri: text('redirect_uri').notNull(),
  state: text('state').notNull(),
  nonce: text('nonce').notNull(),
  userId: uuid('user_id').$type<UserId>(),
  accountIds: uuid('account_ids').array().$type<AccountId[]>(),
  /** Who approved it for the account holder. */
  approvedBy: text('approved_by'),
  /** The payment that consumed it. */
  outgoingTransferId: uuid('outgoing_transfer_id').$type<OutgoingTransferId>(),
  requestExpiresAt: instant('request_expires_at').notNull(),
  codeExpiresAt: instant('code_expires_at'),
  grantedAt: instant('granted_at'),
  expiresAt: instant('expires_at'),
  nextCheckAt: instant('next_check_at'),
  revision: bigint('revision', { mode: 'bigint' }).notNull().default(1n),
  eventSequence: bigint('event_sequence', { mode: 'bigint' }).notNull().default(0n),
  createdAt: instant('created_at').notNull(),
});

export const openBankingCodes = pgTable('open_banking_codes', {
  codeHash: bytea('code_hash').primaryKey(),
  consentId: uuid('consent_id').$type<ConsentId>().notNull(),
  usedAt: instant('used_at'),
  createdAt: instant('created_at').notNull(),
});

export const openBankingAccessTokens = pgTable('open_banking_access_tokens', {
  tokenHash: bytea('token_hash').primaryKey(),
  consentId: uuid('consent_id').$type<ConsentId>().notNull(),
  expiresAt: instant('expires_at').notNull(),
  revokedAt: instant('revoked_at'),
  /** RFC 7638 thumbprint of the key to which the token is bound. */
  keyThumbprint: text('key_thumbprint'),
  createdAt: instant('created_at').notNull(),
});

export const signingKeys = pgTable('signing_keys', {
  id: uuid('id').$type<SigningKeyId>().primaryKey(),
  publicJwk: jsonb('public_jwk').notNull(),
  privateKey: text('private_key').notNull(),
  signsFrom: instant('signs_from').notNull(),
  createdAt: instant('created_at').notNull(),
});
