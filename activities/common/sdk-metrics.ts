import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type DefaultLogger, Runtime } from '@temporalio/worker';

const LOOPBACK = '127.0.0.1';
/** Another process may take the free port before the SDK does. */
const ATTEMPTS_MAX = 5;
const READ_MS_MAX = 2_000;

/**
 * Installs the SDK's runtime. It serves its metrics on a loopback port of its own; the answer reads them, so that one scrape has them and
 * ours. Their names and labels are the SDK's, with `_total` and `_seconds` as Prometheus wants them.
 */
export async function installRuntime(logger: DefaultLogger): Promise<() => Promise<string>> {
  for (let attempt = 1; ; attempt += 1) {
    const address = `${LOOPBACK}:${await freePort()}`;
    const prometheus = {
      bindAddress: address,
      countersTotalSuffix: true,
      unitSuffix: true,
      useSecondsForDurations: true,
    };
    try {
      // Without shutdownSignals the SDK installs its own signal handlers and shuts down its workers unasked.
      Runtime.install({ shutdownSignals: [], logger, telemetryOptions: { metrics: { prometheus } } });
      return () => read(`http://${address}/metrics`);
    } catch (error) {
      if (attempt === ATTEMPTS_MAX) throw error;
    }
  }
}

/** Without an answer of the SDK the process's other metrics still appear. */
async function read(url: string): Promise<string> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(READ_MS_MAX) });
    return answer.ok ? await answer.text() : '';
  } catch {
    return '';
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, LOOPBACK, resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
