import { type RouteRow, write } from './row.ts';
import { FRESH_COUNT, inTurns, LIST_LENGTH, PARENT_COUNT, type Supplies, times } from './supplies.ts';

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
/** Relations are sent one at a time, as one of them is one resource. */
const RELATION = { relation: 'director', ...PERSON };

interface Relation {
  readonly clientId: string;
  readonly id: string;
}

/** Companies: only they have relations. */
async function companies(supplies: Supplies): Promise<readonly string[]> {
  await supplies.made('companies', () =>
    supplies.send(
      'POST',
      times(COMPANY_COUNT, () => write('/clients', 'direct', { client: COMPANY })),
    ),
  );
  const rows = await supplies.sql<{ id: string }[]>`
    SELECT id FROM clients WHERE identity_type = 'corporate' ORDER BY id LIMIT ${COMPANY_COUNT}`;
  return rows.map(({ id }) => id);
}

/** Relations of the first companies, each with a full list. */
async function relations(supplies: Supplies): Promise<readonly Relation[]> {
  const clientIds = (await companies(supplies)).slice(0, PARENT_COUNT);
  const find = () => supplies.sql<Relation[]>`
    SELECT client_id AS "clientId", id FROM client_relations WHERE client_id = ANY (${clientIds}::uuid[])`;
  const make = (missing: number) =>
    supplies.send(
      'POST',
      times(missing, (number) => {
        const path = `/clients/${inTurns(clientIds, number)}/relations`;
        return write(path, 'direct', { clientRelation: RELATION });
      }),
    );
  return supplies.stock(find, make, PARENT_COUNT * LIST_LENGTH);
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
  { route: 'GET /clients', requests: async () => [{ path: '/clients' }] },
  {
    route: 'PATCH /clients/{clientId}',
    requests: async ({ accounts }) =>
      times(FRESH_COUNT, (number) => {
        const client = { profile: { identityType: 'individual', phone: phone() } };
        return write(`/clients/${inTurns(accounts, number).clientId}`, 'direct', { client });
      }),
    once: true,
  },
  {
    route: 'POST /clients/{clientId}/relations',
    // Beyond the companies whose lists are read, and each far from its limit of relations.
    requests: async (supplies) =>
      (await companies(supplies))
        .slice(PARENT_COUNT)
        .map((id) => write(`/clients/${id}/relations`, 'direct', { clientRelation: RELATION })),
  },
  {
    route: 'PATCH /clients/{clientId}/relations/{clientRelationId}',
    requests: async (supplies) => {
      const found = await relations(supplies);
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
    requests: async (supplies) =>
      (await relations(supplies)).map(({ clientId, id }) => ({ path: `/clients/${clientId}/relations/${id}` })),
  },
  {
    route: 'GET /clients/{clientId}/relations',
    requests: async (supplies) => {
      await relations(supplies);
      const ids = (await companies(supplies)).slice(0, PARENT_COUNT);
      return ids.map((id) => ({ path: `/clients/${id}/relations` }));
    },
  },
  {
    route: 'DELETE /clients/{clientId}/relations/{clientRelationId}',
    requests: async (supplies) =>
      (await relations(supplies)).map(({ clientId, id }) => ({ path: `/clients/${clientId}/relations/${id}` })),
    once: true,
  },
];

/** Another number each time, so that a change has an effect. */
function phone(): string {
  return `+44 20 ${Math.floor(10_000_000 + Math.random() * 89_999_999)}`;
}
