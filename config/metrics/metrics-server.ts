import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EnvironmentError, readPort, readText } from '../environment.ts';

/** Metrics have their own port: they reveal volumes and cost database reads. */
export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

export interface MetricsText {
  readonly text: string;
  readonly contentType: string;
}

export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

const PORT_DEFAULT = 9464;
const HOST = /^[A-Za-z0-9.:_-]{1,253}$/;
/** Few scrapers connect. */
const CONNECTIONS_MAX = 64;
const TIMEOUT_MS = 10_000;

export function readMetricsAddress(env: NodeJS.ProcessEnv): MetricsAddress {
  const host = readText(env, 'METRICS_HOST', '127.0.0.1');
  if (!HOST.test(host)) throw new EnvironmentError(`METRICS_HOST must be an IP address or a host name, not "${host}".`);
  return { host, port: readPort(env, 'METRICS_PORT', PORT_DEFAULT) };
}

/**
 * Serves `GET /metrics`. With `isReady`, for a process without another port, it also tells whether that runs (`/health/live`) and works
 * (`/health/ready`). Concurrent scrapes share one reading.
 */
export async function startMetricsServer(
  { host, port }: MetricsAddress,
  read: () => Promise<MetricsText>,
  isReady: (() => boolean) | null = null,
): Promise<MetricsServer> {
  let reading: Promise<MetricsText> | null = null;
  const shared = (): Promise<MetricsText> => {
    reading ??= read().finally(() => {
      reading = null;
    });
    return reading;
  };
  const healthPaths = new Map<string, () => boolean>(
    isReady === null
      ? []
      : [
          ['/health/live', () => true],
          ['/health/ready', isReady],
        ],
  );
  const server = createServer({ headersTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS }, (request, response) => {
    const [path] = (request.url ?? '').split('?');
    const isOk = path === undefined ? undefined : healthPaths.get(path)?.();
    if (request.method === 'GET' && isOk !== undefined) {
      response.writeHead(isOk ? 200 : 503).end();
      return;
    }
    if (request.method !== 'GET' || path !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    shared().then(
      ({ text, contentType }) => response.writeHead(200, { 'content-type': contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  server.maxConnections = CONNECTIONS_MAX;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(explain(error, host, port)));
    server.listen(port, host, resolve);
  });
  server.removeAllListeners('error');
  server.on('error', () => {});
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function explain(error: Error, host: string, port: number): Error {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE')
    return new EnvironmentError(`port ${port} is in use. Set METRICS_PORT to another, or to 0 for a free one.`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new EnvironmentError(`METRICS_HOST "${host}" is no address of this machine.`);
  return error;
}
