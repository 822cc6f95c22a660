import { resolve } from 'node:path';

/** The folder of all persistent state, shared by every command of a development machine. */
export function dataDirectory(environment: NodeJS.ProcessEnv): string {
  return resolve(setting(environment, 'DATA_DIR') ?? '.data');
}

/** A setting without surrounding spaces; undefined if it is absent or empty. */
export function setting(environment: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = environment[name]?.trim();
  return value === undefined || value === '' ? undefined : value;
}
