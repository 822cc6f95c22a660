import { jsonb, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import type { MachineUserId, MachineUserKeyId } from '../../domain/common/ids.ts';
import type { Role } from '../../domain/machine-users/roles.ts';

/** Machine users and their keys. */
export const machineUsers = pgTable('machine_users', {
  id: uuid('id').$type<MachineUserId>().primaryKey(),
  name: text('name').notNull(),
  roles: text('roles').array().$type<Role[]>().notNull(),
  status: text('status', { enum: ['active', 'revoked'] }).notNull(),
  createdAt: timestamp('created_at', { withTimezone: true, mode: 'date' }).notNull(),
  revokedAt: timestamp('revoked_at', { withTimezone: true, mode: 'date' }),
});

/** A trigger fills `key_material`. */
export const machineUserKeys = pgTable('machine_user_keys', {
  id: uuid('id').$type<MachineUserKeyId>().primaryKey(),
  machineUserId: uuid('machine_user_id').$type<MachineUserId>().notNull(),
  kid: text('kid').notNull(),
  algorithm: text('algorithm', { enum: ['RS256', 'PS256', 'ES256', 'EdDSA'] }).notNull(),
  publicKey: jsonb('public_key').notNull(),
  status: text('status', { enum: ['active', 'revoked'] }).notNull(),
  createdAt: timestamp('created_at', { withTimezone: true, mode: 'date' }).notNull(),
  revokedAt: timestamp('revoked_at', { withTimezone: true, mode: 'date' }),
  keyMaterial: text('key_material'),
});
