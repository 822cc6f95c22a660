import * as v from 'valibot';
import { checkBankAccount } from '../../domain/accounts/bank-accounts.ts';
import { BANK_ACCOUNT_STATUSES } from '../../domain/beneficiaries/beneficiaries.ts';
import type { ClientId } from '../../domain/common/ids.ts';
import { SHOWN_NAME_LENGTH_MAX } from '../../domain/common/parties/names.ts';
import { routingCodesShown } from '../accounts/schemas.ts';
import { fieldConflict, isSent, rejectConflicts, type Sent } from '../http/schemas/cross-checks.ts';
import { named } from '../http/schemas/named.ts';
import { oneOf } from '../http/schemas/one-of.ts';
import {
  addressSent,
  addressShown,
  email,
  identificationsSent,
  identificationsShown,
  partyName,
  phone,
} from '../http/schemas/parties.ts';
import {
  country,
  currency,
  date,
  fields,
  list,
  map,
  nullable,
  optional,
  picklist,
  text,
  uuid,
} from '../http/schemas/schemas.ts';

/** Most bank accounts in one creation (specification 8). */
const BANK_ACCOUNTS_MIN = 1;
const BANK_ACCOUNTS_MAX = 3;
const IDENTIFIER_LENGTH_MAX = 42;
export const ROUTING_CODE_KIND = /^[a-z0-9-]{1,40}$/;
const ROUTING_CODES_MAX = 10;

export const holderType = picklist(['individual', 'corporate']);

export const routingCodesSent = named(
  'BeneficiaryRoutingCodes',
  map(ROUTING_CODE_KIND, text(IDENTIFIER_LENGTH_MAX), ROUTING_CODES_MAX),
);

const bankAccountFields = {
  accountHolderName: optional(partyName()),
  accountHolderType: optional(holderType),
  bankName: optional(partyName()),
  alias: optional(text(30)),
  country: country(),
  currency: currency(),
  accountNumber: optional(text(IDENTIFIER_LENGTH_MAX)),
  iban: optional(text(IDENTIFIER_LENGTH_MAX)),
  routingCodes: optional(routingCodesSent),
};

/** A bank account as sent; parsed into stored form. */
export const bankAccountSent = v.pipe(
  named('BeneficiaryBankAccount', fields(bankAccountFields)),
  rejectConflicts((sent) => bankAccountProblems(sent)),
  v.transform((sent) => ({
    ...checkBankAccount(sent, TOP_LEVEL).details,
    accountHolderName: sent.accountHolderName ?? null,
    accountHolderType: sent.accountHolderType ?? null,
    bankName: sent.bankName ?? null,
    alias: sent.alias ?? null,
  })),
);

const TOP_LEVEL = { entity: '', prefix: '' };

/** Problems with numbers and codes. Runs even if other fields are invalid, which report their own problems. */
function bankAccountProblems({ country: place, currency: code, accountNumber, iban, routingCodes }: Sent) {
  const codes = isSent(routingCodes) ? routingCodes : {};
  const texts = Object.entries(codes).flatMap(([kind, value]) => (typeof value === 'string' ? [[kind, value]] : []));
  const details = {
    country: typeof place === 'string' ? place : '',
    currency: typeof code === 'string' ? code : '',
    accountNumber: typeof accountNumber === 'string' ? accountNumber : null,
    iban: typeof iban === 'string' ? iban : null,
    routingCodes: Object.fromEntries(texts),
  };
  return checkBankAccount(details, TOP_LEVEL).problems.map((problem) => {
    const [, field, value] = problem.messageParameters;
    const [first = field, ...rest] = field.split('.');
    return fieldConflict(problem, [first, ...rest], value);
  });
}

const identitySent = named(
  'BeneficiaryIdentity',
  oneOf(
    'type',
    [
      named(
        'IndividualBeneficiaryIdentity',
        fields({
          type: v.literal('individual'),
          givenName: partyName(),
          familyName: partyName(),
          birthDate: optional(date()),
          country: optional(country()),
          identifications: optional(identificationsSent),
        }),
      ),
      named(
        'CorporateBeneficiaryIdentity',
        fields({
          type: v.literal('corporate'),
          legalName: partyName(),
          identifications: optional(identificationsSent),
        }),
      ),
    ],
    'type individual or corporate',
  ),
);

/** A new beneficiary, with an identity or only a full name. */
export const beneficiarySent = v.pipe(
  named(
    'Beneficiary',
    fields({
      clientId: uuid<ClientId>(),
      identity: optional(identitySent),
      fullName: optional(partyName()),
      title: optional(text(35)),
      contact: optional(
        named(
          'BeneficiaryContact',
          fields({ phone: optional(phone()), email: optional(email()), address: optional(addressSent) }),
        ),
      ),
      bankAccounts: list(bankAccountSent, BANK_ACCOUNTS_MIN, BANK_ACCOUNTS_MAX),
    }),
  ),
  rejectConflicts(({ identity, fullName }) => {
    if ((identity === undefined) !== (fullName === undefined)) return [];
    const message =
      identity === undefined
        ? 'common.validation.field_required: or identity is required'
        : 'common.validation.mutually_exclusive: is derived from the identity: send only one of the two';
    return [{ path: ['fullName'], value: fullName, message }];
  }),
);

export type BeneficiarySent = v.InferOutput<typeof beneficiarySent>;

const identityShown = named(
  'BeneficiaryIdentity',
  v.variant('type', [
    named(
      'IndividualBeneficiaryIdentity',
      fields({
        type: v.literal('individual'),
        givenName: partyName(),
        familyName: partyName(),
        birthDate: nullable(date()),
        country: nullable(country()),
        identifications: identificationsShown,
      }),
    ),
    named(
      'CorporateBeneficiaryIdentity',
      fields({ type: v.literal('corporate'), legalName: partyName(), identifications: identificationsShown }),
    ),
  ]),
);

export const bankAccountShown = named(
  'BeneficiaryBankAccount',
  fields({
    id: uuid(),
    beneficiaryId: uuid(),
    accountHolderName: text(SHOWN_NAME_LENGTH_MAX),
    accountHolderType: nullable(holderType),
    bankName: nullable(text(140)),
    alias: nullable(text(30)),
    country: country(),
    currency: currency(),
    accountNumber: nullable(text(34)),
    iban: nullable(text(34)),
    routingCodes: routingCodesShown,
    status: named('BeneficiaryBankAccountStatus', picklist(BANK_ACCOUNT_STATUSES)),
  }),
);

export const beneficiaryShown = named(
  'Beneficiary',
  fields({
    id: uuid(),
    clientId: uuid(),
    identity: nullable(identityShown),
    fullName: text(SHOWN_NAME_LENGTH_MAX),
    title: nullable(text(35)),
    contact: nullable(
      named(
        'BeneficiaryContact',
        fields({ phone: nullable(text(40)), email: nullable(text(254)), address: nullable(addressShown) }),
      ),
    ),
    address: nullable(addressShown),
    bankAccounts: optional(list(bankAccountShown, 0, 1_000)),
  }),
);

/** A new beneficiary, which always shows its bank accounts. */
export const createdBeneficiaryShown = named(
  'CreatedBeneficiary',
  fields({ ...beneficiaryShown.entries, bankAccounts: list(bankAccountShown, 0, 1_000) }),
);

export const BANK_ACCOUNT_SENT_EXAMPLE = {
  country: 'GB',
  currency: 'GBP',
  accountNumber: '31926819',
  routingCodes: { 'sort-code': '601613' },
};

export const BANK_ACCOUNT_EXAMPLE = {
  ...BANK_ACCOUNT_SENT_EXAMPLE,
  id: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b03',
  beneficiaryId: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b05',
  accountHolderName: 'Brook Lane Bakery Ltd',
  accountHolderType: 'corporate',
  bankName: null,
  alias: null,
  iban: null,
  status: 'active',
};

export const BENEFICIARY_SENT_EXAMPLE = {
  clientId: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b01',
  identity: { type: 'corporate', legalName: 'Brook Lane Bakery Ltd' },
  bankAccounts: [BANK_ACCOUNT_SENT_EXAMPLE],
};

export const BENEFICIARY_EXAMPLE = {
  id: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b05',
  clientId: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b01',
  identity: { type: 'corporate', legalName: 'Brook Lane Bakery Ltd', identifications: [] },
  fullName: 'Brook Lane Bakery Ltd',
  title: null,
  contact: null,
  address: null,
  bankAccounts: [BANK_ACCOUNT_EXAMPLE],
};
