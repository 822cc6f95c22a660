import type { ConsentId, OutgoingTransferId } from '../../domain/common/ids.ts';
import type { ThirdPartyProviderStatus } from '../../domain/third-party-providers/third-party-providers.ts';
import type { Reader } from '../query/database.ts';
import { type ConsentRow, findConsent } from './consents.ts';

const FACTS = `
  SELECT party.status AS "thirdPartyStatus", service_now() AS now,
    ARRAY(SELECT account.id || ' is ' || account.status FROM accounts account
        WHERE account.status <> 'active' AND account.id = ANY (consent.account_ids)
      UNION ALL SELECT client.id || ' is ' || client.status FROM clients client
        WHERE client.status <> 'active' AND client.id IN (SELECT client_id FROM accounts WHERE id = ANY (consent.account_ids))
    ) AS "notActive",
    token.created_at AS "tokenIssuedAt", token.expires_at AS "tokenExpiresAt", token.revoked_at AS "tokenRevokedAt",
    consent.outgoing_transfer_id AS "paidBy"
  FROM open_banking_consents consent
    JOIN third_party_providers party ON party.id = consent.third_party_provider_id
    LEFT JOIN LATERAL (SELECT * FROM open_banking_access_tokens WHERE consent_id = consent.id
      ORDER BY created_at DESC LIMIT 1) AS token ON true
  WHERE consent.id = $1`;

/** What a consent's wait depends on, in addition to its row. */
export interface ConsentFacts {
  readonly thirdPartyStatus: ThirdPartyProviderStatus;
  /** Those of its accounts and their clients that are not active, with their status. */
  readonly notActive: readonly string[];
  /** The last access token's times; null if there is none, or it was deleted after its expiry. */
  readonly tokenIssuedAt: Date | null;
  readonly tokenExpiresAt: Date | null;
  readonly tokenRevokedAt: Date | null;
  /** The transfer that has consumed the consent. */
  readonly paidBy: OutgoingTransferId | null;
  readonly now: Date;
}

/** A consent with the facts that its wait depends on, for a person; null if there is no such consent. Read without locks. */
export async function readConsentFacts(
  reader: Reader,
  id: ConsentId,
): Promise<{ readonly consent: ConsentRow; readonly facts: ConsentFacts } | null> {
  const [consent, [facts]] = await Promise.all([findConsent(reader, id), reader.statement<ConsentFacts>(FACTS, [id])]);
  return consent === null || facts === undefined ? null : { consent, facts };
}
