import type { Address } from '../common/parties/addresses.ts';

/** External human users (specification 2.3), who may act for clients. */
export const USER_STATUSES = ['active', 'inactive'] as const;
export type UserStatus = (typeof USER_STATUSES)[number];

export const USER_TRANSITIONS: Readonly<Record<UserStatus, readonly UserStatus[]>> = {
  active: ['inactive'],
  inactive: ['active'],
};

/** Event types of users, beyond the specification. */
export const USER_EVENT_TYPES = ['user-created', 'user-updated'] as const;

export interface UserIdentity {
  readonly type: 'individual';
  readonly givenName: string;
  readonly familyName: string;
  readonly birthDate: string | null;
}

export interface UserProfile {
  readonly phone: string | null;
  readonly residentialAddress: Address | null;
}

export const NO_PROFILE: UserProfile = { phone: null, residentialAddress: null };

export interface User {
  readonly id: string;
  readonly email: string;
  readonly identity: UserIdentity;
  readonly profile: UserProfile;
  readonly status: UserStatus;
}

/** These endpoints only have users of this kind. */
const KIND = { category: 'external', type: 'human' } as const;

export function presentUser({ id, email, identity, profile, status }: User) {
  return { id, email, identity, profile, ...KIND, status };
}

/** An invited person who is not a user yet: no id, profile or status (specification 4.2). */
export function presentInvitedUser({ email, identity }: Pick<User, 'email' | 'identity'>) {
  return { email, identity, ...KIND };
}

/** A partial change of a user: absent fields stay, null clears. The address is replaced whole. */
export interface UserChange {
  readonly email?: string | undefined;
  readonly identity?:
    | {
        readonly givenName?: string | undefined;
        readonly familyName?: string | undefined;
        readonly birthDate?: string | null | undefined;
      }
    | undefined;
  readonly profile?:
    | {
        readonly phone?: string | null | undefined;
        readonly residentialAddress?: Address | null | undefined;
      }
    | null
    | undefined;
  readonly status?: UserStatus | undefined;
}

export function applyUserChange(user: User, change: UserChange): User {
  const { identity = {} } = change;
  const profile = change.profile === null ? NO_PROFILE : (change.profile ?? {});
  return {
    id: user.id,
    email: change.email ?? user.email,
    identity: {
      type: 'individual',
      givenName: identity.givenName ?? user.identity.givenName,
      familyName: identity.familyName ?? user.identity.familyName,
      birthDate: identity.birthDate === undefined ? user.identity.birthDate : identity.birthDate,
    },
    profile: {
      phone: profile.phone === undefined ? user.profile.phone : profile.phone,
      residentialAddress:
        profile.residentialAddress === undefined ? user.profile.residentialAddress : profile.residentialAddress,
    },
    status: change.status ?? user.status,
  };
}
