import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfiguration } from '../../../config/configuration.ts';
import type { ServiceProcess } from '../servers/service-process.ts';
import type { WholeService } from '../servers/whole-service.ts';

/** A process's resources, as Linux reports them. */
interface Footprint {
  /** Files and sockets. */
  readonly descriptors: number;
  readonly residentBytes: number;
}

/** By the process's name. */
export type Footprints = Readonly<Record<string, Footprint>>;

/** A process that has worked keeps compiled code, caches and a larger heap, all bounded; a leak is not. */
const GROWTH_BYTES_MAX = 250 * 1024 * 1024;
/** Connections to Temporal, the listener and log files, without the Postgres pool, which fills with use. */
const DESCRIPTORS_WITHOUT_POOL = 16;
/** Callers' idle connections close after seconds; a busy machine gets longer. */
const BACK_MS_MAX = 180_000;

/** Of our own processes; empty if the system does not report them. */
export function footprintsOf(service: WholeService): Footprints {
  const ours = service.processes.filter(({ kind }) => kind === 'api' || kind === 'worker');
  return Object.fromEntries(
    ours.flatMap((process) => {
      const footprint = footprintOf(process);
      return footprint === null ? [] : [[process.name, footprint] as const];
    }),
  );
}

function footprintOf({ pid }: ServiceProcess): Footprint | null {
  try {
    const descriptors = readdirSync(`/proc/${pid}/fd`).length;
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const kilobytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN);
    return { descriptors, residentBytes: kilobytes * 1024 };
  } catch {
    return null;
  }
}

/** Resources that do not return to their level at the start once all work is done. */
export async function checkFootprints(service: WholeService, atStart: Footprints): Promise<string[]> {
  const deadline = performance.now() + BACK_MS_MAX;
  for (;;) {
    const problems = grownSince(service, atStart);
    if (problems.length === 0 || performance.now() > deadline) return problems;
    await sleep(1_000);
  }
}

function grownSince(service: WholeService, atStart: Footprints): string[] {
  const { apiDatabaseConnections, workerDatabaseConnections } = loadConfiguration({}).pools;
  const pool = Math.max(apiDatabaseConnections, workerDatabaseConnections);
  const now = footprintsOf(service);
  return Object.entries(atStart).flatMap(([name, before]) => {
    const after = now[name];
    if (after === undefined) return [`${name} does not run any more`];
    const descriptors = after.descriptors - before.descriptors;
    const bytes = after.residentBytes - before.residentBytes;
    return [
      ...(descriptors > pool + DESCRIPTORS_WITHOUT_POOL ? [`${name} holds ${descriptors} descriptors more`] : []),
      ...(bytes > GROWTH_BYTES_MAX ? [`${name} holds ${Math.round(bytes / 1e6)} MB more`] : []),
    ];
  });
}
