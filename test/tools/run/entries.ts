import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'vite';
import type { RunningProcess } from '../../../cli/common/processes.ts';
import { buildFas } from '../../../cli/program/build-fas.ts';
import { bundleName, type ChildOptions, childProcess } from '../../../dev/start/start-children.ts';
import { PROJECT_DIRECTORY } from './commands.ts';

const CACHE_DIRECTORY = join(PROJECT_DIRECTORY, 'node_modules/.cache/test-entries');
const DAY_MS = 24 * 60 * 60 * 1_000;

/** The folders of the product's code that entries consist of. */
export const SOURCES = [
  'activities',
  'api',
  'cli',
  'client',
  'config',
  'console',
  'db',
  'dev',
  'domain',
  'loops',
  'sandbox',
  'workflows',
];

/** The processes that tests start by the dozen. */
const ENTRIES = [
  'activities/main.ts',
  'api/main.ts',
  'cli/operate.ts',
  'cli/fas.ts',
  'console/main.ts',
  'dev/start.ts',
  'dev/token.ts',
  'loops/main.ts',
  'sandbox/main.ts',
] as const;

export type Entry = (typeof ENTRIES)[number];

/**
 * Bundles the entries, unless they are there for this state of the sources, and returns their folder: a bundle starts with a
 * quarter of the work that the same files take one by one. Tests of `npm start` start everything as it does itself.
 */
export async function bundledEntries(): Promise<string> {
  const folder = join(CACHE_DIRECTORY, sourcesHash());
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE_DIRECTORY, { recursive: true });
  for (const name of readdirSync(CACHE_DIRECTORY)) {
    const old = join(CACHE_DIRECTORY, name);
    if (Date.now() - statSync(old).mtimeMs > DAY_MS) rmSync(old, { recursive: true, force: true });
  }
  const building = `${folder}.${process.pid}`;
  await bundleEntries(PROJECT_DIRECTORY, ENTRIES, building);
  await buildFas(join(building, 'fas.mjs'));
  try {
    renameSync(building, folder);
  } catch (error) {
    // Another run was quicker.
    rmSync(building, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

/** Bundles entries of the sources below a root, which may be a copy of ours. */
export async function bundleEntries(root: string, entries: readonly Entry[], outDir: string): Promise<void> {
  await build({
    configFile: false,
    root,
    logLevel: 'warn',
    plugins: [OWN_ADDRESSES],
    ssr: { external: true },
    build: {
      ssr: true,
      target: 'node20',
      minify: false,
      outDir,
      rollupOptions: {
        input: Object.fromEntries(entries.map((entry) => [bundleName(entry), join(root, entry)])),
        output: { entryFileNames: '[name]', chunkFileNames: '[name]-[hash].mjs' },
      },
    },
  });
}

/** A file that reads another by its own address finds it where the source is. */
const OWN_ADDRESSES: Plugin = {
  name: 'own-addresses',
  enforce: 'pre',
  transform: (code, id) =>
    code.includes('import.meta.url')
      ? code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
      : null,
};

/** What node is started with to run an entry of ours. */
export function entryArguments(entry: Entry): string[] {
  const { TEST_ENTRIES } = process.env;
  if (TEST_ENTRIES === undefined) return ['--import', 'tsx', join(PROJECT_DIRECTORY, entry)];
  return [join(TEST_ENTRIES, bundleName(entry))];
}

/** What node is started with to run `fas`: its bundle, as it is installed. */
export function fasArguments(): string[] {
  const { TEST_ENTRIES } = process.env;
  if (TEST_ENTRIES === undefined) return ['--import', 'tsx', join(PROJECT_DIRECTORY, 'cli/fas.ts')];
  return [join(TEST_ENTRIES, 'fas.mjs')];
}

export type EntryOptions = ChildOptions & { readonly entry: Entry };

export function entryProcess(options: EntryOptions): Promise<RunningProcess> {
  return childProcess({ ...options, bundles: process.env.TEST_ENTRIES });
}

function sourcesHash(): string {
  const hash = createHash('sha256').update(readFileSync(join(PROJECT_DIRECTORY, 'package-lock.json')));
  for (const folder of SOURCES) {
    for (const file of readdirSync(join(PROJECT_DIRECTORY, folder), { recursive: true, encoding: 'utf8' }).sort()) {
      if (!/\.(tsx?|json)$/.test(file) || file.endsWith('.test.ts')) continue;
      hash.update(`\0${folder}/${file}\0`).update(readFileSync(join(PROJECT_DIRECTORY, folder, file)));
    }
  }
  return hash.digest('hex').slice(0, 20);
}
