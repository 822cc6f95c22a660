import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAdaptorServer } from '@hono/node-server';
import type { Application } from './application.ts';

/** Headers arrive in one packet from every honest client; Node's default of a minute lets slow ones hold sockets. */
const HEADERS_TIMEOUT_MS = 10_000;
/** A body of 1 MiB within this is 35 kB/s. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Idle connections between two requests. */
const KEEP_ALIVE_TIMEOUT_MS = 15_000;
/** How often the server looks for sockets that are past the limits above. */
const CONNECTIONS_CHECK_MS = 2_000;
/** Sockets beyond it are refused, so that idle ones cannot take every file descriptor. */
const CONNECTIONS_MAX = 8_192;
/** A drain ends by force after this; the start's own limit for stopping everything is 20 s. */
const DRAIN_LIMIT_MS = 10_000;
const DRAIN_CHECK_MS = 25;

export interface RunningServer {
  readonly port: number;
  /** Stops accepting, lets requests in flight be answered, closes every connection. */
  drain(): Promise<void>;
}

/** Serves the application. Port 0 takes a free one. */
export async function startServer(application: Application, port: number): Promise<RunningServer> {
  const server = createAdaptorServer({
    fetch: application.fetch,
    // Bodies are read from the socket by the frame, with its own limit.
    serverOptions: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
    },
  }) as Server;
  server.maxConnections = CONNECTIONS_MAX;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return { port: address.port, drain: () => drain(server) };
}

async function drain(server: Server): Promise<void> {
  let closed = false;
  const closing = new Promise<void>((resolve) => {
    server.close(() => {
      closed = true;
      resolve();
    });
  });
  // A connection turns idle when its answer is out; keep-alive must not hold the process.
  const endsAtMs = performance.now() + DRAIN_LIMIT_MS;
  while (!closed && performance.now() < endsAtMs) {
    server.closeIdleConnections();
    await Promise.race([closing, sleep(DRAIN_CHECK_MS)]);
  }
  server.closeAllConnections();
  await closing;
}
