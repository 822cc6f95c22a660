import type { IncomingHttpHeaders } from 'node:http';
import { Agent, request } from 'undici';
import * as v from 'valibot';
import type { DirectoryTls } from '../../../config/environment/directory-tls.ts';
import { DIRECTORY_RULES } from '../../../domain/beneficiaries/directories.ts';
import type { DirectoryCode } from '../../../domain/beneficiaries/verifications.ts';
import { NOT_UNDERSTOOD, ProviderUnavailable } from '../port.ts';
import type { CallOptions } from '../ports/common.ts';
import { startTimeLimit } from '../ports/time-limits.ts';

/** Both schemes' time limit for a bank's answer. */
const DEADLINE_MS = 5_000;
const CONNECTIONS_MAX = 16;
const ANSWER_BYTES_MAX = 64 * 1024;

export interface DirectoryQuestion {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface ReceivedAnswer {
  readonly headers: IncomingHttpHeaders;
  /** The parsed body; null if it is not JSON. */
  readonly body: unknown;
}

export type DirectoryCall = (question: DirectoryQuestion, options: CallOptions) => Promise<ReceivedAnswer>;

/**
 * One POST to a directory, within its time limit and never repeated: the caller repeats the whole request, so that a directory which is slow
 * gets no more of them. Any status but 200 is `ProviderUnavailable`, with the scheme's code if it is one of its errors: any other text may
 * hold what was asked.
 */
export function directoryCall(
  directory: DirectoryCode,
  { provider, url, tls }: { readonly provider: string; readonly url: string; readonly tls?: DirectoryTls },
): DirectoryCall {
  const problem = v.object({ code: v.picklist(DIRECTORY_RULES[directory].errors) });
  const connect = tls === undefined ? {} : secured(tls);
  const agent = new Agent({ connections: CONNECTIONS_MAX, maxResponseSize: ANSWER_BYTES_MAX, connect });
  return async ({ headers, body }, options) => {
    const limit = startTimeLimit(options.deadlineMs ?? DEADLINE_MS, options.signal);
    try {
      const response = await request(url, {
        method: 'POST',
        dispatcher: agent,
        signal: limit.signal,
        headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
      const text = await response.body.text();
      const received = parsed(text);
      if (response.statusCode === 200) return { headers: response.headers, body: received };
      const code = v.is(problem, received) ? ` ${received.code}` : '';
      throw new ProviderUnavailable(provider, `status ${response.statusCode}${code}`);
    } catch (error) {
      if (error instanceof ProviderUnavailable) throw error;
      throw new ProviderUnavailable(provider, limit.isOver() ? 'timeout' : 'connection', { cause: error });
    } finally {
      limit.release();
    }
  };
}

function secured({ identity, ca }: DirectoryTls) {
  const trusted = ca === null ? {} : { ca };
  if (identity === null) return trusted;
  const { cert, key, passphrase } = identity;
  return { ...trusted, cert, key, ...(passphrase === null ? {} : { passphrase }) };
}

export function notUnderstood(provider: string): ProviderUnavailable {
  return new ProviderUnavailable(provider, NOT_UNDERSTOOD);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
