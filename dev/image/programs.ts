import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { workflowBundle } from '../../activities/workflow-bundle.ts';
import { buildFas, ownAddresses } from '../../cli/program/build-fas.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Where programs are, seen from the files that they read: those keep their places. */
const PLACE = join(ROOT, 'dist');

/** What the image can run: `node dist/api.mjs`. */
export const PROGRAMS = {
  api: 'api/main.ts',
  loops: 'loops/main.ts',
  worker: 'activities/main.ts',
  console: 'console/main.ts',
  migrate: 'dev/image/migrate.ts',
  sandbox: 'sandbox/main.ts',
} as const;

/**
 * Bundles the programs and the workflows into `folder`, and returns the sources of which they are made. Packages stay packages, which have
 * binaries and files of their own.
 */
export async function buildPrograms(folder: string): Promise<readonly string[]> {
  mkdirSync(folder, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: PROGRAMS,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    target: 'node20',
    format: 'esm',
    metafile: true,
    legalComments: 'none',
    logLevel: 'warning',
    plugins: [BUNDLED_WORKFLOWS, ownAddresses(PLACE)],
  });
  await buildFas(join(folder, 'fas.mjs'), PLACE);
  for (const traces of ['traced', 'untraced'] as const) {
    const bundle = await workflowBundle(traces);
    const file = join(folder, `workflows-${traces}.js`);
    if ('codePath' in bundle) copyFileSync(bundle.codePath, file);
    else writeFileSync(file, bundle.code);
  }
  return Object.keys(metafile.inputs);
}

const BUNDLED_WORKFLOWS: Plugin = {
  name: 'bundled-workflows',
  setup: ({ onResolve }) => {
    onResolve({ filter: /\/workflow-bundle\.ts$/ }, () => ({ path: join(ROOT, 'dev/image/workflow-bundle.ts') }));
  },
};
