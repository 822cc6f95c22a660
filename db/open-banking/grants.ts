import { and, eq, getTableColumns, gte, isNull, sql } from 'drizzle-orm';
import type { ConsentId, OutgoingTransferId, ThirdPartyProviderId } from '../../domain/common/ids.ts';
import {
  ACCESS_TOKEN_LIFETIME_MS,
  CODE_LIFETIME_MS,
  GRANT_LIFETIME_MS,
  requireConsentTransition,
  statusAt,
} from '../../domain/open-banking/consents.ts';
import type { Initiator } from '../common/audit-entries.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { type Given, prepared, preparedChange } from '../query/queries.ts';
import { deleteBatch, sendInsertion, updateRow } from '../query/rows.ts';
import { thirdPartyProviders } from '../third-party-providers/schema.ts';
import { type ConsentRow, type LockedConsent, lockConsent, transitionConsent } from './consents.ts';
import { openBankingAccessTokens, openBankingCodes, openBankingConsents } from './schema.ts';

/** What an authenticated third party presents for an access token. Hashes are SHA-256. */
export interface CodeExchange {
  readonly thirdPartyProviderId: ThirdPartyProviderId;
  readonly redirectUri: string;
  readonly codeHash: Uint8Array;
  /** The hash of the token to issue, which the caller has drawn. */
  readonly tokenHash: Uint8Array;
  /** The thumbprint of the key to which the token is bound; null for a bearer token. */
  readonly keyThumbprint: string | null;
}

export type Exchanged =
  | { readonly outcome: 'granted'; readonly consent: ConsentRow; readonly tokenExpiresAt: Date; readonly now: Date }
  /** Not a code that this third party can exchange now: unknown, another party's, for another address, expired, or of an ended consent. */
  | { readonly outcome: 'rejected' }
  /** A code that was used before: the tokens issued for it are revoked, which the caller must commit. */
  | { readonly outcome: 'replayed' };

const CODE = prepared((db, given: Given<{ codeHash: Uint8Array }>) =>
  db
    .select({ ...getTableColumns(openBankingCodes), activeSince: thirdPartyProviders.activeSince })
    .from(openBankingCodes)
    .innerJoin(openBankingConsents, eq(openBankingConsents.id, openBankingCodes.consentId))
    .innerJoin(thirdPartyProviders, eq(thirdPartyProviders.id, openBankingConsents.thirdPartyProviderId))
    .where(eq(openBankingCodes.codeHash, given.codeHash)),
);

/**
 * Exchanges a code for a grant and its access token. Only its own third party, with the redirect address of the request, uses a
 * code up: no other caller can invalidate or revoke anything by sending it.
 */
export async function exchangeCode(tx: Transaction, exchange: CodeExchange, initiator: Initiator): Promise<Exchanged> {
  const { codeHash, tokenHash, keyThumbprint } = exchange;
  const known = await tx.first(CODE, { codeHash });
  if (known === null) return { outcome: 'rejected' };
  const locked = await lockConsent(tx, known.consentId);
  const { row, consent, now } = locked;
  if (row.thirdPartyProviderId !== exchange.thirdPartyProviderId) return { outcome: 'rejected' };
  if (row.redirectUri !== exchange.redirectUri) return { outcome: 'rejected' };
  // Read again: the lock may have waited for another exchange.
  const code = await tx.first(CODE, { codeHash });
  if (code?.usedAt != null) return revokeTokens(tx, locked);
  if (known.createdAt < known.activeSince) return { outcome: 'rejected' };
  if (statusAt(consent, now) !== 'awaiting-exchange') return { outcome: 'rejected' };
  await tx.run(USE, { codeHash, now });
  const expiresAt = new Date(now.getTime() + GRANT_LIFETIME_MS);
  const granted = await transitionConsent(tx, locked, 'authorised', initiator, { grantedAt: now, expiresAt });
  const tokenExpiresAt = new Date(Math.min(now.getTime() + ACCESS_TOKEN_LIFETIME_MS, expiresAt.getTime()));
  sendInsertion(tx, openBankingAccessTokens, {
    tokenHash,
    consentId: row.id,
    expiresAt: tokenExpiresAt,
    keyThumbprint,
    createdAt: now,
  });
  return { outcome: 'granted', consent: granted, tokenExpiresAt, now };
}

const USE = preparedChange((db, given: Given<{ codeHash: Uint8Array; now: Date }>) =>
  db
    .update(openBankingCodes)
    .set({ usedAt: sql`${given.now}` })
    .where(eq(openBankingCodes.codeHash, given.codeHash)),
);

const REVOKE_TOKENS = preparedChange((db, given: Given<{ consentId: ConsentId; now: Date }>) =>
  db
    .update(openBankingAccessTokens)
    .set({ revokedAt: sql`${given.now}` })
    .where(and(eq(openBankingAccessTokens.consentId, given.consentId), isNull(openBankingAccessTokens.revokedAt))),
);

async function revokeTokens(tx: Transaction, { row, now }: LockedConsent): Promise<Exchanged> {
  await tx.run(REVOKE_TOKENS, { consentId: row.id, now });
  return { outcome: 'replayed' };
}

const BY_TOKEN = prepared((db, given: Given<{ tokenHash: Uint8Array }>) =>
  db
    .select({
      consent: getTableColumns(openBankingConsents),
      tokenExpiresAt: openBankingAccessTokens.expiresAt,
      revokedAt: openBankingAccessTokens.revokedAt,
      keyThumbprint: openBankingAccessTokens.keyThumbprint,
      now: sql<Date>`service_now()`,
    })
    .from(openBankingAccessTokens)
    .innerJoin(openBankingConsents, eq(openBankingConsents.id, openBankingAccessTokens.consentId))
    .innerJoin(thirdPartyProviders, eq(thirdPartyProviders.id, openBankingConsents.thirdPartyProviderId))
    .where(
      and(
        eq(openBankingAccessTokens.tokenHash, given.tokenHash),
        gte(openBankingAccessTokens.createdAt, thirdPartyProviders.activeSince),
      ),
    ),
);

export interface Grant {
  readonly consent: ConsentRow;
  /** The thumbprint of the key to which the token is bound, if it is. */
  readonly keyThumbprint: string | null;
}

/**
 * The consent of an access token, `authorised` or `consumed`. Null for a token that is unknown, expired or revoked, or from before
 * its third party became active, or of an ended grant. Does not check whether the third party is active, nor a proof of
 * the token's key.
 */
export async function findGrant(reader: Reader, tokenHash: Uint8Array): Promise<Grant | null> {
  const found = await reader.first(BY_TOKEN, { tokenHash });
  if (found === null || found.revokedAt !== null || found.tokenExpiresAt.getTime() <= found.now.getTime()) return null;
  const { consent, keyThumbprint } = found;
  const status = statusAt(consent, found.now);
  return status === 'authorised' || status === 'consumed' ? { consent, keyThumbprint } : null;
}

/**
 * Uses up the consent to a payment, in the transaction that creates the transfer and after its locks. Another payment, even a
 * concurrent one, is rejected, and its transfer with it.
 */
export async function consumeConsent(tx: Transaction, id: ConsentId, initiator: Initiator): Promise<ConsentRow> {
  const locked = await lockConsent(tx, id);
  requireConsentTransition(locked.consent, 'consumed', locked.now);
  return transitionConsent(tx, locked, 'consumed', initiator);
}

/** Records the transfer for which the consent was consumed, in the same transaction. */
export async function recordConsentedPayment(
  tx: Transaction,
  id: ConsentId,
  payment: OutgoingTransferId,
): Promise<void> {
  await updateRow(tx, openBankingConsents, id, { outgoingTransferId: payment });
}

/** Deletes a batch of expired access tokens; returns how many. They are rejected in the same way as unknown ones. */
export function deleteExpiredTokens(tx: Transaction, batchSize: number): Promise<number> {
  return deleteBatch(tx, openBankingAccessTokens, sql`expires_at < service_now()`, batchSize);
}

/**
 * Deletes a batch of codes; returns how many. Sending a used code again revokes the token issued for it, so a code is kept until
 * the last token that may have been issued for it has expired.
 */
export function deleteOldCodes(tx: Transaction, batchSize: number): Promise<number> {
  const keptFor = `${CODE_LIFETIME_MS + ACCESS_TOKEN_LIFETIME_MS} milliseconds`;
  return deleteBatch(tx, openBankingCodes, sql`created_at < service_now() - ${keptFor}::interval`, batchSize);
}
