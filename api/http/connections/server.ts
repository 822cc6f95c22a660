import { createServer, type Server } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener, RequestError } from '@hono/node-server';
import type { Application } from '../application.ts';
import { answerError, errorBody, HttpRejection, helpLink } from '../errors.ts';
import { Connections, type OnConnectionRejected, rejectMalformed } from './connections.ts';
import { KEEP_ALIVE_TIMEOUT_MS, SERVER_LIMITS, type ServerLimits } from './limits.ts';

/** A drain is cut short after this; the starter allows 20 s for stopping everything. */
const DRAIN_LIMIT_MS = 10_000;
const DRAIN_CHECK_MS = 25;
/** Leaves a new connection time to send its request. */
const DRAIN_SILENT_MS = 500;

export interface RunningServer {
  readonly port: number;
  /** Stops accepting, finishes running requests, and closes every connection. */
  drain(): Promise<void>;
}

export interface ServerOptions {
  /** Override the defaults. */
  readonly limits?: Partial<ServerLimits>;
  readonly onConnectionRejected?: OnConnectionRejected;
  /** The variables that say where it listens, for errors; by default the API's. */
  readonly variables?: { readonly port: string; readonly host: string };
}

const API_VARIABLES = { port: 'PORT', host: 'API_HOST' };

/** Serves the application. Port 0 picks a free one; host null listens on every address. */
export async function startServer(
  application: Application,
  { port, host }: { readonly port: number; readonly host: string | null },
  options: ServerOptions = {},
): Promise<RunningServer> {
  const limits = { ...SERVER_LIMITS, ...options.limits };
  // The connection reads what a request leaves unread (connections/connection.ts).
  const listener = getRequestListener(application.fetch, {
    autoCleanupIncoming: false,
    errorHandler: answerUnroutable,
  });
  const connections = new Connections(
    limits,
    (incoming, outgoing) => void listener(incoming, outgoing),
    options.onConnectionRejected ?? (() => {}),
  );
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      connectionsCheckingInterval: limits.checkMs,
    },
    connections.serve,
  );
  connections.watch(server);
  server.on('clientError', answerBrokenRequest);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(explain(error, { port, host }, options.variables ?? API_VARIABLES)));
    server.listen({ port, ...(host === null ? {} : { host }) }, () => {
      server.removeAllListeners('error');
      // An accept that fails for lack of descriptors loses one connection and must not end the process.
      server.on('error', () => {});
      resolve();
    });
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server is not listening on a port');
  return { port: address.port, drain: () => drain(server, connections) };
}

async function drain(server: Server, connections: Connections): Promise<void> {
  let closed = false;
  const closing = new Promise<void>((resolve) => {
    server.close(() => {
      closed = true;
      resolve();
    });
  });
  // A connection becomes idle after its answer; keep-alive must not delay the exit.
  const endsAtMs = performance.now() + DRAIN_LIMIT_MS;
  const silentUntilMs = performance.now() + DRAIN_SILENT_MS;
  while (!closed && performance.now() < endsAtMs) {
    server.closeIdleConnections();
    if (performance.now() > silentUntilMs) connections.endUnused();
    await Promise.race([closing, sleep(DRAIN_CHECK_MS)]);
  }
  server.closeAllConnections();
  await closing;
}

const BROKEN_REQUESTS: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not arrive in time.'],
};

const MALFORMED = 'common.validation.field_invalid';

/** Malformed HTTP never reaches the application, but is answered in the common error format. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Duplex): void {
  if (socket instanceof Socket) rejectMalformed(socket, () => brokenRequestAnswer(error.code ?? ''));
  else socket.destroy();
}

function brokenRequestAnswer(code: string): string {
  const [status, message] = BROKEN_REQUESTS[code] ?? ['400 Bad Request', 'This is not an HTTP request.'];
  const body = errorBody([{ code: MALFORMED, message, messageParameters: ['request', 'request', ''] }], new Date());
  const head = [
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    ...Object.entries(helpLink(MALFORMED)).map(([name, value]) => `${name}: ${value}`),
    'connection: close',
  ];
  return `HTTP/1.1 ${status}\r\n${head.join('\r\n')}\r\n\r\n${body}`;
}

/** An invalid target or host has no route, but is answered in the common error format. */
function answerUnroutable(error: unknown): Response {
  const problem = {
    code: MALFORMED,
    message: 'The target and host of the request are not a valid address.',
    messageParameters: ['request', 'target', ''],
  } as const;
  const { status, code, body } = answerError(
    error instanceof RequestError ? new HttpRejection(400, problem) : error,
    new Date(),
  );
  return new Response(body, {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...helpLink(code), connection: 'close' },
  });
}

function explain(
  error: Error,
  { port, host }: { readonly port: number; readonly host: string | null },
  variables: NonNullable<ServerOptions['variables']>,
): Error {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE')
    return new Error(`port ${port} is in use. Set ${variables.port} to another.`, { cause: error });
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new Error(
      `${variables.host} is "${host}", which is not an address of this machine. Unset it for the usual one.`,
      { cause: error },
    );
  }
  return error;
}
