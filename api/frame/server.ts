import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAdaptorServer } from '@hono/node-server';
import type { Application } from './application.ts';
import { errorBody } from './errors.ts';

export interface ServerTimeouts {
  /** Time limit for the headers, from the connection on. */
  readonly headersMs: number;
  /** Time limit for the whole request. */
  readonly requestMs: number;
  /** How often the server closes sockets that exceed the two above. */
  readonly checkMs: number;
}

/**
 * Regular clients send headers in one packet, and 1 MiB in 30 s is only 35 kB/s. Node's limits of one and five
 * minutes let slow senders hold sockets.
 */
const TIMEOUTS: ServerTimeouts = { headersMs: 10_000, requestMs: 30_000, checkMs: 2_000 };
/**
 * Keep-alive outlasts the 60 s of common load balancers: if the server closed first, it could lose a request that is
 * under way.
 */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** Refuses further sockets, so that idle ones cannot take every file descriptor. */
const CONNECTIONS_MAX = 8_192;
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

/** Serves the application. Port 0 picks a free one; host null listens on every address. */
export async function startServer(
  application: Application,
  { port, host }: { readonly port: number; readonly host: string | null },
  timeouts: ServerTimeouts = TIMEOUTS,
): Promise<RunningServer> {
  const server = createAdaptorServer({
    fetch: application.fetch,
    serverOptions: {
      headersTimeout: timeouts.headersMs,
      requestTimeout: timeouts.requestMs,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      connectionsCheckingInterval: timeouts.checkMs,
    },
  }) as Server;
  server.maxConnections = CONNECTIONS_MAX;
  server.on('clientError', answerBrokenRequest);
  const silent = new Set<Duplex>();
  server.on('connection', (socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  server.on('request', ({ socket }) => silent.delete(socket));
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(explain(error, { port, host })));
    server.listen({ port, ...(host === null ? {} : { host }) }, () => {
      server.removeAllListeners('error');
      // A failed accept, for want of descriptors, loses one connection and must not end the process.
      server.on('error', () => {});
      resolve();
    });
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return { port: address.port, drain: () => drain(server, silent) };
}

/** `silent` connections have not sent a request yet; Node does not count them as idle. */
async function drain(server: Server, silent: ReadonlySet<Duplex>): Promise<void> {
  let closed = false;
  const closing = new Promise<void>((resolve) => {
    server.close(() => {
      closed = true;
      resolve();
    });
  });
  // A connection becomes idle after its answer; keep-alive must not hold up the exit.
  const endsAtMs = performance.now() + DRAIN_LIMIT_MS;
  const silentUntilMs = performance.now() + DRAIN_SILENT_MS;
  while (!closed && performance.now() < endsAtMs) {
    server.closeIdleConnections();
    if (performance.now() > silentUntilMs) for (const socket of silent) socket.destroy();
    await Promise.race([closing, sleep(DRAIN_CHECK_MS)]);
  }
  server.closeAllConnections();
  await closing;
}

const BROKEN_REQUESTS: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not arrive in time.'],
};

/** Malformed HTTP never reaches the application; it gets an answer in the common error format too. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Duplex): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const [status, message] = BROKEN_REQUESTS[error.code ?? ''] ?? ['400 Bad Request', 'This is not an HTTP request.'];
  const body = errorBody(
    [{ code: 'common.validation.field_invalid', message, messageParameters: ['request', 'request', ''] }],
    new Date(),
  );
  const head = [
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`HTTP/1.1 ${status}\r\n${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

function explain(error: Error, { port, host }: { readonly port: number; readonly host: string | null }): Error {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') return new Error(`port ${port} is in use. Set PORT to another.`, { cause: error });
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new Error(`API_HOST is "${host}", which is no address of this machine. Unset it for all of them.`, {
      cause: error,
    });
  }
  return error;
}
