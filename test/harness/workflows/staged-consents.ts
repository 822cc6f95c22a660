import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { readClock } from '../../../db/common/clock.ts';
import { approveConsent } from '../../../db/open-banking/approvals.ts';
import { findConsent, requestConsent, revokeConsent } from '../../../db/open-banking/consents.ts';
import { exchangeCode } from '../../../db/open-banking/grants.ts';
import { createUser } from '../../../db/users/users.ts';
import { asId, type ThirdPartyProviderId } from '../../../domain/common/ids.ts';
import { TESTER } from '../audit.ts';
import type { Stage } from '../stage.ts';

const REDIRECT_URI = 'https://budget.example.com/callback';

/** A consent that a third party has asked for, and what happens to it, each by its transition. */
export async function stagedConsent({ database, account }: Stage) {
  const thirdPartyProviderId = asId<ThirdPartyProviderId>(randomUUID());
  await database.reader.execute(sql`
    INSERT INTO third_party_providers (id, name, website, application_name, application_description, application_website,
      redirect_uris, jwks, status, created_at, updated_at, active_since)
    VALUES (${thirdPartyProviderId}, 'Budget', 'https://budget.example.com', 'Budget', 'Budget', 'https://budget.example.com',
      ARRAY[${REDIRECT_URI}], '{}', 'active', now(), now(), service_now())`);
  const { id: accountId, clientId } = await account(0n);
  const identity = { type: 'individual', givenName: 'Ann', familyName: 'Example', birthDate: null } as const;
  const person = {
    email: `ann.${randomUUID()}@example.com`,
    identity,
    profile: { phone: null, residentialAddress: null },
  };
  const { user } = await database.transaction((tx) => createUser(tx, person, [clientId], TESTER));
  const content = { scope: 'accounts' } as const;
  const request = { thirdPartyProviderId, content, redirectUri: REDIRECT_URI, state: 'state', nonce: 'nonce' };
  const { id } = await database.transaction(async (tx) => requestConsent(tx, request, TESTER, await readClock(tx)));
  const codeHash = randomBytes(32);
  const approval = { userId: user.id, accountIds: [accountId], codeHash };
  const exchange = {
    thirdPartyProviderId,
    redirectUri: REDIRECT_URI,
    codeHash,
    tokenHash: randomBytes(32),
    keyThumbprint: null,
  };
  return {
    id,
    find: () => findConsent(database.reader, id),
    approve: () => database.transaction((tx) => approveConsent(tx, id, approval, TESTER)),
    exchange: () => database.transaction((tx) => exchangeCode(tx, exchange, TESTER)),
    revoke: () => database.transaction((tx) => revokeConsent(tx, id, TESTER)),
  };
}
