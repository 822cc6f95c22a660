/** The roles of machine users; each API route lists the roles that may call it. */
export const ROLES = ['viewer', 'operator', 'approver', 'compliance', 'admin'] as const;

export type Role = (typeof ROLES)[number];

export function isRole(text: string): text is Role {
  return ROLES.some((role) => role === text);
}
