import { generateKeyPairSync, randomUUID } from 'node:crypto';
import type { PreparedRequest } from '../load/callers.ts';
import { type Fixtures, inTurns, STOCK_COUNT, times } from './fixtures.ts';
import { type RouteRow, write } from './row.ts';

const USER_COUNT = 100;
/** Fewer than a measurement could use, because making key pairs takes time. */
const KEY_COUNT = 1_000;

/** A new key each time: the API does not register one key for two machine users. */
function newKey() {
  const { kty, crv, x } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  return { kid: randomUUID(), algorithm: 'EdDSA', jwk: { kty, crv, x } };
}

function newUser(): PreparedRequest {
  return write('/machine-users', 'direct', { machineUser: { name: 'Bench', roles: ['viewer'], key: newKey() } });
}

async function machineUsers(fixtures: Fixtures): Promise<readonly { id: string }[]> {
  await fixtures.made('machine users', () => fixtures.send('POST', times(USER_COUNT, newUser)));
  return fixtures.sql<{ id: string }[]>`
    SELECT id FROM machine_users WHERE name LIKE 'Bench%' ORDER BY id LIMIT ${USER_COUNT}`;
}

async function newKeys(fixtures: Fixtures, count: number): Promise<PreparedRequest[]> {
  const users = await machineUsers(fixtures);
  return times(count, (number) =>
    write(`/machine-users/${inTurns(users, number).id}/keys`, 'direct', { machineUserKey: newKey() }),
  );
}

interface Key {
  readonly userId: string;
  readonly id: string;
}

/** Keys other than the first of each user. */
async function spareKeys(fixtures: Fixtures): Promise<readonly Key[]> {
  const find = async () => fixtures.sql<Key[]>`
    SELECT later.machine_user_id AS "userId", later.id FROM machine_user_keys later JOIN machine_users ON machine_users.id = machine_user_id
    WHERE name LIKE 'Bench%' AND later.status = 'active' AND EXISTS (
      SELECT FROM machine_user_keys first WHERE first.machine_user_id = later.machine_user_id AND first.id < later.id)
    ORDER BY later.id LIMIT ${STOCK_COUNT}`;
  const make = async (missing: number) => fixtures.send('POST', await newKeys(fixtures, missing));
  return fixtures.stock(find, make);
}

function newThirdParty(): PreparedRequest {
  const { kty, crv, x, y } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
  const website = 'https://bench.example';
  const described = { name: 'Bench', applicationName: 'Bench', applicationDescription: 'Bench' };
  const jwks = { keys: [{ kid: 'bench', kty, crv, x, y }] };
  const thirdPartyProvider = { ...described, website, applicationWebsite: website, redirectUris: [website], jwks };
  return write('/third-party-providers', 'direct', { thirdPartyProvider });
}

async function thirdParties(fixtures: Fixtures): Promise<readonly { id: string }[]> {
  await fixtures.made('third parties', () => fixtures.send('POST', times(USER_COUNT, newThirdParty)));
  return fixtures.sql<{ id: string }[]>`
    SELECT id FROM third_party_providers WHERE name = 'Bench' ORDER BY id LIMIT ${USER_COUNT}`;
}

const SIGNED_EACH_TIME = 'its caller signs each request';

export const machineUserRows: readonly RouteRow[] = [
  { route: 'POST /machine-users', requests: async () => times(KEY_COUNT, newUser), once: true },
  {
    route: 'GET /machine-users/{machineUserId}',
    requests: async (fixtures) => (await machineUsers(fixtures)).map(({ id }) => ({ path: `/machine-users/${id}` })),
  },
  {
    route: 'GET /machine-users',
    requests: async (fixtures) => {
      await machineUsers(fixtures);
      return [{ path: '/machine-users' }];
    },
  },
  {
    route: 'PATCH /machine-users/{machineUserId}',
    requests: async (fixtures) => {
      const users = await machineUsers(fixtures);
      return times(KEY_COUNT, (number) => {
        const machineUser = { name: `Bench ${randomUUID()}` };
        return write(`/machine-users/${inTurns(users, number).id}`, 'direct', { machineUser });
      });
    },
    once: true,
  },
  {
    route: 'POST /machine-users/{machineUserId}/keys',
    requests: (fixtures) => newKeys(fixtures, STOCK_COUNT),
    once: true,
  },
  {
    route: 'DELETE /machine-users/{machineUserId}/keys/{keyId}',
    requests: async (fixtures) =>
      (await spareKeys(fixtures)).map(({ userId, id }) => ({ path: `/machine-users/${userId}/keys/${id}` })),
    once: true,
  },
  { route: 'POST /third-party-providers', requests: async () => times(KEY_COUNT, newThirdParty), once: true },
  {
    route: 'GET /third-party-providers/{thirdPartyProviderId}',
    requests: async (fixtures) =>
      (await thirdParties(fixtures)).map(({ id }) => ({ path: `/third-party-providers/${id}` })),
  },
  {
    route: 'GET /third-party-providers',
    requests: async (fixtures) => {
      await thirdParties(fixtures);
      return [{ path: '/third-party-providers' }];
    },
  },
  {
    route: 'PATCH /third-party-providers/{thirdPartyProviderId}',
    requests: async (fixtures) => {
      const parties = await thirdParties(fixtures);
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
      'each needs its own consent, with five requests before it; its transfer is created like those of a batch',
  },
];
