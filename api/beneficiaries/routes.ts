import {
  createBeneficiary,
  findBeneficiary,
  listBeneficiaries,
  type NewBeneficiary,
  readBankAccounts,
} from '../../db/beneficiaries/beneficiaries.ts';
import { migrateBeneficiary } from '../../db/beneficiaries/migrations.ts';
import type {
  Beneficiary,
  BeneficiaryBankAccount,
  BeneficiaryContact,
  BeneficiaryIdentity,
} from '../../domain/beneficiaries/beneficiaries.ts';
import { presentBeneficiary, presentBeneficiaryBankAccount } from '../../domain/beneficiaries/beneficiaries.ts';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { BeneficiaryId, ClientId } from '../../domain/common/ids.ts';
import { route } from '../http/route.ts';
import { named } from '../http/schemas/named.ts';
import { country, fields, list, optional, uuid } from '../http/schemas/schemas.ts';
import {
  MIGRATION_ERRORS,
  migrationConnectShown,
  namedProvider,
  presentMigratedConnection,
  sourceId,
} from '../providers/migrations.ts';
import { findBeneficiaryToMigrate, modulusMetadataOfMigration } from './migrations.ts';
import {
  BENEFICIARY_EXAMPLE,
  BENEFICIARY_SENT_EXAMPLE,
  type BeneficiarySent,
  beneficiarySent,
  beneficiaryShown,
  createdBeneficiaryShown,
  holderType,
} from './schemas.ts';
import { type BankAccountAtPath, modulusMetadata } from './uk-modulus-check.ts';

const TAG = 'Beneficiaries';
const BANK_ACCOUNTS = 'data.beneficiary.bankAccounts';

const postBeneficiary = route(
  {
    method: 'POST',
    path: '/beneficiaries',
    operationId: 'createBeneficiary',
    summary: 'Create a beneficiary with its bank accounts',
    tag: TAG,
    roles: ['operator'],
    description:
      '`migration` imports a beneficiary from the client’s provider: `data.sourceId` is its id there. The client must have been migrated from that provider, or have an account there.',
    workflows: {
      direct: { data: fields({ beneficiary: beneficiarySent }) },
      migration: {
        data: fields({ sourceId, beneficiary: named('MigratedBeneficiary', fields({ clientId: uuid<ClientId>() })) }),
        connect: namedProvider,
      },
    },
    response: fields({ beneficiary: createdBeneficiaryShown }),
    responseConnect: migrationConnectShown,
    errors: [
      'common.coding.internal.record_not_found',
      'common.state.illegal_transition',
      'client.status.not_active',
      'connect.client.not_connected',
      'connect.client.mismatch',
      ...MIGRATION_ERRORS,
    ],
    examples: {
      requests: {
        direct: { data: { beneficiary: BENEFICIARY_SENT_EXAMPLE } },
        migration: {
          data: { sourceId: 'beneficiary-corporate', beneficiary: { clientId: BENEFICIARY_SENT_EXAMPLE.clientId } },
          connect: { type: 'explicit', serviceProvider: 'sandbox-bank' },
        },
      },
      response: { beneficiary: BENEFICIARY_EXAMPLE },
    },
  },
  async ({ body, requestId, initiator, services, storedAnswer, write, transaction }) => {
    if (body.code === 'migration') {
      const asked = { services, requestId, provider: body.connect.serviceProvider, sourceId: body.data.sourceId };
      const found = await findBeneficiaryToMigrate(asked, body.data.beneficiary.clientId, storedAnswer);
      if ('rendered' in found) return found;
      const metadata = modulusMetadataOfMigration(asked, accountsAtPaths(found.beneficiary));
      return transaction(async (tx) => {
        const { connection, ...created } = await migrateBeneficiary(
          tx,
          newBeneficiary(found.beneficiary),
          found.origin,
          initiator,
        );
        const connect = { connection: presentMigratedConnection(connection) };
        return { data: { beneficiary: showCreated(created) }, connect, metadata };
      });
    }
    const sent = body.data.beneficiary;
    return write(async (tx) => {
      const metadata = modulusMetadata(services, accountsAtPaths(sent));
      const created = await createBeneficiary(tx, newBeneficiary(sent), initiator);
      return { data: { beneficiary: showCreated(created) }, metadata };
    });
  },
);

/** Path of a new beneficiary's bank accounts, for the modulus check's messages. */
function accountsAtPaths({ bankAccounts }: BeneficiarySent): readonly BankAccountAtPath[] {
  return bankAccounts.map((account, index) => ({ account, entity: 'beneficiary', prefix: `bankAccounts.${index}.` }));
}

function showCreated(created: {
  readonly beneficiary: Beneficiary;
  readonly bankAccounts: readonly BeneficiaryBankAccount[];
}) {
  const bankAccounts = created.bankAccounts.map(presentBeneficiaryBankAccount);
  return { ...presentBeneficiary(created.beneficiary), bankAccounts };
}

function newBeneficiary(sent: BeneficiarySent): NewBeneficiary {
  return {
    clientId: sent.clientId,
    identity: newIdentity(sent),
    fullName: sent.fullName ?? null,
    title: sent.title ?? null,
    contact: newContact(sent),
    bankAccounts: sent.bankAccounts,
  };
}

function newIdentity({ identity }: BeneficiarySent): BeneficiaryIdentity | null {
  if (identity === undefined) return null;
  const identifications = identity.identifications ?? [];
  if (identity.type === 'corporate') return { type: identity.type, legalName: identity.legalName, identifications };
  const { type, givenName, familyName, birthDate = null } = identity;
  return { type, givenName, familyName, birthDate, country: identity.country ?? null, identifications };
}

function newContact({ contact }: BeneficiarySent): BeneficiaryContact | null {
  if (contact === undefined || Object.values(contact).every((part) => part === undefined)) return null;
  return { phone: contact.phone ?? null, email: contact.email ?? null, address: contact.address ?? null };
}

const getBeneficiary = route(
  {
    method: 'GET',
    path: '/beneficiaries/{beneficiaryId}',
    operationId: 'getBeneficiary',
    summary: 'Get a beneficiary',
    tag: TAG,
    params: { beneficiaryId: uuid<BeneficiaryId>() },
    include: [BANK_ACCOUNTS],
    response: fields({ beneficiary: beneficiaryShown }),
    errors: ['common.coding.internal.record_not_found'],
    examples: { response: { beneficiary: BENEFICIARY_EXAMPLE } },
  },
  async ({ params, include, services }) => {
    const { reader } = services.database;
    const beneficiary = await findBeneficiary(reader, params.beneficiaryId);
    if (beneficiary === null) throw recordNotFound('beneficiary', 'id', params.beneficiaryId);
    if (!include.has(BANK_ACCOUNTS)) return { data: { beneficiary: presentBeneficiary(beneficiary) } };
    const bankAccounts = (await readBankAccounts(reader, [beneficiary.id])).map(presentBeneficiaryBankAccount);
    return { data: { beneficiary: { ...presentBeneficiary(beneficiary), bankAccounts } } };
  },
);

const getBeneficiaries = route(
  {
    method: 'GET',
    path: '/beneficiaries',
    operationId: 'listBeneficiaries',
    summary: 'List beneficiaries in order of creation',
    tag: TAG,
    paged: true,
    query: {
      'data.beneficiary.clientId': optional(uuid<ClientId>()),
      'data.beneficiary.country': optional(country()),
      'data.beneficiary.type': optional(holderType),
    },
    include: [BANK_ACCOUNTS],
    response: fields({ beneficiaries: list(beneficiaryShown, 0, 100) }),
    examples: { response: { beneficiaries: [BENEFICIARY_EXAMPLE] } },
  },
  async ({ query, page, include, services }) => {
    const { reader } = services.database;
    const filter = {
      clientId: query['data.beneficiary.clientId'],
      country: query['data.beneficiary.country'],
      type: query['data.beneficiary.type'],
    };
    const { rows, totalElements } = await listBeneficiaries(reader, filter, page);
    if (!include.has(BANK_ACCOUNTS)) return { data: { beneficiaries: rows.map(presentBeneficiary) }, totalElements };
    const ids = rows.map(({ id }) => id);
    const accounts = await readBankAccounts(reader, ids);
    const beneficiaries = rows.map((row) => ({
      ...presentBeneficiary(row),
      bankAccounts: accounts.filter(({ beneficiaryId }) => beneficiaryId === row.id).map(presentBeneficiaryBankAccount),
    }));
    return { data: { beneficiaries }, totalElements };
  },
);

export const beneficiaryRoutes = [postBeneficiary, getBeneficiary, getBeneficiaries];
