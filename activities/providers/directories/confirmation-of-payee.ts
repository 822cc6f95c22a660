import * as v from 'valibot';
import { directoryResult } from '../../../domain/beneficiaries/directories.ts';
import { MATCHED, type VerificationResult } from '../../../domain/beneficiaries/verifications.ts';
import { code, providerId, shown } from '../ports/texts.ts';
import { directoryCall, notUnderstood } from './directory-call.ts';
import type { NameDirectory, NameVerificationRequest } from './directory-port.ts';

/** A given and a family name of 140 characters each, and a space. */
const HOLDER_NAME_LENGTH_MAX = 281;

const REFERENCE_MAX = 100;

const ANSWER = v.object({
  reference: providerId(REFERENCE_MAX),
  matched: v.boolean(),
  reasonCode: v.nullable(code()),
  name: v.nullable(shown(HOLDER_NAME_LENGTH_MAX)),
});

/** Pay.UK's directory through the sandbox bank at `url`; docs/sandbox.md describes the other side. */
export function createConfirmationOfPayee(settings: {
  readonly url: string;
  readonly provider: string;
}): NameDirectory {
  const { provider } = settings;
  const call = directoryCall('pay-uk', { provider, url: `${settings.url.replace(/\/+$/, '')}/directory/name-checks` });
  return {
    provider,
    async verifyName(asked, options) {
      const { body } = await call({ body: question(asked) }, options);
      const answer = v.safeParse(ANSWER, body);
      const result = answer.success ? resultOf(answer.output) : null;
      if (!answer.success || result === null) throw notUnderstood(provider);
      return { result, reference: answer.output.reference };
    },
  };
}

function question({ name, identityType, bankAccount, secondaryIdentification }: NameVerificationRequest) {
  return {
    name,
    accountType: identityType === 'corporate' ? 'BUSINESS' : 'PERSONAL',
    sortCode: bankAccount.routingCodes['sort-code'] ?? '',
    accountNumber: bankAccount.accountNumber ?? '',
    secondaryIdentification,
  };
}

function resultOf({ matched, reasonCode, name }: v.InferOutput<typeof ANSWER>): VerificationResult | null {
  if (reasonCode === null) return matched ? MATCHED : null;
  const result = directoryResult('pay-uk', reasonCode, holderName(name));
  return result === null || result.matched || matched ? null : result;
}

/** Some banks put empty title fields before the name. */
function holderName(name: string | null): string | null {
  const bare = (name ?? '').replace(/^[\s,]+/, '');
  return /[\p{L}\p{N}]/u.test(bare) ? bare : null;
}
