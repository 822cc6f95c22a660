import { boolean, customType, jsonb, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import type { ThirdPartyProviderId } from '../../domain/common/ids.ts';
import {
  THIRD_PARTY_PROVIDER_STATUSES,
  type ThirdPartyJwks,
} from '../../domain/third-party-providers/third-party-providers.ts';

const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' });
const bytea = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' });

export const thirdPartyProviders = pgTable('third_party_providers', {
  id: uuid('id').$type<ThirdPartyProviderId>().primaryKey(),
  name: text('name').notNull(),
  website: text('website').notNull(),
  applicationName: text('application_name').notNull(),
  applicationDescription: text('application_description').notNull(),
  applicationWebsite: text('application_website').notNull(),
  redirectUris: text('redirect_uris').array().notNull(),
  jwks: jsonb('jwks').$type<ThirdPartyJwks>().notNull(),
  dpopBoundAccessTokens: boolean('dpop_bound_access_tokens').notNull().default(false),
  status: text('status', { enum: THIRD_PARTY_PROVIDER_STATUSES }).notNull(),
  createdAt: instant('created_at').notNull(),
  updatedAt: instant('updated_at').notNull(),
  activeSince: instant('active_since').notNull(),
});

export const thirdPartyAssertions = pgTable('third_party_assertions', {
  thirdPartyProviderId: uuid('third_party_provider_id').$type<ThirdPartyProviderId>().notNull(),
  jtiHash: bytea('jti_hash').notNull(),
  expiresAt: instant('expires_at').notNull(),
});
