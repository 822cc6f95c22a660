import {
  addBankAccount,
  type BankAccountChange,
  changeBankAccount,
  findBankAccount,
  listBankAccounts,
} from '../../db/beneficiaries/bank-accounts.ts';
import { findBeneficiary } from '../../db/beneficiaries/beneficiaries.ts';
import {
  type BankAccountDetails,
  bankAccountRequirements,
  checkBankAccount,
  normalRoutingCode,
} from '../../domain/accounts/bank-accounts.ts';
import { normalIban } from '../../domain/accounts/identifiers/ibans.ts';
import { BANK_ACCOUNT_STATUSES, presentBeneficiaryBankAccount } from '../../domain/beneficiaries/beneficiaries.ts';
import { directoryFor } from '../../domain/beneficiaries/directories.ts';
import { DIRECTORIES } from '../../domain/beneficiaries/verifications.ts';
import { DomainError, recordNotFound } from '../../domain/common/errors.ts';
import type { BeneficiaryBankAccountId, BeneficiaryId } from '../../domain/common/ids.ts';
import { route } from '../http/route.ts';
import { named } from '../http/schemas/named.ts';
import { partyName } from '../http/schemas/parties.ts';
import {
  clearable,
  country,
  currency,
  fields,
  list,
  map,
  nullable,
  optional,
  pattern,
  picklist,
  text,
  uuid,
} from '../http/schemas/schemas.ts';
import {
  BANK_ACCOUNT_EXAMPLE,
  BANK_ACCOUNT_SENT_EXAMPLE,
  bankAccountSent,
  bankAccountShown,
  holderType,
  ROUTING_CODE_KIND,
  routingCodesSent,
} from './schemas.ts';
import { modulusMetadata } from './uk-modulus-check.ts';

const TAG = 'Beneficiary bank accounts';
const ENTITY = 'beneficiaryBankAccount';
const response = fields({ beneficiaryBankAccount: bankAccountShown });
const example = { beneficiaryBankAccount: BANK_ACCOUNT_EXAMPLE };

const postBankAccount = route(
  {
    method: 'POST',
    path: '/beneficiaries/{beneficiaryId}/bank-accounts',
    operationId: 'createBeneficiaryBankAccount',
    summary: 'Add a bank account to a beneficiary',
    tag: TAG,
    roles: ['operator'],
    params: { beneficiaryId: uuid<BeneficiaryId>() },
    workflows: { direct: { data: fields({ beneficiaryBankAccount: bankAccountSent }) } },
    response,
    errors: ['common.coding.internal.record_not_found', 'common.validation.limit_exceeded'],
    examples: {
      requests: { direct: { data: { beneficiaryBankAccount: BANK_ACCOUNT_SENT_EXAMPLE } } },
      response: example,
    },
  },
  async ({ params, body, initiator, services, write }) => {
    const sent = body.data.beneficiaryBankAccount;
    return write(async (tx) => {
      const metadata = modulusMetadata(services, [{ account: sent, entity: ENTITY, prefix: '' }]);
      const account = await addBankAccount(tx, params.beneficiaryId, sent, initiator);
      return { data: { beneficiaryBankAccount: presentBeneficiaryBankAccount(account) }, metadata };
    });
  },
);

const bankAccountPatch = named(
  'BeneficiaryBankAccount',
  fields({
    accountHolderName: optional(partyName()),
    accountHolderType: clearable(holderType),
    bankName: clearable(partyName()),
    alias: clearable(text(30)),
    accountNumber: clearable(text(42)),
    iban: clearable(text(42)),
    routingCodes: clearable(routingCodesSent),
    status: optional(named('BeneficiaryBankAccountStatus', picklist(BANK_ACCOUNT_STATUSES))),
  }),
);

const patchBankAccount = route(
  {
    method: 'PATCH',
    path: '/beneficiaries/{beneficiaryId}/bank-accounts/{id}',
    operationId: 'updateBeneficiaryBankAccount',
    summary: 'Change a bank account of a beneficiary',
    tag: TAG,
    roles: ['operator'],
    params: { beneficiaryId: uuid<BeneficiaryId>(), id: uuid<BeneficiaryBankAccountId>() },
    workflows: { direct: { data: fields({ beneficiaryBankAccount: bankAccountPatch }) } },
    response,
    errors: ['common.coding.internal.record_not_found', 'common.validation.limit_exceeded'],
    examples: {
      requests: { direct: { data: { beneficiaryBankAccount: { alias: 'Wages', status: 'active' } } } },
      response: { beneficiaryBankAccount: { ...BANK_ACCOUNT_EXAMPLE, alias: 'Wages' } },
    },
  },
  async ({ params, body, initiator, services, write }) => {
    const patch = body.data.beneficiaryBankAccount;
    const identified = [patch.accountNumber, patch.iban, patch.routingCodes].some((sent) => sent !== undefined);
    return write(async (tx) => {
      let metadata = {};
      const { accountHolderName, accountHolderType, bankName, alias, status } = patch;
      const described = {
        ...(accountHolderName === undefined ? {} : { accountHolderName }),
        ...(accountHolderType === undefined ? {} : { accountHolderType }),
        ...(bankName === undefined ? {} : { bankName }),
        ...(alias === undefined ? {} : { alias }),
        ...(status === undefined ? {} : { status }),
      };
      const decide = (before: BankAccountDetails): BankAccountChange => {
        // Accounts stored under earlier rules can still be renamed and deactivated.
        if (!identified) return described;
        const checked = checkedDetails({
          country: before.country,
          currency: before.currency,
          accountNumber: patch.accountNumber === undefined ? before.accountNumber : patch.accountNumber,
          iban: patch.iban === undefined ? before.iban : patch.iban,
          routingCodes: patch.routingCodes === undefined ? before.routingCodes : (patch.routingCodes ?? {}),
        });
        metadata = modulusMetadata(services, [{ account: checked, entity: ENTITY, prefix: '' }]);
        const { accountNumber, iban, routingCodes } = checked;
        return { ...described, accountNumber, iban, routingCodes };
      };
      const account = await changeBankAccount(tx, params.beneficiaryId, params.id, decide, initiator);
      return { data: { beneficiaryBankAccount: presentBeneficiaryBankAccount(account) }, metadata };
    });
  },
);

/** Validates the whole account as changed, in stored form; throws every problem. */
function checkedDetails(account: BankAccountDetails): BankAccountDetails {
  const { details, problems } = checkBankAccount(account, { entity: ENTITY, prefix: '' });
  const [first, ...rest] = problems;
  if (first !== undefined) throw new DomainError([first, ...rest]);
  return details;
}

const getBankAccount = route(
  {
    method: 'GET',
    path: '/beneficiaries/{beneficiaryId}/bank-accounts/{id}',
    operationId: 'getBeneficiaryBankAccount',
    summary: 'Get a bank account of a beneficiary',
    tag: TAG,
    params: { beneficiaryId: uuid<BeneficiaryId>(), id: uuid<BeneficiaryBankAccountId>() },
    response,
    errors: ['common.coding.internal.record_not_found'],
    examples: { response: example },
  },
  async ({ params, services }) => {
    const account = await findBankAccount(services.database.reader, params.beneficiaryId, params.id);
    if (account === null) throw recordNotFound(ENTITY, 'id', params.id);
    return { data: { beneficiaryBankAccount: presentBeneficiaryBankAccount(account) } };
  },
);

const getBankAccounts = route(
  {
    method: 'GET',
    path: '/beneficiaries/{beneficiaryId}/bank-accounts',
    operationId: 'listBeneficiaryBankAccounts',
    summary: 'List the bank accounts of a beneficiary in order of creation',
    tag: TAG,
    paged: true,
    params: { beneficiaryId: uuid<BeneficiaryId>() },
    query: {
      'data.beneficiaryBankAccount.country': optional(country()),
      'data.beneficiaryBankAccount.currency': optional(currency()),
      'data.beneficiaryBankAccount.iban': optional(text(42)),
      'data.beneficiaryBankAccount.accountNumber': optional(text(42)),
      'data.beneficiaryBankAccount.routingCodeKey': optional(pattern(ROUTING_CODE_KIND, 'a kind of routing code')),
      'data.beneficiaryBankAccount.routingCodeValue': optional(text(34)),
    },
    response: fields({ beneficiaryBankAccounts: list(bankAccountShown, 0, 100) }),
    errors: ['common.coding.internal.record_not_found'],
    examples: { response: { beneficiaryBankAccounts: [BANK_ACCOUNT_EXAMPLE] } },
  },
  async ({ params, query, page, services }) => {
    const { reader } = services.database;
    const iban = query['data.beneficiaryBankAccount.iban'];
    const key = query['data.beneficiaryBankAccount.routingCodeKey'];
    const code = query['data.beneficiaryBankAccount.routingCodeValue'];
    const filter = {
      country: query['data.beneficiaryBankAccount.country'],
      currency: query['data.beneficiaryBankAccount.currency'],
      iban: iban === undefined ? undefined : normalIban(iban),
      accountNumber: query['data.beneficiaryBankAccount.accountNumber'],
      routingCodeKey: key,
      // Compared as stored: callers may write a sort code with dashes.
      routingCodeValue: key === undefined || code === undefined ? code : (normalRoutingCode(key, code) ?? code),
    };
    const { rows, totalElements } = await listBankAccounts(reader, params.beneficiaryId, filter, page);
    if (totalElements === 0 && (await findBeneficiary(reader, params.beneficiaryId)) === null) {
      throw recordNotFound('beneficiary', 'id', params.beneficiaryId);
    }
    return { data: { beneficiaryBankAccounts: rows.map(presentBeneficiaryBankAccount) }, totalElements };
  },
);

const requirementShown = named(
  'BeneficiaryBankAccountFieldRequirement',
  fields({
    requirement: picklist(['none', 'optional', 'required']),
    pattern: nullable(text(200)),
  }),
);

const getRequirements = route(
  {
    method: 'GET',
    path: '/beneficiary-bank-account-requirements',
    operationId: 'getBeneficiaryBankAccountRequirement',
    summary: 'List the required fields of a bank account by currency and country',
    description:
      'The rules that validate new bank accounts. `none`: not required, but stored if sent and well-formed. Patterns apply to the stored form: requests may contain spaces in IBANs and account numbers, and lower-case letters in IBANs. In addition to the required fields, one of `alternatives` must be complete. An IBAN that contradicts the sort code or account number sent with it is rejected. `verificationDirectory` is the directory that compares names with holders of such accounts, by the workflow `client.<directory>.cop` of POST /beneficiary-verifications; null: there is none.',
    tag: TAG,
    query: {
      'data.beneficiaryBankAccountRequirement.currency': currency(),
      'data.beneficiaryBankAccountRequirement.country': country(),
    },
    response: fields({
      beneficiaryBankAccountRequirement: named(
        'BeneficiaryBankAccountRequirement',
        fields({
          currency: currency(),
          country: country(),
          fields: map(/^[A-Za-z.-]{1,60}$/, requirementShown, 40),
          alternatives: list(list(text(60), 0, 10), 0, 10),
          verificationDirectory: nullable(picklist(DIRECTORIES)),
        }),
      ),
    }),
    examples: {
      response: {
        beneficiaryBankAccountRequirement: {
          currency: 'EUR',
          country: 'DE',
          fields: { iban: { requirement: 'required', pattern: '^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$' } },
          alternatives: [],
          verificationDirectory: 'eu-vop',
        },
      },
    },
  },
  async ({ query, services }) => {
    const place = {
      currency: query['data.beneficiaryBankAccountRequirement.currency'],
      country: query['data.beneficiaryBankAccountRequirement.country'],
    };
    const { alternatives, ...requirements } = bankAccountRequirements(place);
    const sets = alternatives.map((set) => [...set]);
    const verificationDirectory = directoryFor(services.configuration.directories, place);
    const shown = { ...requirements, ...place, alternatives: sets, verificationDirectory };
    return { data: { beneficiaryBankAccountRequirement: shown } };
  },
);

export const beneficiaryBankAccountRoutes = [
  postBankAccount,
  patchBankAccount,
  getBankAccount,
  getBankAccounts,
  getRequirements,
];
