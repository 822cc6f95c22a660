import { sql } from 'drizzle-orm';
import type { ThirdPartyProviderId } from '../../domain/frame/ids.ts';
import { ASSERTION_KEPT_MS } from '../../domain/third-party-providers/third-party-providers.ts';
import type { Transaction } from '../driver/client.ts';
import { type Given, prepared } from '../driver/queries/queries.ts';
import { deleteBatch } from '../driver/queries/rows.ts';
import { thirdPartyAssertions } from './third-party-providers-schema.ts';

/** A token that a third party signed. `jtiHash` is the SHA-256 of its `jti`. */
export interface Assertion {
  readonly thirdPartyProviderId: ThirdPartyProviderId;
  readonly jtiHash: Uint8Array;
  /** When its `exp` and the tolerance have passed, and it would be refused without this record. */
  readonly expiresAt: Date;
}

const USE = prepared((db, { thirdPartyProviderId, jtiHash, expiresAt }: Given<Assertion>) =>
  db
    .insert(thirdPartyAssertions)
    .values({ thirdPartyProviderId, jtiHash, expiresAt })
    .onConflictDoNothing()
    .returning({ jtiHash: thirdPartyAssertions.jtiHash }),
);

/** Records the use of an assertion; false if it was used before. Of two at once the second waits for the first. */
export async function useAssertion(tx: Transaction, assertion: Assertion): Promise<boolean> {
  return (await tx.first(USE, assertion)) !== null;
}

/** Deletes a batch of assertions that every process refuses as expired; returns how many. `now`: the wall clock, by which they are checked. */
export function deleteExpiredAssertions(tx: Transaction, now: Date, batchSize: number): Promise<number> {
  const expiredBefore = new Date(now.getTime() - ASSERTION_KEPT_MS);
  return deleteBatch(tx, thirdPartyAssertions, sql`expires_at < ${expiredBefore}`, batchSize);
}
