/** A relation lets a user see a client's data and hold cards on its accounts (specification 2.3); revoking can be undone. */
export const USER_CLIENT_RELATION_STATUSES = ['allowed', 'revoked'] as const;
export type UserClientRelationStatus = (typeof USER_CLIENT_RELATION_STATUSES)[number];

export const USER_CLIENT_RELATION_TRANSITIONS: Readonly<
  Record<UserClientRelationStatus, readonly UserClientRelationStatus[]>
> = {
  allowed: ['revoked'],
  revoked: ['allowed'],
};

export interface UserClientRelation {
  readonly id: string;
  readonly userId: string;
  readonly clientId: string;
  readonly status: UserClientRelationStatus;
}
