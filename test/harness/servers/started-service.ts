import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isAlive, type ProcessIdentity, readPidFile, stopProcess } from '../../../cli/common/processes.ts';
import { freePort } from '../../../dev/servers/ports.ts';
import { type ChildName, STOP_ORDER } from '../../../dev/start/supervisor.ts';
import { entryArguments } from '../../tools/run/entries.ts';
import { WaitedTooLong } from '../../tools/run/waited-too-long.ts';

const PROJECT_DIRECTORY = fileURLToPath(new URL('../../..', import.meta.url));
const READY_TIMEOUT_MS = 240_000;

/** Folder and ports of one copy of the service. */
export interface ServiceInstallation {
  dataDirectory: string;
  environment: NodeJS.ProcessEnv;
  apiUrl: string;
  port: number;
  sandboxUrl: string;
  consoleUrl: string;
}

/** A temporary folder, and free ports for everything whose port is fixed. */
export async function newServiceInstallation(): Promise<ServiceInstallation> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'service-test-'));
  const port = await freePort();
  const sandboxPort = await freePort();
  const consolePort = await freePort();
  const environment: NodeJS.ProcessEnv = {
    ...process.env,
    DATA_DIR: dataDirectory,
    PORT: String(port),
    SANDBOX_PORT: String(sandboxPort),
    CONSOLE_PORT: String(consolePort),
    TEMPORAL_PORT: String(await freePort()),
    TEMPORAL_UI_PORT: String(await freePort()),
  };
  // Removes the tests' own environment.
  for (const name of [
    'DATABASE_URL',
    'TEMPORAL_ADDRESS',
    'TEMPORAL_NAMESPACE',
    'PUBLIC_URL',
    'CONFIG_FILE',
    'VITEST',
    'NODE_ENV',
  ])
    delete environment[name];
  return {
    dataDirectory,
    environment,
    port,
    apiUrl: `http://127.0.0.1:${port}`,
    sandboxUrl: `http://127.0.0.1:${sandboxPort}`,
    consoleUrl: `http://127.0.0.1:${consolePort}`,
  };
}

/** Ends whatever still runs there, and removes the folder. */
export async function removeServiceInstallation(installation: ServiceInstallation): Promise<void> {
  const start = recordedProcess(installation, 'start');
  if (start !== undefined) await stopProcess(start, { graceMs: 25_000 });
  for (const { identity } of recordedChildren(installation))
    await stopProcess(identity, { graceMs: 0, signal: 'SIGKILL' });
  rmSync(installation.dataDirectory, { recursive: true, force: true });
}

export interface StartedService {
  installation: ServiceInstallation;
  process: ChildProcess;
  output(): string;
  errors(): string;
  exitCode: Promise<number | null>;
}

/** What a process has printed so far. */
export function printedBy(child: {
  readonly stdout: Readable;
  readonly stderr: Readable;
}): Pick<StartedService, 'output' | 'errors'> {
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk;
  });
  return { output: () => output, errors: () => errors };
}

/** As `npm start` itself: everything from its sources, which takes each process three times the work of its bundle. */
export const FROM_SOURCES: readonly string[] = ['--import', 'tsx', 'dev/start.ts'];

/** Runs `npm start`'s script as leader of its own process group. */
export function runStart(
  installation: ServiceInstallation,
  overrides: NodeJS.ProcessEnv = {},
  nodeArguments: readonly string[] = entryArguments('dev/start.ts'),
): StartedService {
  const child = spawn(process.execPath, nodeArguments, {
    cwd: PROJECT_DIRECTORY,
    env: { ...installation.environment, ...overrides },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = printedBy(child);
  const exitCode = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  return { installation, process: child, ...printed, exitCode };
}

/** Starts the service and waits until it reports ready; fails with its output if it ends before. */
export async function startService(
  installation: ServiceInstallation,
  overrides: NodeJS.ProcessEnv = {},
  nodeArguments?: readonly string[],
): Promise<StartedService> {
  const service = runStart(installation, overrides, nodeArguments);
  await eventually(
    () => {
      if (service.process.exitCode !== null) throw new Error(`The start ended: ${service.output()}${service.errors()}`);
      return /^Ready after/m.test(service.output());
    },
    READY_TIMEOUT_MS,
    () => service.output() + service.errors(),
  );
  return service;
}

export interface RecordedChild {
  name: ChildName;
  identity: ProcessIdentity;
}

/** The running children, by their pid files. */
export function recordedChildren(installation: ServiceInstallation): RecordedChild[] {
  return STOP_ORDER.flatMap(({ name }) => {
    const identity = recordedProcess(installation, name);
    return identity === undefined ? [] : [{ name, identity }];
  });
}

export function recordedProcess(
  installation: ServiceInstallation,
  name: ChildName | 'start',
): ProcessIdentity | undefined {
  const identity = readPidFile(join(installation.dataDirectory, 'run', `${name}.pid`));
  return identity !== undefined && isAlive(identity) ? identity : undefined;
}

/** Waits until the condition holds; fails with the description when it does not in time. */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  timeoutMs: number,
  describe: () => string,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline)
      throw new WaitedTooLong(`It did not happen within ${timeoutMs} ms: ${describe()}`);
    await sleep(100);
  }
}
