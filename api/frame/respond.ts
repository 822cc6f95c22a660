import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isUuid } from '../../domain/frame/ids.ts';
import { markFile } from './connections/connections.ts';
import { securityRefusalOf } from './connections/security-refusals.ts';
import { answerError, CLIENT_CLOSED_REQUEST, type ErrorAnswer } from './errors.ts';
import { type FileEnd, fileBody } from './files/files.ts';
import { httpRequestSeconds } from './metrics.ts';
import type { Services } from './services.ts';
import type { AnyRoute } from './third-party-route.ts';

export interface FrameRequest {
  readonly incoming: IncomingMessage;
  readonly requestId: string;
  /** The path without `/v1`: both share one idempotency scope. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Returns a header by its lower-case name. */
  readonly header: (name: string) => string | undefined;
  /** Set by authentication, for the log. */
  callerId: string | null;
}

export interface FrameResponse {
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

/** How a path with an error shape of its own shows a refusal or fault. */
export type ErrorBodyOf = (answer: Pick<ErrorAnswer, 'status' | 'message'>) => string;

/** Of the route that answers; without one if the request has none. */
export interface Served {
  readonly route?: AnyRoute | null;
  readonly errorBodyOf?: ErrorBodyOf | undefined;
}

const REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/;

const OPEN_BANKING = '/open-banking/';
const INTERACTION_ID = 'x-fapi-interaction-id';

/** FAPI 1.0, part 1, 6.2.1: a resource server repeats the interaction's id, or makes one. */
function interactionOf({ path, header }: FrameRequest): Record<string, string> {
  if (!path.startsWith(OPEN_BANKING)) return {};
  const sent = header(INTERACTION_ID);
  return { [INTERACTION_ID]: sent !== undefined && isUuid(sent.toLowerCase()) ? sent : randomUUID() };
}

/** The caller's Request-Id if harmless, otherwise a new one. */
export function requestIdOf(sent: string | undefined): string {
  return sent !== undefined && REQUEST_ID.test(sent) ? sent : randomUUID();
}

/** Runs a request and always produces an answer, a log line and a metric; those of a file when its sending has ended. */
export async function respond(
  services: Services,
  routeLabel: string,
  request: FrameRequest,
  work: () => Promise<FrameResponse | StreamedResponse>,
  { route = null, errorBodyOf }: Served = {},
): Promise<Response> {
  const startedMs = performance.now();
  const failed = (error: unknown) =>
    services.logger.error({ requestId: request.requestId, err: withoutValues(error) }, 'request failed');
  let answer: FrameResponse | StreamedResponse;
  let thrown: unknown;
  try {
    answer = await work();
  } catch (error) {
    thrown = error;
    const problem = answerError(error, services.now());
    if (problem.internal) failed(error);
    answer = errorBodyOf === undefined ? problem : { ...problem, body: errorBodyOf(problem) };
  }
  const record = (status: number) => recordRequest(services, routeLabel, request, { status, startedMs });
  if (!('chunks' in answer)) {
    record(answer.status);
    const { status } = answer;
    const refused = securityRefusalOf(route, status, thrown);
    if (refused !== null) services.securityLog.refused(refused, request, { route: routeLabel, status });
    return responseOf(answer.body, request, answer);
  }
  markFile(request.incoming.socket);
  const ended = (how: FileEnd) => {
    if (typeof how === 'object') failed(how.failure);
    record(statusOf(how));
  };
  const body = fileBody(answer.chunks, { cut: () => request.incoming.socket.destroy(), ended });
  return responseOf(body, request, { status: 200, ...answer });
}

/** The caller has seen 200 in any case: log and metrics tell a file that did not arrive in full. */
function statusOf(how: FileEnd): number {
  if (how === 'complete') return 200;
  return how === 'abandoned' ? CLIENT_CLOSED_REQUEST : 500;
}

function recordRequest(
  services: Services,
  routeLabel: string,
  request: FrameRequest,
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
    },
    'request',
  );
}

function responseOf(
  body: FrameResponse['body'] | ReadableStream<Uint8Array>,
  request: FrameRequest,
  { status, contentType, headers }: Pick<FrameResponse, 'status' | 'contentType' | 'headers'>,
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

/** After an answer to a request that has not arrived in full: the rest of it is not awaited (connections/connection.ts). */
const CLOSE = { connection: 'close' };

// Driver messages can quote statement values, which may be personal data: keeps only type and stack.
function withoutValues(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, stack = '', cause } = error;
  const frames = stack.split('\n').filter((line) => line.startsWith('    at '));
  return {
    type: name,
    ...('code' in error && typeof error.code === 'string' ? { code: error.code } : {}),
    stack: frames.slice(0, 12).join('\n'),
    ...(cause === undefined ? {} : { cause: withoutValues(cause) }),
  };
}
