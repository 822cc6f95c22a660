import type { ConsoleSettings } from '../../config/environment/console.ts';

/** The folders of the pages of resources, by the names that the audit log and the search use. */
const FOLDERS: Readonly<Record<string, string>> = {
  account: 'accounts',
  'bank-file': 'bank-files',
  'bank-file-request': 'bank-file-requests',
  client: 'clients',
  consent: 'consents',
  'incoming-transfer': 'incoming-transfers',
  'machine-user': 'machine-users',
  'outgoing-transfer': 'outgoing-transfers',
  person: 'people',
  'reconciliation-break': 'reconciliation-breaks',
  reconciliation: 'reconciliation',
  'remedy-list': 'remedy-lists',
  'webhook-delivery': 'webhook-deliveries',
  'webhook-subscription': 'webhooks',
};

/** The page of a resource; null: it has none of its own. */
export function pageOf(resource: string, id: string): string | null {
  const folder = FOLDERS[resource];
  return folder === undefined ? null : `/${folder}/${encodeURIComponent(id)}`;
}

/** The page of a transfer that a file carries: an outgoing one, or the money in that it returns. */
export function carriedPage({
  transferId,
  isReturn,
}: {
  readonly transferId: string;
  readonly isReturn: boolean;
}): string {
  return `/${isReturn ? 'incoming' : 'outgoing'}-transfers/${transferId}`;
}

/** A workflow in Temporal's UI; null: no address of it is configured. */
export function workflowLink({ temporalUiUrl }: ConsoleSettings, workflowId: string): string | null {
  return temporalUiUrl === null ? null : `${temporalUiUrl}/workflows/${encodeURIComponent(workflowId)}`;
}
