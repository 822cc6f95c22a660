import { type Answer, type OperationRequest, UNKNOWN_OPERATION } from '../call.ts';
import { ApiError, type Problem } from '../errors.ts';
import { FILES } from '../generated/contract.ts';
import type { ErrorCode } from '../generated/types.ts';
import { decode, inexactNumber, isObject } from './json.ts';
import { hasKey, type Outcome, retryAfterMs } from './retries.ts';

/** What an error says of its request. */
export interface SentRequest {
  readonly request: OperationRequest;
  /** The Idempotency-Key. */
  readonly key: string | undefined;
  readonly requestId: string;
}

export interface Received {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

export function codeOf(text: string, { ok }: Response): string | null {
  return ok ? null : (problemsOf(text)[0]?.code ?? null);
}

/** The rejection's reasons; none if the answer is not the service's, but a proxy's. */
function problemsOf(text: string): Problem[] {
  try {
    const first: unknown = JSON.parse(text);
    if (!isObject(first)) return [];
    const others: unknown[] = Array.isArray(first.errors) ? first.errors : [];
    return [first, ...others].flatMap((problem) => (isProblem(problem) ? [problem] : []));
  } catch {
    return [];
  }
}

function isProblem(value: unknown): value is Problem {
  return isObject(value) && typeof value.code === 'string' && typeof value.message === 'string';
}

export function rejection(sent: SentRequest, { status, text, headers }: Received, isOutcomeUnknown: boolean): ApiError {
  const problems = problemsOf(text).map(({ code, message, messageParameters = [] }) => ({
    code,
    message,
    messageParameters,
  }));
  const [first] = problems;
  const requestId = headers.get('request-id');
  const help = /<([^>]+)>; *rel="help"/.exec(headers.get('link') ?? '')?.[1];
  const { operation, place } = sent.request;
  const context = {
    ...{ operation, place, status, requestId, problems, help, idempotencyKey: sent.key, isOutcomeUnknown },
    retryAfterMs: retryAfterMs(headers.get('retry-after'), new Date()),
  };
  if (first === undefined) {
    return new ApiError({ ...context, code: 'client.answer.invalid', message: 'The answer is not the service’s.' });
  }
  // A later release may have codes that this one does not know.
  return new ApiError({ ...context, code: first.code as ErrorCode, message: first.message });
}

interface Unanswered {
  readonly outcome: Outcome;
  readonly cause: unknown;
  readonly isOutcomeUnknown: boolean;
}

export function unanswered(
  { request, key: idempotencyKey, requestId }: SentRequest,
  deadline: AbortSignal,
  { outcome, cause, isOutcomeUnknown }: Unanswered,
): ApiError {
  const ofOutcome = outcome === 'no-token' ? 'client.token.failed' : 'client.connection.failed';
  const code = abortCodeOf(deadline) ?? ofOutcome;
  const message = code === 'client.connection.failed' ? `No answer came${reasonOf(cause)}.` : UNANSWERED[code];
  const { operation, place } = request;
  return new ApiError({ code, message, operation, place, requestId, idempotencyKey, isOutcomeUnknown, cause });
}

/** Why Node could not connect or read, such as `: connect ECONNREFUSED 127.0.0.1:3000`; '' where it does not say. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!isObject(cause) || typeof cause.code !== 'string') return '';
  const { code, message } = cause;
  return `: ${typeof message === 'string' && message.includes(code) ? message : code}`;
}

/** Why a signal ended what it guards; null if it did not. */
export function abortCodeOf({ aborted, reason }: AbortSignal): 'client.deadline.exceeded' | 'client.aborted' | null {
  if (!aborted) return null;
  return reason instanceof DOMException && reason.name === 'TimeoutError'
    ? 'client.deadline.exceeded'
    : 'client.aborted';
}

const UNANSWERED = {
  'client.token.failed': 'There was no token to send it with.',
  'client.deadline.exceeded': 'No answer came in time.',
  'client.aborted': 'The caller ended the call.',
};

export function answerOf<Resource, Body>(
  { request, key }: SentRequest,
  { status, text, headers }: Received,
): Answer<Resource, Body> {
  const requestId = headers.get('request-id');
  const { operation, place } = request;
  const context = { operation, place, status, requestId, idempotencyKey: key };
  const isJson = headers.get('content-type')?.startsWith('application/json') === true;
  const inexact = isJson ? inexactNumber(text) : null;
  if (inexact !== null) {
    const message = `A JavaScript number cannot hold ${inexact}.`;
    throw new ApiError({ ...context, code: 'client.answer.inexact', message });
  }
  let body: unknown = text;
  try {
    if (isJson) body = decode(text);
  } catch (cause) {
    throw new ApiError({
      ...context,
      code: 'client.answer.invalid',
      message: 'The answer is no JSON.',
      isOutcomeUnknown: request.method !== 'GET',
      cause,
    });
  }
  const resource = resourceIn(body, request);
  if (answersJson(request) && (!isObject(body) || resource === undefined)) {
    const message = 'The answer is not the service’s.';
    const isOutcomeUnknown = request.method !== 'GET';
    throw new ApiError({ ...context, code: 'client.answer.invalid', message, isOutcomeUnknown });
  }
  const replayed = headers.get('x-idempotency-status') === 'replayed';
  // The service answers what its OpenAPI document says.
  return { resource: resource as Resource, body: body as Body, replayed, status, requestId, headers, text };
}

/** Of a path that the contract does not have, it is known only of writes. */
function answersJson(request: OperationRequest): boolean {
  if (request.operation === UNKNOWN_OPERATION) {
    return request.method !== 'GET' && (request.method !== 'POST' || hasKey(request));
  }
  return !FILES.includes(request.operation);
}

function resourceIn(body: unknown, { resource }: OperationRequest): unknown {
  if (resource === null || !isObject(body)) return body;
  const { data } = body;
  return resource !== undefined && isObject(data) ? data[resource] : data;
}
