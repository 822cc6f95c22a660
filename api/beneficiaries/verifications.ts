import type {
  NameDirectory,
  NameVerificationAnswer,
  NameVerificationRequest,
} from '../../activities/providers/directories/directory-port.ts';
import { NOT_UNDERSTOOD, ProviderUnavailable } from '../../activities/providers/port.ts';
import { createBeneficiaryVerification, requireVerifyingClient } from '../../db/beneficiaries/verifications.ts';
import { newId } from '../../db/common/ids.ts';
import { directoryFor, unreadableResult } from '../../domain/beneficiaries/directories.ts';
import type { DirectoryCode } from '../../domain/beneficiaries/verifications.ts';
import { rejection } from '../../domain/common/errors.ts';
import { fullNameOf } from '../../domain/common/parties/names.ts';
import { route } from '../http/route.ts';
import { fields } from '../http/schemas/schemas.ts';
import type { Services } from '../http/services.ts';
import {
  DIRECTORY_OF_WORKFLOW,
  presentBeneficiaryVerification,
  verificationShown,
  verificationWorkflows,
} from './verification-schemas.ts';

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
    summary: 'Compare a beneficiary’s name with the holder of a bank account',
    description:
      'Queries the directory `pay-uk` (Confirmation of Payee, by sort code and account number) or `eu-vop` (Verification of Payee, by IBAN; of a company also by `attributes.identification` in place of its name) and returns its result. `verificationDirectory` of a bank account’s requirements is the directory for its country and currency. `result.reason` is null if the name matches; `result.accountHolderName` is returned only for close matches; `attributes.schemeReasonCode` is the directory’s own code. If the directory is slow or unavailable, the response is 503 and nothing is charged.',
    tag: 'Beneficiary verification',
    roles: ['operator'],
    workflows: verificationWorkflows,
    confidential: true,
    response: fields({ beneficiaryVerification: verificationShown }),
    errors: ['common.coding.internal.record_not_found', 'client.status.not_active', 'connect.provider.unavailable'],
    examples: {
      requests: {
        'client.pay-uk.cop': {
          data: { beneficiary: BENEFICIARY_SENT_EXAMPLE },
          connect: { type: 'explicit', serviceProvider: 'sandbox-bank' },
        },
        'client.eu-vop.cop': {
          data: {
            beneficiary: {
              clientId: BENEFICIARY_SENT_EXAMPLE.clientId,
              identity: { type: 'corporate', legalName: 'Backhaus Weber GmbH' },
              bankAccount: { iban: 'DE89370400440532013000' },
            },
          },
        },
      },
      response: {
        beneficiaryVerification: {
          id: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b09',
          clientId: BENEFICIARY_SENT_EXAMPLE.clientId,
          directory: 'pay-uk',
          serviceProvider: 'sandbox-bank',
          beneficiaryIdentity: BENEFICIARY_SENT_EXAMPLE.identity,
          identity: BENEFICIARY_SENT_EXAMPLE.identity,
          beneficiaryBankAccount: { ...BENEFICIARY_SENT_EXAMPLE.bankAccount, iban: null },
          bankAccount: { ...BENEFICIARY_SENT_EXAMPLE.bankAccount, iban: null },
          attributes: { secondaryIdentification: '1', identification: null, schemeReasonCode: 'MBAM' },
          result: { matched: false, reason: 'close-match', accountHolderName: 'Mr John Smith' },
        },
      },
    },
  },
  async ({ body, caller, initiator, requestId, services, storedAnswer, write }) => {
    const { clientId, identity, bankAccount, attributes } = body.data.beneficiary;
    const code = DIRECTORY_OF_WORKFLOW[body.workflow.code];
    const earlier = await storedAnswer();
    if (earlier !== null) return earlier;
    if ('iban' in bankAccount) requireReach(services, code, bankAccount.iban);
    const directory = chooseDirectory(services, code, body.connect.serviceProvider);
    await requireVerifyingClient(services.database.reader, clientId);
    const secondaryIdentification = attributes?.secondaryIdentification ?? null;
    const identification =
      attributes !== undefined && 'identification' in attributes ? (attributes.identification ?? null) : null;
    const { result, reference } = await ask(
      services,
      requestId,
      { code, directory },
      {
        reference: newId(),
        name: fullNameOf(identity),
        identityType: identity.type,
        bankAccount,
        secondaryIdentification,
        identification,
      },
    );
    return write(async (tx) => {
      const answered = {
        clientId,
        directory: code,
        provider: directory.provider,
        providerReference: reference,
        identity,
        bankAccount,
        secondaryIdentification,
        identification,
        result,
        requestedBy: caller.id,
      };
      const verification = await createBeneficiaryVerification(tx, services.keyring, answered, initiator);
      return { data: { beneficiaryVerification: presentBeneficiaryVerification(verification) } };
    });
  },
);

/** An IBAN of a country that the directory does not know is not sent to it. */
function requireReach({ configuration }: Services, code: DirectoryCode, iban: string): void {
  const { currency } = configuration.directories[code];
  const country = iban.slice(0, 2);
  if (directoryFor(configuration.directories, { country, currency }) === code) return;
  throw rejection(
    'common.validation.field_invalid',
    ['beneficiary', 'bankAccount.iban', country],
    `The directory ${code} knows no accounts in ${country}.`,
  );
}

/** The directory's adapter of the named provider or of the configured default. */
function chooseDirectory(
  { configuration, directories }: Services,
  code: DirectoryCode,
  named: string | undefined,
): NameDirectory {
  const provider = named ?? configuration.directories[code].defaultProvider;
  const directory = directories[code].get(provider);
  if (directory !== undefined) return directory;
  const known = configuration.providers.some((configured) => configured.code === provider);
  throw rejection(
    'common.validation.field_invalid',
    ['connect', 'serviceProvider', provider],
    known ? `${provider} does not offer the directory ${code}.` : 'No such service provider is configured.',
  );
}

/** Called outside any transaction, within the configured time. */
async function ask(
  { configuration, logger }: Services,
  requestId: string,
  { code, directory }: { readonly code: DirectoryCode; readonly directory: NameDirectory },
  request: NameVerificationRequest,
): Promise<NameVerificationAnswer> {
  const { provider } = directory;
  try {
    return await directory.verifyName(request, { deadlineMs: configuration.directories[code].timeoutMs });
  } catch (error) {
    if (!(error instanceof ProviderUnavailable)) throw error;
    logger.warn({ requestId, directory: code, provider, reason: error.reason }, 'directory gave no answer');
    const result = error.reason === NOT_UNDERSTOOD ? unreadableResult(code) : null;
    if (result !== null) return { result, reference: request.reference };
    throw rejection(
      'connect.provider.unavailable',
      ['connect', 'serviceProvider', provider],
      `The directory ${code} did not respond. Nothing was charged: try again.`,
    );
  }
}

export const beneficiaryVerificationRoutes = [postVerification];
