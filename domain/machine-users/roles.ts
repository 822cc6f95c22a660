/** What a machine user may do; the API's routes name the roles that may call them. */
export const ROLES = ['viewer', 'operator', 'approver', 'compliance', 'admin'] as const;

export type Role = (typeof ROLES)[number];

export function isRole(text: string): text is Role {
  return ROLES.some((role) => role === text);
}
