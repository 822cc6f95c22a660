import { jsonb, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import type { ThirdPartyProviderId } from '../../domain/frame/ids.ts';

/** Third-party providers for drizzle; db/migrations/0042_open_banking_consents.sql is authoritative. */
const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' });

export const thirdPartyProviders = pgTable('third_party_providers', {
  id: uuid('id').$type<ThirdPartyProviderId>().primaryKey(),
  name: text('name').notNull(),
  website: text('website').notNull(),
  applicationName: text('application_name').notNull(),
  applicationDescription: text('application_description').notNull(),
  applicationWebsite: text('application_website').notNull(),
  redirectUris: text('redirect_uris').array().notNull(),
  jwks: jsonb('jwks').notNull(),
  status: text('status', { enum: ['active', 'inactive'] }).notNull(),
  createdAt: instant('created_at').notNull(),
  updatedAt: instant('updated_at').notNull(),
});
