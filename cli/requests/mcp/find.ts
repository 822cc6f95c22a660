import type { Query, ReadOnlyApi, Shown } from './read-only-api.ts';
import { isRecord } from './read-only-api.ts';

/** A place where a text of this form may be found. */
interface Place {
  readonly path: string;
  readonly query?: Query;
}

const BY_ID = [
  '/outgoing-transfers',
  '/incoming-transfers',
  '/accounts',
  '/clients',
  '/beneficiaries',
  '/users',
  '/webhook-deliveries',
  '/provisioned-account-credits',
  '/open-banking/GB/consents',
];

const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const FOUND_MAX = '10';

/** Whatever a person may have of something: an id, a number, a reference, an address, a name. */
export async function findAnything(api: ReadOnlyApi, given: string): Promise<Shown> {
  const text = given.trim();
  const found: Record<string, Shown> = {};
  for (const { path, query } of placesOf(text)) {
    const data = await api.find(path, query);
    for (const [name, value] of Object.entries(data ?? {})) {
      if (isRecord(value)) found[name] = value;
      if (!Array.isArray(value) || value.length === 0) continue;
      const before = found[name];
      found[name] = uniqueById([...(Array.isArray(before) ? before : []), ...value]);
    }
  }
  return Object.keys(found).length === 0 ? { found: 'nothing', text } : found;
}

/** Several filters may find the same. */
function uniqueById(values: readonly Shown[]): Shown[] {
  return [...new Map(values.map((value) => [isRecord(value) ? value.id : value, value])).values()];
}

function placesOf(text: string): readonly Place[] {
  if (UUID.test(text)) return BY_ID.map((path) => ({ path: `${path}/${text}` }));
  const by = (path: string, names: readonly string[], value = text): Place[] =>
    names.map((name) => ({ path, query: { [`data.${name}`]: value, 'metadata.page.size': FOUND_MAX } }));
  if (text.includes('@')) {
    const users = { 'data.user.category': 'external', 'data.user.email': text };
    return [...by('/clients', ['client.email']), { path: '/users', query: users }];
  }
  const number = text.replaceAll(' ', '').toUpperCase();
  const numbers = [
    ...by('/accounts', ['account.iban', 'account.accountNumber', 'account.ledgerNumber'], number),
    ...by('/clients', ['client.clientNumber'], number),
  ];
  const references = ['transactionNumber', 'paymentReference', 'serviceProviderId', 'serviceProviderReference'];
  const transfers = [
    ...by(
      '/outgoing-transfers',
      [...references, 'description'].map((name) => `outgoingTransfer.${name}`),
    ),
    ...by(
      '/incoming-transfers',
      [...references, 'senderInformation', 'senderName'].map((name) => `incomingTransfer.${name}`),
    ),
  ];
  const names = [
    ...by('/clients', ['client.fullName']),
    ...by('/accounts', ['account.accountHolderName', 'account.alias']),
  ];
  return /\d/.test(text) ? [...numbers, ...transfers, ...names] : [...names, ...transfers];
}
