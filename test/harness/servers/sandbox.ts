import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../dev/servers/ports.ts';
import { entryArguments } from '../../tools/run/entries.ts';
import { WaitedTooLong } from '../../tools/run/waited-too-long.ts';

export const SANDBOX_SECRET = 'a secret that tests and bank share';

const READY_MS_MAX = 180_000;

export interface RunningSandbox {
  readonly url: string;
  /** Its mail server. */
  readonly smtpUrl: string;
  readonly pid: number;
  /** Everything that the process has written. */
  output(): string;
  /** kill -9. */
  kill(): Promise<void>;
  stop(): Promise<number | null>;
}

/** The real process on its own port; `directory` keeps its books across restarts. */
export async function startSandbox(options: {
  readonly directory: string;
  readonly callbackUrl: string;
  /** Variables besides. */
  readonly environment?: Readonly<Record<string, string>>;
}): Promise<RunningSandbox> {
  const port = await freePort();
  const smtpPort = await freePort();
  const child = spawn(process.execPath, entryArguments('sandbox/main.ts'), {
    env: {
      ...process.env,
      SANDBOX_PORT: String(port),
      SANDBOX_SMTP_PORT: String(smtpPort),
      SANDBOX_BANK_SECRET: SANDBOX_SECRET,
      DATA_DIR: options.directory,
      CALLBACK_URL: options.callbackUrl,
      ...options.environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (data: Buffer) => {
    output += data.toString();
  });
  child.stderr.on('data', (data: Buffer) => {
    output += data.toString();
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const url = `http://127.0.0.1:${port}`;
  await waitUntilReady(url, child, () => output);
  return {
    url,
    smtpUrl: `smtp://127.0.0.1:${smtpPort}`,
    pid: child.pid ?? 0,
    output: () => output,
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

async function waitUntilReady(url: string, child: ChildProcess, output: () => string): Promise<void> {
  const deadline = performance.now() + READY_MS_MAX;
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`the sandbox ended: ${output()}`);
    const answer = await fetch(`${url}/health/ready`).catch(() => null);
    if (answer?.ok) return;
    await sleep(50);
  }
  child.kill('SIGKILL');
  throw new Error(`the sandbox is not ready: ${output()}`);
}

export interface ReceivedCallback {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly rawBody: Buffer;
}

export interface CallbackReceiver {
  readonly url: string;
  readonly received: ReceivedCallback[];
  /** The status of the next answers, 200 at first. */
  status: number;
  close(): Promise<void>;
}

/** Receives the bank's callbacks in place of the API. */
export async function startCallbackReceiver(): Promise<CallbackReceiver> {
  const received: ReceivedCallback[] = [];
  const port = await freePort();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    received.push({ headers: single(request.headers), rawBody: Buffer.concat(chunks) });
    response.writeHead(receiver.status).end();
  });
  const receiver: CallbackReceiver = {
    url: `http://127.0.0.1:${port}/provider-callbacks/sandbox-bank`,
    received,
    status: 200,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return receiver;
}

function single(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : value]),
  );
}

/** A directory that `remove` deletes. */
export function temporaryDirectory(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'sandbox-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Polls until `look` returns something other than undefined. */
export async function eventually<Found>(
  what: string,
  look: () => Found | undefined | Promise<Found | undefined>,
  timeoutMs = 180_000,
): Promise<Found> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new WaitedTooLong(`${what} did not happen within ${timeoutMs} ms`);
    await sleep(25);
  }
}
