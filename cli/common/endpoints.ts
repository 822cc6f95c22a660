import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { ActionableError } from './actionable-error.ts';

const Endpoints = v.object({
  apiUrl: v.string(),
  publicUrl: v.string(),
  sandboxUrl: v.string(),
  /** Metrics for Prometheus. */
  apiMetricsUrl: v.string(),
  workerMetricsUrl: v.string(),
  databaseUrl: v.string(),
  temporalAddress: v.string(),
  temporalNamespace: v.string(),
  /** Null with an external Temporal server. */
  uiUrl: v.nullable(v.string()),
  /** The `aud` that the API accepts. */
  audience: v.string(),
  /** False on an external Postgres, where none are registered. */
  hasDevelopmentUsers: v.boolean(),
});

/** Endpoints of a started service, for other commands with the same data directory. */
export type Endpoints = v.InferOutput<typeof Endpoints>;

export function endpointsFile(dataDirectory: string): string {
  return join(dataDirectory, 'run', 'endpoints.json');
}

/** Contains the database's password: readable by our user only. */
export function writeEndpoints(dataDirectory: string, endpoints: Endpoints): void {
  const file = endpointsFile(dataDirectory);
  rmSync(`${file}.new`, { force: true });
  writeFileSync(`${file}.new`, `${JSON.stringify(endpoints, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Kept after a stop, as the last known endpoints; fails with what to do if the service never ran. */
export function readEndpoints(dataDirectory: string): Endpoints {
  let text: string;
  try {
    text = readFileSync(endpointsFile(dataDirectory), 'utf8');
  } catch (error) {
    throw new ActionableError(
      `No service was started with the data directory ${dataDirectory}. Run "npm start" first, or set DATA_DIR to its folder.`,
      { cause: error },
    );
  }
  const parsed = v.safeParse(Endpoints, JSON.parse(text));
  if (parsed.success) return parsed.output;
  throw new ActionableError(
    `${endpointsFile(dataDirectory)} was written by another version of the service. Run "npm start" again.`,
  );
}
