import { createBeneficiary, findBeneficiary, listBeneficiaries, readBankAccounts } from '../db/beneficiaries.ts';
import type { BeneficiaryContact, BeneficiaryIdentity } from '../domain/beneficiaries.ts';
import { presentBeneficiary, presentBeneficiaryBankAccount } from '../domain/beneficiaries.ts';
import { recordNotFound } from '../domain/errors.ts';
import type { BeneficiaryId, ClientId } from '../domain/ids.ts';
import {
  BENEFICIARY_EXAMPLE,
  BENEFICIARY_SENT_EXAMPLE,
  type BeneficiarySent,
  beneficiarySent,
  beneficiaryShown,
  holderType,
} from './beneficiary-schemas.ts';
import { route } from './frame/route.ts';
import { country, fields, list, optional, uuid } from './frame/schemas.ts';
import { modulusMetadata } from './uk-modulus-check.ts';

const TAG = 'Beneficiaries';
const BANK_ACCOUNTS = 'data.beneficiary.bankAccounts';

const postBeneficiary = route(
  {
    method: 'POST',
    path: '/beneficiaries',
    summary: 'Create a beneficiary with its bank accounts',
    tag: TAG,
    roles: ['operator'],
    workflows: { direct: { data: fields({ beneficiary: beneficiarySent }) } },
    response: fields({ beneficiary: beneficiaryShown }),
    errors: ['common.coding.internal.record_not_found', 'account.status.not_active'],
    examples: {
      requests: { direct: { data: { beneficiary: BENEFICIARY_SENT_EXAMPLE } } },
      response: { beneficiary: BENEFICIARY_EXAMPLE },
    },
  },
  async ({ body, services, write }) => {
    const sent = body.data.beneficiary;
    const metadata = modulusMetadata(
      services,
      sent.bankAccounts.map((account, index) => ({ account, entity: 'beneficiary', prefix: `bankAccounts.${index}.` })),
    );
    return write(async (tx) => {
      const { beneficiary, bankAccounts } = await createBeneficiary(tx, {
        clientId: sent.clientId,
        identity: newIdentity(sent),
        fullName: sent.fullName ?? null,
        title: sent.title ?? null,
        contact: newContact(sent),
        bankAccounts: sent.bankAccounts,
      });
      const shown = bankAccounts.map(presentBeneficiaryBankAccount);
      return { data: { beneficiary: { ...presentBeneficiary(beneficiary), bankAccounts: shown } }, metadata };
    });
  },
);

function newIdentity({ identity }: BeneficiarySent): BeneficiaryIdentity | null {
  if (identity === undefined) return null;
  const identifications = identity.identifications ?? [];
  if (identity.type === 'corporate') return { type: identity.type, legalName: identity.legalName, identifications };
  const { type, givenName, familyName, birthDate = null } = identity;
  return { type, givenName, familyName, birthDate, country: identity.country ?? null, identifications };
}

function newContact({ contact }: BeneficiarySent): BeneficiaryContact | null {
  if (contact === undefined) return null;
  return { phone: contact.phone ?? null, email: contact.email ?? null, address: contact.address ?? null };
}

const getBeneficiary = route(
  {
    method: 'GET',
    path: '/beneficiaries/{beneficiaryId}',
    summary: 'A beneficiary',
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
    summary: 'Beneficiaries, in the order of their creation',
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
