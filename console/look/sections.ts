/** The sections of the console, in the order of the navigation; some are for one role only. */
export const SECTIONS = [
  ['/', 'Today'],
  ['/waiting', 'Waiting'],
  ['/reviews', 'Reviews'],
  ['/approvals', 'Approvals'],
  ['/money-without-owner', 'Money without an owner'],
  ['/reconciliation', 'Reconciliation'],
  ['/outgoing-transfers', 'Outgoing transfers'],
  ['/incoming-transfers', 'Incoming transfers'],
  ['/accounts', 'Accounts'],
  ['/clients', 'Clients'],
  ['/consents', 'Consents'],
  ['/bank-files', 'Bank files'],
  ['/webhooks', 'Webhooks'],
  ['/access', 'Who may do what', 'admin'],
] as const;
export type Section = (typeof SECTIONS)[number][0];

/** The section that an address belongs to, by its first word. */
export function sectionOf(path: string): Section | undefined {
  const first = `/${path.split('/')[1] ?? ''}`;
  return SECTIONS.find(([section]) => section === first)?.[0];
}
