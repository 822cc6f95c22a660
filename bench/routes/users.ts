import { randomUUID } from 'node:crypto';
import type { PreparedRequest } from '../load/callers.ts';
import { type Fixtures, FRESH_COUNT, inTurns, LIST_LENGTH, PARENT_COUNT, STOCK_COUNT, times } from './fixtures.ts';
import { type RouteRow, write } from './row.ts';

const USER_COUNT = 200;
/** The number of clients of one invitation. */
const INVITED_FOR = 20;
const IDENTITY = { type: 'individual', givenName: 'Grace', familyName: 'Bench' };
const INVITED = /^invited-/;

/** A user with a new address, who acts for `clientCount` clients. */
function newUser(fixtures: Fixtures, clientCount: number): PreparedRequest {
  const user = { email: `${randomUUID()}@example.com`, identity: IDENTITY };
  const clients = fixtures.accounts.slice(PARENT_COUNT, PARENT_COUNT + clientCount);
  const userClientRelations = clients.map(({ clientId }) => ({ clientId }));
  return write('/users', 'human.external.direct', { user, userClientRelations });
}

function newInvitation(fixtures: Fixtures, clientCount: number): PreparedRequest {
  const user = { email: `invited-${randomUUID()}@example.com`, identity: IDENTITY };
  const invitations = fixtures.accounts
    .slice(0, clientCount)
    .map(({ clientId }) => ({ clientId, userClientRelation: 'director' }));
  return write('/users', 'human.external.invitation', { user, invitations });
}

async function users(fixtures: Fixtures): Promise<readonly string[]> {
  await fixtures.made('users', () =>
    fixtures.send(
      'POST',
      times(USER_COUNT, () => newUser(fixtures, 0)),
    ),
  );
  const rows = await fixtures.sql<{ id: string }[]>`SELECT id FROM users ORDER BY id LIMIT ${USER_COUNT}`;
  return rows.map(({ id }) => id);
}

interface UserClientRelation {
  readonly userId: string;
  readonly clientId: string;
  readonly id: string;
}

/** Relations of twenty users to twenty clients each, all allowed. */
async function userClientRelations(fixtures: Fixtures): Promise<readonly UserClientRelation[]> {
  await fixtures.made('relations of users', () =>
    fixtures.send(
      'POST',
      times(PARENT_COUNT, () => newUser(fixtures, LIST_LENGTH)),
    ),
  );
  await fixtures.sql`UPDATE user_client_relations SET status = 'allowed' WHERE status <> 'allowed'`;
  return fixtures.sql<UserClientRelation[]>`
    SELECT user_id AS "userId", client_id AS "clientId", id FROM user_client_relations ORDER BY id LIMIT ${STOCK_COUNT}`;
}

interface Invitation {
  readonly email: string;
  readonly id: string;
}

async function pendingInvitations(fixtures: Fixtures): Promise<readonly Invitation[]> {
  const find = () => fixtures.sql<Invitation[]>`
    SELECT email_key AS email, id FROM user_invitations
    WHERE status = 'pending' AND email_key ~ ${INVITED.source} ORDER BY id DESC LIMIT ${STOCK_COUNT}`;
  const make = (missing: number) =>
    fixtures.send(
      'POST',
      times(Math.ceil(missing / INVITED_FOR), () => newInvitation(fixtures, INVITED_FOR)),
    );
  return fixtures.stock(find, make);
}

/** Consents awaiting authorisation, all requested by one third party. */
async function consents(fixtures: Fixtures, count: number): Promise<readonly string[]> {
  const site = 'https://bench.example.com';
  const rows = await fixtures.sql<{ id: string }[]>`
    WITH party AS (
      INSERT INTO third_party_providers (id, name, website, application_name, application_description, application_website,
        redirect_uris, jwks, status, created_at, updated_at, active_since)
      VALUES (uuidv7(), 'Bench', ${site}, 'Bench', 'Bench', ${site}, ARRAY[${site}], '{"keys":[]}', 'active', now(), now(), service_now()) RETURNING id
    )
    INSERT INTO open_banking_consents (id, third_party_provider_id, status, scope, redirect_uri, state, nonce, request_expires_at,
      next_check_at, created_at)
    SELECT uuidv7(), party.id, 'awaiting-authorisation', 'accounts', ${site}, 'state', 'nonce', now() + interval '1 day',
      now() + interval '1 day', now()
    FROM party, generate_series(1, ${count}) RETURNING id`;
  return rows.map(({ id }) => id);
}

/** One user approves each consent, for the accounts of one client. */
async function approvals(fixtures: Fixtures, count: number): Promise<readonly PreparedRequest[]> {
  const relations = await userClientRelations(fixtures);
  return (await consents(fixtures, count)).map((id, number) => {
    const { userId, clientId } = inTurns(relations, number);
    const accounts = fixtures.accounts.flatMap((one) => (one.clientId === clientId ? [one.accountId] : []));
    return write(`/open-banking/GB/consents/${id}`, 'direct', { consent: { action: 'approve', userId, accounts } });
  });
}

async function approvedConsents(
  fixtures: Fixtures,
): Promise<readonly { readonly id: string; readonly userId: string }[]> {
  await fixtures.made('approved consents', async () => fixtures.send('PATCH', await approvals(fixtures, STOCK_COUNT)));
  return fixtures.sql<{ id: string; userId: string }[]>`
    SELECT id, user_id AS "userId" FROM open_banking_consents WHERE user_id IS NOT NULL ORDER BY id LIMIT ${STOCK_COUNT}`;
}

export const userRows: readonly RouteRow[] = [
  {
    route: 'POST /users',
    variant: 'direct',
    requests: async (fixtures) => times(FRESH_COUNT, () => newUser(fixtures, 1)),
    once: true,
  },
  {
    route: 'POST /users',
    variant: 'invitation',
    requests: async (fixtures) => times(FRESH_COUNT, () => newInvitation(fixtures, 1)),
    once: true,
  },
  {
    route: 'PATCH /users/{userId}',
    requests: async (fixtures) => {
      const ids = await users(fixtures);
      return times(FRESH_COUNT, (number) => {
        const user = { identity: { familyName: `Bench ${randomUUID().slice(0, 8)}` } };
        return write(`/users/${inTurns(ids, number)}`, 'human.external.direct', { user });
      });
    },
    once: true,
  },
  {
    route: 'POST /user-authentications',
    notMeasured: 'its work is the hash of a password, which is slow on purpose',
  },
  {
    route: 'POST /users/{userId}/password-reset',
    notMeasured:
      'rare, and only for users with a password, who sign up by hand; it writes the same as an invitation for one client',
  },
  {
    route: 'GET /users',
    requests: async (fixtures) => {
      await users(fixtures);
      return [{ path: '/users?data.user.category=external' }];
    },
  },
  {
    route: 'GET /users/{userId}',
    requests: async (fixtures) => (await users(fixtures)).map((id) => ({ path: `/users/${id}` })),
  },
  {
    route: 'GET /users/{userEmail}/invitations',
    requests: async (fixtures) =>
      (await pendingInvitations(fixtures)).map(({ email }) => ({ path: `/users/${email}/invitations` })),
  },
  {
    route: 'GET /users/{userEmail}/invitations/{usersInvitationId}',
    requests: async (fixtures) =>
      (await pendingInvitations(fixtures)).map(({ email, id }) => ({ path: `/users/${email}/invitations/${id}` })),
  },
  {
    route: 'PATCH /users/{userEmail}/invitations/{usersInvitationId}',
    requests: async (fixtures) =>
      (await pendingInvitations(fixtures)).map(({ email, id }) =>
        write(`/users/${email}/invitations/${id}`, 'direct', { userInvitation: { status: 'cancelled' } }),
      ),
    once: true,
  },
  {
    route: 'POST /users/{userId}/client-relations',
    requests: async (fixtures) => {
      const ids = await users(fixtures);
      // A different pair of user and client each time; the lists of the bench's first clients do not change.
      await fixtures.sql`DELETE FROM user_client_relations WHERE user_id = ANY (${ids}::uuid[])`;
      return times(FRESH_COUNT, (number) => {
        const { clientId } = inTurns(fixtures.accounts, Math.floor(number / ids.length));
        return write(`/users/${inTurns(ids, number)}/client-relations`, 'direct', {
          userClientRelations: [{ clientId }],
        });
      });
    },
    once: true,
  },
  {
    route: 'GET /users/{userId}/client-relations',
    remark: 'a page of one: the client is a required filter',
    requests: async (fixtures) =>
      (await userClientRelations(fixtures)).map(({ userId, clientId }) => ({
        path: `/users/${userId}/client-relations?data.userClientRelation.clientId=${clientId}`,
      })),
  },
  {
    route: 'GET /users/{userId}/client-relations/{id}',
    requests: async (fixtures) =>
      (await userClientRelations(fixtures)).map(({ userId, id }) => ({
        path: `/users/${userId}/client-relations/${id}`,
      })),
  },
  {
    route: 'PATCH /users/{userId}/client-relations/{id}',
    requests: async (fixtures) =>
      (await userClientRelations(fixtures)).map(({ userId, id }) =>
        write(`/users/${userId}/client-relations/${id}`, 'direct', { userClientRelation: { status: 'revoked' } }),
      ),
    once: true,
  },
  { route: 'GET /sign-up/{token}', notMeasured: 'a page for a person, by a one-time link' },
  { route: 'POST /sign-up/{token}', notMeasured: 'hashes a password, slow by design' },
  {
    route: 'GET /open-banking/{countryCode}/consents',
    requests: async (fixtures) => {
      await consents(fixtures, STOCK_COUNT);
      return [{ path: '/open-banking/GB/consents' }];
    },
  },
  {
    route: 'GET /open-banking/{countryCode}/consents',
    variant: 'of one user',
    requests: async (fixtures) => {
      const userIds = new Set((await approvedConsents(fixtures)).map(({ userId }) => userId));
      return [...userIds].map((id) => ({ path: `/open-banking/GB/consents?data.consent.userId=${id}` }));
    },
  },
  {
    route: 'GET /open-banking/{countryCode}/consents/{id}',
    requests: async (fixtures) =>
      (await consents(fixtures, STOCK_COUNT)).map((id) => ({ path: `/open-banking/GB/consents/${id}` })),
  },
  {
    route: 'GET /open-banking/{countryCode}/consents/{id}/timeline',
    requests: async (fixtures) =>
      (await approvedConsents(fixtures)).map(({ id }) => ({ path: `/open-banking/GB/consents/${id}/timeline` })),
  },
  {
    route: 'PATCH /open-banking/{countryCode}/consents/{id}',
    variant: 'approve',
    requests: async (fixtures) => approvals(fixtures, FRESH_COUNT),
    once: true,
    aim: null,
    remark: 'signs a token by RSA, which takes longer than the write',
  },
  { route: 'GET /.well-known/jwks.json', notMeasured: 'third parties cache it for minutes' },
];
