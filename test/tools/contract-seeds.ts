import { generateKeyPairSync, randomUUID } from 'node:crypto';

type Json = ReturnType<typeof JSON.parse>;

/** The parts of an OpenAPI document that seeding needs. */
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> };
}

interface Parameter {
  readonly name: string;
  readonly in: string;
}

interface Operation {
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly examples?: Readonly<Record<string, { value: Json }>> }>>;
  };
}

/** Ids of created resources, by the path segment before them, or by the whole path where it needs one of its own. */
export type SeededIds = Readonly<Record<string, string>> & {
  readonly accounts: string;
  readonly otherAccount: string;
  /** A client that exists at the sandbox bank too, with beneficiaries and accounts to import. */
  readonly migratedClient: string;
};

type Send = (method: string, path: string, body?: Json) => Promise<Json>;

function senderOf(url: string, token: string): Send {
  return async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`Seeding: ${method} ${path} answered ${response.status}: ${text}`);
    return JSON.parse(text).data;
  };
}

/**
 * Creates, through the API, one of everything that the document's examples name. What the caller reviews is made with `otherToken`: no one
 * decides about a payment of their own.
 */
export async function seedExamples(url: string, token: string, otherToken: string): Promise<SeededIds> {
  const send = senderOf(url, token);
  const clientId = (await send('POST', '/clients', { workflow: { code: 'direct' }, data: { client: CLIENT } })).client
    .id;
  const migrated = await send('POST', '/clients', {
    workflow: { code: 'migration' },
    data: { sourceId: 'client-corporate' },
    connect: { type: 'explicit', serviceProvider: 'sandbox-bank' },
  });
  const accounts = await seedAccount(send, clientId, 'GBP');
  const otherAccount = await seedAccount(send, clientId, 'GBP');
  const { beneficiary } = await send('POST', '/beneficiaries', {
    workflow: { code: 'direct' },
    data: { beneficiary: { ...BENEFICIARY, clientId } },
  });
  const bankAccountId = beneficiary.bankAccounts[0].id;
  const { provisionedAccountCredit } = await send('POST', '/provisioned-account-credits', {
    workflow: { code: 'client.direct' },
    data: { provisionedAccountCredit: { ...CREDIT, accountId: accounts } },
  });
  const { outgoingTransfer } = await send('POST', '/outgoing-transfers', {
    workflow: { code: 'client.direct' },
    data: { outgoingTransfer: { ...TRANSFER, clientId, ...internalParties(accounts, otherAccount) } },
  });
  // No worker runs here, so it stays cancellable.
  const waiting = await send('POST', '/outgoing-transfers', {
    workflow: { code: 'client.direct' },
    data: { outgoingTransfer: { ...PAYMENT, clientId, ...externalParties(accounts, bankAccountId) } },
  });
  const { machineUser } = await send('POST', '/machine-users', {
    workflow: { code: 'direct' },
    data: { machineUser: { name: 'contract', roles: ['viewer'], key: publicKey() } },
  });
  const { webhookSubscription } = await send('POST', '/webhook-subscriptions', {
    workflow: { code: 'direct' },
    data: { webhookSubscription: { url: 'http://127.0.0.1:8080/' } },
  });
  const inReview = await seedReviews(senderOf(url, otherToken), clientId);
  const people = await seedUsers(send, clientId);
  const relations = await seedClientRelations(send, clientId);
  const ping = `/webhook-subscriptions/${webhookSubscription.id}/ping`;
  const { webhookDelivery } = await send('POST', ping, { workflow: { code: 'direct' }, data: {} });
  return {
    clients: clientId,
    ...relations,
    accounts,
    otherAccount,
    migratedClient: migrated.client.id,
    beneficiaries: beneficiary.id,
    'bank-accounts': bankAccountId,
    'provisioned-account-credits': provisionedAccountCredit.id,
    'incoming-transfers': outgoingTransfer.incomingTransferId ?? randomUUID(),
    'outgoing-transfers': waiting.outgoingTransfer.id,
    'machine-users': machineUser.id,
    keys: machineUser.keys[0].id,
    ...inReview,
    ...people,
    'webhook-subscriptions': webhookSubscription.id,
    'webhook-deliveries': webhookDelivery.id,
  };
}

function publicKey() {
  const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
  return { kid: randomUUID(), algorithm: 'ES256', jwk };
}

const CLIENT = {
  identity: { type: 'corporate', legalName: 'Contract Test Ltd', country: 'GB' },
  profile: { identityType: 'corporate', registrationAddress: { country: 'GB', city: 'London' } },
};
const STERLING = { country: 'GB', currency: 'GBP', accountNumber: '31926819', routingCodes: { 'sort-code': '601613' } };
const BENEFICIARY = { identity: { type: 'corporate', legalName: 'Brook Lane Bakery Ltd' }, bankAccounts: [STERLING] };
const CREDIT = { amount: 1_000_000, currency: 'GBP', scope: 'external', scheme: 'faster-payments' };
const TRANSFER = { amount: 12.5, currency: 'GBP', scope: 'internal' };

const PAYMENT = { ...TRANSFER, scope: 'external', scheme: 'faster-payments' };

function internalParties(from: string, to: string) {
  return { source: source(from), destination: { type: 'client-account', accountId: to } };
}

function externalParties(from: string, to: string) {
  return { source: source(from), destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: to } };
}

function source(accountId: string) {
  return { type: 'client-account', accountId };
}

async function seedAccount(send: Send, clientId: string, currency: string): Promise<string> {
  const { account } = await send('POST', '/accounts', {
    workflow: { code: 'client.issuing' },
    data: { account: { clientId, currency } },
    connect: { method: 'plug-in', type: 'explicit', serviceProvider: 'custom-bank' },
  });
  const connection = { state: 'completed-up-to-date', status: 'active' };
  await send('PATCH', `/accounts/${account.id}`, {
    workflow: { code: 'client.direct' },
    data: { account: { status: 'active', connection } },
  });
  return account.id;
}

/** The API that is called leaves reviews of these to callers. */
export const REVIEWED = { incoming: 'EUR', outgoing: 'USD' } as const;

async function seedReviews(send: Send, clientId: string): Promise<Record<string, string>> {
  const credit = (accountId: string, currency: string) =>
    send('POST', '/provisioned-account-credits', {
      workflow: { code: 'client.direct' },
      data: { provisionedAccountCredit: { amount: 100, currency, scope: 'external', scheme: 'swift', accountId } },
    });
  const reviewed = await seedAccount(send, clientId, REVIEWED.incoming);
  await credit(reviewed, REVIEWED.incoming);
  const { incomingTransfers } = await send('GET', `/incoming-transfers?data.incomingTransfer.accountId=${reviewed}`);
  const [from, to] = [
    await seedAccount(send, clientId, REVIEWED.outgoing),
    await seedAccount(send, clientId, REVIEWED.outgoing),
  ];
  await credit(from, REVIEWED.outgoing);
  const { outgoingTransfer } = await send('POST', '/outgoing-transfers', {
    workflow: { code: 'client.direct' },
    data: {
      outgoingTransfer: { ...TRANSFER, currency: REVIEWED.outgoing, clientId, ...internalParties(from, to) },
    },
  });
  return {
    '/incoming-transfers/{id}/compliance-check': incomingTransfers[0].id,
    '/outgoing-transfers/{id}/compliance-check': outgoingTransfer.id,
  };
}

async function seedUsers(send: Send, clientId: string): Promise<Record<string, string>> {
  const identity = { type: 'individual', givenName: 'Grace', familyName: 'Hopper' };
  const { user, userClientRelations } = await send('POST', '/users', {
    workflow: { code: 'human.external.direct' },
    data: { user: { email: 'user@contract.example', identity }, userClientRelations: [{ clientId }] },
  });
  const { invitations } = await send('POST', '/users', {
    workflow: { code: 'human.external.invitation' },
    data: {
      user: { email: VALUES.userEmail, identity },
      invitations: [{ clientId, userClientRelation: 'director' }],
    },
  });
  return { users: user.id, 'client-relations': userClientRelations[0].id, invitations: invitations[0].id };
}

async function seedClientRelations(send: Send, clientId: string): Promise<Record<string, string>> {
  const identity = { type: 'individual', givenName: 'Grace', familyName: 'Hopper' };
  const relation = { relation: 'director', identity };
  const { clientRelations } = await send('POST', `/clients/${clientId}/relations`, {
    workflow: { code: 'direct' },
    data: { clientRelations: [relation, relation] },
  });
  return { relations: clientRelations[0].id, [toDelete('relations')]: clientRelations[1].id };
}

/** DELETE gets a resource of its own, so that the other methods keep theirs. */
function toDelete(noun: string): string {
  return `delete ${noun}`;
}

/** The document with existing ids in its example bodies and paths. */
export function withSeededIds(document: Document, ids: SeededIds): Document {
  const paths = Object.entries(document.paths).map(([path, operations]) => [
    path,
    Object.fromEntries(
      Object.entries(operations).map(([method, one]) => [method, seeded(document, method, path, one, ids)]),
    ),
  ]);
  return { ...document, paths: Object.fromEntries(paths) };
}

function seeded(document: Document, method: string, path: string, operation: Operation, ids: SeededIds): Operation {
  const parameters = operation.parameters?.map((own) => {
    const parameter = '$ref' in own ? referred(document, own.$ref) : own;
    const noun = new RegExp(`([^/]+)/\\{${parameter.name}\\}`).exec(path)?.[1] ?? '';
    const id = (method === 'delete' ? ids[toDelete(noun)] : undefined) ?? ids[path] ?? ids[noun];
    const value = parameter.in === 'path' ? (VALUES[parameter.name] ?? id) : undefined;
    return value === undefined ? parameter : { ...parameter, example: value };
  });
  const content = Object.entries(operation.requestBody?.content ?? {}).map(([type, { examples = {}, ...rest }]) => {
    const seededExamples = Object.entries(examples).map(([name, { value }]) => {
      const named = name.endsWith('migration') ? { ...ids, clients: ids.migratedClient } : ids;
      return [name, { value: withIds(value, '', named) }];
    });
    return [type, { ...rest, examples: Object.fromEntries(seededExamples) }];
  });
  return {
    ...operation,
    ...(parameters === undefined ? {} : { parameters }),
    ...(operation.requestBody === undefined
      ? {}
      : { requestBody: { ...operation.requestBody, content: Object.fromEntries(content) } }),
  };
}

/** A shared parameter. Its example differs by path: `id` is an id of many things. */
function referred({ components }: Document, $ref: string): Parameter {
  const parameter = components.parameters[$ref.slice($ref.lastIndexOf('/') + 1)];
  if (parameter === undefined) throw new Error(`The document refers to ${$ref}, which it does not have`);
  return parameter;
}

/** Parameters other than ids. */
const VALUES: Readonly<Record<string, string>> = {
  userEmail: 'invited@contract.example',
  countryCode: 'GB',
  country: 'GB',
  destinationCountry: 'GB',
  transferScope: 'external',
  transferScheme: 'faster-payments',
};

const NOUN_OF_FIELD: Readonly<Record<string, string>> = {
  clientId: 'clients',
  accountId: 'accounts',
  mainAccountId: 'accounts',
  beneficiaryId: 'beneficiaries',
  beneficiaryBankAccountId: 'bank-accounts',
  userId: 'users',
};

function withIds(value: Json, place: string, ids: SeededIds): Json {
  if (Array.isArray(value)) return value.map((item) => withIds(item, place, ids));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, item]) => {
    const noun = NOUN_OF_FIELD[name];
    const id =
      noun === undefined ? undefined : place === 'destination' && noun === 'accounts' ? ids.otherAccount : ids[noun];
    if (name === 'accounts') return [name, [ids.accounts]];
    return [name, typeof item === 'string' && id !== undefined ? id : withIds(item, name, ids)];
  });
  return Object.fromEntries(entries);
}
