import * as v from 'valibot';
import { changeBeneficiary } from '../../db/beneficiaries/beneficiaries.ts';
import { presentBeneficiary } from '../../domain/beneficiaries/beneficiaries.ts';
import type { BeneficiaryId } from '../../domain/frame/ids.ts';
import { route } from '../frame/route.ts';
import { crossCheck, isSent } from '../frame/schemas/cross-checks.ts';
import { named } from '../frame/schemas/named.ts';
import { addressSent, email, identificationsSent, partyName, phone } from '../frame/schemas/parties.ts';
import { clearable, country, date, fields, hint, optional, type Schema, text, uuid } from '../frame/schemas/schemas.ts';
import { BENEFICIARY_EXAMPLE, beneficiaryShown, holderType } from './schemas.ts';

/** Every name that a caller may give bank account fields. They have operations of their own. */
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
  'beneficiary.bank_account.update_not_allowed: belongs to a bank account: change that at /beneficiaries/{beneficiaryId}/bank-accounts';

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
  crossCheck(({ beneficiary, identity }) => {
    if (identity === undefined || !isSent(beneficiary) || beneficiary.identity === undefined) return [];
    const message = 'common.validation.mutually_exclusive: is the same as beneficiary.identity: send one of the two';
    return [{ path: ['identity'], value: identity, message }];
  }),
  // Only if nothing else is wrong: other problems have been reported already.
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed || dataset.value.beneficiary !== undefined || dataset.value.identity !== undefined) return;
    const { value } = dataset;
    const path: [v.IssuePathItem] = [
      { type: 'object', origin: 'value', input: value, key: 'beneficiary', value: null },
    ];
    addIssue({ message: 'common.validation.field_required: is required', input: null, path });
  }),
);

/** As `schema`, but unknown fields that are bank account information get a message of their own. */
function refusingBankAccounts<Input, Output>(schema: Schema<Input, Output>): Schema<Input, Output> {
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
      'Omitted fields keep their values; null clears an optional field; the address and the identifications are replaced as a whole. `data.identity` is the same as `data.beneficiary.identity`. The type of an identity never changes; a beneficiary known by its full name alone can be given an identity, whole. Bank accounts have their own operations. Earlier transfers keep showing the beneficiary as it was.',
    tag: 'Beneficiaries',
    roles: ['operator'],
    params: { beneficiaryId: uuid<BeneficiaryId>() },
    workflows: { direct: { data: refusingBankAccounts(dataSent) } },
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
    const place = identity === undefined ? IN_BENEFICIARY : BESIDE_BENEFICIARY;
    const change = { ...beneficiary, identity: identity ?? beneficiary.identity };
    return write(async (tx) => {
      const changed = await changeBeneficiary(tx, params.beneficiaryId, change, place, initiator);
      return { data: { beneficiary: presentBeneficiary(changed) } };
    });
  },
);

const IN_BENEFICIARY = { entity: 'beneficiary', prefix: 'identity.' };
const BESIDE_BENEFICIARY = { entity: 'identity', prefix: '' };

export const beneficiaryChangeRoutes = [patchBeneficiary];
