import type { ClientRelationKind } from '../clients/clients.ts';

/**
 * Invitations (specification 2.3), and the sign-up that those of one request share: one e-mail, one link, one answer.
 */
export const USER_INVITATION_STATUSES = ['pending', 'accepted', 'rejected', 'cancelled'] as const;
export type UserInvitationStatus = (typeof USER_INVITATION_STATUSES)[number];

/** `accepted` and `rejected` are the invited person's, by the link alone; callers cancel; an expired one is cancelled. */
export const USER_INVITATION_MOVES: Readonly<Record<UserInvitationStatus, readonly UserInvitationStatus[]>> = {
  pending: ['accepted', 'rejected', 'cancelled'],
  accepted: [],
  rejected: [],
  cancelled: [],
};

/** The sign-up itself knows why it is over, so that its link can say so. */
export const USER_SIGN_UP_STATUSES = ['pending', 'accepted', 'rejected', 'cancelled', 'expired'] as const;
export type UserSignUpStatus = (typeof USER_SIGN_UP_STATUSES)[number];

/** How long an invitation can be answered. */
export const INVITATION_LIFETIME_MS = 7 * 86_400_000;

/** How soon the workflow's work is looked at again, should its wake-up be lost. */
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

/** What the workflow of a sign-up does next. `expire` is a transition that db/ carries out before it answers. */
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

/** Past its time; also before the workflow has come to write it down. */
export function isExpired(signUp: Pick<UserSignUp, 'status' | 'expiresAt'>, now: Date): boolean {
  return signUp.status === 'expired' || (signUp.status === 'pending' && signUp.expiresAt.getTime() <= now.getTime());
}
