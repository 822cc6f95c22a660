import * as v from 'valibot';
import { CLIENT_RELATIONS, CLIENT_STATUSES } from '../../domain/clients/clients.ts';
import { CLIENT_RELATIONS_MAX, CLIENT_RELATIONS_PER_CALL_MAX } from '../../domain/clients/relations.ts';
import { ADDRESS_LINE_LENGTH_MAX, FULL_NAME_LENGTH_MAX } from '../../domain/common/parties/names.ts';
import { type FieldConflict, isSent, rejectConflicts, type Sent } from '../http/schemas/cross-checks.ts';
import { named } from '../http/schemas/named.ts';
import { oneOf, only } from '../http/schemas/one-of.ts';
import {
  addressSent,
  addressShown,
  email,
  historicDate,
  identificationNumbers,
  identificationsSent,
  identificationsShown,
  partyName,
  phone,
} from '../http/schemas/parties.ts';
import {
  country,
  date,
  deprecated,
  fields,
  list,
  nullable,
  optional,
  pattern,
  picklist,
  text,
  uuid,
} from '../http/schemas/schemas.ts';

const individualNames = { type: only('individual'), givenName: partyName(), familyName: partyName() };
const corporateNames = { type: only('corporate'), legalName: partyName() };
const identificationViews = {
  identifications: optional(identificationsSent),
  identificationNumbers: deprecated(optional(identificationNumbers)),
};

const identitySent = named(
  'ClientIdentity',
  oneOf(
    'type',
    [
      named(
        'IndividualClientIdentity',
        fields({
          ...individualNames,
          birthDate: optional(date()),
          country: optional(country()),
          ...identificationViews,
        }),
      ),
      named(
        'CorporateClientIdentity',
        fields({
          ...corporateNames,
          incorporationDate: optional(historicDate()),
          corporationType: optional(text(40)),
          country: optional(country()),
          ...identificationViews,
        }),
      ),
    ],
    'type individual or corporate',
  ),
);

const contactSent = { phone: optional(phone()), email: optional(email()) };

const profileSent = named(
  'ClientProfile',
  oneOf(
    'identityType',
    [
      named(
        'IndividualClientProfile',
        fields({ identityType: only('individual'), residentialAddress: addressSent, ...contactSent }),
      ),
      named(
        'CorporateClientProfile',
        fields({ identityType: only('corporate'), registrationAddress: addressSent, ...contactSent }),
      ),
    ],
    'identityType individual or corporate',
  ),
);

export const relationSent = named(
  'ClientRelation',
  fields({
    relation: named('Relation', picklist(CLIENT_RELATIONS)),
    identity: named(
      'ClientRelationIdentity',
      fields({ ...individualNames, birthDate: optional(date()), country: optional(country()) }),
    ),
    profile: optional(
      named(
        'ClientRelationProfile',
        fields({ identityType: only('individual'), residentialAddress: optional(addressSent), ...contactSent }),
      ),
    ),
  }),
);

/** A new client: identity and profile must agree on the type, and only corporates have relations. */
export const clientSent = v.pipe(
  named(
    'Client',
    fields({
      identity: identitySent,
      profile: profileSent,
      relations: optional(list(relationSent, 0, CLIENT_RELATIONS_PER_CALL_MAX)),
    }),
  ),
  rejectConflicts(({ identity, profile, relations }) => {
    const type = isSent(identity) ? identity.type : undefined;
    const conflicts = typeConflicts({ identity, profile });
    if (type === 'individual' && Array.isArray(relations) && relations.length > 0) {
      conflicts.push({ path: ['relations'], value: relations, message: 'are allowed only for corporate clients' });
    }
    return conflicts;
  }),
);

/** Identity and profile are of one type. */
export function typeConflicts({ identity, profile }: Sent): FieldConflict[] {
  const type = isSent(identity) ? identity.type : undefined;
  const profileType = isSent(profile) ? profile.identityType : undefined;
  if (!isIdentityType(type) || !isIdentityType(profileType) || type === profileType) return [];
  const message = 'must be the type of the identity';
  return [{ path: ['profile', 'identityType'], value: profileType, message }];
}

function isIdentityType(type: unknown): boolean {
  return type === 'individual' || type === 'corporate';
}

export type ClientRelationSent = v.InferOutput<typeof relationSent>;
export type ClientSent = v.InferOutput<typeof clientSent>;

const contactShown = { phone: nullable(text(40)), email: nullable(text(254)) };
const identitiesShown = {
  identifications: identificationsShown,
  identificationNumbers: deprecated(identificationNumbers),
};

const identityShown = named(
  'ClientIdentity',
  v.variant('type', [
    named(
      'IndividualClientIdentity',
      fields({ ...individualNames, birthDate: nullable(date()), country: nullable(country()), ...identitiesShown }),
    ),
    named(
      'CorporateClientIdentity',
      fields({
        ...corporateNames,
        incorporationDate: nullable(historicDate()),
        corporationType: nullable(text(40)),
        country: nullable(country()),
        ...identitiesShown,
      }),
    ),
  ]),
);

/** Both forms of specification 2.1. A first line consists of street, space and house number. */
const relationAddressShown = named(
  'ClientRelationAddress',
  fields({
    ...addressShown.entries,
    state: addressShown.entries.region,
    firstLine: nullable(text(2 * ADDRESS_LINE_LENGTH_MAX + 1)),
    secondLine: addressShown.entries.refinement,
  }),
);

export const relationShown = named(
  'ClientRelation',
  fields({
    id: uuid(),
    clientId: uuid(),
    relation: named('Relation', picklist(CLIENT_RELATIONS)),
    identity: named(
      'ClientRelationIdentity',
      fields({ ...individualNames, birthDate: nullable(date()), country: nullable(country()) }),
    ),
    profile: named(
      'ClientRelationProfile',
      fields({
        identityType: only('individual'),
        residentialAddress: nullable(relationAddressShown),
        ...contactShown,
      }),
    ),
    fullName: text(FULL_NAME_LENGTH_MAX),
  }),
);

/** The client shown with an account on request. */
export const clientSummaryShown = named(
  'ClientSummary',
  fields({
    id: uuid(),
    clientNumber: pattern(/^\d+$/, 'a client number'),
    status: named('ClientStatus', picklist(CLIENT_STATUSES)),
    fullName: text(FULL_NAME_LENGTH_MAX),
    identity: identityShown,
  }),
);

export const clientShown = named(
  'Client',
  fields({
    ...clientSummaryShown.entries,
    profile: optional(
      named(
        'ClientProfile',
        fields({
          identityType: picklist(['individual', 'corporate']),
          primaryAddress: optional(nullable(addressShown)),
          residentialAddress: optional(nullable(addressShown)),
          registrationAddress: optional(nullable(addressShown)),
          ...contactShown,
        }),
      ),
    ),
    relations: optional(list(relationShown, 0, CLIENT_RELATIONS_MAX)),
  }),
);

export const CLIENT_SUMMARY_EXAMPLE = {
  id: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b01',
  clientNumber: '0000000195',
  status: 'active',
  fullName: 'Ada Lovelace',
  identity: {
    type: 'individual',
    givenName: 'Ada',
    familyName: 'Lovelace',
    birthDate: '1990-12-10',
    country: 'GB',
    identifications: [],
    identificationNumbers: {},
  },
};

export const CLIENT_SENT_EXAMPLE = {
  identity: { type: 'individual', givenName: 'Ada', familyName: 'Lovelace', birthDate: '1990-12-10', country: 'GB' },
  profile: {
    identityType: 'individual',
    residentialAddress: { country: 'GB', city: 'London', street: 'St James Square', houseNumber: '12' },
    email: 'ada@example.com',
  },
};

export const CLIENT_EXAMPLE = {
  ...CLIENT_SUMMARY_EXAMPLE,
  profile: {
    identityType: 'individual',
    residentialAddress: {
      country: 'GB',
      region: null,
      city: 'London',
      street: 'St James Square',
      houseNumber: '12',
      postalCode: null,
      refinement: null,
    },
    phone: null,
    email: 'ada@example.com',
  },
};
