import { and, eq, getTableColumns, gte, isNull, sql } from 'drizzle-orm';
import type { ConsentId, OutgoingTransferId, ThirdPartyProviderId } from '../../domain/frame/ids.ts';
import {
  ACCESS_TOKEN_LIFETIME_MS,
  CODE_LIFETIME_MS,
  GRANT_LIFETIME_MS,
  requireConsentMove,
  statusAt,
} from '../../domain/open-banking/consents.ts';
import type { Reader, Transaction } from '../driver/client.ts';
import { type Given, prepared } from '../driver/queries/queries.ts';
import { deleteBatch, sendInsertion, updateRow } from '../driver/queries/rows.ts';
import type { Initiator } from '../frame/audit-entries.ts';
import { thirdPartyProviders } from '../third-party-providers/third-party-providers-schema.ts';
import { type ConsentRow, type LockedConsent, lockConsent, moveConsent } from './consents.ts';
import { openBankingAccessTokens, openBankingCodes, openBankingConsents } from './open-banking-schema.ts';

/** What an authenticated third party presents for an access token. Hashes are SHA-256. */
export interface CodeExchange {
  readonly thirdPartyProviderId: ThirdPartyProviderId;
  readonly redirectUri: string;
  readonly codeHash: Uint8Array;
  /** Of the token to issue, drawn by the caller. */
  readonly tokenHash: Uint8Array;
}

export type Exchanged =
  | { readonly outcome: 'granted'; readonly consent: ConsentRow; readonly tokenExpiresAt: Date; readonly now: Date }
  /** Not a code that this third party can exchange now: unknown, another's, for another address, too late, or over. */
  | { readonly outcome: 'refused' }
  /** A code that was used before: the tokens that it gave are revoked, which the caller must commit. */
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
 * code up: nobody else can spoil or revoke anything by sending it.
 */
export async function exchangeCode(tx: Transaction, exchange: CodeExchange, initiator: Initiator): Promise<Exchanged> {
  const { codeHash, tokenHash } = exchange;
  const known = await tx.first(CODE, { codeHash });
  if (known === null) return { outcome: 'refused' };
  const locked = await lockConsent(tx, known.consentId);
  const { row, consent, now } = locked;
  if (row.thirdPartyProviderId !== exchange.thirdPartyProviderId) return { outcome: 'refused' };
  if (row.redirectUri !== exchange.redirectUri) return { outcome: 'refused' };
  // Read again: the lock may have waited for another exchange.
  const code = await tx.first(CODE, { codeHash });
  if (code?.usedAt != null) return revokeTokens(tx, locked);
  if (known.createdAt < known.activeSince) return { outcome: 'refused' };
  if (statusAt(consent, now) !== 'awaiting-exchange') return { outcome: 'refused' };
  await tx.run(USE, { codeHash, now });
  const expiresAt = new Date(now.getTime() + GRANT_LIFETIME_MS);
  const granted = await moveConsent(tx, locked, 'authorised', initiator, { grantedAt: now, expiresAt });
  const tokenExpiresAt = new Date(Math.min(now.getTime() + ACCESS_TOKEN_LIFETIME_MS, expiresAt.getTime()));
  sendInsertion(tx, openBankingAccessTokens, {
    tokenHash,
    consentId: row.id,
    expiresAt: tokenExpiresAt,
    createdAt: now,
  });
  return { outcome: 'granted', consent: granted, tokenExpiresAt, now };
}

const USE = prepared((db, given: Given<{ codeHash: Uint8Array; now: Date }>) =>
  db
    .update(openBankingCodes)
    .set({ usedAt: sql`${given.now}` })
    .where(eq(openBankingCodes.codeHash, given.codeHash)),
);

const REVOKE_TOKENS = prepared((db, given: Given<{ consentId: ConsentId; now: Date }>) =>
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

/**
 * The consent that an access token stands for, `authorised` or `consumed`. Null for a token that is unknown, too old or revoked,
 * from before its third party became active, or whose grant is over. Whether the third party is active is not asked here.
 */
export async function findGrant(reader: Reader, tokenHash: Uint8Array): Promise<ConsentRow | null> {
  const found = await reader.first(BY_TOKEN, { tokenHash });
  if (found === null || found.revokedAt !== null || found.tokenExpiresAt.getTime() <= found.now.getTime()) return null;
  const status = statusAt(found.consent, found.now);
  return status === 'authorised' || status === 'consumed' ? found.consent : null;
}

/**
 * Uses up the consent to a payment, in the transaction that creates the transfer and after its locks. Another payment, also of the
 * same moment, is refused, and its transfer with it.
 */
export async function consumeConsent(tx: Transaction, id: ConsentId, initiator: Initiator): Promise<ConsentRow> {
  const locked = await lockConsent(tx, id);
  requireConsentMove(locked.consent, 'consumed', locked.now);
  return moveConsent(tx, locked, 'consumed', initiator);
}

/** Names the transfer for which the consent was consumed, in the same transaction. */
export async function nameConsentedPayment(tx: Transaction, id: ConsentId, payment: OutgoingTransferId): Promise<void> {
  await updateRow(tx, openBankingConsents, id, { outgoingTransferId: payment });
}

/** Deletes a batch of access tokens that have expired; returns how many. They are refused as unknown ones are. */
export function deleteExpiredTokens(tx: Transaction, batchSize: number): Promise<number> {
  return deleteBatch(tx, openBankingAccessTokens, sql`expires_at < service_now()`, batchSize);
}

/**
 * Deletes a batch of codes; returns how many. Whoever sends a used code again revokes the token that it gave, so a code is kept
 * until the last token that it can have given has expired.
 */
export function deleteOldCodes(tx: Transaction, batchSize: number): Promise<number> {
  const keptFor = `${CODE_LIFETIME_MS + ACCESS_TOKEN_LIFETIME_MS} milliseconds`;
  return deleteBatch(tx, openBankingCodes, sql`created_at < service_now() - ${keptFor}::interval`, batchSize);
}
