import { boolean, customType, jsonb, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import type { ConsoleSessionId, PersonId } from '../../domain/common/ids.ts';
import type { Role } from '../../domain/machine-users/roles.ts';

const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' });
const bytea = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' });
const roles = () => text('roles').array().$type<Role[]>().notNull();

export const people = pgTable('people', {
  id: uuid('id').$type<PersonId>().primaryKey(),
  issuer: text('issuer').notNull(),
  subject: text('subject').notNull(),
  name: text('name').notNull(),
  email: text('email'),
  roles: roles(),
  createdAt: instant('created_at').notNull(),
  lastSignedInAt: instant('last_signed_in_at').notNull(),
  lastLookedAt: instant('last_looked_at'),
});

export const consoleSignIns = pgTable('console_sign_ins', {
  stateHash: bytea('state_hash').primaryKey(),
  browserHash: bytea('browser_hash').notNull(),
  nonce: text('nonce').notNull(),
  codeVerifier: text('code_verifier').notNull(),
  returnTo: text('return_to').notNull(),
  asksAgain: boolean('asks_again').notNull(),
  createdAt: instant('created_at').notNull(),
});

export const consoleSessions = pgTable('console_sessions', {
  tokenHash: bytea('token_hash').primaryKey(),
  id: uuid('id').$type<ConsoleSessionId>().notNull(),
  personId: uuid('person_id').$type<PersonId>().notNull(),
  roles: roles(),
  csrfToken: text('csrf_token').notNull(),
  signedInAt: instant('signed_in_at').notNull(),
  createdAt: instant('created_at').notNull(),
  lastSeenAt: instant('last_seen_at').notNull(),
  endsAt: instant('ends_at').notNull(),
  revokedAt: instant('revoked_at'),
  notice: jsonb('notice'),
});
