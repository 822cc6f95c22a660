import type { ClientRelationKind } from '../clients/clients.ts';

/** Invitations (specification 2.3). Those of one request share a sign-up: one e-mail, one link, one answer. */
export const USER_INVITATION_STATUSES = ['pending', 'accepted', 'rejected', 'cancelled'] as const;
export type UserInvitationStatus = (typeof USER_INVITATION_STATUSES)[number];

/** Only the invited person, through the link, accepts or rejects; callers cancel. An expired invitation becomes cancelled. */
export const USER_INVITATION_TRANSITIONS: Readonly<Record<UserInvitationStatus, readonly UserInvitationStatus[]>> = {
  pending: ['accepted', 'rejected', 'cancelled'],
  accepted: [],
  rejected: [],
  cancelled: [],
};

/** A sign-up has more statuses than its invitations, so that its link can explain why it has ended. */
export const USER_SIGN_UP_STATUSES = ['pending', 'accepted', 'rejected', 'cancelled', 'expired'] as const;
export type UserSignUpStatus = (typeof USER_SIGN_UP_STATUSES)[number];

/** The purpose of a link: to answer invitations, or to choose a new password. */
export const USER_SIGN_UP_KINDS = ['invitation', 'password-reset'] as const;

/** How long the link to a new password works. */
export const PASSWORD_RESET_LIFETIME_MS = 3_600_000;

/** How long an invitation can be accepted or rejected. */
export const INVITATION_LIFETIME_MS = 7 * 86_400_000;

/** When to check a sign-up again, in case its wake-up is lost. */
export const INVITATION_CHECK_MS = 60_000;

export interface UserInvitation {
  readonly id: string;
  readonly clientId: string;
  readonly userClientRelation: ClientRelationKind;
  readonly status: UserInvitationStatus;
}

export interface UserSignUp {
  readonly status: UserSignUpStatus;
  readonly expiresAt: Date;
  readonly mailedAt: Date | null;
}

/** The next step of a sign-up's workflow. db/ carries out `expire` itself before it returns. */
export type SignUpStep =
  | { readonly do: 'end' }
  | { readonly do: 'send-mail' }
  | { readonly do: 'wait'; readonly for: 'answer'; readonly until: string };

export function decideSignUp(signUp: UserSignUp, now: Date): SignUpStep | { readonly do: 'expire' } {
  if (signUp.status !== 'pending') return { do: 'end' };
  if (isExpired(signUp, now)) return { do: 'expire' };
  if (signUp.mailedAt === null) return { do: 'send-mail' };
  return { do: 'wait', for: 'answer', until: signUp.expiresAt.toISOString() };
}

/** Whether the sign-up has expired, even if the workflow has not recorded it yet. */
export function isExpired(signUp: Pick<UserSignUp, 'status' | 'expiresAt'>, now: Date): boolean {
  return signUp.status === 'expired' || (signUp.status === 'pending' && signUp.expiresAt.getTime() <= now.getTime());
}
