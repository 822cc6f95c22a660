/** The people of the company that runs the service, as its identity provider knows them. */
export interface SandboxPerson {
  /** The subject. */
  readonly id: string;
  readonly name: string;
  readonly email: string;
  /** A list, or text with spaces between, as some providers have it. */
  readonly groups: readonly string[] | string;
  /** What they do, for the page where one is picked. */
  readonly title: string;
}

/** One for each role of the console, a second operator for what needs two people, and one without a role. */
export const SANDBOX_PEOPLE: readonly SandboxPerson[] = [
  person('viewer', 'Vera Rubin', 'sandbox-viewers', 'Viewer'),
  person('operator', 'Olga Ladyzhenskaya', 'sandbox-operators', 'Operator'),
  person('second-operator', 'Otto Hahn', 'sandbox-operators', 'Operator, for a second signature'),
  person('approver', 'Ada Lovelace', 'sandbox-approvers', 'Approver'),
  person('compliance', 'Carl Friedrich Gauss', 'sandbox-compliance', 'Compliance'),
  person('admin', 'Alan Turing', 'sandbox-admins', 'Administrator'),
  person('without-role', 'Niels Bohr', 'sandbox-kitchen', 'Without a role in the console'),
];

function person(id: string, name: string, group: string, title: string): SandboxPerson {
  return { id, name, email: `${id}@company.example`, groups: [group], title };
}
