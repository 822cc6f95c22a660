import * as v from 'valibot';
import { findClient } from '../../db/clients/clients.ts';
import {
  addClientRelations,
  changeClientRelation,
  deleteClientRelation,
  findClientRelation,
  listClientRelations,
  type NewClientRelation,
} from '../../db/clients/relations.ts';
import { CLIENT_RELATIONS } from '../../domain/clients/clients.ts';
import {
  CLIENT_RELATIONS_MAX,
  CLIENT_RELATIONS_PER_CALL_MAX,
  presentClientRelation,
} from '../../domain/clients/relations.ts';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { ClientId, ClientRelationId } from '../../domain/common/ids.ts';
import { route } from '../http/route.ts';
import { rejectConflicts } from '../http/schemas/cross-checks.ts';
import { named } from '../http/schemas/named.ts';
import { only } from '../http/schemas/one-of.ts';
import { addressSent, email, partyName, phone } from '../http/schemas/parties.ts';
import { clearable, country, date, fields, list, optional, picklist, uuid } from '../http/schemas/schemas.ts';
import { CLIENT_EXAMPLE, type ClientRelationSent, relationSent, relationShown } from './schemas.ts';

const TAG = 'Clients';

const SENT_EXAMPLE = {
  relation: 'director',
  identity: { type: 'individual', givenName: 'Grace', familyName: 'Hopper', birthDate: '1976-12-09', country: 'GB' },
  profile: {
    identityType: 'individual',
    residentialAddress: { country: 'GB', city: 'London', street: 'Baker Street', houseNumber: '7' },
    email: 'grace@example.com',
  },
};

const EXAMPLE = {
  id: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b02',
  clientId: CLIENT_EXAMPLE.id,
  ...SENT_EXAMPLE,
  profile: {
    ...SENT_EXAMPLE.profile,
    residentialAddress: {
      ...SENT_EXAMPLE.profile.residentialAddress,
      region: null,
      postalCode: null,
      refinement: null,
      state: null,
      firstLine: 'Baker Street 7',
      secondLine: null,
    },
    phone: null,
  },
  fullName: 'Grace Hopper',
};

/** One relation or several; the answer has the request's form. */
const oneOrSeveral = v.pipe(
  fields({
    clientRelation: optional(relationSent),
    clientRelations: optional(list(relationSent, 1, CLIENT_RELATIONS_PER_CALL_MAX)),
  }),
  rejectConflicts(({ clientRelation, clientRelations }) => {
    if (clientRelation === undefined && clientRelations === undefined) {
      const message = 'common.validation.field_required: is required, or data.clientRelations is';
      return [{ path: ['clientRelation'], value: undefined, message }];
    }
    if (clientRelation === undefined || clientRelations === undefined) return [];
    const message = 'common.validation.mutually_exclusive: cannot be sent together with data.clientRelation';
    return [{ path: ['clientRelations'], value: clientRelations, message }];
  }),
);

const postClientRelations = route(
  {
    method: 'POST',
    path: '/clients/{clientId}/relations',
    operationId: 'createClientRelations',
    summary: 'Relate individuals to a corporate client',
    description: `Send one relation as \`clientRelation\` or several as \`clientRelations\`; the response has the same form. At most ${CLIENT_RELATIONS_PER_CALL_MAX} per request and ${CLIENT_RELATIONS_MAX} per client.`,
    tag: TAG,
    roles: ['operator'],
    params: { clientId: uuid<ClientId>() },
    workflows: { direct: { data: oneOrSeveral } },
    response: fields({
      clientRelation: optional(relationShown),
      clientRelations: optional(list(relationShown, 1, CLIENT_RELATIONS_PER_CALL_MAX)),
    }),
    errors: ['common.coding.internal.record_not_found'],
    examples: {
      requests: { direct: { data: { clientRelation: SENT_EXAMPLE } } },
      response: { clientRelation: EXAMPLE },
    },
  },
  async ({ params, body, initiator, write }) => {
    const { clientRelation: one, clientRelations: several } = body.data;
    const wanted = several ?? (one === undefined ? [] : [one]);
    return write(async (tx) => {
      const rows = await addClientRelations(tx, params.clientId, wanted.map(newClientRelation), initiator);
      const shown = rows.map(presentClientRelation);
      return { data: several === undefined ? { clientRelation: shown[0] } : { clientRelations: shown } };
    });
  },
);

/** Fields that were not sent are null. */
export function newClientRelation({ relation, identity, profile }: ClientRelationSent): NewClientRelation {
  const { birthDate = null, country: nationality = null } = identity;
  const { residentialAddress = null, phone: number = null, email: address = null } = profile ?? {};
  return {
    relation,
    identity: { ...identity, birthDate, country: nationality },
    profile: { identityType: 'individual', residentialAddress, phone: number, email: address },
  };
}

const one = { clientId: uuid<ClientId>(), clientRelationId: uuid<ClientRelationId>() };

const clientRelationChange = named(
  'ClientRelation',
  fields({
    relation: optional(named('Relation', picklist(CLIENT_RELATIONS))),
    identity: optional(
      named(
        'ClientRelationIdentity',
        fields({
          type: optional(only('individual')),
          givenName: optional(partyName()),
          familyName: optional(partyName()),
          birthDate: clearable(date()),
          country: clearable(country()),
        }),
      ),
    ),
    profile: clearable(
      named(
        'ClientRelationProfile',
        fields({
          identityType: optional(only('individual')),
          residentialAddress: clearable(addressSent),
          phone: clearable(phone()),
          email: clearable(email()),
        }),
      ),
    ),
  }),
);

const patchClientRelation = route(
  {
    method: 'PATCH',
    path: '/clients/{clientId}/relations/{clientRelationId}',
    operationId: 'updateClientRelation',
    summary: 'Change a relation of a corporate client',
    tag: TAG,
    roles: ['operator'],
    params: one,
    workflows: { direct: { data: fields({ clientRelation: clientRelationChange }) } },
    response: fields({ clientRelation: relationShown }),
    errors: ['common.coding.internal.record_not_found'],
    examples: {
      requests: {
        direct: {
          data: {
            clientRelation: {
              relation: 'director-and-shareholder',
              identity: { type: 'individual', familyName: 'Murray Hopper' },
              profile: { identityType: 'individual', phone: '+44 20 7946 0000' },
            },
          },
        },
      },
      response: { clientRelation: { ...EXAMPLE, relation: 'director-and-shareholder' } },
    },
  },
  async ({ params, body, initiator, write }) => {
    const change = body.data.clientRelation;
    return write(async (tx) => {
      const changed = await changeClientRelation(tx, params.clientId, params.clientRelationId, change, initiator);
      return { data: { clientRelation: presentClientRelation(changed) } };
    });
  },
);

const deleteClientRelationRoute = route(
  {
    method: 'DELETE',
    path: '/clients/{clientId}/relations/{clientRelationId}',
    operationId: 'deleteClientRelation',
    summary: 'End a relation of a corporate client',
    tag: TAG,
    roles: ['operator'],
    params: one,
    response: fields({}),
    errors: ['common.coding.internal.record_not_found'],
    examples: { response: {} },
  },
  async ({ params, initiator, write }) =>
    write(async (tx) => {
      await deleteClientRelation(tx, params.clientId, params.clientRelationId, initiator);
      return { data: {} };
    }),
);

const getClientRelation = route(
  {
    method: 'GET',
    path: '/clients/{clientId}/relations/{clientRelationId}',
    operationId: 'getClientRelation',
    summary: 'Get a relation of a corporate client',
    tag: TAG,
    params: one,
    response: fields({ clientRelation: relationShown }),
    errors: ['common.coding.internal.record_not_found'],
    examples: { response: { clientRelation: EXAMPLE } },
  },
  async ({ params, services }) => {
    const found = await findClientRelation(services.database.reader, params.clientId, params.clientRelationId);
    if (found === null) throw recordNotFound('clientRelation', 'id', params.clientRelationId);
    return { data: { clientRelation: presentClientRelation(found) } };
  },
);

const getClientRelations = route(
  {
    method: 'GET',
    path: '/clients/{clientId}/relations',
    operationId: 'listClientRelations',
    summary: 'List the relations of a client in order of creation',
    tag: TAG,
    paged: true,
    params: { clientId: uuid<ClientId>() },
    response: fields({ clientRelations: list(relationShown, 0, 100) }),
    errors: ['common.coding.internal.record_not_found'],
    examples: { response: { clientRelations: [EXAMPLE] } },
  },
  async ({ params, page, services }) => {
    const { reader } = services.database;
    const { rows, totalElements } = await listClientRelations(reader, params.clientId, page);
    if (totalElements === 0 && (await findClient(reader, params.clientId)) === null) {
      throw recordNotFound('client', 'id', params.clientId);
    }
    return { data: { clientRelations: rows.map(presentClientRelation) }, totalElements };
  },
);

export const clientRelationRoutes = [
  postClientRelations,
  patchClientRelation,
  deleteClientRelationRoute,
  getClientRelation,
  getClientRelations,
];
