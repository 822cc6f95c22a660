import { join } from 'node:path';
import type { ChildName } from './supervisor.ts';

/** Files of a data directory that the start itself uses. */
export interface FileNames {
  lock: string;
  /** Exists while the holder of the lock is stopping. */
  stopping: string;
  pid(name: ChildName): string;
  log(name: ChildName): string;
}

export function fileNames(directory: string): FileNames {
  return {
    lock: join(directory, 'run', 'start.pid'),
    stopping: join(directory, 'run', 'stopping'),
    pid: (name) => join(directory, 'run', `${name}.pid`),
    log: (name) => join(directory, 'logs', `${name}.log`),
  };
}
