import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TraceSpan } from '../../config/tracing/spans.ts';
import { tracing } from '../../config/tracing/tracing.ts';
import { DomainError, type ErrorCode, withoutValues } from '../../domain/common/errors.ts';
import { isUuid } from '../../domain/common/ids.ts';
import { markFileResponse } from './connections/connections.ts';
import type { SecurityRejection } from './connections/security-rejections.ts';
import { answerError, CLIENT_CLOSED_REQUEST, type ErrorBodyOf, HttpRejection, helpLink } from './errors.ts';
import { type FileEnd, fileBody } from './files/files.ts';
import { httpRequestSeconds } from './metrics.ts';
import type { Services } from './services.ts';
import type { AnyRoute } from './third-party-route.ts';

export interface HttpRequest {
  readonly incoming: IncomingMessage;
  readonly requestId: string;
  /** The path without `/v1`: both share one idempotency scope. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Returns a header by its lower-case name. */
  readonly header: (name: string) => string | undefined;
  /** Set by authentication; for the log. */
  callerId: string | null;
  /** Null while traces are off. */
  trace: TraceSpan | null;
}

export interface HttpResponse {
  readonly status: number;
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A file that is sent while it is read; always 200, as a failure cuts the connection. */
export interface StreamedResponse {
  readonly chunks: AsyncIterable<string>;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The route that answers a request; none if no route matched. */
export interface Served {
  readonly route?: AnyRoute | null;
  readonly errorBodyOf?: ErrorBodyOf | undefined;
}

const REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/;

const OPEN_BANKING = '/open-banking/';
const INTERACTION_ID = 'x-fapi-interaction-id';

/** FAPI 1.0, part 1, 6.2.1: a resource server repeats the interaction's id, or makes one. */
function interactionOf({ path, header }: HttpRequest): Record<string, string> {
  if (!path.startsWith(OPEN_BANKING)) return {};
  const sent = header(INTERACTION_ID);
  return { [INTERACTION_ID]: sent !== undefined && isUuid(sent.toLowerCase()) ? sent : randomUUID() };
}

/** The caller's Request-Id if it is safe to log, otherwise a new one. */
export function requestIdOf(sent: string | undefined): string {
  return sent !== undefined && REQUEST_ID.test(sent) ? sent : randomUUID();
}

/** Runs a request and always produces an answer, a log line and a metric; for a file, log line and metric follow when it has been sent. */
export async function respond(
  services: Services,
  routeLabel: string,
  request: HttpRequest,
  work: () => Promise<HttpResponse | StreamedResponse>,
  { route = null, errorBodyOf }: Served = {},
): Promise<Response> {
  const startedMs = performance.now();
  request.trace =
    tracing()?.beginRequest(`${request.incoming.method} ${routeLabel}`, request.header('traceparent')) ?? null;
  const failed = (error: unknown) =>
    services.logger.error(
      { requestId: request.requestId, traceId: request.trace?.traceId, err: withoutValues(error) },
      'request failed',
    );
  let answer: HttpResponse | StreamedResponse;
  let thrown: unknown;
  try {
    answer = await work();
  } catch (error) {
    thrown = error;
    const problem = answerError(error, services.now());
    if (problem.internal) failed(error);
    // A path with its own error format shows no code.
    answer =
      errorBodyOf === undefined
        ? { ...problem, headers: { ...problem.headers, ...helpLink(problem.code) } }
        : { ...problem, body: errorBodyOf(problem) };
  }
  const record = (status: number) => recordRequest(services, routeLabel, request, { status, startedMs });
  if (!('chunks' in answer)) {
    record(answer.status);
    const { status } = answer;
    const rejected = securityRejectionOf(route, status, thrown);
    if (rejected !== null) services.securityLog.rejected(rejected, request, { route: routeLabel, status });
    return responseOf(answer.body, request, answer);
  }
  markFileResponse(request.incoming.socket);
  const ended = (how: FileEnd) => {
    if (typeof how === 'object') failed(how.failure);
    record(statusOf(how));
  };
  const body = fileBody(answer.chunks, { cut: () => request.incoming.socket.destroy(), ended });
  return responseOf(body, request, { status: 200, ...answer });
}

const BY_CODE: Readonly<Partial<Record<ErrorCode, SecurityRejection>>> = {
  'common.security.access_denied': 'forbidden',
  'user.authentication.failed': 'password',
};

/** The security rejection that an answer is, if any. `error` is what the handler threw. */
function securityRejectionOf(route: AnyRoute | null, status: number, error: unknown): SecurityRejection | null {
  if (error instanceof HttpRejection && error.security !== null) return error.security;
  if (status === 401) return route === null ? null : credentialOf(route);
  return error instanceof DomainError ? (BY_CODE[error.code] ?? null) : null;
}

/** The credential of a route's callers, which it rejects with 401. */
export function credentialOf(route: AnyRoute): SecurityRejection | null {
  if (route.kind === 'route') return 'token';
  if (route.kind === 'open') return route.contract.credential ?? null;
  return route.scope === null ? 'client-assertion' : 'access-token';
}

/** The caller has seen 200 in any case; log and metrics show whether the file arrived in full. */
function statusOf(how: FileEnd): number {
  if (how === 'complete') return 200;
  return how === 'abandoned' ? CLIENT_CLOSED_REQUEST : 500;
}

function recordRequest(
  services: Services,
  routeLabel: string,
  request: HttpRequest,
  { status, startedMs }: { readonly status: number; readonly startedMs: number },
): void {
  const durationMs = performance.now() - startedMs;
  const method = request.incoming.method ?? 'GET';
  httpRequestSeconds.labels(method, routeLabel, String(status)).observe(durationMs / 1000);
  services.logger.info(
    {
      requestId: request.requestId,
      method,
      route: routeLabel,
      status,
      durationMs: Math.round(durationMs * 100) / 100,
      machineUserId: request.callerId,
      traceId: request.trace?.traceId,
    },
    'request',
  );
  request.trace?.end(
    { 'http.request.method': method, 'http.route': routeLabel, 'http.response.status_code': status },
    status >= 500 ? 'failed' : undefined,
  );
}

function responseOf(
  body: HttpResponse['body'] | ReadableStream<Uint8Array>,
  request: HttpRequest,
  { status, contentType, headers }: Pick<HttpResponse, 'status' | 'contentType' | 'headers'>,
): Response {
  return new Response(body, {
    status,
    headers: {
      'content-type': contentType ?? 'application/json; charset=utf-8',
      'request-id': request.requestId,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...interactionOf(request),
      ...headers,
      ...(request.incoming.complete ? {} : CLOSE),
    },
  });
}

/** For an answer to a request that has not arrived in full: the rest of it is not awaited (connections/connection.ts). */
const CLOSE = { connection: 'close' };
