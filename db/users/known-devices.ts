import { and, eq, gt, sql } from 'drizzle-orm';
import type { UserId } from '../../domain/common/ids.ts';
import { KNOWN_DEVICE_LIFETIME_MS, KNOWN_DEVICES_MAX } from '../../domain/users/authentications.ts';
import { readClock } from '../common/clock.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { type Given, prepared, preparedChange } from '../query/queries.ts';
import { deleteBatch } from '../query/rows.ts';
import { userKnownDevices, users } from './schema.ts';

/** Devices on which a user has signed in. `tokenHash` is the SHA-256 of the token that a device keeps. */
type Device = { readonly tokenHash: Uint8Array };

const OF_ADDRESS = prepared((db, given: Given<Device & { emailKey: string }>) =>
  db
    .select({ userId: userKnownDevices.userId })
    .from(userKnownDevices)
    .innerJoin(users, eq(users.id, userKnownDevices.userId))
    .where(
      and(
        eq(userKnownDevices.tokenHash, given.tokenHash),
        eq(users.emailKey, given.emailKey),
        gt(userKnownDevices.expiresAt, sql`service_now()`),
      ),
    ),
);

/** Whether the user with this address has signed in on the device. */
export async function isKnownDevice(reader: Reader, emailKey: string, tokenHash: Uint8Array): Promise<boolean> {
  return (await reader.first(OF_ADDRESS, { emailKey, tokenHash })) !== null;
}

const KEEP = preparedChange((db, given: Given<Device & { userId: UserId; expiresAt: Date }>) =>
  db
    .insert(userKnownDevices)
    .values({ tokenHash: given.tokenHash, userId: given.userId, expiresAt: given.expiresAt })
    .onConflictDoUpdate({
      target: userKnownDevices.tokenHash,
      set: { expiresAt: sql`excluded.expires_at` },
      setWhere: sql`${userKnownDevices.userId} = excluded.user_id`,
    }),
);

const FORGET_OLDEST = preparedChange((db, given: Given<{ userId: UserId }>) =>
  db.delete(userKnownDevices).where(
    sql`${userKnownDevices.tokenHash} IN (SELECT token_hash FROM user_known_devices WHERE user_id = ${given.userId}
      ORDER BY expires_at DESC OFFSET ${sql.raw(String(KNOWN_DEVICES_MAX))})`,
  ),
);

/** The user has signed in on the device, which stays known from now on. */
export async function keepKnownDevice(tx: Transaction, userId: UserId, tokenHash: Uint8Array): Promise<void> {
  const now = await readClock(tx);
  await tx.run(KEEP, { tokenHash, userId, expiresAt: new Date(now.getTime() + KNOWN_DEVICE_LIFETIME_MS) });
  await tx.run(FORGET_OLDEST, { userId });
}

const FORGET = preparedChange((db, given: Given<{ userId: UserId }>) =>
  db.delete(userKnownDevices).where(eq(userKnownDevices.userId, given.userId)),
);

/** A new password forgets all devices: the person who knew the old one may have one, too. */
export async function forgetKnownDevices(tx: Transaction, userId: UserId): Promise<void> {
  await tx.run(FORGET, { userId });
}

/** Deletes a batch of devices that are no longer known; returns how many. */
export function deleteOldKnownDevices(tx: Transaction, batchSize: number): Promise<number> {
  return deleteBatch(tx, userKnownDevices, sql`expires_at < service_now()`, batchSize);
}
