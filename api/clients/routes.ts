import { createClient, findClient, listClients, readClientConnections } from '../../db/clients/clients.ts';
import { migrateClient } from '../../db/clients/migrations.ts';
import { readClientRelations } from '../../db/clients/relations.ts';
import { requireFreeEmail } from '../../db/users/users.ts';
import {
  CLIENT_STATUSES,
  type Client,
  type ClientIdentity,
  presentClient,
  primaryAddress,
} from '../../domain/clients/clients.ts';
import { presentClientRelation, presentClientWithRelations } from '../../domain/clients/relations.ts';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { ClientId } from '../../domain/common/ids.ts';
import { identificationsOf } from '../../domain/common/parties/identifications.ts';
import { FULL_NAME_LENGTH_MAX } from '../../domain/common/parties/names.ts';
import { route } from '../http/route.ts';
import { named } from '../http/schemas/named.ts';
import { email } from '../http/schemas/parties.ts';
import {
  boolean,
  booleanText,
  country,
  fields,
  list,
  optional,
  pattern,
  picklist,
  text,
  uuid,
} from '../http/schemas/schemas.ts';
import {
  MIGRATION_ERRORS,
  migrationConnectShown,
  namedProvider,
  presentMigratedConnection,
  sourceId,
} from '../providers/migrations.ts';
import { userClientRelationShown, userShown } from '../users/schemas.ts';
import { findClientToMigrate } from './migrations.ts';
import { newClientRelation } from './relations.ts';
import { CLIENT_EXAMPLE, CLIENT_SENT_EXAMPLE, type ClientSent, clientSent, clientShown } from './schemas.ts';
import { createUserOfClient, userOfClient } from './users.ts';

const TAG = 'Clients';

/** Values of metadata.include (specification 4.1); each also includes the profile that it belongs to. */
const INCLUDES = [
  'data.client.profile.primaryAddress',
  'data.client.profile.residentialAddress',
  'data.client.profile.registrationAddress',
  'connect.connections',
];

const postClient = route(
  {
    method: 'POST',
    path: '/clients',
    operationId: 'createClient',
    summary: 'Create a client',
    tag: TAG,
    roles: ['operator'],
    description:
      'With `workflow.createUser`, an individual client also becomes a user, with the e-mail address of its profile. `migration` imports a client from the named provider: `data.sourceId` is its id there.',
    workflows: {
      direct: { workflow: { createUser: optional(boolean()) }, data: fields({ client: clientSent }) },
      migration: { data: fields({ sourceId }), connect: namedProvider },
    },
    response: fields({
      client: clientShown,
      user: optional(userShown),
      userClientRelation: optional(userClientRelationShown),
    }),
    responseConnect: migrationConnectShown,
    errors: ['common.state.illegal_transition', ...MIGRATION_ERRORS],
    examples: {
      requests: {
        direct: { workflow: { createUser: false }, data: { client: CLIENT_SENT_EXAMPLE } },
        migration: {
          data: { sourceId: 'client-individual' },
          connect: { type: 'explicit', serviceProvider: 'sandbox-bank' },
        },
      },
      response: { client: CLIENT_EXAMPLE },
    },
  },
  async ({ body, requestId, initiator, services, storedAnswer, write, transaction }) => {
    if (body.code === 'migration') {
      const asked = { services, requestId, provider: body.connect.serviceProvider, sourceId: body.data.sourceId };
      const found = await findClientToMigrate(asked, storedAnswer);
      if ('rendered' in found) return found;
      return transaction(async (tx) => {
        const created = await migrateClient(tx, newClient(found.client), found.origin, initiator);
        const client = presentClientWithRelations(created.client, created.relations);
        return { data: { client }, connect: { connection: presentMigratedConnection(created.connection) } };
      });
    }
    const wanted = newClient(body.data.client);
    const user = body.workflow.createUser === true ? userOfClient(wanted) : null;
    return write(async (tx) => {
      if (user !== null) await requireFreeEmail(tx, user.email);
      const created = await createClient(tx, wanted, initiator);
      const withUser = user === null ? {} : createUserOfClient(tx, user, created, initiator);
      return { data: { client: presentClientWithRelations(created.client, created.relations), ...withUser } };
    });
  },
);

function newClient({ identity, profile, relations = [] }: ClientSent) {
  return {
    identity: newIdentity(identity),
    profile: { ...profile, phone: profile.phone ?? null, email: profile.email ?? null },
    relations: relations.map(newClientRelation),
  };
}

function newIdentity(identity: ClientSent['identity']): ClientIdentity {
  const { identifications = [], identificationNumbers = {} } = identity;
  const both = identificationsOf(identifications, identificationNumbers);
  const countryOf = identity.country ?? null;
  if (identity.type === 'individual') {
    const { type, givenName, familyName, birthDate = null } = identity;
    return { type, givenName, familyName, birthDate, country: countryOf, identifications: both };
  }
  const { type, legalName, incorporationDate = null, corporationType = null } = identity;
  return { type, legalName, incorporationDate, corporationType, country: countryOf, identifications: both };
}

const getClient = route(
  {
    method: 'GET',
    path: '/clients/{clientId}',
    operationId: 'getClient',
    summary: 'Get a client',
    tag: TAG,
    params: { clientId: uuid<ClientId>() },
    query: { 'metadata.includeProfile': optional(booleanText()) },
    include: INCLUDES,
    response: fields({ client: clientShown }),
    errors: ['common.coding.internal.record_not_found'],
    examples: { response: { client: CLIENT_EXAMPLE } },
  },
  async ({ params, query, include, services }) => {
    const { reader } = services.database;
    const client = await findClient(reader, params.clientId);
    if (client === null) throw recordNotFound('client', 'id', params.clientId);
    const relations =
      client.identity.type === 'corporate'
        ? { relations: (await readClientRelations(reader, params.clientId)).map(presentClientRelation) }
        : {};
    const connections = include.has('connect.connections')
      ? { connect: { connections: await readClientConnections(reader, params.clientId) } }
      : {};
    const withProfile = query['metadata.includeProfile'] !== false;
    return {
      data: { client: { ...showClient(client, withProfile, include), ...relations } },
      metadata: query['metadata.includeProfile'] === undefined ? {} : { includeProfile: withProfile },
      ...connections,
    };
  },
);

/**
 * Shows the profile unless excluded. An address included by name is present for every client: null if its type has
 * none.
 */
function showClient(client: Client, withProfile: boolean, include: ReadonlySet<string>) {
  const { profile, ...shown } = presentClient(client);
  const named = {
    primaryAddress: primaryAddress(profile),
    residentialAddress: profile.residentialAddress ?? null,
    registrationAddress: profile.registrationAddress ?? null,
  };
  const included = Object.entries(named).filter(([name]) => include.has(`data.client.profile.${name}`));
  if (!withProfile && included.length === 0) return shown;
  return { ...shown, profile: { ...profile, ...Object.fromEntries(included) } };
}

const getClients = route(
  {
    method: 'GET',
    path: '/clients',
    operationId: 'listClients',
    summary: 'List clients in order of creation',
    tag: TAG,
    paged: true,
    query: {
      'data.client.status': optional(named('ClientStatus', picklist(CLIENT_STATUSES))),
      'data.client.clientNumber': optional(pattern(/^\d{1,34}$/, 'digits')),
      'data.client.fullName': optional(text(FULL_NAME_LENGTH_MAX)),
      'data.client.email': optional(email()),
      'data.client.country': optional(country()),
      'data.client.identityType': optional(picklist(['individual', 'corporate'])),
    },
    response: fields({ clients: list(clientShown, 0, 100) }),
    examples: { response: { clients: [CLIENT_EXAMPLE] } },
  },
  async ({ query, page, services }) => {
    const { rows, totalElements } = await listClients(
      services.database.reader,
      {
        status: query['data.client.status'],
        clientNumber: query['data.client.clientNumber'],
        fullName: query['data.client.fullName'],
        email: query['data.client.email'],
        country: query['data.client.country'],
        identityType: query['data.client.identityType'],
      },
      page,
    );
    return { data: { clients: rows.map(presentClient) }, totalElements };
  },
);

export const clientRoutes = [postClient, getClient, getClients];
