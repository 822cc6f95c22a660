import * as v from 'valibot';
import { changeClient } from '../../db/clients/changes.ts';
import type { ClientChange } from '../../domain/clients/changes.ts';
import { CLIENT_STATUSES } from '../../domain/clients/clients.ts';
import { presentClientWithRelations } from '../../domain/clients/relations.ts';
import { rejection } from '../../domain/common/errors.ts';
import type { ClientId } from '../../domain/common/ids.ts';
import type { Role } from '../../domain/machine-users/roles.ts';
import { route } from '../http/route.ts';
import { rejectConflicts } from '../http/schemas/cross-checks.ts';
import { named } from '../http/schemas/named.ts';
import { oneOf, only } from '../http/schemas/one-of.ts';
import {
  addressSent,
  email,
  historicDate,
  identificationNumbersChange,
  identificationsSent,
  partyName,
  phone,
} from '../http/schemas/parties.ts';
import {
  clearable,
  country,
  date,
  deprecated,
  fields,
  optional,
  picklist,
  text,
  uuid,
} from '../http/schemas/schemas.ts';
import { CLIENT_EXAMPLE, clientShown, typeConflicts } from './schemas.ts';

const identityOfBoth = {
  country: clearable(country()),
  identifications: clearable(identificationsSent),
  identificationNumbers: deprecated(clearable(identificationNumbersChange)),
};

const identityChange = named(
  'ClientIdentity',
  oneOf(
    'type',
    [
      named(
        'IndividualClientIdentity',
        fields({
          type: only('individual'),
          givenName: optional(partyName()),
          familyName: optional(partyName()),
          birthDate: clearable(date()),
          ...identityOfBoth,
        }),
      ),
      named(
        'CorporateClientIdentity',
        fields({
          type: only('corporate'),
          legalName: optional(partyName()),
          incorporationDate: clearable(historicDate()),
          corporationType: clearable(text(40)),
          ...identityOfBoth,
        }),
      ),
    ],
    'type individual or corporate',
  ),
);

const contactChange = { phone: clearable(phone()), email: clearable(email()) };

const profileChange = named(
  'ClientProfile',
  oneOf(
    'identityType',
    [
      named(
        'IndividualClientProfile',
        fields({
          identityType: only('individual'),
          residentialAddress: optional(addressSent),
          ...contactChange,
        }),
      ),
      named(
        'CorporateClientProfile',
        fields({
          identityType: only('corporate'),
          registrationAddress: optional(addressSent),
          ...contactChange,
        }),
      ),
    ],
    'identityType individual or corporate',
  ),
);

const clientChange = v.pipe(
  named(
    'Client',
    fields({
      identity: optional(identityChange),
      profile: optional(profileChange),
      status: optional(named('ClientStatus', picklist(CLIENT_STATUSES))),
    }),
  ),
  rejectConflicts(typeConflicts),
);

const EXAMPLE = {
  id: CLIENT_EXAMPLE.id,
  clientNumber: CLIENT_EXAMPLE.clientNumber,
  status: 'active',
  fullName: 'Brook Lane Bakery Limited',
  identity: {
    type: 'corporate',
    legalName: 'Brook Lane Bakery Limited',
    incorporationDate: '2012-02-29',
    corporationType: 'ltd',
    country: 'GB',
    identifications: [
      {
        type: 'registration-number',
        identificationNumber: '07654321',
        issuingCountry: 'GB',
        issueDate: null,
        expirationDate: null,
      },
    ],
    identificationNumbers: { 'registration-number': '07654321' },
  },
  profile: {
    identityType: 'corporate',
    registrationAddress: CLIENT_EXAMPLE.profile.residentialAddress,
    phone: '+44 20 7946 0000',
    email: null,
  },
  relations: [],
};

const patchClient = route(
  {
    method: 'PATCH',
    path: '/clients/{clientId}',
    operationId: 'updateClient',
    summary: 'Change a client',
    description:
      'Changes any subset of identity and profile (role operator) and status (role compliance or admin). The type of identity and profile must be the client’s, which cannot change. Addresses and the list of identifications are replaced as a whole; the deprecated map is merged, and a null in it removes the identifications of that type.',
    tag: 'Clients',
    roles: ['operator', 'compliance', 'admin'],
    params: { clientId: uuid<ClientId>() },
    workflows: { direct: { data: fields({ client: clientChange }) } },
    response: fields({ client: clientShown }),
    errors: [
      'common.coding.internal.record_not_found',
      'common.state.illegal_transition',
      'common.security.access_denied',
      'client.close.not_empty',
    ],
    examples: {
      requests: {
        direct: {
          data: {
            client: {
              identity: {
                type: 'corporate',
                legalName: 'Brook Lane Bakery Limited',
                identifications: [
                  { type: 'registration-number', identificationNumber: '07654321', issuingCountry: 'GB' },
                ],
              },
              profile: { identityType: 'corporate', phone: '+44 20 7946 0000', email: null },
            },
          },
        },
      },
      response: { client: EXAMPLE },
    },
  },
  async ({ params, body, caller, initiator, write, transaction }) => {
    const change = body.data.client;
    checkRoles(caller.roles, change);
    // A change of status locks all of the client's accounts.
    const writeChange = change.status === undefined ? write : transaction;
    return writeChange(async (tx) => {
      const { client, relations } = await changeClient(tx, params.clientId, change, initiator);
      return { data: { client: presentClientWithRelations(client, relations) } };
    });
  },
);

/** Roles are separate: maintaining a client's data does not include changing its status, nor the reverse. */
function checkRoles(roles: readonly Role[], { identity, profile, status }: ClientChange): void {
  if (status !== undefined && !roles.includes('compliance') && !roles.includes('admin')) {
    throw denied('compliance or admin', 'status');
  }
  if (identity === undefined && profile === undefined) return;
  if (!roles.includes('operator')) throw denied('operator', identity === undefined ? 'profile' : 'identity');
}

function denied(role: string, field: string): Error {
  const message = `Changing this needs the role ${role}.`;
  return rejection('common.security.access_denied', ['client', field, ''], message);
}

export const clientChangeRoutes = [patchClient];
