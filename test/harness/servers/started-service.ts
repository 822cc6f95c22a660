import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isAlive, type ProcessIdentity, readPidFile, stopProcess } from '../../../scripts/frame/processes.ts';
import { freePort } from '../../../scripts/servers/ports.ts';
import { type ChildName, STOP_ORDER } from '../../../scripts/start/supervisor.ts';

const PROJECT_DIRECTORY = fileURLToPath(new URL('../../..', import.meta.url));
const READY_TIMEOUT_MS = 240_000;

/** Folder and ports of one copy of the service. */
export interface ServicePlace {
  dataDirectory: string;
  environment: NodeJS.ProcessEnv;
  apiUrl: string;
  port: number;
  sandboxUrl: string;
}

/** A temporary folder, and free ports for everything whose port is fixed. */
export async function newServicePlace(): Promise<ServicePlace> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'service-test-'));
  const port = await freePort();
  const sandboxPort = await freePort();
  const environment: NodeJS.ProcessEnv = {
    ...process.env,
    DATA_DIR: dataDirectory,
    PORT: String(port),
    SANDBOX_PORT: String(sandboxPort),
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
  };
}

/** Ends whatever still runs there, and removes the folder. */
export async function clearServicePlace(place: ServicePlace): Promise<void> {
  const start = recordedProcess(place, 'start');
  if (start !== undefined) await stopProcess(start, { graceMs: 25_000 });
  for (const { identity } of recordedChildren(place)) await stopProcess(identity, { graceMs: 0, signal: 'SIGKILL' });
  rmSync(place.dataDirectory, { recursive: true, force: true });
}

export interface StartedService {
  place: ServicePlace;
  process: ChildProcess;
  output(): string;
  errors(): string;
  exitCode: Promise<number | null>;
}

/** Runs `npm start`'s script as leader of its own process group. */
export function runStart(place: ServicePlace, overrides: NodeJS.ProcessEnv = {}): StartedService {
  const child = spawn(process.execPath, ['--import', 'tsx', 'scripts/start.ts'], {
    cwd: PROJECT_DIRECTORY,
    env: { ...place.environment, ...overrides },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk;
  });
  const exitCode = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  return { place, process: child, output: () => output, errors: () => errors, exitCode };
}

/** Starts the service and waits until it reports ready; fails with its output if it ends before. */
export async function startService(place: ServicePlace, overrides: NodeJS.ProcessEnv = {}): Promise<StartedService> {
  const service = runStart(place, overrides);
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

/** The children that live, by their pid files. */
export function recordedChildren(place: ServicePlace): RecordedChild[] {
  return STOP_ORDER.flatMap(({ name }) => {
    const identity = recordedProcess(place, name);
    return identity === undefined ? [] : [{ name, identity }];
  });
}

export function recordedProcess(place: ServicePlace, name: ChildName | 'start'): ProcessIdentity | undefined {
  const identity = readPidFile(join(place.dataDirectory, 'run', `${name}.pid`));
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
    if (performance.now() > deadline) throw new Error(`It did not happen within ${timeoutMs} ms: ${describe()}`);
    await sleep(100);
  }
}
