import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { RemedyError } from './remedy.ts';

const Endpoints = v.object({
  apiUrl: v.string(),
  publicUrl: v.string(),
  sandboxUrl: v.string(),
  /** What Prometheus reads. */
  apiMetricsUrl: v.string(),
  workerMetricsUrl: v.string(),
  databaseUrl: v.string(),
  temporalAddress: v.string(),
  temporalNamespace: v.string(),
  /** Null with a Temporal server of the operator's own. */
  uiUrl: v.nullable(v.string()),
  /** The `aud` that the API accepts. */
  audience: v.string(),
  /** False on a Postgres of the operator's own, which knows none. */
  hasDevelopmentUsers: v.boolean(),
});

/** Where the parts of a started service are found; other commands of the same data directory read it. */
export type Endpoints = v.InferOutput<typeof Endpoints>;

export function endpointsFile(dataDirectory: string): string {
  return join(dataDirectory, 'run', 'endpoints.json');
}

/** Holds the database's password: for our user's eyes only. */
export function writeEndpoints(dataDirectory: string, endpoints: Endpoints): void {
  const file = endpointsFile(dataDirectory);
  rmSync(`${file}.new`, { force: true });
  writeFileSync(`${file}.new`, `${JSON.stringify(endpoints, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Kept after a stop, so that it tells where the service was last; fails with a remedy if it never ran. */
export function readEndpoints(dataDirectory: string): Endpoints {
  let text: string;
  try {
    text = readFileSync(endpointsFile(dataDirectory), 'utf8');
  } catch (error) {
    throw new RemedyError(
      `No service was started with the data directory ${dataDirectory}. Run "npm start" first, or set DATA_DIR to its folder.`,
      { cause: error },
    );
  }
  const parsed = v.safeParse(Endpoints, JSON.parse(text));
  if (parsed.success) return parsed.output;
  throw new RemedyError(`${endpointsFile(dataDirectory)} is of another version of the service. Run "npm start" again.`);
}
