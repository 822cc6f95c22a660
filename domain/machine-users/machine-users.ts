/** The signature algorithms of machine users' tokens. Each key is registered for one. */
export const TOKEN_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const;

export type TokenAlgorithm = (typeof TOKEN_ALGORITHMS)[number];

/** Revocation is permanent. */
export const MACHINE_USER_STATUSES = ['active', 'revoked'] as const;

export type MachineUserStatus = (typeof MACHINE_USER_STATUSES)[number];
