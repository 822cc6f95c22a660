import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode, type WorkflowBundleOption } from '@temporalio/worker';

/** What is kept of each release: recorded histories, and the code of its workflows (test/workflows/keep-workflows.ts). */
export const HISTORIES = join(import.meta.dirname, '../../histories');

/** The latest release whose code is kept. */
export function releaseBefore(): string {
  const kept = readdirSync(HISTORIES).filter((release) => existsSync(codePath(release)));
  const latest = kept.sort((one, other) => one.localeCompare(other, 'en', { numeric: true })).at(-1);
  if (latest === undefined) throw new Error('the code of no release is kept');
  return latest;
}

function codePath(release: string): string {
  return join(HISTORIES, release, 'workflows.js');
}

/** Its workflows for a worker. The SDK is today's: a worker never runs another one's. */
export function bundleOf(release: string): Promise<WorkflowBundleOption> {
  return bundleFrom(release, codePath(release));
}

/** The workflows of a release that was never made: a kept one's with other code. */
export async function bundleOfChanged(release: string, code: string): Promise<WorkflowBundleOption> {
  // Below the project's packages, which the code imports.
  const directory = mkdtempSync(join(import.meta.dirname, '../../../node_modules/.cache/workflows-'));
  try {
    writeFileSync(join(directory, 'workflows.js'), code);
    return await bundleFrom(release, join(directory, 'workflows.js'));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function bundleFrom(release: string, workflowsPath: string): Promise<WorkflowBundleOption> {
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    payloadConverterPath: join(HISTORIES, release, 'payload-converter.js'),
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error: console.error },
  });
  return { code };
}

/** The names of the activities that code calls, a release's or sources of today's. */
export function activitiesCalledIn(code: string): string[] {
  const proxies = [...code.matchAll(/^(?:var|const) (\{[^}]*\}|\w+) =\s+proxy(?:Local)?Activities(?:<\w+>)?\(/gm)].map(
    ([, names = '']) => names,
  );
  if (proxies.length !== code.match(/=\s+proxy(Local)?Activities\b/g)?.length)
    throw new Error('a proxy was overlooked');
  return proxies.flatMap((names) => {
    if (names.startsWith('{')) return [...names.matchAll(/(\w+)(?:: \w+)?/g)].map(([, name = '']) => name);
    return [...code.matchAll(new RegExp(`\\b${names}\\.(\\w+)`, 'g'))].map(([, name = '']) => name);
  });
}

/** The types of workflow that kept code's worker knows. */
export function typesIn(code: string): string[] {
  const exported = /^export \{(.*)\};$/m.exec(code)?.[1] ?? '';
  return exported.split(',').map((one) => one.replace(/^.* as /, '').replaceAll(/["\s]/g, ''));
}

export function codeOf(release: string): string {
  return readFileSync(codePath(release), 'utf8');
}
