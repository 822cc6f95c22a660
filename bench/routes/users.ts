import { randomUUID } from 'node:crypto';
import type { PreparedRequest } from '../load/callers.ts';
import { type RouteRow, write } from './row.ts';
import { FRESH_COUNT, inTurns, LIST_LENGTH, PARENT_COUNT, STOCK_COUNT, type Supplies, times } from './supplies.ts';

const USER_COUNT = 200;
/** Clients for which one invitation invites. */
const INVITED_FOR = 20;
const IDENTITY = { type: 'individual', givenName: 'Grace', familyName: 'Bench' };
const INVITED = /^invited-/;

/** A user with an address of its own, who acts for so many clients. */
function newUser(supplies: Supplies, clientCount: number): PreparedRequest {
  const user = { email: `${randomUUID()}@example.com`, identity: IDENTITY };
  const clients = supplies.accounts.slice(PARENT_COUNT, PARENT_COUNT + clientCount);
  const userClientRelations = clients.map(({ clientId }) => ({ clientId }));
  return write('/users', 'human.external.direct', { user, userClientRelations });
}

function newInvitation(supplies: Supplies, clientCount: number): PreparedRequest {
  const user = { email: `invited-${randomUUID()}@example.com`, identity: IDENTITY };
  const invitations = supplies.accounts
    .slice(0, clientCount)
    .map(({ clientId }) => ({ clientId, userClientRelation: 'director' }));
  return write('/users', 'human.external.invitation', { user, invitations });
}

async function users(supplies: Supplies): Promise<readonly string[]> {
  await supplies.made('users', () =>
    supplies.send(
      'POST',
      times(USER_COUNT, () => newUser(supplies, 0)),
    ),
  );
  const rows = await supplies.sql<{ id: string }[]>`SELECT id FROM users ORDER BY id LIMIT ${USER_COUNT}`;
  return rows.map(({ id }) => id);
}

interface UserClientRelation {
  readonly userId: string;
  readonly clientId: string;
  readonly id: string;
}

/** Relations of twenty users to twenty clients each, all allowed. */
async function userClientRelations(supplies: Supplies): Promise<readonly UserClientRelation[]> {
  await supplies.made('relations of users', () =>
    supplies.send(
      'POST',
      times(PARENT_COUNT, () => newUser(supplies, LIST_LENGTH)),
    ),
  );
  await supplies.sql`UPDATE user_client_relations SET status = 'allowed' WHERE status <> 'allowed'`;
  return supplies.sql<UserClientRelation[]>`
    SELECT user_id AS "userId", client_id AS "clientId", id FROM user_client_relations ORDER BY id LIMIT ${STOCK_COUNT}`;
}

interface Invitation {
  readonly email: string;
  readonly id: string;
}

async function pendingInvitations(supplies: Supplies): Promise<readonly Invitation[]> {
  const find = () => supplies.sql<Invitation[]>`
    SELECT email_key AS email, id FROM user_invitations
    WHERE status = 'pending' AND email_key ~ ${INVITED.source} ORDER BY id DESC LIMIT ${STOCK_COUNT}`;
  const make = (missing: number) =>
    supplies.send(
      'POST',
      times(Math.ceil(missing / INVITED_FOR), () => newInvitation(supplies, INVITED_FOR)),
    );
  return supplies.stock(find, make);
}

/** Consents awaiting authorisation, all requested by one third party. */
async function consents(supplies: Supplies, count: number): Promise<readonly string[]> {
  const site = 'https://bench.example.com';
  const rows = await supplies.sql<{ id: string }[]>`
    WITH party AS (
      INSERT INTO third_party_providers (id, name, website, application_name, application_description, application_website,
        redirect_uris, jwks, status, created_at, updated_at)
      VALUES (uuidv7(), 'Bench', ${site}, 'Bench', 'Bench', ${site}, ARRAY[${site}], '{"keys":[]}', 'active', now(), now()) RETURNING id
    )
    INSERT INTO open_banking_consents (id, third_party_provider_id, status, scope, redirect_uri, state, nonce, request_expires_at,
      next_check_at, created_at)
    SELECT uuidv7(), party.id, 'awaiting-authorisation', 'accounts', ${site}, 'state', 'nonce', now() + interval '1 day',
      now() + interval '1 day', now()
    FROM party, generate_series(1, ${count}) RETURNING id`;
  return rows.map(({ id }) => id);
}

export const userRows: readonly RouteRow[] = [
  {
    route: 'POST /users',
    variant: 'direct',
    requests: async (supplies) => times(FRESH_COUNT, () => newUser(supplies, 1)),
    once: true,
  },
  {
    route: 'POST /users',
    variant: 'invitation',
    requests: async (supplies) => times(FRESH_COUNT, () => newInvitation(supplies, 1)),
    once: true,
  },
  {
    route: 'PATCH /users/{userId}',
    requests: async (supplies) => {
      const ids = await users(supplies);
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
      'rare, and of users with a password, who sign up by hand; it writes what an invitation of one client does',
  },
  {
    route: 'GET /users',
    requests: async (supplies) => {
      await users(supplies);
      return [{ path: '/users?data.user.category=external' }];
    },
  },
  {
    route: 'GET /users/{userId}',
    requests: async (supplies) => (await users(supplies)).map((id) => ({ path: `/users/${id}` })),
  },
  {
    route: 'GET /users/{userEmail}/invitations',
    requests: async (supplies) =>
      (await pendingInvitations(supplies)).map(({ email }) => ({ path: `/users/${email}/invitations` })),
  },
  {
    route: 'GET /users/{userEmail}/invitations/{usersInvitationId}',
    requests: async (supplies) =>
      (await pendingInvitations(supplies)).map(({ email, id }) => ({ path: `/users/${email}/invitations/${id}` })),
  },
  {
    route: 'PATCH /users/{userEmail}/invitations/{usersInvitationId}',
    requests: async (supplies) =>
      (await pendingInvitations(supplies)).map(({ email, id }) =>
        write(`/users/${email}/invitations/${id}`, 'direct', { userInvitation: { status: 'cancelled' } }),
      ),
    once: true,
  },
  {
    route: 'POST /users/{userId}/client-relations',
    requests: async (supplies) => {
      const ids = await users(supplies);
      // Another pair of user and client each time; the lists of the bench's first clients stay as they are.
      await supplies.sql`DELETE FROM user_client_relations WHERE user_id = ANY (${ids}::uuid[])`;
      return times(FRESH_COUNT, (number) => {
        const { clientId } = inTurns(supplies.accounts, Math.floor(number / ids.length));
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
    requests: async (supplies) =>
      (await userClientRelations(supplies)).map(({ userId, clientId }) => ({
        path: `/users/${userId}/client-relations?data.userClientRelation.clientId=${clientId}`,
      })),
  },
  {
    route: 'GET /users/{userId}/client-relations/{id}',
    requests: async (supplies) =>
      (await userClientRelations(supplies)).map(({ userId, id }) => ({
        path: `/users/${userId}/client-relations/${id}`,
      })),
  },
  {
    route: 'PATCH /users/{userId}/client-relations/{id}',
    requests: async (supplies) =>
      (await userClientRelations(supplies)).map(({ userId, id }) =>
        write(`/users/${userId}/client-relations/${id}`, 'direct', { userClientRelation: { status: 'revoked' } }),
      ),
    once: true,
  },
  { route: 'GET /sign-up/{token}', notMeasured: 'a page for a person, by a one-time link' },
  { route: 'POST /sign-up/{token}', notMeasured: 'hashes a password, slow by design' },
  {
    route: 'GET /open-banking/{countryCode}/consents',
    requests: async (supplies) => {
      await consents(supplies, STOCK_COUNT);
      return [{ path: '/open-banking/GB/consents' }];
    },
  },
  {
    route: 'GET /open-banking/{countryCode}/consents',
    variant: 'of one user',
    requests: async (supplies) => {
      await consents(supplies, STOCK_COUNT);
      return (await users(supplies)).map((id) => ({ path: `/open-banking/GB/consents?data.consent.userId=${id}` }));
    },
  },
  {
    route: 'GET /open-banking/{countryCode}/consents/{id}',
    requests: async (supplies) =>
      (await consents(supplies, STOCK_COUNT)).map((id) => ({ path: `/open-banking/GB/consents/${id}` })),
  },
  {
    route: 'PATCH /open-banking/{countryCode}/consents/{id}',
    variant: 'approve',
    requests: async (supplies) => {
      const relations = await userClientRelations(supplies);
      return (await consents(supplies, FRESH_COUNT)).map((id, number) => {
        const { userId, clientId } = inTurns(relations, number);
        const accounts = supplies.accounts.flatMap((one) => (one.clientId === clientId ? [one.accountId] : []));
        return write(`/open-banking/GB/consents/${id}`, 'direct', { consent: { action: 'approve', userId, accounts } });
      });
    },
    once: true,
    aim: null,
    remark: 'signs a token by RSA, which takes longer than the write',
  },
  { route: 'GET /.well-known/jwks.json', notMeasured: 'third parties cache it for minutes' },
];
