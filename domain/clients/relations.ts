import type { Address } from '../common/parties/addresses.ts';
import { fullNameOf } from '../common/parties/names.ts';
import {
  type Client,
  type ClientProfile,
  type ClientRelation,
  type ClientRelationKind,
  presentClient,
} from './clients.ts';

/** Entities related to corporate clients (specification 2.2), as opposed to the users who may act for a client. */

/** Per creation or call (specification 8). */
export const CLIENT_RELATIONS_PER_CALL_MAX = 10;

/** Per client, because a client's answers show all of them. */
export const CLIENT_RELATIONS_MAX = 1_000;

/** A partial change of a related entity: absent fields stay, null clears. The address is replaced whole. */
export interface ClientRelationChange {
  readonly relation?: ClientRelationKind | undefined;
  readonly identity?:
    | {
        readonly givenName?: string | undefined;
        readonly familyName?: string | undefined;
        readonly birthDate?: string | null | undefined;
        readonly country?: string | null | undefined;
      }
    | undefined;
  readonly profile?:
    | {
        readonly residentialAddress?: Address | null | undefined;
        readonly phone?: string | null | undefined;
        readonly email?: string | null | undefined;
      }
    | null
    | undefined;
}

const NO_PROFILE = { identityType: 'individual', residentialAddress: null, phone: null, email: null } as const;

export function applyClientRelationChange(
  before: ClientRelation,
  { relation = before.relation, identity = {}, profile = {} }: ClientRelationChange,
): Pick<ClientRelation, 'relation' | 'identity' | 'profile' | 'fullName'> {
  const { givenName, familyName, birthDate, country } = before.identity;
  const changed = {
    type: 'individual',
    givenName: identity.givenName ?? givenName,
    familyName: identity.familyName ?? familyName,
    birthDate: identity.birthDate === undefined ? birthDate : identity.birthDate,
    country: identity.country === undefined ? country : identity.country,
  } as const;
  return {
    relation,
    identity: changed,
    profile: profile === null ? NO_PROFILE : changedProfile(before.profile, profile),
    fullName: fullNameOf(changed),
  };
}

function changedProfile(
  before: ClientProfile,
  { residentialAddress, phone, email }: NonNullable<ClientRelationChange['profile']>,
): ClientProfile {
  return {
    identityType: 'individual',
    residentialAddress: residentialAddress === undefined ? (before.residentialAddress ?? null) : residentialAddress,
    phone: phone === undefined ? before.phone : phone,
    email: email === undefined ? before.email : email,
  };
}

/** A client as writes return it; only corporate clients have relations. */
export function presentClientWithRelations(client: Client, relations: readonly ClientRelation[]) {
  const shown = client.identity.type === 'corporate' ? { relations: relations.map(presentClientRelation) } : {};
  return { ...presentClient(client), ...shown };
}

export function presentClientRelation({ id, clientId, relation, identity, profile, fullName }: ClientRelation) {
  const { residentialAddress, phone, email } = profile;
  return {
    id,
    clientId,
    relation,
    identity,
    profile: {
      identityType: 'individual' as const,
      residentialAddress: residentialAddress ? presentRelationAddress(residentialAddress) : null,
      phone,
      email,
    },
    fullName,
  };
}

/** Both sets of keys that specification 2.1 defines for a related entity's address; they share three. */
function presentRelationAddress(address: Address) {
  const { region, street, houseNumber, refinement } = address;
  const firstLine = [street, houseNumber].filter((part) => part !== null).join(' ');
  return { ...address, state: region, firstLine: firstLine === '' ? null : firstLine, secondLine: refinement };
}
