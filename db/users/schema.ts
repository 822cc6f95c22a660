import { bigint, customType, jsonb, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import type {
  ClientId,
  UserClientRelationId,
  UserId,
  UserInvitationId,
  UserSignUpId,
} from '../../domain/common/ids.ts';
import type { UserIdentity, UserProfile } from '../../domain/users/users.ts';

const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' });
const bytea = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' });
const revision = () => bigint('revision', { mode: 'bigint' }).notNull().default(1n);

export const users = pgTable('users', {
  id: uuid('id').$type<UserId>().primaryKey(),
  email: text('email').notNull(),
  emailKey: text('email_key').notNull(),
  status: text('status', { enum: ['active', 'inactive'] }).notNull(),
  identity: jsonb('identity').$type<UserIdentity>().notNull(),
  profile: jsonb('profile').$type<UserProfile>().notNull(),
  passwordHash: text('password_hash'),
  revision: revision(),
  eventSequence: bigint('event_sequence', { mode: 'bigint' }).notNull().default(0n),
  createdAt: instant('created_at').notNull(),
});

export const userClientRelations = pgTable('user_client_relations', {
  id: uuid('id').$type<UserClientRelationId>().primaryKey(),
  userId: uuid('user_id').$type<UserId>().notNull(),
  clientId: uuid('client_id').$type<ClientId>().notNull(),
  status: text('status', { enum: ['allowed', 'revoked'] }).notNull(),
  revision: revision(),
  createdAt: instant('created_at').notNull(),
});

export const userSignUps = pgTable('user_sign_ups', {
  id: uuid('id').$type<UserSignUpId>().primaryKey(),
  email: text('email').notNull(),
  identity: jsonb('identity').$type<UserIdentity>().notNull(),
  status: text('status', { enum: ['pending', 'accepted', 'rejected', 'cancelled', 'expired'] }).notNull(),
  expiresAt: instant('expires_at').notNull(),
  mailedAt: instant('mailed_at'),
  nextCheckAt: instant('next_check_at'),
  revision: revision(),
  createdAt: instant('created_at').notNull(),
  kind: text('kind', { enum: ['invitation', 'password-reset'] })
    .notNull()
    .default('invitation'),
  userId: uuid('user_id').$type<UserId>(),
});

export const userInvitations = pgTable('user_invitations', {
  id: uuid('id').$type<UserInvitationId>().primaryKey(),
  signUpId: uuid('sign_up_id').$type<UserSignUpId>().notNull(),
  emailKey: text('email_key').notNull(),
  clientId: uuid('client_id').$type<ClientId>().notNull(),
  userClientRelation: text('user_client_relation', {
    enum: ['director', 'shareholder', 'director-and-shareholder', 'authorized-person'],
  }).notNull(),
  status: text('status', { enum: ['pending', 'accepted', 'rejected', 'cancelled'] }).notNull(),
  createdAt: instant('created_at').notNull(),
});

export const userSignUpLinks = pgTable('user_sign_up_links', {
  tokenHash: bytea('token_hash').primaryKey(),
  signUpId: uuid('sign_up_id').$type<UserSignUpId>().notNull(),
  createdAt: instant('created_at').notNull(),
});

export const userAuthenticationFailures = pgTable('user_authentication_failures', {
  addressHash: bytea('address_hash').primaryKey(),
  failedAt: instant('failed_at').array().notNull(),
  forgetAt: instant('forget_at').notNull(),
  ofAddressHash: bytea('of_address_hash'),
});

export const userKnownDevices = pgTable('user_known_devices', {
  tokenHash: bytea('token_hash').primaryKey(),
  userId: uuid('user_id').$type<UserId>().notNull(),
  expiresAt: instant('expires_at').notNull(),
});
