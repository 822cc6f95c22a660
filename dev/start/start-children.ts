import { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ActionableError } from '../../cli/common/actionable-error.ts';
import {
  isAlive,
  logTail,
  type ProcessIdentity,
  type RunningProcess,
  spawnRecorded,
} from '../../cli/common/processes.ts';

const PROJECT_DIRECTORY = fileURLToPath(new URL('../..', import.meta.url));
const READY_TIMEOUT_MS = 90_000;

export interface ChildOptions {
  /** Path of the entry file inside the project. */
  entry: string;
  /** The folder of bundles that runs in place of the sources. */
  bundles?: string | undefined;
  environment: NodeJS.ProcessEnv;
  logFile: string;
  pidFile: string;
}

/** One of our own processes: node itself without a wrapper, so that signals and the recorded identity concern it. */
export async function childProcess(options: ChildOptions): Promise<RunningProcess> {
  return spawnRecorded({
    command: process.execPath,
    arguments: programOf(options),
    environment: options.environment,
    cwd: PROJECT_DIRECTORY,
    logFile: options.logFile,
    pidFile: options.pidFile,
  });
}

function programOf({ entry, bundles }: ChildOptions): string[] {
  if (bundles !== undefined) return [join(bundles, bundleName(entry))];
  return ['--import', import.meta.resolve('tsx'), entry];
}

/** A start that is a bundle, as in most tests, runs the bundles next to it. */
export function bundlesOf(program = ''): string | undefined {
  return program.endsWith('.mjs') ? dirname(program) : undefined;
}

/** The file of an entry's bundle. */
export function bundleName(entry: string): string {
  return `${entry.replaceAll('/', '-').replace(/\.ts$/, '')}.mjs`;
}

export interface ReadinessOptions {
  apiUrl: string;
  sandboxPort: number;
  /** Of the console, on this machine. */
  consoleUrl: string;
  children: readonly { name: string; process: ProcessIdentity; logFile: string }[];
}

/** Waits until API and console are ready and the sandbox listens; fails as soon as a child ends. */
export async function waitUntilReady(options: ReadinessOptions): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    for (const child of options.children) {
      if (!isAlive(child.process))
        throw new ActionableError(
          `${child.name} ended while it started: ${lastLogMessage(child.logFile)} (log: ${child.logFile})`,
        );
    }
    const isReady = await Promise.all([
      accepts(options.sandboxPort),
      answersOk(`${options.apiUrl}/health/ready`),
      answersOk(`${options.consoleUrl}/readyz`),
    ]);
    if (!isReady.includes(false)) return;
    if (performance.now() > deadline) {
      const logs = options.children.map(({ logFile }) => logFile).join(', ');
      throw new ActionableError(
        `API and console did not become ready within ${READY_TIMEOUT_MS / 1000} s. See the logs: ${logs}`,
      );
    }
    await sleep(100);
  }
}

async function answersOk(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}

async function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = new Socket();
    const settle = (accepted: boolean) => {
      socket.destroy();
      resolve(accepted);
    };
    socket.setTimeout(1_000, () => settle(false));
    socket.once('error', () => settle(false));
    socket.connect(port, '127.0.0.1', () => settle(true));
  });
}

/** The log line that best explains why a process ended: its last message, extracted from our JSON. */
function lastLogMessage(logFile: string): string {
  const lines = logTail(logFile, 40)
    .split('\n')
    .filter((line) => line.trim() !== '');
  const error =
    lines.findLast((line) => /^\s*(\w*Error\b|\[?\w*Error:)/.test(line)) ??
    lines.findLast((line) => !/^\s+at |^Node\.js v|^[}\]]$/.test(line));
  if (error === undefined) return 'it printed nothing';
  try {
    const parsed: unknown = JSON.parse(error);
    if (typeof parsed === 'object' && parsed !== null && 'msg' in parsed && typeof parsed.msg === 'string')
      return parsed.msg;
  } catch {
    // Not one of our JSON lines.
  }
  return error.trim();
}
