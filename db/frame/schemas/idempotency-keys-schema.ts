import { customType, integer, pgTable, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import type { MachineUserId } from '../../../domain/frame/ids.ts';

const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });

/** Idempotency keys for drizzle; the migrations are authoritative. */
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
