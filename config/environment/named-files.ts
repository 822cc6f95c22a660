import { readFileSync } from 'node:fs';
import { EnvironmentError, readText } from '../environment.ts';

/** The content of the file that a variable names; undefined if it is unset. */
export function readNamedFile(env: NodeJS.ProcessEnv, variable: string): Buffer | undefined {
  const path = readText(env, variable, '');
  if (path === '') return undefined;
  try {
    return readFileSync(path);
  } catch {
    throw new EnvironmentError(`${variable} names ${path}, which cannot be read.`);
  }
}
