import * as v from 'valibot';
import { checkAccountFormats } from '../../domain/accounts/bank-accounts.ts';
import { presentRoutingCodes } from '../../domain/accounts/identifiers/routing-codes.ts';
import { DIRECTORY_RULES, isComparable } from '../../domain/beneficiaries/directories.ts';
import {
  type BeneficiaryVerification,
  DIRECTORIES,
  type DirectoryCode,
  VERIFICATION_REASONS,
} from '../../domain/beneficiaries/verifications.ts';
import type { ClientId } from '../../domain/common/ids.ts';
import { IDENTIFICATION_NUMBER_LENGTH_MAX, isIdentificationType } from '../../domain/common/parties/identifications.ts';
import { FULL_NAME_LENGTH_MAX } from '../../domain/common/parties/names.ts';
import { routingCodesShown } from '../accounts/schemas.ts';
import { type FieldConflict, fieldConflict, isSent, rejectConflicts, type Sent } from '../http/schemas/cross-checks.ts';
import { named } from '../http/schemas/named.ts';
import { oneOf } from '../http/schemas/one-of.ts';
import { partyName } from '../http/schemas/parties.ts';
import { boolean, fields, nullable, optional, picklist, text, uuid } from '../http/schemas/schemas.ts';
import { connectConflicts, PROVIDER_CODE_LENGTH_MAX } from '../providers/schemas.ts';
import { routingCodesSent } from './schemas.ts';

const UK_STERLING = { country: 'GB', currency: 'GBP' };
const TOP_LEVEL = { entity: '', prefix: '' };
const SECONDARY_IDENTIFICATION_LENGTH_MAX = 140;

const identity = named(
  'VerificationIdentity',
  oneOf(
    'type',
    [
      named(
        'IndividualVerificationIdentity',
        fields({ type: v.literal('individual'), givenName: partyName(), familyName: partyName() }),
      ),
      named('CorporateVerificationIdentity', fields({ type: v.literal('corporate'), legalName: partyName() })),
    ],
    'type individual or corporate',
  ),
);

/** A UK account; parsed into a six-digit sort code and an eight-digit number. */
const ukAccountSent = v.pipe(
  named('VerificationBankAccount', fields({ accountNumber: text(34), routingCodes: routingCodesSent })),
  rejectConflicts(ukAccountProblems),
  v.transform(({ accountNumber, routingCodes }) => {
    const { details } = checkAccountFormats({ ...UK_STERLING, accountNumber, routingCodes }, TOP_LEVEL);
    return { accountNumber: details.accountNumber ?? accountNumber, routingCodes: details.routingCodes };
  }),
);

function ukAccountProblems(sent: Sent) {
  const { routingCodes } = sent;
  const problems = formatProblems(sent, UK_STERLING);
  if (!isSent(routingCodes) || 'sort-code' in routingCodes) return problems;
  const message = 'common.validation.field_required: is required';
  return [...problems, { path: ['routingCodes', 'sort-code'], value: undefined, message } as const];
}

/** An account by its IBAN, without spaces once parsed. The BIC is that of its bank. */
const ibanAccountSent = v.pipe(
  named('IbanVerificationBankAccount', fields({ iban: text(42), routingCodes: optional(routingCodesSent) })),
  rejectConflicts((sent) => formatProblems(sent, placeOf(sent))),
  v.transform((sent) => {
    const { details } = checkAccountFormats({ ...placeOf(sent), ...sent }, TOP_LEVEL);
    return { iban: details.iban ?? sent.iban, routingCodes: details.routingCodes };
  }),
);

function placeOf({ iban }: Sent) {
  return { country: typeof iban === 'string' ? iban.slice(0, 2).toUpperCase() : '', currency: 'EUR' };
}

function formatProblems(
  { accountNumber, iban, routingCodes }: Sent,
  place: { readonly country: string; readonly currency: string },
): FieldConflict[] {
  const codes = isSent(routingCodes) ? routingCodes : {};
  const texts = Object.entries(codes).flatMap(([kind, value]) => (typeof value === 'string' ? [[kind, value]] : []));
  const details = {
    ...place,
    accountNumber: typeof accountNumber === 'string' ? accountNumber : null,
    iban: typeof iban === 'string' ? iban : null,
    routingCodes: Object.fromEntries(texts),
  };
  return checkAccountFormats(details, TOP_LEVEL).problems.map((problem) => {
    const [, field, value] = problem.messageParameters;
    const [first = field, ...rest] = field.split('.');
    return fieldConflict(problem, [first, ...rest], value);
  });
}

const COMPARED = Object.keys(DIRECTORY_RULES['eu-vop'].identifications).filter(isIdentificationType);

const identificationSent = v.pipe(
  named(
    'VerificationIdentification',
    fields({ type: picklist(COMPARED), identificationNumber: text(IDENTIFICATION_NUMBER_LENGTH_MAX) }),
  ),
  rejectConflicts(({ type, identificationNumber: value }) =>
    typeof value !== 'string' || isComparable({ type: String(type), identificationNumber: value })
      ? []
      : [{ path: ['identificationNumber'], value, message: 'has the wrong length or check digits' }],
  ),
);

const secondaryIdentification = optional(text(SECONDARY_IDENTIFICATION_LENGTH_MAX));
const ukAttributesSent = named('VerificationAttributes', fields({ secondaryIdentification }));
const ibanAttributesSent = named(
  'IbanVerificationAttributes',
  fields({ secondaryIdentification, identification: optional(identificationSent) }),
);

const ibanBeneficiarySent = v.pipe(
  named(
    'IbanBeneficiaryVerification',
    fields({
      clientId: uuid<ClientId>(),
      identity,
      bankAccount: ibanAccountSent,
      attributes: optional(ibanAttributesSent),
    }),
  ),
  rejectConflicts(ibanBeneficiaryConflicts),
);

function ibanBeneficiaryConflicts({ identity: party, attributes }: Sent): FieldConflict[] {
  const { nameLengthMax } = DIRECTORY_RULES['eu-vop'];
  if (!isSent(party) || party.type !== 'individual') return [];
  const found: FieldConflict[] = [];
  const { givenName, familyName } = party;
  if (`${String(givenName)} ${String(familyName)}`.length > nameLengthMax) {
    const message = `is rejected: both names have at most ${nameLengthMax} characters together`;
    found.push({ path: ['identity', 'familyName'], value: familyName, message });
  }
  if (isSent(attributes) && attributes.identification !== undefined) {
    const message = 'is allowed only for a corporate identity';
    found.push({ path: ['attributes', 'identification'], value: attributes.identification, message });
  }
  return found;
}

const connect = v.pipe(
  named(
    'VerificationConnect',
    fields({
      type: optional(picklist(['explicit', 'implicit'])),
      serviceProvider: optional(text(PROVIDER_CODE_LENGTH_MAX)),
    }),
  ),
  rejectConflicts(connectConflicts),
);

export const verificationWorkflows = {
  'client.pay-uk.cop': {
    data: fields({
      beneficiary: named(
        'BeneficiaryVerification',
        fields({
          clientId: uuid<ClientId>(),
          identity,
          bankAccount: ukAccountSent,
          attributes: optional(ukAttributesSent),
        }),
      ),
    }),
    connect,
  },
  'client.eu-vop.cop': { data: fields({ beneficiary: ibanBeneficiarySent }), connect },
};

export const DIRECTORY_OF_WORKFLOW: Readonly<Record<keyof typeof verificationWorkflows, DirectoryCode>> = {
  'client.pay-uk.cop': 'pay-uk',
  'client.eu-vop.cop': 'eu-vop',
};

const bankAccountShown = named(
  'VerificationBankAccount',
  fields({
    accountNumber: nullable(text(34)),
    iban: nullable(text(34)),
    routingCodes: routingCodesShown,
  }),
);

export const verificationShown = named(
  'BeneficiaryVerification',
  fields({
    id: uuid(),
    clientId: uuid(),
    directory: picklist(DIRECTORIES),
    serviceProvider: text(PROVIDER_CODE_LENGTH_MAX),
    beneficiaryIdentity: identity,
    identity,
    beneficiaryBankAccount: bankAccountShown,
    bankAccount: bankAccountShown,
    attributes: named(
      'VerificationAttributes',
      fields({
        secondaryIdentification: nullable(text(SECONDARY_IDENTIFICATION_LENGTH_MAX)),
        identification: nullable(
          named(
            'VerificationIdentification',
            fields({
              type: picklist(COMPARED),
              identificationNumber: text(IDENTIFICATION_NUMBER_LENGTH_MAX),
            }),
          ),
        ),
        schemeReasonCode: nullable(text(35)),
      }),
    ),
    result: named(
      'VerificationResult',
      fields({
        matched: boolean(),
        reason: nullable(named('VerificationReason', picklist(VERIFICATION_REASONS))),
        accountHolderName: nullable(text(FULL_NAME_LENGTH_MAX)),
      }),
    ),
  }),
);

/** Accepts both spellings of the specification's samples (2.11). */
export function presentBeneficiaryVerification(verification: BeneficiaryVerification) {
  const { id, clientId, directory, provider, identity: party } = verification;
  const { accountNumber = null, iban = null, routingCodes } = verification.bankAccount;
  const bankAccount = { accountNumber, iban, routingCodes: presentRoutingCodes(routingCodes) };
  const { secondaryIdentification: secondary, identification, schemeReasonCode } = verification;
  const { matched, reason, accountHolderName } = verification;
  return {
    id,
    clientId,
    directory,
    serviceProvider: provider,
    beneficiaryIdentity: party,
    identity: party,
    beneficiaryBankAccount: bankAccount,
    bankAccount,
    attributes: { secondaryIdentification: secondary, identification, schemeReasonCode },
    result: { matched, reason, accountHolderName },
  };
}
