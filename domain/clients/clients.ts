import { ACCOUNT_TRANSITIONS } from '../accounts/accounts.ts';
import type { Address } from '../common/parties/addresses.ts';
import { type Identification, identificationNumbersOf } from '../common/parties/identifications.ts';
import type { Transitions } from '../common/transitions.ts';

/** Clients and their presentation (specification 2.2). A client that is not active can neither open accounts nor pay. */
export const CLIENT_STATUSES = ['pending', 'active', 'inactive', 'suspended', 'closed', 'declined'] as const;
export type ClientStatus = (typeof CLIENT_STATUSES)[number];

/** The same as for accounts. A client is created active, and closes only once each of its accounts is closed or declined. */
export const CLIENT_TRANSITIONS: Transitions<ClientStatus> = ACCOUNT_TRANSITIONS;

export interface IndividualIdentity {
  readonly type: 'individual';
  readonly givenName: string;
  readonly familyName: string;
  readonly birthDate: string | null;
  /** Nationality. */
  readonly country: string | null;
  readonly identifications: readonly Identification[];
}

export interface CorporateIdentity {
  readonly type: 'corporate';
  readonly legalName: string;
  readonly incorporationDate: string | null;
  readonly corporationType: string | null;
  /** The country of registration. */
  readonly country: string | null;
  readonly identifications: readonly Identification[];
}

export type ClientIdentity = IndividualIdentity | CorporateIdentity;

export interface ClientProfile {
  readonly identityType: 'individual' | 'corporate';
  /** Only individuals. */
  readonly residentialAddress?: Address | null;
  /** Only corporates. */
  readonly registrationAddress?: Address | null;
  readonly phone: string | null;
  readonly email: string | null;
}

export const CLIENT_RELATIONS = ['director', 'shareholder', 'director-and-shareholder', 'authorized-person'] as const;
export type ClientRelationKind = (typeof CLIENT_RELATIONS)[number];

/** A legal entity related to a corporate client: individuals only. */
export interface ClientRelation {
  readonly id: string;
  readonly clientId: string;
  readonly relation: ClientRelationKind;
  readonly identity: Omit<IndividualIdentity, 'identifications'>;
  readonly profile: ClientProfile;
  readonly fullName: string;
}

export interface Client {
  readonly id: string;
  readonly clientNumber: string;
  readonly fullName: string;
  readonly status: ClientStatus;
  readonly identity: ClientIdentity;
  readonly profile: ClientProfile;
}

/** Adds the deprecated map, which is a view of the list. */
export function presentIdentity<Identity extends { readonly identifications: readonly Identification[] }>(
  identity: Identity,
) {
  return { ...identity, identificationNumbers: identificationNumbersOf(identity.identifications) };
}

export function presentClient(client: Client) {
  return {
    id: client.id,
    clientNumber: client.clientNumber,
    status: client.status,
    fullName: client.fullName,
    identity: presentIdentity(client.identity),
    profile: client.profile,
  };
}

/** An individual's residential or a corporate's registration address. */
export function primaryAddress(profile: ClientProfile): Address | null {
  return (profile.identityType === 'individual' ? profile.residentialAddress : profile.registrationAddress) ?? null;
}
