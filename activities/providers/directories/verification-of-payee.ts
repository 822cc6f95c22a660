import * as v from 'valibot';
import type { DirectoryTls } from '../../../config/environment/directory-tls.ts';
import { DIRECTORY_RULES, directoryResult } from '../../../domain/beneficiaries/directories.ts';
import type { VerificationIdentification } from '../../../domain/beneficiaries/verifications.ts';
import { code, maybeShown } from '../ports/texts.ts';
import { directoryCall, notUnderstood } from './directory-call.ts';
import type { NameDirectory, NameVerificationRequest } from './directory-port.ts';

const DIRECTORY = 'eu-vop';

const ANSWER = v.object({
  partyNameMatch: v.nullish(code(), null),
  partyIdMatch: v.nullish(code(), null),
  matchedName: maybeShown(DIRECTORY_RULES[DIRECTORY].nameLengthMax),
});

/**
 * The European Payments Council's Verification of Payee, through a routing and verification service that finds the bank of an IBAN. The request and
 * its answer are those of the scheme between payment service providers; docs/sandbox.md describes the other side. `bic`: the provider's own. `tls`: the scheme knows who asks by
 * their certificate.
 */
export function createVerificationOfPayee(settings: {
  readonly url: string;
  readonly provider: string;
  readonly bic: string;
  readonly tls: DirectoryTls;
}): NameDirectory {
  const { provider, bic, tls } = settings;
  const base = settings.url.replace(/\/+$/, '');
  const call = directoryCall(DIRECTORY, { provider, url: `${base}/directory/vop/v1/payee-verifications`, tls });
  return {
    provider,
    async verifyName(asked, options) {
      const headers = { 'x-request-id': asked.reference, 'x-request-timestamp': new Date().toISOString() };
      const { headers: received, body } = await call({ headers, body: question(asked, bic) }, options);
      const answer = v.safeParse(ANSWER, body);
      // Another request's answer says nothing about this one.
      const isOurs = String(received['x-request-id']).toLowerCase() === asked.reference;
      if (!answer.success || !isOurs) throw notUnderstood(provider);
      const { partyNameMatch, partyIdMatch, matchedName } = answer.output;
      // Only the code for what was asked counts: a name that matches is no answer about an identifier.
      const schemeCode = asked.identification === null ? partyNameMatch : partyIdMatch;
      const result = schemeCode === null ? null : directoryResult(DIRECTORY, schemeCode, matchedName);
      if (result === null) throw notUnderstood(provider);
      return { result, reference: asked.reference };
    },
  };
}

function question(asked: NameVerificationRequest, bic: string) {
  const { name, bankAccount, identification, secondaryIdentification: further } = asked;
  const responding = bankAccount.routingCodes.bic;
  return {
    party: identification === null ? { name } : { identification: { organisationId: organisationId(identification) } },
    partyAccount: { iban: bankAccount.iban ?? '' },
    ...(responding === undefined ? {} : { partyAgent: { financialInstitutionId: { bicfi: responding } } }),
    ...(further === null ? {} : { unstructuredRemittanceInformation: [further] }),
    requestingAgent: { financialInstitutionId: { bicfi: bic } },
  };
}

function organisationId({ type, identificationNumber }: VerificationIdentification) {
  const schemeNameCode = DIRECTORY_RULES[DIRECTORY].identifications[type];
  if (schemeNameCode === null || schemeNameCode === undefined) return { lei: identificationNumber };
  return { others: [{ identification: identificationNumber, schemeNameCode }] };
}
