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

/** Identifies a process by number and start time, so that a reused number does not match. */
export interface ProcessIdentity {
  pid: number;
  /** Opaque: equal only for the same process. */
  startedAt: string;
}

/** Undefined if the process is gone; a zombie, which only waits to be reaped, counts as gone. */
export function identify(pid: number): ProcessIdentity | undefined {
  if (process.platform === 'linux') {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The command's name is in parentheses, and may contain parentheses and blanks.
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

/** Start times count from boot, so the boot is part of the identity. */
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

/** Undefined if the file is missing or was truncated by a crash. */
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
  /** Resolves when the process has ended, with its exit. */
  ended: Promise<string>;
}

const LOG_BYTES_MAX = 50 * 1024 * 1024;

/**
 * Starts a process in its own group, so that Ctrl-C reaches only us and we order the stop. Output goes to a file: a
 * broken pipe would kill a process that outlives us.
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
    // Does not keep its starter alive.
    child.unref();
    const pid = child.pid ?? 0;
    const identity = identify(pid) ?? { pid, startedAt: 'ended at once' };
    writePidFile(options.pidFile, identity);
    return { ...identity, ended };
  } finally {
    closeSync(log);
  }
}

/** Signals the recorded process only: none if it has ended or its number was reused. */
export function signalProcess(identity: ProcessIdentity, name: NodeJS.Signals): void {
  if (isAlive(identity)) sendSignal(identity.pid, name);
}

function sendSignal(target: number, name: NodeJS.Signals): void {
  try {
    process.kill(target, name);
  } catch {
    // It ended before the signal, which is the goal anyway.
  }
}

/**
 * Asks a process to end and kills its whole group after the grace period. True if it ended by itself. Only the
 * process is asked: its helpers must live as long as it needs them.
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

/** The last lines of a log, to explain a failed start. */
export function logTail(logFile: string, lines: number): string {
  try {
    return readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
  } catch {
    return '';
  }
}

/** Runs the work under a machine-wide lock, waiting if necessary. Seizes the lock of a dead process. */
export async function underFileLock<T>(
  lockFile: string,
  work: () => Promise<T>,
  onWait?: () => void,
  signal?: AbortSignal,
): Promise<T> {
  let announced = false;
  while (takeFileLock(lockFile) !== undefined) {
    if (!announced) onWait?.();
    announced = true;
    await sleep(250, undefined, signal === undefined ? {} : { signal });
  }
  const release = () => rmSync(lockFile, { force: true });
  // An exit runs no `finally`.
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.off('exit', release);
    release();
  }
}

/** Undefined if the lock is ours now (remove the file to release it), otherwise its holder. */
export function takeFileLock(lockFile: string): ProcessIdentity | undefined {
  mkdirSync(dirname(lockFile), { recursive: true });
  const own = identify(process.pid) ?? { pid: process.pid, startedAt: 'unknown' };
  for (;;) {
    try {
      // Exclusive creation is the lock; the content names the holder.
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

/** An empty lock file is just being written, or was left by a crash before its content. */
function lockIsStale(lockFile: string): boolean {
  try {
    return Date.now() - statSync(lockFile).mtimeMs > 5_000;
  } catch {
    return false;
  }
}

/** Moved aside before removal: of several that find a stale lock only one can move it, and a fresh one is put back. */
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
