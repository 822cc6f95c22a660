import { randomUUID } from 'node:crypto';
import { ApiError, createClient } from '../../client/index.ts';
import type { Role } from '../../domain/machine-users/roles.ts';
import type { CommandContext } from '../program/command.ts';
import { CommandFailure, type ExitReason } from '../program/exit-statuses.ts';
import type { Progress } from '../program/progress.ts';
import { type ReachedApi, reachedApi } from '../program/reached-world.ts';
import { barePath } from './paths.ts';
import { findCaller, signToken } from './signing.ts';

export interface Call {
  readonly method: string;
  readonly path: string;
  /** For progress and errors, if the path has a secret. */
  readonly shownPath?: string;
  readonly query?: readonly (readonly [name: string, value: string])[];
  /** JSON text, sent as it is: its amounts keep their digits. */
  readonly body?: string;
  readonly mediaType?: string;
  /** Of a POST: drawn if it is absent, and named if the outcome is unknown. Null where the service keeps none. */
  readonly idempotencyKey?: string | null;
  /** Its body says that it has no effect: it has no key, which would be stored. */
  readonly isDryRun?: true;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** The API as a profile reaches it. */
export interface Api {
  readonly reached: ReachedApi;
  /** The answer, if it is a success; otherwise throws what the command should end with. */
  call(call: Call): Promise<Answer>;
}

/** As whom it calls: a path that is `isOpen` takes no token, and needs no key; `role` chooses among the development users. */
export interface CallerOptions {
  readonly isOpen?: boolean;
  readonly role?: Role;
}

export async function openApi(context: CommandContext, { isOpen = false, role }: CallerOptions = {}): Promise<Api> {
  const reached = reachedApi(context);
  const caller = isOpen ? null : await findCaller(reached, context, role);
  // An open path gets no token: the client wants one, which is taken away before it is sent.
  const token = () => (caller === null ? 'none' : signToken(caller, new Date()));
  return { reached, call: (call) => answerOf({ context, baseUrl: reached.world.target, isOpen, token }, call) };
}

/** As long as bytes may come; other calls have the client's limits. */
const EXPORT_LIMITS = { attemptTimeoutMs: 600_000, timeoutMs: 600_000 };

interface Line {
  readonly context: CommandContext;
  readonly baseUrl: string;
  readonly isOpen: boolean;
  readonly token: () => Promise<string> | string;
}

/** By the client, which knows what may be sent again; with the bytes of the command's own body, and those of the answer. */
async function answerOf({ context, baseUrl, isOpen, token }: Line, call: Call): Promise<Answer> {
  const { signal, output } = context;
  const { url, method, headers, body } = requestOf(call, baseUrl);
  const progress = output.progress(`${method} ${call.shownPath ?? call.path}, kB received`);
  // The client knows operations by their paths without a query.
  const path = barePath(call.path);
  let last: Answer | undefined;
  const sendExactly: typeof fetch = async (_url, given) => {
    const sent = new Headers(given?.headers);
    for (const [name, value] of Object.entries(headers)) sent.set(name, value);
    if (isOpen) sent.delete('authorization');
    if (headers['idempotency-key'] === undefined) sent.delete('idempotency-key');
    const answer = await fetch(url, { ...given, headers: sent, ...(body === undefined ? {} : { body }) });
    const text = await textOf(answer, progress);
    last = { status: answer.status, headers: answer.headers, text };
    // These statuses have no body, not even an empty one.
    return new Response([204, 205, 304].includes(answer.status) ? null : text, answer);
  };
  const client = createClient({
    baseUrl,
    token,
    fetch: sendExactly,
    ...(/\/export$/.test(path) ? EXPORT_LIMITS : {}),
    log: ({ status, code, retryInMs }) => {
      if (retryInMs === null) return;
      output.note(`${status ?? 'No answer'} (${code}): sent again in ${Math.ceil(retryInMs / 1_000)} s.`);
    },
  });
  const idempotencyKey = headers['idempotency-key'];
  // What the service keeps nothing for is never sent twice.
  const retriesMax = isOpen && method !== 'GET' ? { retriesMax: 0 } : {};
  try {
    await client.request(method, path, {}, { signal, idempotencyKey, ...retriesMax });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // What JavaScript cannot hold is an answer all the same.
    if (error.code === 'client.answer.inexact' && last !== undefined) return last;
    const failed = { error, call, origin: new URL(url).origin, key: idempotencyKey };
    throw error.status === null ? unanswered(failed) : rejected(failed);
  } finally {
    progress.end();
  }
  if (last === undefined) throw new Error('the client answered without a request');
  return last;
}

/** Exports may be large, and take long. */
async function textOf({ body }: Response, progress: Progress): Promise<string> {
  if (body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    text += decoder.decode(chunk, { stream: true });
    progress.update(Math.ceil(bytes / 1_000));
  }
  return text + decoder.decode();
}

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What is sent, but for the token. */
export function requestOf(
  { method, path, query = [], body, mediaType, idempotencyKey, isDryRun }: Call,
  baseUrl: string,
): HttpRequest {
  const hasKey = method === 'POST' && idempotencyKey !== null && !isDryRun;
  const url = new URL(`${baseUrl}${path}`);
  for (const [name, value] of query) url.searchParams.append(name, value);
  return {
    method,
    url: url.href,
    headers: {
      accept: 'application/json, */*',
      ...(body === undefined ? {} : { 'content-type': mediaType ?? 'application/json' }),
      ...(hasKey ? { 'idempotency-key': idempotencyKey ?? randomUUID() } : {}),
    },
    ...(body === undefined ? {} : { body }),
  };
}

interface Failed {
  readonly error: ApiError;
  readonly call: Call;
  readonly origin: string;
  readonly key: string | undefined;
}

/** A dry run has no effect, whatever came of it. */
function isOutcomeUnknown({ error, call }: Failed): boolean {
  return error.isOutcomeUnknown && !call.isDryRun;
}

function rejected(failed: Failed): CommandFailure {
  const { error, call } = failed;
  const { code, status, requestId, problems } = error;
  const isUnknown = isOutcomeUnknown(failed);
  const [first, ...others] = problems.map(({ message }) => message);
  const request = requestId === null ? '' : ` (request ${requestId})`;
  const also = others.filter((other) => other !== first).map((other) => `\n  also: ${other}`);
  const what =
    first ?? `${call.method} ${call.shownPath ?? barePath(call.path)} answered ${status}, which is not of the service.`;
  const outcome = isUnknown ? unknownOutcome(failed) : '';
  return new CommandFailure(isUnknown ? 'unknown' : reasonOf(error), `${what}${request}${also.join('')}${outcome}`, {
    httpStatus: status,
    code,
    requestId,
    problems,
    ...keyOf(failed),
  });
}

function reasonOf({ status }: ApiError): ExitReason {
  if (status === 401 || status === 403) return 'unauthorized';
  return status === null || status === 408 || status >= 500 ? 'unknown' : 'rejected';
}

function unanswered(failed: Failed): CommandFailure {
  const { error, call, origin } = failed;
  const isInterrupted = error.code === 'client.aborted';
  const what = isInterrupted ? 'Interrupted.' : `${origin} gave no answer.`;
  const reason = isInterrupted && call.method === 'GET' ? 'interrupted' : 'unknown';
  const details = { code: error.code, ...keyOf(failed) };
  return new CommandFailure(reason, `${what}${isOutcomeUnknown(failed) ? unknownOutcome(failed) : ''}`, details, error);
}

function unknownOutcome({ key }: Failed): string {
  const repeat = key === undefined ? '' : ` To repeat it with one effect: --idempotency-key ${key}`;
  return ` It is not known whether it was done.${repeat}`;
}

function keyOf({ key }: Failed): { readonly idempotencyKey?: string } {
  return key === undefined ? {} : { idempotencyKey: key };
}
