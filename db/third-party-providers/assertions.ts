import { sql } from 'drizzle-orm';
import type { ThirdPartyProviderId } from '../../domain/common/ids.ts';
import { ASSERTION_KEPT_MS } from '../../domain/third-party-providers/third-party-providers.ts';
import type { Transaction } from '../query/database.ts';
import { type Given, preparedChange } from '../query/queries.ts';
import { deleteBatch } from '../query/rows.ts';
import { thirdPartyAssertions } from './schema.ts';

/** A token that a third party signed. `jtiHash` is the SHA-256 of its `jti`. */
export interface Assertion {
  readonly thirdPartyProviderId: ThirdPartyProviderId;
  readonly jtiHash: Uint8Array;
  /** When its `exp` and the tolerance have passed, and it would be rejected without this record. */
  readonly expiresAt: Date;
}

const USE = preparedChange((db, { thirdPartyProviderId, jtiHash, expiresAt }: Given<Assertion>) =>
  db
    .insert(thirdPartyAssertions)
    .values({ thirdPartyProviderId, jtiHash, expiresAt })
    .onConflictDoNothing()
    .returning({ jtiHash: thirdPartyAssertions.jtiHash }),
);

/** Records the use of an assertion; false if it was used before. The second of two concurrent uses waits for the first. */
export async function useAssertion(tx: Transaction, assertion: Assertion): Promise<boolean> {
  return (await tx.first(USE, assertion)) !== null;
}

/** Deletes a batch of assertions that every process rejects as expired; returns how many. `now`: the wall clock, by which they are checked. */
export function deleteExpiredAssertions(tx: Transaction, now: Date, batchSize: number): Promise<number> {
  const expiredBefore = new Date(now.getTime() - ASSERTION_KEPT_MS);
  return deleteBatch(tx, thirdPartyAssertions, sql`expires_at < ${expiredBefore}`, batchSize);
}
