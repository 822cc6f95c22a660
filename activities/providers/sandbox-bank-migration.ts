import { LosslessNumber } from 'lossless-json';
import * as v from 'valibot';
import { isUuid } from '../../domain/common/ids.ts';
import { isCurrency, parseAmountMinor } from '../../domain/common/money.ts';
import type { ExistingAccount, MigrationSource, Unchecked } from './migration-port.ts';
import { one, ourReference, providerId, unchecked } from './ports/texts.ts';
import {
  AMOUNT,
  type BankAnswer,
  type BankConnection,
  IDENTIFIERS,
  isCountry,
  isNotFound,
  lookUp,
  REFERENCE_MAX,
  rejectionOf,
  requireSameReference,
  unavailable,
  understood,
} from './sandbox-bank-wire.ts';

const NOT_FOUND = { outcome: 'not-found' } as const;

/** Clients, beneficiaries and accounts that the sandbox bank had before their migration. */
export function migrationCalls(bank: BankConnection): MigrationSource {
  return {
    async lookUpClient(sourceId, options) {
      const answer = await bank.call('GET', `/existing-clients/${encodeURIComponent(sourceId)}`, null, options);
      const none = notFoundOrRejected(answer);
      if (none !== null) return none;
      const { reference, relations, ...party } = understood(EXISTING_CLIENT, answer.body);
      return {
        outcome: 'found',
        reference,
        client: present({ ...clientOf(party), relations: relationsOf(relations) }),
      };
    },

    async lookUpBeneficiary(sourceId, options) {
      const answer = await bank.call('GET', `/existing-beneficiaries/${encodeURIComponent(sourceId)}`, null, options);
      const none = notFoundOrRejected(answer);
      if (none !== null) return none;
      const { reference, clientReference, identity, address, phone, email, ...rest } = understood(
        EXISTING_BENEFICIARY,
        answer.body,
      );
      const contact = present({ address, phone, email });
      const beneficiary = {
        ...rest,
        ...(identity ? { identity: beneficiaryIdentityOf(identity) } : {}),
        ...(Object.keys(contact).length === 0 ? {} : { contact }),
      };
      return { outcome: 'found', reference, clientReference, beneficiary: present(beneficiary) };
    },

    ...accountCalls(bank),
  };
}

type AccountCalls = Pick<MigrationSource, 'lookUpExistingAccount' | 'handOverAccount' | 'lookUpOpeningBalance'>;

function accountCalls(bank: BankConnection): AccountCalls {
  return {
    async lookUpExistingAccount(sourceId, options) {
      const answer = await bank.call('GET', `/existing-accounts/${encodeURIComponent(sourceId)}`, null, options);
      return notFoundOrRejected(answer) ?? existingAccount(sourceId, understood(EXISTING_ACCOUNT, answer.body));
    },

    async handOverAccount({ sourceId, accountId: ourReference, alias }, options) {
      const path = `/existing-accounts/${encodeURIComponent(sourceId)}/hand-over`;
      const answer = await bank.call('POST', path, { ourReference, alias }, options);
      const none = notFoundOrRejected(answer);
      if (none !== null) return none;
      const account = understood(HANDED_OVER, answer.body);
      return { ...existingAccount(sourceId, account), accountId: account.ourReference };
    },

    lookUpOpeningBalance: (accountId, options) =>
      lookUp(bank, `/accounts/${encodeURIComponent(accountId)}`, options, (body) => {
        const { ourReference, currency, openingBalance } = understood(OPENED_WITH, body);
        requireSameReference(accountId, ourReference);
        return { outcome: 'handed-over', currency, amountMinor: balanceMinor(openingBalance, currency) };
      }),
  };
}

const EXISTING_ACCOUNT = v.object({
  sourceId: providerId(REFERENCE_MAX),
  reference: providerId(REFERENCE_MAX),
  clientReference: providerId(REFERENCE_MAX),
  currency: one(isCurrency),
  country: one(isCountry),
  balance: AMOUNT,
  ...IDENTIFIERS,
});

const HANDED_OVER = v.object({
  ...EXISTING_ACCOUNT.entries,
  ourReference: v.pipe(ourReference(), v.check(isUuid)),
});

const OPENED_WITH = v.object({ ourReference: ourReference(), currency: one(isCurrency), openingBalance: AMOUNT });

function existingAccount(asked: string, account: v.InferOutput<typeof EXISTING_ACCOUNT>): ExistingAccount {
  const { sourceId, reference, clientReference, currency, country, iban, accountNumber, routingCodes } = account;
  requireSameReference(asked, sourceId);
  return {
    outcome: 'found',
    reference,
    clientReference,
    currency,
    country,
    iban,
    accountNumber,
    routingCodes,
    balanceMinor: balanceMinor(account.balance, currency),
  };
}

/** Unlike a payment's amount, a balance may be zero or negative. */
function balanceMinor(digits: string, currency: string): bigint {
  const minor = isCurrency(currency) ? parseAmountMinor(digits, currency, { positive: false }) : null;
  if (typeof minor !== 'bigint') throw unavailable('answer not understood');
  return minor;
}

function notFoundOrRejected(answer: BankAnswer) {
  return isNotFound(answer) ? NOT_FOUND : rejectionOf(answer);
}

/** Field values are not validated here: the service's rules do that. Unlisted fields are dropped. */
const anything = unchecked();

const IDENTITY = v.object({
  type: anything,
  givenName: anything,
  familyName: anything,
  legalName: anything,
  birthDate: anything,
  incorporationDate: anything,
  corporationType: anything,
  country: anything,
  identifications: v.nullish(
    v.array(
      v.object({
        type: anything,
        identificationNumber: anything,
        issuingCountry: anything,
        issueDate: anything,
        expirationDate: anything,
      }),
    ),
  ),
});

const CONTACT = {
  address: v.nullish(
    v.object({
      country: anything,
      region: anything,
      city: anything,
      street: anything,
      houseNumber: anything,
      postalCode: anything,
      refinement: anything,
    }),
  ),
  phone: anything,
  email: anything,
};

const RELATIONS = v.nullish(v.array(v.object({ relation: anything, identity: IDENTITY, ...CONTACT })), []);

const EXISTING_CLIENT = v.object({
  reference: providerId(REFERENCE_MAX),
  identity: IDENTITY,
  ...CONTACT,
  relations: RELATIONS,
});

const EXISTING_BENEFICIARY = v.object({
  reference: providerId(REFERENCE_MAX),
  clientReference: providerId(REFERENCE_MAX),
  identity: v.nullish(IDENTITY),
  fullName: anything,
  title: anything,
  ...CONTACT,
  bankAccounts: v.nullish(
    v.array(
      v.object({
        accountHolderName: anything,
        accountHolderType: anything,
        bankName: anything,
        alias: anything,
        country: anything,
        currency: anything,
        accountNumber: anything,
        iban: anything,
        routingCodes: anything,
      }),
    ),
    [],
  ),
});

type Party = Pick<v.InferOutput<typeof EXISTING_CLIENT>, 'identity' | 'address' | 'phone' | 'email'>;

/** Drops what the service does not store: a beneficiary company's country, a director's passport. */
function clientOf({ identity, ...contact }: Party): Unchecked {
  const { type, legalName, incorporationDate, corporationType, country, identifications } = identity;
  const kept =
    type === 'corporate'
      ? { type, legalName, incorporationDate, corporationType, country, identifications }
      : { ...personOf(identity), identifications };
  return { identity: kept, profile: profileOf(type, contact) };
}

function relationsOf(relations: v.InferOutput<typeof RELATIONS>): readonly Unchecked[] | undefined {
  if (relations.length === 0) return undefined;
  return relations.map(({ relation, identity, ...contact }) => ({
    relation,
    identity: personOf(identity),
    profile: profileOf(identity.type, contact),
  }));
}

function beneficiaryIdentityOf(identity: Party['identity']): Unchecked {
  const { type, legalName, identifications } = identity;
  return type === 'corporate' ? { type, legalName, identifications } : { ...personOf(identity), identifications };
}

function personOf({ type, givenName, familyName, birthDate, country }: Party['identity']): Unchecked {
  return { type, givenName, familyName, birthDate, country };
}

/** The bank has one address per party: a person's residence, a company's registered office. */
function profileOf(type: unknown, { address, phone, email }: Omit<Party, 'identity'>): Unchecked {
  return {
    identityType: type,
    [type === 'corporate' ? 'registrationAddress' : 'residentialAddress']: address,
    phone,
    email,
  };
}

/** Removes null and undefined at any depth. */
function present(fields: object): Unchecked {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => [name, presentIn(value)]),
  );
}

function presentIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(presentIn);
  const isMap = typeof value === 'object' && value !== null && !(value instanceof LosslessNumber);
  return isMap ? present(value) : value;
}
