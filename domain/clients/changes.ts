import { DomainError, type Problem, rejection } from '../common/errors.ts';
import type { Address } from '../common/parties/addresses.ts';
import { changedIdentifications, type IdentificationsChange } from '../common/parties/identifications.ts';
import { fullNameOf } from '../common/parties/names.ts';
import {
  CLIENT_TRANSITIONS,
  type Client,
  type ClientIdentity,
  type ClientProfile,
  type ClientStatus,
} from './clients.ts';

/** A partial change of a client: absent fields stay, null clears. Relations have their own operations. */
export interface ClientChange {
  readonly identity?: ClientIdentityChange | undefined;
  readonly profile?: ClientProfileChange | undefined;
  readonly status?: ClientStatus | undefined;
}

type ClientIdentityChange = IdentificationsChange & {
  readonly country?: string | null | undefined;
} & (
    | {
        readonly type: 'individual';
        readonly givenName?: string | undefined;
        readonly familyName?: string | undefined;
        readonly birthDate?: string | null | undefined;
      }
    | {
        readonly type: 'corporate';
        readonly legalName?: string | undefined;
        readonly incorporationDate?: string | null | undefined;
        readonly corporationType?: string | null | undefined;
      }
  );

type ClientProfileChange = {
  readonly phone?: string | null | undefined;
  readonly email?: string | null | undefined;
} & (
  | { readonly identityType: 'individual'; readonly residentialAddress?: Address | undefined }
  | { readonly identityType: 'corporate'; readonly registrationAddress?: Address | undefined }
);

/** The changed client. The type never changes: a change of the other type is rejected. */
export function applyClientChange(
  { identity, profile }: Client,
  change: ClientChange,
): Pick<Client, 'identity' | 'profile' | 'fullName'> {
  const problems: Problem[] = [];
  if (change.identity !== undefined && change.identity.type !== identity.type) {
    problems.push(otherType('identity.type', change.identity.type));
  }
  if (change.profile !== undefined && change.profile.identityType !== identity.type) {
    problems.push(otherType('profile.identityType', change.profile.identityType));
  }
  const [first, ...rest] = problems;
  if (first !== undefined) throw new DomainError([first, ...rest]);
  const changed = change.identity === undefined ? identity : changedIdentity(identity, change.identity);
  return {
    identity: changed,
    profile: change.profile === undefined ? profile : changedProfile(profile, change.profile),
    fullName: fullNameOf(changed),
  };
}

/** The requested status. Rejects illegal transitions, and closing a client with open accounts. */
export function changedStatus(before: ClientStatus, asked: ClientStatus, openAccounts: number): ClientStatus {
  const stays = asked === before && CLIENT_TRANSITIONS[before].length > 0;
  if (!stays && !CLIENT_TRANSITIONS[before].includes(asked)) {
    const message = `A client that is ${before} cannot become ${asked}.`;
    throw rejection('common.state.illegal_transition', ['client', 'status', asked], message);
  }
  if (asked === 'closed' && openAccounts > 0) {
    const message = 'The client has an account that is neither closed nor declined.';
    throw rejection('client.close.not_empty', ['client', 'status', asked], message);
  }
  return asked;
}

function otherType(field: string, type: string): Problem {
  const message = 'The type of a client cannot change.';
  return { code: 'common.validation.field_invalid', message, messageParameters: ['client', field, type] };
}

function changedIdentity(before: ClientIdentity, change: ClientIdentityChange): ClientIdentity {
  const both = {
    country: change.country === undefined ? before.country : change.country,
    identifications: changedIdentifications(before.identifications, change),
  };
  if (before.type === 'individual' && change.type === 'individual') {
    const { givenName = before.givenName, familyName = before.familyName, birthDate = before.birthDate } = change;
    return { type: 'individual', givenName, familyName, birthDate, ...both };
  }
  if (before.type === 'corporate' && change.type === 'corporate') {
    const { legalName = before.legalName, incorporationDate = before.incorporationDate } = change;
    const { corporationType = before.corporationType } = change;
    return { type: 'corporate', legalName, incorporationDate, corporationType, ...both };
  }
  return before;
}

function changedProfile(before: ClientProfile, change: ClientProfileChange): ClientProfile {
  const { phone = before.phone, email = before.email } = change;
  if (change.identityType === 'individual') {
    const { residentialAddress = before.residentialAddress ?? null } = change;
    return { identityType: 'individual', residentialAddress, phone, email };
  }
  const { registrationAddress = before.registrationAddress ?? null } = change;
  return { identityType: 'corporate', registrationAddress, phone, email };
}
