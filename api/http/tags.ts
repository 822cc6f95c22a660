/** The groups of operations in the document, in its order. */
export const TAGS = {
  Clients: 'The people and companies that accounts belong to, and the individuals related to a company.',
  Users: 'People who may act for clients: users, their invitations and the clients they act for.',
  'Sign-up': 'The pages behind the link in an invitation, for browsers. No token is needed: the link is the secret.',
  Beneficiaries: 'Parties outside the service that clients pay.',
  'Beneficiary bank accounts': 'Where beneficiaries are paid, and which fields a bank account needs.',
  'Beneficiary verification': 'Confirmation of Payee: does the name match the account?',
  Accounts: 'Accounts of clients at providers, how to pay into them, and their statements.',
  'Provisioned account credits': 'Top-ups that the caller reports for accounts of plug-in providers.',
  'Incoming transfers': 'Money that arrives, and money on hold because it matches no account or more than one.',
  'Outgoing transfers': 'Payments to other accounts of the service and to banks, and what may be paid where and when.',
  'Open banking consents':
    'Consents of account holders to third parties, and the keys that sign what third parties get.',
  'Open banking access': 'What third-party providers may do with the access token of a consent.',
  'Third-party providers': 'Companies that ask account holders for open banking consents, and their public keys.',
  'Machine users': 'The programs that call this interface, and their public keys.',
  Reconciliation: 'Our ledger compared with the statements of providers, day by day, and where they differ.',
  Audit: 'Who changed what, when, and by which request.',
  Providers: 'Where providers report what happened at the bank.',
  Webhooks: 'Subscriptions to events, their deliveries, and the log of events.',
  System: 'Health, and the documents about this interface.',
} as const;

export type Tag = keyof typeof TAGS;
