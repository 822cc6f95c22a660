import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import type { Bank } from '../bank.ts';
import type { ExistingBeneficiary, ExistingClient, Rejection } from '../books.ts';
import { BankError, invalid, maybe, reference, text } from '../wire.ts';
import { READY_MADE_BENEFICIARIES, READY_MADE_CLIENTS } from './ready-made-clients.ts';

/**
 * Clients and beneficiaries that the bank had before the service existed, for migration. The bank stores whatever its
 * operator enters, even what the service rejects: any text, and no required fields.
 */
const words = maybe(text());

const identification = v.strictObject({
  type: words,
  identificationNumber: words,
  issuingCountry: words,
  issueDate: words,
  expirationDate: words,
});

const identity = v.strictObject({
  type: words,
  givenName: words,
  familyName: words,
  legalName: words,
  birthDate: words,
  incorporationDate: words,
  corporationType: words,
  country: words,
  identifications: v.nullish(v.array(identification), []),
});

const address = v.strictObject({
  country: words,
  region: words,
  city: words,
  street: words,
  houseNumber: words,
  postalCode: words,
  refinement: words,
});

const contact = { address: maybe(address), phone: words, email: words };

const bankAccount = v.strictObject({
  accountHolderName: words,
  accountHolderType: words,
  bankName: words,
  alias: words,
  country: words,
  currency: words,
  accountNumber: words,
  iban: words,
  routingCodes: v.nullish(v.record(v.string(), text()), {}),
});

export const EXISTING_CLIENT_REQUEST = v.strictObject({
  sourceId: reference(),
  status: v.nullish(v.picklist(['open', 'closed'], 'must be open or closed'), 'open'),
  identity,
  ...contact,
  relations: v.nullish(v.array(v.strictObject({ relation: words, identity, ...contact })), []),
});

export const EXISTING_BENEFICIARY_REQUEST = v.strictObject({
  sourceId: reference(),
  /** The owner: the source id of an existing client, or the bank's reference of any client. */
  clientSourceId: maybe(reference()),
  clientReference: maybe(reference()),
  identity: maybe(identity),
  fullName: words,
  title: words,
  ...contact,
  bankAccounts: v.nullish(v.array(bankAccount), []),
});

export async function storeExistingClient(
  bank: Bank,
  request: v.InferOutput<typeof EXISTING_CLIENT_REQUEST>,
): Promise<ExistingClient> {
  if (findExistingClient(bank, request.sourceId) !== null) throw taken('client');
  const client: ExistingClient = { ...request, reference: `SBC-${randomUUID()}` };
  await bank.commit({ put: { existingClients: [client] } });
  return client;
}

export async function storeExistingBeneficiary(
  bank: Bank,
  request: v.InferOutput<typeof EXISTING_BENEFICIARY_REQUEST>,
): Promise<ExistingBeneficiary> {
  const { clientSourceId, clientReference: named, ...kept } = request;
  if ((clientSourceId === null) === (named === null)) {
    throw invalid('clientSourceId', 'or clientReference must be sent, and not both');
  }
  const owner = clientSourceId === null ? named : findExistingClient(bank, clientSourceId)?.reference;
  if (!owner || !isClientReference(bank, owner)) {
    throw invalid(named === null ? 'clientSourceId' : 'clientReference', 'does not belong to a client of this bank');
  }
  if (findExistingBeneficiary(bank, request.sourceId) !== null) throw taken('beneficiary');
  const beneficiary: ExistingBeneficiary = { ...kept, clientReference: owner, reference: `SBB-${randomUUID()}` };
  await bank.commit({ put: { existingBeneficiaries: [beneficiary] } });
  return beneficiary;
}

export function findExistingClient(bank: Bank, sourceId: string): ExistingClient | null {
  return bank.books.existingClients.get(sourceId) ?? READY_MADE_CLIENTS.get(sourceId) ?? null;
}

export function findExistingBeneficiary(bank: Bank, sourceId: string): ExistingBeneficiary | null {
  return bank.books.existingBeneficiaries.get(sourceId) ?? READY_MADE_BENEFICIARIES.get(sourceId) ?? null;
}

/** The ready-made ones, then the operator's. */
export function existingClients(bank: Bank): readonly ExistingClient[] {
  return [...READY_MADE_CLIENTS.values(), ...bank.books.existingClients.values()];
}

/** Whether the bank has a client with this reference, existing or connected by the service. */
export function isClientReference(bank: Bank, clientReference: string): boolean {
  return findClientByReference(bank, clientReference) !== null;
}

export interface ClientOfBank {
  readonly fullName: string;
  /** Null if the bank does not know it. */
  readonly identityType: 'individual' | 'corporate' | null;
  /** Of a client that the bank had before the service existed. */
  readonly identifications: ExistingClient['identity']['identifications'];
}

export function findClientByReference(bank: Bank, clientReference: string): ClientOfBank | null {
  for (const { reference: own, fullName, identityType = null } of bank.books.clients.values()) {
    if (own === clientReference) return { fullName, identityType, identifications: [] };
  }
  for (const client of existingClients(bank)) {
    if (client.reference !== clientReference) continue;
    const { type, legalName, givenName, familyName, identifications } = client.identity;
    const fullName = legalName ?? [givenName, familyName].filter((name) => name !== null).join(' ');
    return { fullName, identityType: type === 'individual' || type === 'corporate' ? type : null, identifications };
  }
  return null;
}

/** The bank does not release the data of a former client. */
export const CLIENT_CLOSED: Rejection = {
  category: 'functional',
  origin: 'provider',
  code: 'client-closed',
  message: 'The bank has ended its relation with the client.',
  attributes: {},
};

function taken(what: string): BankError {
  return new BankError(409, 'reference-reused', `Another ${what} has this sourceId.`);
}
