import * as v from 'valibot';
import { changeBeneficiary } from '../../db/beneficiaries/beneficiaries.ts';
import { presentBeneficiary } from '../../domain/beneficiaries/beneficiaries.ts';
import type { BeneficiaryId } from '../../domain/common/ids.ts';
import { route } from '../http/route.ts';
import { isSent, rejectConflicts } from '../http/schemas/cross-checks.ts';
import { named } from '../http/schemas/named.ts';
import { addressSent, email, identificationsSent, partyName, phone } from '../http/schemas/parties.ts';
import { clearable, country, date, fields, hint, optional, type Schema, text, uuid } from '../http/schemas/schemas.ts';
import { BENEFICIARY_EXAMPLE, beneficiaryShown, holderType } from './schemas.ts';

/** All names that a caller may use for bank account fields, which have their own operations. */
const BANK_ACCOUNT_FIELDS: ReadonlySet<string> = new Set(
  [
    'account',
    'accounts',
    'bankDetails',
    'bankAccounts',
    'bankAccount',
    'beneficiaryBankAccounts',
    'beneficiaryBankAccount',
    'accountHolderName',
    'accountHolderType',
    'bankName',
    'alias',
    'currency',
    'accountNumber',
    'iban',
    'ledgerNumber',
    'routingCodes',
    'sortCode',
    'bic',
  ].map(plainSpelling),
);
const BANK_ACCOUNT_MESSAGE =
  'beneficiary.bank_account.update_not_allowed: belongs to a bank account: change it at /beneficiaries/{beneficiaryId}/bank-accounts';

const identityChange = named(
  'BeneficiaryIdentity',
  fields({
    type: optional(holderType),
    givenName: optional(partyName()),
    familyName: optional(partyName()),
    birthDate: clearable(date()),
    country: clearable(country()),
    legalName: optional(partyName()),
    identifications: clearable(identificationsSent),
  }),
);

const beneficiaryChange = named(
  'Beneficiary',
  fields({
    identity: optional(identityChange),
    fullName: optional(partyName()),
    title: clearable(text(35)),
    contact: clearable(
      named(
        'BeneficiaryContact',
        fields({ phone: clearable(phone()), email: clearable(email()), address: clearable(addressSent) }),
      ),
    ),
  }),
);

const dataSent = v.pipe(
  fields({ beneficiary: optional(beneficiaryChange), identity: optional(identityChange) }),
  hint({ minProperties: 1 }),
  rejectConflicts(({ beneficiary, identity }) => {
    if (identity === undefined || !isSent(beneficiary) || beneficiary.identity === undefined) return [];
    const message =
      'common.validation.mutually_exclusive: is the same as beneficiary.identity: send only one of the two';
    return [{ path: ['identity'], value: identity, message }];
  }),
  // Only without other problems, which have been reported already.
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed || dataset.value.beneficiary !== undefined || dataset.value.identity !== undefined) return;
    const { value } = dataset;
    const path: [v.IssuePathItem] = [
      { type: 'object', origin: 'value', input: value, key: 'beneficiary', value: null },
    ];
    addIssue({ message: 'common.validation.field_required: is required', input: null, path });
  }),
);

/** As `schema`, but unknown fields that belong to a bank account get their own message. */
function rejectingBankAccounts<Input, Output>(schema: Schema<Input, Output>): Schema<Input, Output> {
  const run: Schema<Input, Output>['~run'] = (dataset, config) => {
    const result = schema['~run'](dataset, config);
    if (result.issues === undefined) return result;
    const [first, ...rest] = result.issues;
    return { ...result, issues: [reworded(first), ...rest.map(reworded)] };
  };
  return { ...schema, '~run': run };
}

function reworded(issue: v.BaseIssue<unknown>): v.BaseIssue<unknown> {
  const isUnknownField = issue.type === 'strict_object' && issue.expected === 'never';
  if (!isUnknownField || !BANK_ACCOUNT_FIELDS.has(plainSpelling(String(issue.path?.at(-1)?.key)))) return issue;
  return { ...issue, expected: null, message: BANK_ACCOUNT_MESSAGE };
}

function plainSpelling(field: string): string {
  return field.toLowerCase().replaceAll(/[-_ ]/g, '');
}

const patchBeneficiary = route(
  {
    method: 'PATCH',
    path: '/beneficiaries/{beneficiaryId}',
    operationId: 'updateBeneficiary',
    summary: 'Change a beneficiary',
    description:
      'Omitted fields keep their values, and null clears an optional field. The address and the identifications are replaced as a whole. `data.identity` is the same as `data.beneficiary.identity`. The type of an identity cannot change; a beneficiary with only a full name can be given a complete identity. Bank accounts have their own operations. Existing transfers keep showing the beneficiary as it was.',
    tag: 'Beneficiaries',
    roles: ['operator'],
    params: { beneficiaryId: uuid<BeneficiaryId>() },
    workflows: { direct: { data: rejectingBankAccounts(dataSent) } },
    response: fields({ beneficiary: beneficiaryShown }),
    errors: ['common.coding.internal.record_not_found', 'beneficiary.bank_account.update_not_allowed'],
    examples: {
      requests: {
        direct: {
          data: {
            beneficiary: {
              identity: { legalName: 'Brook Lane Bakery & Sons Ltd' },
              contact: { email: 'office@example.com' },
            },
          },
        },
      },
      response: {
        beneficiary: {
          ...BENEFICIARY_EXAMPLE,
          identity: { ...BENEFICIARY_EXAMPLE.identity, legalName: 'Brook Lane Bakery & Sons Ltd' },
          fullName: 'Brook Lane Bakery & Sons Ltd',
          contact: { phone: null, email: 'office@example.com', address: null },
        },
      },
    },
  },
  async ({ params, body, initiator, write }) => {
    const { beneficiary = {}, identity } = body.data;
    const place = identity === undefined ? BENEFICIARY_IDENTITY : DATA_IDENTITY;
    const change = { ...beneficiary, identity: identity ?? beneficiary.identity };
    return write(async (tx) => {
      const changed = await changeBeneficiary(tx, params.beneficiaryId, change, place, initiator);
      return { data: { beneficiary: presentBeneficiary(changed) } };
    });
  },
);

const BENEFICIARY_IDENTITY = { entity: 'beneficiary', prefix: 'identity.' };
const DATA_IDENTITY = { entity: 'identity', prefix: '' };

export const beneficiaryChangeRoutes = [patchBeneficiary];
