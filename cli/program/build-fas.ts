import { readFileSync, statSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Where the bundle is. Operators' commands read settings and SQL from the folders next to it; those of the API need nothing else. */
export const BUNDLE_FILE = fileURLToPath(new URL('../../dist/fas.mjs', import.meta.url));

/** Bundles `fas` into one executable file, whose place among the sources is `place`, and returns its size in bytes. */
export async function buildFas(outfile = BUNDLE_FILE, place = dirname(outfile)): Promise<number> {
  await build({
    absWorkingDir: ROOT,
    entryPoints: ['cli/fas.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    // Names stay: errors are distinguished by them, and a stack must be readable.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    logLevel: 'warning',
    banner: { js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);" },
    plugins: [ownAddresses(place)],
  });
  return statSync(outfile).size;
}

/** A file that reads another by its own address finds it where the sources are, seen from the bundle's folder. */
export function ownAddresses(place: string): Plugin {
  return {
    name: 'own-addresses',
    setup: ({ onLoad }) => {
      onLoad({ filter: /\/(activities|api|config|console|db|sandbox)\/[^:]*\.tsx?$/ }, ({ path }) => {
        const text = readFileSync(path, 'utf8');
        if (path.includes('/node_modules/') || !text.includes('import.meta.url')) return undefined;
        const address = `new URL(${JSON.stringify(relative(place, path))}, import.meta.url).href`;
        return { contents: text.replaceAll('import.meta.url', address), loader: path.endsWith('x') ? 'tsx' : 'ts' };
      });
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(`${BUNDLE_FILE}: ${Math.round((await buildFas()) / 1_000)} kB`);
}
