import type { BenchAccount } from '../accounts.ts';
import type { PreparedRequest } from '../load/callers.ts';
import { type Fixtures, FRESH_COUNT, inTurns, LIST_LENGTH, PARENT_COUNT, times } from './fixtures.ts';
import { type RouteRow, write } from './row.ts';

const ADDRESS = { country: 'GB', city: 'London', street: 'Bench Street' };
const NAMES = { givenName: 'Ada', familyName: 'Bench' };
const PERSON = {
  identity: { type: 'individual', ...NAMES, birthDate: '1990-12-10', country: 'GB' },
  profile: { identityType: 'individual', residentialAddress: ADDRESS, email: 'ada@example.com' },
};
const COMPANY = {
  identity: { type: 'corporate', legalName: 'Bench Ltd', country: 'GB' },
  profile: { identityType: 'corporate', registrationAddress: ADDRESS },
};
const COMPANY_COUNT = 200;
/** Relations are sent one at a time, so that each request creates one resource. */
const RELATION = { relation: 'director', ...PERSON };

interface Relation {
  readonly clientId: string;
  readonly id: string;
}

/** Corporate clients, because only they have relations. */
async function companies(fixtures: Fixtures): Promise<readonly string[]> {
  await fixtures.made('companies', () =>
    fixtures.send(
      'POST',
      times(COMPANY_COUNT, () => write('/clients', 'direct', { client: COMPANY })),
    ),
  );
  const rows = await fixtures.sql<{ id: string }[]>`
    SELECT id FROM clients WHERE identity_type = 'corporate' ORDER BY id LIMIT ${COMPANY_COUNT}`;
  return rows.map(({ id }) => id);
}

/** Relations of the first companies, each with a full list. */
async function relations(fixtures: Fixtures): Promise<readonly Relation[]> {
  const clientIds = (await companies(fixtures)).slice(0, PARENT_COUNT);
  const find = () => fixtures.sql<Relation[]>`
    SELECT client_id AS "clientId", id FROM client_relations WHERE client_id = ANY (${clientIds}::uuid[])`;
  const make = (missing: number) =>
    fixtures.send(
      'POST',
      times(missing, (number) => {
        const path = `/clients/${inTurns(clientIds, number)}/relations`;
        return write(path, 'direct', { clientRelation: RELATION });
      }),
    );
  return fixtures.stock(find, make, PARENT_COUNT * LIST_LENGTH);
}

function changesOf(accounts: readonly BenchAccount[], count: number): PreparedRequest[] {
  return times(count, (number) => {
    const client = { profile: { identityType: 'individual', phone: phone() } };
    return write(`/clients/${inTurns(accounts, number).clientId}`, 'direct', { client });
  });
}

export const clientRows: readonly RouteRow[] = [
  {
    route: 'POST /clients',
    requests: async () => [write('/clients', 'direct', { client: PERSON })],
  },
  {
    route: 'GET /clients/{clientId}',
    requests: async ({ accounts }) => accounts.map(({ clientId }) => ({ path: `/clients/${clientId}` })),
  },
  {
    route: 'GET /clients/{clientId}/timeline',
    requests: async (fixtures) => {
      const changed = fixtures.accounts.slice(0, PARENT_COUNT);
      await fixtures.made('changed clients', () =>
        fixtures.send('PATCH', changesOf(changed, PARENT_COUNT * LIST_LENGTH)),
      );
      return changed.map(({ clientId }) => ({ path: `/clients/${clientId}/timeline` }));
    },
  },
  { route: 'GET /clients', requests: async () => [{ path: '/clients' }] },
  {
    route: 'PATCH /clients/{clientId}',
    requests: async ({ accounts }) => changesOf(accounts, FRESH_COUNT),
    once: true,
  },
  {
    route: 'POST /clients/{clientId}/relations',
    // Companies whose lists are not measured, and which are far from their limit of relations.
    requests: async (fixtures) =>
      (await companies(fixtures))
        .slice(PARENT_COUNT)
        .map((id) => write(`/clients/${id}/relations`, 'direct', { clientRelation: RELATION })),
  },
  {
    route: 'PATCH /clients/{clientId}/relations/{clientRelationId}',
    requests: async (fixtures) => {
      const found = await relations(fixtures);
      return times(FRESH_COUNT, (number) => {
        const { clientId, id } = inTurns(found, number);
        const clientRelation = { profile: { identityType: 'individual', phone: phone() } };
        return write(`/clients/${clientId}/relations/${id}`, 'direct', { clientRelation });
      });
    },
    once: true,
  },
  {
    route: 'GET /clients/{clientId}/relations/{clientRelationId}',
    requests: async (fixtures) =>
      (await relations(fixtures)).map(({ clientId, id }) => ({ path: `/clients/${clientId}/relations/${id}` })),
  },
  {
    route: 'GET /clients/{clientId}/relations',
    requests: async (fixtures) => {
      await relations(fixtures);
      const ids = (await companies(fixtures)).slice(0, PARENT_COUNT);
      return ids.map((id) => ({ path: `/clients/${id}/relations` }));
    },
  },
  {
    route: 'DELETE /clients/{clientId}/relations/{clientRelationId}',
    requests: async (fixtures) =>
      (await relations(fixtures)).map(({ clientId, id }) => ({ path: `/clients/${clientId}/relations/${id}` })),
    once: true,
  },
];

/** A different number each time, so that a change has an effect. */
function phone(): string {
  return `+44 20 ${Math.floor(10_000_000 + Math.random() * 89_999_999)}`;
}
