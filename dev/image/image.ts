import { execFile } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildPrograms } from './programs.ts';

const execute = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What programs read besides: each file in its place. */
const READ = [
  'package.json',
  'package-lock.json',
  '.npmrc',
  'config',
  'console/look',
  'db',
  'docs/guides',
  'sandbox/bank/iso20022',
];
const IS_READ = /\.(json|sql|md|xsd)$|\/live-rows\.js$|\/\.npmrc$/;
const OUTPUT_BYTES_MAX = 64_000_000;

/**
 * `npm run image -- FOLDER`: makes the working folder of the image (Dockerfile), which must not be there yet: the programs, what they
 * read, the packages of production, and the list of these, sbom.cdx.json, as npm makes it (CycloneDX).
 */
export async function buildImage(folder: string): Promise<void> {
  await layOutPrograms(folder);
  const npm = (...words: string[]) => execute('npm', words, { cwd: folder, maxBuffer: OUTPUT_BYTES_MAX });
  await npm('ci', '--omit=dev');
  removeOtherPlatforms(join(folder, 'node_modules/@temporalio/core-bridge/releases'));
  // Otherwise npm takes what is left out for missing.
  const { devDependencies: _, ...manifest } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  const { stdout } = await npm('sbom', '--omit=dev', '--sbom-format=cyclonedx');
  writeFileSync(join(folder, 'sbom.cdx.json'), stdout);
  rmSync(join(folder, '.npmrc'));
}

/** All but the packages; returns the files of which it is made. */
export async function layOutPrograms(folder: string): Promise<readonly string[]> {
  const read = [...(await buildPrograms(join(folder, 'dist')))];
  for (const path of READ) {
    cpSync(join(ROOT, path), join(folder, path), {
      recursive: true,
      filter: (source) => {
        if (statSync(source).isDirectory()) return true;
        const isRead = IS_READ.test(source);
        if (isRead) read.push(relative(ROOT, source));
        return isRead;
      },
    });
  }
  return read;
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64' };

/** Temporal's package has the binaries of every platform: 120 MB that never run here. */
function removeOtherPlatforms(releases: string): void {
  const own = `${ARCHITECTURES[process.arch]}-unknown-linux-gnu`;
  const names = readdirSync(releases);
  if (!names.includes(own)) return;
  for (const name of names) if (name !== own) rmSync(join(releases, name), { recursive: true });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error('Usage: npm run image -- FOLDER');
  await buildImage(resolve(folder));
}
