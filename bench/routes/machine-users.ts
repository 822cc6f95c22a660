import { generateKeyPairSync, randomUUID } from 'node:crypto';
import type { PreparedRequest } from '../load/callers.ts';
import { type RouteRow, write } from './row.ts';
import { inTurns, STOCK_COUNT, type Supplies, times } from './supplies.ts';

const USER_COUNT = 100;
/** Key pairs take a while to make, so fewer than a measurement could use. */
const KEY_COUNT = 1_000;

/** A new key each time: the API refuses to register one key for two machine users. */
function newKey() {
  const { kty, crv, x } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  return { kid: randomUUID(), algorithm: 'EdDSA', jwk: { kty, crv, x } };
}

function newUser(): PreparedRequest {
  return write('/machine-users', 'direct', { machineUser: { name: 'Bench', roles: ['viewer'], key: newKey() } });
}

async function machineUsers(supplies: Supplies): Promise<readonly { id: string }[]> {
  await supplies.made('machine users', () => supplies.send('POST', times(USER_COUNT, newUser)));
  return supplies.sql<{ id: string }[]>`
    SELECT id FROM machine_users WHERE name LIKE 'Bench%' ORDER BY id LIMIT ${USER_COUNT}`;
}

async function newKeys(supplies: Supplies, count: number): Promise<PreparedRequest[]> {
  const users = await machineUsers(supplies);
  return times(count, (number) =>
    write(`/machine-users/${inTurns(users, number).id}/keys`, 'direct', { machineUserKey: newKey() }),
  );
}

interface Key {
  readonly userId: string;
  readonly id: string;
}

/** Keys beyond the first of their users. */
async function spareKeys(supplies: Supplies): Promise<readonly Key[]> {
  const find = async () => supplies.sql<Key[]>`
    SELECT later.machine_user_id AS "userId", later.id FROM machine_user_keys later JOIN machine_users ON machine_users.id = machine_user_id
    WHERE name LIKE 'Bench%' AND later.status = 'active' AND EXISTS (
      SELECT FROM machine_user_keys first WHERE first.machine_user_id = later.machine_user_id AND first.id < later.id)
    ORDER BY later.id LIMIT ${STOCK_COUNT}`;
  const make = async (missing: number) => supplies.send('POST', await newKeys(supplies, missing));
  return supplies.stock(find, make);
}

function newThirdParty(): PreparedRequest {
  const { kty, crv, x, y } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
  const website = 'https://bench.example';
  const described = { name: 'Bench', applicationName: 'Bench', applicationDescription: 'Bench' };
  const jwks = { keys: [{ kid: 'bench', kty, crv, x, y }] };
  const thirdPartyProvider = { ...described, website, applicationWebsite: website, redirectUris: [website], jwks };
  return write('/third-party-providers', 'direct', { thirdPartyProvider });
}

async function thirdParties(supplies: Supplies): Promise<readonly { id: string }[]> {
  await supplies.made('third parties', () => supplies.send('POST', times(USER_COUNT, newThirdParty)));
  return supplies.sql<{ id: string }[]>`
    SELECT id FROM third_party_providers WHERE name = 'Bench' ORDER BY id LIMIT ${USER_COUNT}`;
}

const SIGNED_EACH_TIME = 'its caller signs each request anew';

export const machineUserRows: readonly RouteRow[] = [
  { route: 'POST /machine-users', requests: async () => times(KEY_COUNT, newUser), once: true },
  {
    route: 'GET /machine-users/{machineUserId}',
    requests: async (supplies) => (await machineUsers(supplies)).map(({ id }) => ({ path: `/machine-users/${id}` })),
  },
  {
    route: 'GET /machine-users',
    requests: async (supplies) => {
      await machineUsers(supplies);
      return [{ path: '/machine-users' }];
    },
  },
  {
    route: 'PATCH /machine-users/{machineUserId}',
    requests: async (supplies) => {
      const users = await machineUsers(supplies);
      return times(KEY_COUNT, (number) => {
        const machineUser = { name: `Bench ${randomUUID()}` };
        return write(`/machine-users/${inTurns(users, number).id}`, 'direct', { machineUser });
      });
    },
    once: true,
  },
  {
    route: 'POST /machine-users/{machineUserId}/keys',
    requests: (supplies) => newKeys(supplies, STOCK_COUNT),
    once: true,
  },
  {
    route: 'DELETE /machine-users/{machineUserId}/keys/{keyId}',
    requests: async (supplies) =>
      (await spareKeys(supplies)).map(({ userId, id }) => ({ path: `/machine-users/${userId}/keys/${id}` })),
    once: true,
  },
  { route: 'POST /third-party-providers', requests: async () => times(KEY_COUNT, newThirdParty), once: true },
  {
    route: 'GET /third-party-providers/{thirdPartyProviderId}',
    requests: async (supplies) =>
      (await thirdParties(supplies)).map(({ id }) => ({ path: `/third-party-providers/${id}` })),
  },
  {
    route: 'GET /third-party-providers',
    requests: async (supplies) => {
      await thirdParties(supplies);
      return [{ path: '/third-party-providers' }];
    },
  },
  {
    route: 'PATCH /third-party-providers/{thirdPartyProviderId}',
    requests: async (supplies) => {
      const parties = await thirdParties(supplies);
      return times(KEY_COUNT, (number) => {
        const thirdPartyProvider = { applicationName: `Bench ${randomUUID()}` };
        return write(`/third-party-providers/${inTurns(parties, number).id}`, 'direct', { thirdPartyProvider });
      });
    },
    once: true,
  },
  { route: 'POST /open-banking/{countryCode}/consents', notMeasured: `${SIGNED_EACH_TIME}, and its write is small` },
  {
    route: 'POST /open-banking/{countryCode}/token',
    notMeasured: `${SIGNED_EACH_TIME}, and answers with an RSA signature`,
  },
  ...['accounts', 'accounts/{id}/balances', 'accounts/{id}/transactions'].map((path) => ({
    route: `GET /open-banking/{countryCode}/${path}`,
    notMeasured: 'it reads what the account routes read, for a caller with an access token',
  })),
  {
    route: 'POST /open-banking/{countryCode}/payments',
    notMeasured:
      'each needs a consent of its own, with five requests before it; its transfer is made as those of a batch are',
  },
];
