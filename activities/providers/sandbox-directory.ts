import { Agent, request } from 'undici';
import * as v from 'valibot';
import { MATCHED, payUkResult, type VerificationResult } from '../../domain/beneficiaries/verifications.ts';
import type { NameDirectory, NameVerificationRequest } from './directory-port.ts';
import { type CallOptions, ProviderUnavailable } from './port.ts';
import { code, providerId, shown } from './ports/texts.ts';

/** The scheme's time limit for a bank's answer. */
const DEADLINE_MS = 5_000;
const CONNECTIONS_MAX = 16;
const ANSWER_BYTES_MAX = 64 * 1024;
/** Room for a given and a family name of 140 characters each. */
const HOLDER_NAME_LENGTH_MAX = 281;

const REFERENCE_MAX = 100;

const ANSWER = v.object({
  reference: providerId(REFERENCE_MAX),
  matched: v.boolean(),
  reasonCode: v.nullable(code()),
  name: v.nullable(shown(HOLDER_NAME_LENGTH_MAX)),
});

/** Pay.UK's directory through the sandbox bank at `url`; docs/sandbox.md describes the other side. */
export function createSandboxDirectory(settings: { readonly url: string; readonly provider: string }): NameDirectory {
  const { provider } = settings;
  const url = `${settings.url.replace(/\/+$/, '')}/directory/name-checks`;
  const agent = new Agent({ connections: CONNECTIONS_MAX, maxResponseSize: ANSWER_BYTES_MAX });
  return {
    provider,
    async verifyName(asked, options) {
      const text = await post({ agent, url, provider }, asked, options);
      const answer = v.safeParse(ANSWER, parsed(text));
      const result = answer.success ? resultOf(answer.output) : null;
      if (!answer.success || result === null) throw new ProviderUnavailable(provider, 'answer not understood');
      return { result, reference: answer.output.reference };
    },
  };
}

async function post(
  target: { readonly agent: Agent; readonly url: string; readonly provider: string },
  asked: NameVerificationRequest,
  options: CallOptions,
): Promise<string> {
  const { identityType, ...rest } = asked;
  const body = JSON.stringify({ ...rest, accountType: identityType === 'corporate' ? 'BUSINESS' : 'PERSONAL' });
  const deadline = AbortSignal.timeout(options.deadlineMs ?? DEADLINE_MS);
  const signal = options.signal === undefined ? deadline : AbortSignal.any([deadline, options.signal]);
  try {
    const response = await request(target.url, {
      method: 'POST',
      dispatcher: target.agent,
      signal,
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body,
    });
    const text = await response.body.text();
    if (response.statusCode === 200) return text;
    throw new ProviderUnavailable(target.provider, `status ${response.statusCode}`);
  } catch (error) {
    if (error instanceof ProviderUnavailable) throw error;
    throw new ProviderUnavailable(target.provider, deadline.aborted ? 'timeout' : 'connection', { cause: error });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function resultOf({ matched, reasonCode, name }: v.InferOutput<typeof ANSWER>): VerificationResult | null {
  if (matched) return reasonCode === null ? MATCHED : null;
  return reasonCode === null ? null : payUkResult(reasonCode, holderName(name));
}

/** Some banks put empty title fields before the name. */
function holderName(name: string | null): string | null {
  const bare = (name ?? '').replace(/^[\s,]+/, '');
  return /[\p{L}\p{N}]/u.test(bare) ? bare : null;
}
