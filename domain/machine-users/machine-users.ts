/** How machine users sign their tokens; a key is registered for one of these. */
export const TOKEN_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const;

export type TokenAlgorithm = (typeof TOKEN_ALGORITHMS)[number];

/** Revoking is for good. */
export const MACHINE_USER_STATUSES = ['active', 'revoked'] as const;

export type MachineUserStatus = (typeof MACHINE_USER_STATUSES)[number];
