import * as v from 'valibot';
import type {
  NameDirectory,
  NameVerificationAnswer,
  NameVerificationRequest,
} from '../../activities/providers/directory-port.ts';
import { ProviderUnavailable } from '../../activities/providers/port.ts';
import { createBeneficiaryVerification, requireVerifyingClient } from '../../db/beneficiaries/verifications.ts';
import { checkAccountFormats } from '../../domain/accounts/bank-accounts.ts';
import {
  type BeneficiaryVerification,
  DIRECTORIES,
  VERIFICATION_REASONS,
} from '../../domain/beneficiaries/verifications.ts';
import { refusal } from '../../domain/frame/errors.ts';
import type { ClientId } from '../../domain/frame/ids.ts';
import { FULL_NAME_LENGTH_MAX, fullNameOf } from '../../domain/frame/parties/names.ts';
import { route } from '../frame/route.ts';
import { oneOf } from '../frame/schemas/alternatives.ts';
import { crossCheck, disagreement, isSent, type Sent } from '../frame/schemas/cross-checks.ts';
import { named } from '../frame/schemas/named.ts';
import { partyName } from '../frame/schemas/parties.ts';
import { boolean, fields, map, nullable, optional, picklist, text, uuid } from '../frame/schemas/schemas.ts';
import type { Services } from '../frame/services.ts';
import { connectDisagreements, PROVIDER_CODE_LENGTH_MAX } from '../providers/schemas.ts';
import { ROUTING_CODE_KIND, routingCodesSent } from './schemas.ts';

const DIRECTORY = 'pay-uk' as const;
const STERLING_PLACE = { country: 'GB', currency: 'GBP' };
const NO_PLACE = { entity: '', prefix: '' };
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
const bankAccountSent = v.pipe(
  named('VerificationBankAccount', fields({ accountNumber: text(34), routingCodes: routingCodesSent })),
  crossCheck(bankAccountProblems),
  v.transform(({ accountNumber, routingCodes }) => {
    const { details } = checkAccountFormats({ ...STERLING_PLACE, accountNumber, routingCodes }, NO_PLACE);
    return { accountNumber: details.accountNumber ?? accountNumber, routingCodes: details.routingCodes };
  }),
);

function bankAccountProblems({ accountNumber, routingCodes }: Sent) {
  const codes = isSent(routingCodes) ? routingCodes : {};
  const texts = Object.entries(codes).flatMap(([kind, value]) => (typeof value === 'string' ? [[kind, value]] : []));
  const number = typeof accountNumber === 'string' ? accountNumber : null;
  const details = { ...STERLING_PLACE, accountNumber: number, routingCodes: Object.fromEntries(texts) };
  const problems = checkAccountFormats(details, NO_PLACE).problems.map((problem) => {
    const [, field, value] = problem.messageParameters;
    const [first = field, ...rest] = field.split('.');
    return disagreement(problem, [first, ...rest], value);
  });
  if (!isSent(routingCodes) || 'sort-code' in routingCodes) return problems;
  const message = 'common.validation.field_required: is required';
  return [...problems, { path: ['routingCodes', 'sort-code'], value: undefined, message } as const];
}

const bankAccountShown = named(
  'VerificationBankAccount',
  fields({ accountNumber: text(34), routingCodes: map(ROUTING_CODE_KIND, text(34), 10, 1) }),
);

const verificationShown = named(
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
function presentBeneficiaryVerification(verification: BeneficiaryVerification) {
  const { id, clientId, directory, provider, identity, bankAccount } = verification;
  const { secondaryIdentification, schemeReasonCode, matched, reason, accountHolderName } = verification;
  return {
    id,
    clientId,
    directory,
    serviceProvider: provider,
    beneficiaryIdentity: identity,
    identity,
    beneficiaryBankAccount: bankAccount,
    bankAccount,
    attributes: { secondaryIdentification, schemeReasonCode },
    result: { matched, reason, accountHolderName },
  };
}

const BENEFICIARY_SENT_EXAMPLE = {
  clientId: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b01',
  identity: { type: 'individual', givenName: 'Jon', familyName: 'Smith' },
  bankAccount: { accountNumber: '00934892', routingCodes: { 'sort-code': '123456' } },
  attributes: { secondaryIdentification: '1' },
};

const postVerification = route(
  {
    method: 'POST',
    path: '/beneficiary-verifications',
    operationId: 'createBeneficiaryVerification',
    summary: 'Compare a beneficiary’s name with the holder of a UK bank account',
    description:
      'Asks the directory `pay-uk` (Confirmation of Payee) and answers with its result. `result.reason` is null where matched; `result.accountHolderName` is shown for close matches only; `attributes.schemeReasonCode` is the directory’s own code. A slow or unavailable directory is 503, free of charge.',
    tag: 'Beneficiary verification',
    roles: ['operator'],
    workflows: {
      'client.pay-uk.cop': {
        data: fields({
          beneficiary: named(
            'BeneficiaryVerification',
            fields({
              clientId: uuid<ClientId>(),
              identity,
              bankAccount: bankAccountSent,
              attributes: optional(
                named(
                  'VerificationAttributes',
                  fields({ secondaryIdentification: optional(text(SECONDARY_IDENTIFICATION_LENGTH_MAX)) }),
                ),
              ),
            }),
          ),
        }),
        connect: v.pipe(
          fields({
            type: optional(picklist(['explicit', 'implicit'])),
            serviceProvider: optional(text(PROVIDER_CODE_LENGTH_MAX)),
          }),
          crossCheck(connectDisagreements),
        ),
      },
    },
    confidential: true,
    response: fields({ beneficiaryVerification: verificationShown }),
    errors: ['common.coding.internal.record_not_found', 'client.status.not_active', 'connect.provider.unavailable'],
    examples: {
      requests: {
        'client.pay-uk.cop': {
          data: { beneficiary: BENEFICIARY_SENT_EXAMPLE },
          connect: { type: 'explicit', serviceProvider: 'sandbox-bank' },
        },
      },
      response: {
        beneficiaryVerification: {
          id: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b09',
          clientId: BENEFICIARY_SENT_EXAMPLE.clientId,
          directory: DIRECTORY,
          serviceProvider: 'sandbox-bank',
          beneficiaryIdentity: BENEFICIARY_SENT_EXAMPLE.identity,
          identity: BENEFICIARY_SENT_EXAMPLE.identity,
          beneficiaryBankAccount: BENEFICIARY_SENT_EXAMPLE.bankAccount,
          bankAccount: BENEFICIARY_SENT_EXAMPLE.bankAccount,
          attributes: { secondaryIdentification: '1', schemeReasonCode: 'MBAM' },
          result: { matched: false, reason: 'close-match', accountHolderName: 'Mr John Smith' },
        },
      },
    },
  },
  async ({ body, caller, initiator, requestId, services, storedAnswer, write }) => {
    const { clientId, identity: sentIdentity, bankAccount, attributes } = body.data.beneficiary;
    const earlier = await storedAnswer();
    if (earlier !== null) return earlier;
    const directory = chooseDirectory(services, body.connect.serviceProvider);
    await requireVerifyingClient(services.database.reader, clientId);
    const secondaryIdentification = attributes?.secondaryIdentification ?? null;
    const { result, reference } = await ask(services, requestId, directory, {
      name: fullNameOf(sentIdentity),
      identityType: sentIdentity.type,
      sortCode: bankAccount.routingCodes['sort-code'] ?? '',
      accountNumber: bankAccount.accountNumber,
      secondaryIdentification,
    });
    return write(async (tx) => {
      const answered = {
        clientId,
        directory: DIRECTORY,
        provider: directory.provider,
        providerReference: reference,
        identity: sentIdentity,
        bankAccount,
        secondaryIdentification,
        result,
        requestedBy: caller.id,
      };
      const verification = await createBeneficiaryVerification(tx, services.keyring, answered, initiator);
      return { data: { beneficiaryVerification: presentBeneficiaryVerification(verification) } };
    });
  },
);

/** The directory's adapter: that of the named provider, or of the configured default. */
function chooseDirectory({ configuration, directories }: Services, named: string | undefined): NameDirectory {
  const code = named ?? configuration.directories[DIRECTORY].defaultProvider;
  const directory = directories[DIRECTORY].get(code);
  if (directory !== undefined) return directory;
  const known = configuration.providers.some((provider) => provider.code === code);
  throw refusal(
    'common.validation.field_invalid',
    ['connect', 'serviceProvider', code],
    known ? `${code} does not ask the directory ${DIRECTORY}.` : 'No such service provider is configured.',
  );
}

/** Called outside any transaction, within the configured time. */
async function ask(
  { configuration, logger }: Services,
  requestId: string,
  directory: NameDirectory,
  request: NameVerificationRequest,
): Promise<NameVerificationAnswer> {
  const { provider } = directory;
  try {
    return await directory.verifyName(request, { deadlineMs: configuration.directories[DIRECTORY].timeoutMs });
  } catch (error) {
    if (!(error instanceof ProviderUnavailable)) throw error;
    logger.warn({ requestId, directory: DIRECTORY, provider, reason: error.reason }, 'directory gave no answer');
    throw refusal(
      'connect.provider.unavailable',
      ['connect', 'serviceProvider', provider],
      `The directory ${DIRECTORY} gave no answer. Nothing was charged: try again.`,
    );
  }
}

export const beneficiaryVerificationRoutes = [postVerification];
