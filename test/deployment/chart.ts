import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Json } from '../harness/api.ts';
import { PROJECT_DIRECTORY } from '../tools/run/commands.ts';
import { helm, manifestReader } from './helm.ts';

// deploy/helm as helm renders it.

const say = (line: string) => console.log(line);
/** Helm that Go installs takes every cluster for an old one. */
const KUBERNETES = '1.37.0';
export const CHART = join(PROJECT_DIRECTORY, 'deploy/helm');

/** Values that are rendered, by the file's name without its ending. */
export const VALUES_FILES: readonly string[] = readdirSync(join(CHART, 'ci')).map((name) => name.replace('.yaml', ''));

export const valuesFile = (name: string) => join(CHART, 'ci', `${name}.yaml`);

export interface Ran {
  readonly status: number;
  readonly output: string;
  readonly errors: string;
}

export function run(program: string, words: readonly string[], input = ''): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(program, words, { maxBuffer: 64_000_000 }, (error, output, errors) => {
      resolve({ status: error === null ? 0 : typeof error.code === 'number' ? error.code : 1, output, errors });
    });
    child.stdin?.end(input);
  });
}

/** What helm says of the chart with a file of values, and changes of them (`--set-json`). */
export async function helmTemplate(name: string | null, changes: readonly string[] = []): Promise<Ran> {
  const values = name === null ? [] : ['--values', valuesFile(name)];
  const set = changes.flatMap((change) => ['--set-json', change]);
  return run(await helm(say), [
    'template',
    'books',
    CHART,
    '--namespace',
    'payments',
    '--kube-version',
    KUBERNETES,
    ...values,
    ...set,
  ]);
}

export const helmLint = async (name: string) =>
  run(await helm(say), ['lint', CHART, '--strict', '--kube-version', KUBERNETES, '--values', valuesFile(name)]);

/** Whether the owners of the manifests' types would take them. */
export const readManifests = async (text: string) => run(await manifestReader(say), [], text);

/** The manifests, of which helm must have made some. */
export async function rendered(name: string, changes: readonly string[] = []): Promise<readonly Json[]> {
  const { status, output, errors } = await helmTemplate(name, changes);
  if (status !== 0) throw new Error(`helm template: ${errors}`);
  return parseAllDocuments(output).flatMap((document) => document.toJSON() ?? []);
}

export const ofKind = (manifests: readonly Json[], kind: string): Json[] =>
  manifests.filter((manifest) => manifest.kind === kind);

export function named(manifests: readonly Json[], kind: string, name: string): Json {
  const found = ofKind(manifests, kind).find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
}

/** Pods of Deployments, Jobs and CronJobs, by the name of what makes them. */
export function podsOf(manifests: readonly Json[]): ReadonlyMap<string, Json> {
  const makers = manifests.filter(({ kind }) => ['Deployment', 'Job', 'CronJob'].includes(kind));
  return new Map(makers.map(({ metadata, spec }) => [metadata.name, (spec.jobTemplate?.spec ?? spec).template]));
}

export const containersOf = ({ spec }: Json): Json[] => [...(spec.initContainers ?? []), ...spec.containers];

export const namesOf = ({ env }: Json): string[] => env.map(({ name }: Json) => name);

export const chartFile = (path: string) => readFileSync(join(CHART, path), 'utf8');
