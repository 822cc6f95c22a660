import type { ConsentRow } from '../../../db/open-banking/consents.ts';
import { type ConsentFacts, readConsentFacts } from '../../../db/open-banking/wait-facts.ts';
import type { Reader } from '../../../db/query/database.ts';
import type { ConsentId } from '../../../domain/common/ids.ts';
import { minuteInUtc } from '../../../domain/common/waits.ts';
import {
  approvedAt,
  type ConsentWait,
  consentWait,
  deadlineOf,
  statusAt,
  waitingSinceOf,
} from '../../../domain/open-banking/consents.ts';
import { operate } from './commands.ts';
import type { Explanation } from './explanation.ts';

/** What a consent waits for; null if there is no such consent. */
export async function explainConsent(reader: Reader, id: ConsentId): Promise<Explanation | null> {
  const found = await readConsentFacts(reader, id);
  if (found === null) return null;
  const { consent, facts } = found;
  const { status } = consent;
  const shared = { resource: 'consent', id, status, attempts: attemptsOf(consent, facts) };
  const reason = consentWait(status);
  const until = deadlineOf(consent);
  if (reason === null || until === null) {
    return { ...shared, wait: null, obstacles: [], releasedBy: [], workflowId: null };
  }
  const isOver = statusAt(consent, facts.now) === 'expired';
  return {
    ...shared,
    wait: {
      for: reason,
      since: waitingSinceOf(consent).toISOString(),
      until: until.toISOString(),
      rule: null,
      untilMeans: `${minute(until)}: ${FOLLOWS[reason]}`,
    },
    obstacles: isOver ? [OVER] : obstaclesOf(consent, facts),
    releasedBy: isOver ? [] : RELEASES[reason](consent),
    workflowId: `consent/${id}`,
  };
}

const OVER =
  'its time is up, and nothing accepts it any more; only the record is missing. A process with the loops makes it within seconds, its workflow within half an hour.';

/** What follows at the end of the wait. */
const FOLLOWS: Readonly<Record<ConsentWait, string>> = {
  'account-holder': 'then the request expires, and the third party has to ask again.',
  exchange: 'then the code is worth nothing and the consent expires; the third party has to ask again.',
  'grant-expiry': 'then the consent expires, and with it the third party’s access.',
};

function path({ id }: ConsentRow): string {
  return `PATCH /open-banking/GB/consents/${id} with data.consent.action`;
}

const RELEASES: Readonly<Record<ConsentWait, (consent: ConsentRow) => string[]>> = {
  'account-holder': (consent) => [
    `${path(consent)} "approve", userId and accounts, or "reject", once the account holder has answered`,
  ],
  exchange: (consent) => [
    'the third party, which exchanges its code: POST /open-banking/GB/token. A code that got lost cannot be issued again',
    otherwise(consent),
  ],
  'grant-expiry': (consent) => [
    consent.scope === 'payments'
      ? 'the third party’s payment: POST /open-banking/GB/payments'
      : 'nothing: the third party has its access until then',
    otherwise(consent),
  ],
};

function otherwise(consent: ConsentRow): string {
  return `or end the wait otherwise: ${path(consent)} "revoke"`;
}

function obstaclesOf({ status, scope, thirdPartyProviderId }: ConsentRow, facts: ConsentFacts): string[] {
  const { thirdPartyStatus, notActive, tokenExpiresAt, tokenRevokedAt, now } = facts;
  const isTokenOver = tokenRevokedAt !== null || tokenExpiresAt === null || tokenExpiresAt.getTime() <= now.getTime();
  return [
    ...(thirdPartyStatus === 'active'
      ? []
      : [
          `the third-party provider ${thirdPartyProviderId} is ${thirdPartyStatus}: it gets no code and no token, and those that it has open nothing.`,
        ]),
    ...(scope === 'payments' ? notActive.map((resource) => `${resource}, so nothing can be paid from it.`) : []),
    ...(status === 'authorised' && isTokenOver
      ? [
          'its access token is no longer valid, and no other is issued: the third party has to ask the account holder again.',
        ]
      : []),
  ];
}

function attemptsOf({ userId, codeExpiresAt, grantedAt }: ConsentRow, facts: ConsentFacts): string[] {
  const { tokenIssuedAt, tokenExpiresAt, tokenRevokedAt, paidBy } = facts;
  return [
    ...(userId === null || codeExpiresAt === null
      ? []
      : [`approved for user ${userId}, ${minute(approvedAt(codeExpiresAt))}`]),
    ...(grantedAt === null ? [] : [`its code was exchanged, ${minute(grantedAt)}`]),
    ...(tokenIssuedAt === null || tokenExpiresAt === null
      ? []
      : [
          tokenRevokedAt === null
            ? `its access token is good until ${minute(tokenExpiresAt)} at most`
            : `its access token was revoked, ${minute(tokenRevokedAt)}: its code was sent again`,
        ]),
    ...(paidBy === null ? [] : [`its payment: ${operate(`why ${paidBy}`)}`]),
  ];
}

function minute(instant: Date): string {
  return minuteInUtc(instant.toISOString());
}
