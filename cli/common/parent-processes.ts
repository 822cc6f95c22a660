import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { commandLine, identify, isAlive, type ProcessIdentity } from './processes.ts';

const ANCESTORS_UP_TO_NPM_MAX = 6;

function parentOf(pid: number): number | undefined {
  try {
    if (process.platform === 'linux') {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    }
    return Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }));
  } catch {
    return undefined;
  }
}

/**
 * The ancestors that this process must not outlive: its parent, and under npm everything up to npm itself, which ends silently
 * on SIGTERM. The shell that started npm does not count: it may have ended on purpose.
 */
export function parentProcesses(): ProcessIdentity[] {
  const chain: ProcessIdentity[] = [];
  let pid = process.ppid;
  for (let step = 0; step < ANCESTORS_UP_TO_NPM_MAX && pid > 1; step += 1) {
    const identity = identify(pid);
    if (identity === undefined) break;
    chain.push(identity);
    if (/\bnpm\b/.test(commandLine(pid)?.split(' ').slice(0, 2).join(' ') ?? '')) return chain;
    pid = parentOf(pid) ?? 0;
  }
  return chain.slice(0, 1);
}

/** Calls back once when one of them has ended. */
export function watchParentProcesses(watched: readonly ProcessIdentity[], onGone: () => void): NodeJS.Timeout {
  const intervalMs = process.platform === 'linux' ? 500 : 2_000;
  const timer = setInterval(() => {
    if (watched.every(isAlive)) return;
    clearInterval(timer);
    onGone();
  }, intervalMs);
  return timer;
}
