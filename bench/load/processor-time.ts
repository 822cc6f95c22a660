import { readdirSync, readFileSync } from 'node:fs';

/** The unit of `/proc`: Linux has 100 ticks a second on every platform of Node. */
const TICK_MS = 10;

interface ProcessTimes {
  readonly parentId: number;
  readonly ownMs: number;
  /** CPU time of children that have ended and been reaped. */
  readonly endedChildrenMs: number;
}

/**
 * CPU milliseconds of a process and its descendants since their start; for Postgres, the postmaster and its back
 * ends. Take the difference of two readings.
 */
export function processorTimeMs(processIds: readonly number[]): number {
  const all = new Map<number, ProcessTimes>();
  for (const name of readdirSync('/proc')) {
    const times = /^\d+$/.test(name) ? timesOf(Number(name)) : null;
    if (times !== null) all.set(Number(name), times);
  }
  const within = (id: number): boolean => {
    for (let at = id; at > 1; at = all.get(at)?.parentId ?? 0) {
      if (processIds.includes(at)) return true;
    }
    return false;
  };
  let sum = 0;
  for (const [id, { ownMs, endedChildrenMs }] of all) {
    if (within(id)) sum += ownMs + endedChildrenMs;
  }
  return sum;
}

/** Resident memory of one process in bytes. */
export function residentBytes(processId: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${processId}/status`, 'utf8'))?.[1];
  return Number(kilobytes ?? 0) * 1024;
}

function timesOf(processId: number): ProcessTimes | null {
  try {
    const stat = readFileSync(`/proc/${processId}/stat`, 'utf8');
    // The command's name is in parentheses, and may contain parentheses and blanks.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [parentId = 0, user = 0, system = 0, endedUser = 0, endedSystem = 0] = [1, 11, 12, 13, 14].map(
      (at) => fields[at],
    );
    return { parentId, ownMs: (user + system) * TICK_MS, endedChildrenMs: (endedUser + endedSystem) * TICK_MS };
  } catch {
    return null;
  }
}
