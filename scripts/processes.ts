import { execFileSync, spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process told apart from a later one that was given the same number: by the instant it was started. */
export interface ProcessIdentity {
  pid: number;
  /** Opaque: equal exactly for the same process. */
  startedAt: string;
}

/** Undefined when no such process lives; a zombie, which only waits to be reaped, does not live. */
export function identify(pid: number): ProcessIdentity | undefined {
  if (process.platform === 'linux') {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The command's name stands in parentheses and may itself hold parentheses and blanks.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
      return { pid, startedAt: `${fields[19]}@${bootId()}` };
    } catch {
      return undefined;
    }
  }
  try {
    const started = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return started === '' ? undefined : { pid, startedAt: started };
  } catch {
    return undefined;
  }
}

let knownBootId: string | undefined;

/** Start times count from boot, so the same number after a reboot is another process. */
function bootId(): string {
  knownBootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return knownBootId;
}

export function isAlive(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.startedAt === identity.startedAt;
}

/** The command line of a process, or undefined when it cannot be read. */
export function commandLine(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}

export function writePidFile(path: string, identity: ProcessIdentity): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.new`, `${JSON.stringify(identity)}\n`);
  renameSync(`${path}.new`, path);
}

/** Undefined when the file is missing or was cut off by a crash. */
export function readPidFile(path: string): ProcessIdentity | undefined {
  try {
    const parsed: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof parsed !== 'object' || parsed === null || !('pid' in parsed) || !('startedAt' in parsed))
      return undefined;
    const { pid, startedAt } = parsed;
    return typeof pid === 'number' && typeof startedAt === 'string' ? { pid, startedAt } : undefined;
  } catch {
    return undefined;
  }
}

export interface SpawnOptions {
  command: string;
  arguments: readonly string[];
  environment: NodeJS.ProcessEnv;
  logFile: string;
  pidFile: string;
  cwd?: string;
  uid?: number;
  gid?: number;
}

export interface RunningProcess extends ProcessIdentity {
  /** Resolves once the process has ended, with what ended it. */
  ended: Promise<string>;
}

const LOG_BYTES_MAX = 50 * 1024 * 1024;

/**
 * Starts a process in a group of its own (a Ctrl-C at the terminal reaches only us, so that we decide the order of the stop),
 * its output going to a file and not to a pipe: it must be able to outlive us without dying of a broken pipe.
 */
export async function spawnRecorded(options: SpawnOptions): Promise<RunningProcess> {
  mkdirSync(dirname(options.logFile), { recursive: true });
  if (existsSync(options.logFile) && statSync(options.logFile).size > LOG_BYTES_MAX) {
    renameSync(options.logFile, `${options.logFile}.old`);
  }
  const log = openSync(options.logFile, 'a', 0o600);
  try {
    const child = spawn(options.command, [...options.arguments], {
      detached: true,
      stdio: ['ignore', log, log],
      env: options.environment,
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.uid === undefined ? {} : { uid: options.uid }),
      ...(options.gid === undefined ? {} : { gid: options.gid }),
    });
    const ended = new Promise<string>((resolve) => {
      child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    // Whoever started it may end without it.
    child.unref();
    const pid = child.pid ?? 0;
    const identity = identify(pid) ?? { pid, startedAt: 'ended at once' };
    writePidFile(options.pidFile, identity);
    return { ...identity, ended };
  } finally {
    closeSync(log);
  }
}

/** Sends a signal to the very process that was recorded; one that has ended meanwhile, or whose number a stranger has, gets none. */
export function signalProcess(identity: ProcessIdentity, name: NodeJS.Signals): void {
  if (isAlive(identity)) sendSignal(identity.pid, name);
}

function sendSignal(target: number, name: NodeJS.Signals): void {
  try {
    process.kill(target, name);
  } catch {
    // It ended between the look and the signal, which is what was wanted.
  }
}

/**
 * Asks a process to end and, after the grace period, kills it with all of its group. Tells whether it ended by itself. Only the process
 * itself is asked: its helpers must live until it needs them no more.
 */
export async function stopProcess(
  identity: ProcessIdentity,
  options: { graceMs: number; signal?: NodeJS.Signals },
): Promise<boolean> {
  if (!isAlive(identity)) return true;
  signalProcess(identity, options.signal ?? 'SIGTERM');
  if (await waitForEnd(identity, options.graceMs)) return true;
  if (isAlive(identity)) sendSignal(-identity.pid, 'SIGKILL');
  await waitForEnd(identity, KILL_TAKES_EFFECT_WITHIN_MS);
  return false;
}

const KILL_TAKES_EFFECT_WITHIN_MS = 5_000;

/** Whether the process ended within the time. */
export async function waitForEnd(identity: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (isAlive(identity)) {
    if (performance.now() >= deadline) return false;
    await sleep(50);
  }
  return true;
}

/** The last lines of a log, for a message that says why a process did not come up. */
export function logTail(logFile: string, lines: number): string {
  try {
    return readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
  } catch {
    return '';
  }
}

/**
 * Runs the work while no other process of this machine does the same; waits for its turn. The lock of a process that died is taken over.
 */
export async function underFileLock<T>(lockFile: string, work: () => Promise<T>, onWait?: () => void): Promise<T> {
  let announced = false;
  while (takeFileLock(lockFile) !== undefined) {
    if (!announced) onWait?.();
    announced = true;
    await sleep(250);
  }
  try {
    return await work();
  } finally {
    rmSync(lockFile, { force: true });
  }
}

/** Undefined when the lock is ours now (remove the file to give it back), else whose it is. */
export function takeFileLock(lockFile: string): ProcessIdentity | undefined {
  mkdirSync(dirname(lockFile), { recursive: true });
  const own = identify(process.pid) ?? { pid: process.pid, startedAt: 'unknown' };
  for (;;) {
    try {
      // Exclusive creation is the lock; its content tells whose it is.
      writeFileSync(lockFile, `${JSON.stringify(own)}\n`, { flag: 'wx' });
      return undefined;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
    const holder = readPidFile(lockFile);
    const stale = holder === undefined ? lockIsStale(lockFile) : !isAlive(holder);
    if (!stale) return holder ?? { pid: 0, startedAt: 'being written' };
    removeStaleLock(lockFile, holder);
  }
}

/** An empty lock file is either being written this instant or was left by a crash between creation and content. */
function lockIsStale(lockFile: string): boolean {
  try {
    return Date.now() - statSync(lockFile).mtimeMs > 5_000;
  } catch {
    return false;
  }
}

/** Moved aside before it is removed: of several that found the same stale lock, only one can move it, and a fresh one is put back. */
function removeStaleLock(lockFile: string, stale: ProcessIdentity | undefined): void {
  const aside = `${lockFile}.stale-${process.pid}`;
  try {
    renameSync(lockFile, aside);
  } catch {
    return;
  }
  const moved = readPidFile(aside);
  const isTheStaleOne = moved?.pid === stale?.pid && moved?.startedAt === stale?.startedAt;
  if (isTheStaleOne) rmSync(aside, { force: true });
  else renameSync(aside, lockFile);
}
