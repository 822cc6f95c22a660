import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { answerError } from './errors.ts';
import { httpRequestSeconds } from './metrics.ts';
import type { Services } from './services.ts';

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

const REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** The caller's Request-Id if harmless, otherwise a new one. */
export function requestIdOf(sent: string | undefined): string {
  return sent !== undefined && REQUEST_ID.test(sent) ? sent : randomUUID();
}

/** Runs a request and always produces an answer, a log line and a metric. */
export async function respond(
  services: Services,
  routeLabel: string,
  request: FrameRequest,
  work: () => Promise<FrameResponse>,
): Promise<Response> {
  const startedMs = performance.now();
  let answer: FrameResponse;
  try {
    answer = await work();
  } catch (error) {
    const problem = answerError(error, services.now());
    if (problem.internal)
      services.logger.error({ requestId: request.requestId, err: withoutValues(error) }, 'request failed');
    answer = problem;
  }
  const durationMs = performance.now() - startedMs;
  const method = request.incoming.method ?? 'GET';
  httpRequestSeconds.labels(method, routeLabel, String(answer.status)).observe(durationMs / 1000);
  services.logger.info(
    {
      requestId: request.requestId,
      method,
      route: routeLabel,
      status: answer.status,
      durationMs: Math.round(durationMs * 100) / 100,
      machineUserId: request.callerId,
    },
    'request',
  );
  return new Response(answer.body, {
    status: answer.status,
    headers: {
      'content-type': answer.contentType ?? 'application/json; charset=utf-8',
      'request-id': request.requestId,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...answer.headers,
    },
  });
}

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
