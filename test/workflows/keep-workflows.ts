import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

/**
 * `npm run workflows:release -- RELEASE [COMMIT]`: keeps the code of the workflows, of this folder or of a commit, in
 * test/histories/RELEASE, next to their recorded histories. test/workflows/releases.long.test.ts lets it and today's finish what the
 * other began. Readable text without Temporal's SDK, which would make it thirty times as long.
 */
const USAGE = 'Usage: npm run workflows:release -- RELEASE [COMMIT]';
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const [release, commit] = process.argv.slice(2);
if (release === undefined || !/^[0-9a-z.-]+$/.test(release)) {
  console.error(USAGE);
  process.exit(1);
}
const directory = join(ROOT, 'test', 'histories', release);
mkdirSync(directory, { recursive: true });
const { root, remove } = commit === undefined ? { root: ROOT, remove: () => {} } : sourcesOf(commit);
try {
  for (const [name, entry] of [
    ['workflows', 'workflows/index.ts'],
    ['payload-converter', 'workflows/common/payload-converter.ts'],
  ] as const) {
    const code = await oneModule(root, entry);
    writeFileSync(join(directory, `${name}.js`), `${heading(release)}\n${code}`);
    console.log(`${release}/${name}.js: ${code.length} characters`);
  }
} finally {
  remove();
}

function heading(of: string): string {
  return `// The workflows of release ${of}, which ran on version ${sdkVersion()} of Temporal's SDK. Made by \`npm run workflows:release\`.`;
}

function sdkVersion(): string {
  const entry = createRequire(import.meta.url).resolve('@temporalio/workflow');
  return JSON.parse(readFileSync(join(dirname(entry), '..', 'package.json'), 'utf8')).version;
}

/** The folders that workflow code consists of, as they were at the commit. */
function sourcesOf(commit: string): { root: string; remove(): void } {
  const root = mkdtempSync(join(tmpdir(), 'workflows-'));
  const archive = execFileSync('git', ['archive', commit, 'workflows', 'domain'], { cwd: ROOT, maxBuffer: 2 ** 28 });
  execFileSync('tar', ['-x', '-C', root], { input: archive });
  return { root, remove: () => rmSync(root, { recursive: true }) };
}

/** The entry with all that it imports of ours, as one module. */
async function oneModule(root: string, entry: string): Promise<string> {
  const built = await build({
    root,
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      minify: false,
      target: 'es2022',
      lib: { entry: join(root, entry), formats: ['es'] },
      rolldownOptions: { external: /^@temporalio\// },
    },
  });
  const [output] = Array.isArray(built) ? built : [built];
  if (output === undefined || !('output' in output)) throw new Error('nothing was built');
  const [chunk, ...others] = output.output;
  if (others.length > 0) throw new Error(`${entry} is more than one module`);
  // Where the sources lay says nothing, and would make every copy of the same code another.
  return chunk.code.replaceAll(/^\/\/ \S*?((?:workflows|domain)\/\S+\.ts)$/gm, '// $1');
}
