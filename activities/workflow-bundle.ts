import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type WorkflowBundleOption } from '@temporalio/worker';
import { traceModules } from './common/traces.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CACHE_DIRECTORY = join(ROOT, 'node_modules', '.cache', 'workflow-bundles');

/** The only modules, types aside, that workflow code may import into the sandbox. */
const SOURCES = ['workflows', 'domain'];

/**
 * Bundles the workflows for the worker's sandbox. Bundling takes a second or two, so it is cached by the state of the
 * sources, or done in memory if the cache is not writable. Both kinds replay each other's histories.
 */
export async function workflowBundle(traces: 'traced' | 'untraced' = 'untraced'): Promise<WorkflowBundleOption> {
  const path = join(CACHE_DIRECTORY, `${sourcesHash()}-${traces}.js`);
  if (existsSync(path)) return { codePath: path };
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(ROOT, 'workflows', 'index.ts'),
    payloadConverterPath: join(ROOT, 'workflows', 'common', 'payload-converter.ts'),
    workflowInterceptorModules: traces === 'traced' ? traceModules() : [],
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error: console.error },
  });
  try {
    mkdirSync(CACHE_DIRECTORY, { recursive: true });
    // Renamed into place, so that another worker never reads half a file.
    writeFileSync(`${path}.${process.pid}`, code);
    renameSync(`${path}.${process.pid}`, path);
    return { codePath: path };
  } catch {
    return { code };
  }
}

function sourcesHash(): string {
  const hash = createHash('sha256').update(sdkVersion());
  for (const directory of SOURCES) {
    for (const file of readdirSync(join(ROOT, directory), { recursive: true, encoding: 'utf8' }).sort()) {
      if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue;
      hash.update(`\0${directory}/${file}\0`).update(readFileSync(join(ROOT, directory, file)));
    }
  }
  return hash.digest('hex').slice(0, 20);
}

function sdkVersion(): string {
  const require = createRequire(import.meta.url);
  const entry = require.resolve('@temporalio/workflow');
  return readFileSync(join(dirname(entry), '..', 'package.json'), 'utf8');
}
