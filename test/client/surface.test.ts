import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const CLIENT = join(PROJECT, 'client');
const KEPT = join(CLIENT, 'surface.d.ts.txt');

/** Of the declarations that the package is published with, those by hand. The gate of the OpenAPI document covers the rest. */
async function emittedDeclarations(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'client-surface-'));
  try {
    const tsc = join(PROJECT, 'node_modules/typescript/bin/tsc');
    const options = ['--project', CLIENT, '--emitDeclarationOnly', '--outDir', directory];
    await promisify(execFile)(process.execPath, [tsc, ...options]);
    const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.d.ts') && !name.startsWith('generated'),
    );
    const texts = files.sort().map((name) => `// ${name}\n${readFileSync(join(directory, name), 'utf8')}`);
    return texts.join('\n').replace(/^ *\/\*\*.*?\*\/\n/gms, '');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

test('the public surface is the one that was agreed: a change of it is seen', async () => {
  const declarations = await emittedDeclarations();
  if (process.env.UPDATE_DOCUMENTS === '1') writeFileSync(KEPT, declarations);
  expect(readFileSync(KEPT, 'utf8')).toBe(declarations);
});

async function bundledBytes(entry: string): Promise<number> {
  const entryPoints = [join(CLIENT, entry)];
  const { outputFiles } = await build({
    ...{ entryPoints, bundle: true, minify: true, write: false },
    ...{ platform: 'node', format: 'esm', target: 'node20' },
  });
  return outputFiles.reduce((sum, { contents }) => sum + contents.length, 0);
}

test.each([
  ['index.ts', 64],
  ['webhooks.ts', 6],
  ['sandbox.ts', 4],
])('%s and all that it imports has at most %i kB', async (entry, kilobytes) => {
  const bytes = await bundledBytes(entry);
  expect(bytes).toBeGreaterThan(1_000);
  expect(bytes).toBeLessThanOrEqual(kilobytes * 1_024);
});
