import { execFile, execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ltsNode } from '../tools/lts-node.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const MODULES = join(PROJECT, 'node_modules');
/** The one that most callers have, and ours. */
const COMPILERS = ['oazapfts/node_modules/typescript', 'typescript'];
/** 691 schemas must not slow a caller's compiler: what it does is counted, not timed. */
const INSTANTIATIONS_MAX = 100_000;

let directory: string;
let application: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'client-package-'));
  const source = join(directory, 'project');
  mkdirSync(source);
  cpSync(join(PROJECT, 'client'), join(source, 'client'), { recursive: true });
  copyFileSync(join(PROJECT, 'tsconfig.json'), join(source, 'tsconfig.json'));
  symlinkSync(MODULES, join(source, 'node_modules'));
  npm(['pack', '--pack-destination', directory], join(source, 'client'));
  const [tarball] = readdirSync(directory).filter((name) => name.endsWith('.tgz'));
  application = join(directory, 'application');
  mkdirSync(application);
  writeFileSync(join(application, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  npm(['install', '--no-audit', '--no-fund', join(directory, tarball ?? '')], application);
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

function npm(commandArguments: readonly string[], cwd: string): void {
  execFileSync('npm', [...commandArguments], { cwd, stdio: 'pipe' });
}

/** What the README shows, as one module, with what its reader has. */
function readmeProgram(): string {
  const readme = readFileSync(join(PROJECT, 'client/README.md'), 'utf8');
  const blocks = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block = '']) => block);
  const ofReader = `declare const newSecret: string, oldSecret: string;
    declare function topUp(): Promise<void>;
    declare function credit(transfer: { amount: number }): Promise<void>;`;
  return [ofReader, ...blocks].join('\n');
}

test('installed into an empty project, it brings itself and jose', () => {
  const installed = readdirSync(join(application, 'node_modules'), { recursive: true, encoding: 'utf8' });
  const packages = installed.filter((path) => /^(@[^/]+\/)?[^/@.]+\/package\.json$/.test(path));
  expect(packages.sort()).toEqual(['@financial-accounts/client/package.json', 'jose/package.json']);
  const files = readdirSync(join(application, 'node_modules/@financial-accounts/client'));
  expect(files.sort()).toEqual(['README.md', 'dist', 'examples', 'package.json']);
  expect(installed.filter((path) => path.startsWith('@financial-accounts') && path.includes('.test.'))).toEqual([]);
});

test.each(COMPILERS)(
  'strict code compiles against it, the README’s too, and what must not compile does not, by %s',
  async (compiler) => {
    copyFileSync(join(PROJECT, 'client/examples/first-hour.ts'), join(application, 'first-hour.ts'));
    copyFileSync(join(PROJECT, 'test/client/must-not-compile.ts'), join(application, 'must-not-compile.ts'));
    writeFileSync(join(application, 'readme.ts'), readmeProgram());
    const compilerOptions = {
      ...{ target: 'ES2022', module: 'NodeNext', types: ['node'], typeRoots: [join(MODULES, '@types')], strict: true },
      ...{ noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true },
    };
    const files = ['first-hour.ts', 'must-not-compile.ts', 'readme.ts'];
    writeFileSync(join(application, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    const tsc = join(MODULES, compiler, 'bin/tsc');
    const run = promisify(execFile)(process.execPath, [tsc, '--project', application, '--extendedDiagnostics']);
    const { stdout } = await run.catch(({ stdout: found }) => ({ stdout: `failed: ${found}` }));
    expect(stdout).not.toContain('error TS');
    expect(Number(/^Instantiations: +(\d+)/m.exec(stdout)?.[1])).toBeLessThanOrEqual(INSTANTIATIONS_MAX);
  },
);

test('it is imported by Node 20 and 24, with its three entries', async () => {
  const program = `
    const names = ['', '/webhooks', '/sandbox'].map((entry) => '@financial-accounts/client' + entry);
    const entries = await Promise.all(names.map((name) => import(name)));
    console.log(entries.flatMap((entry) => Object.keys(entry)).join());`;
  for (const node of [process.execPath, await ltsNode()]) {
    const { stdout } = await promisify(execFile)(node, ['--input-type=module', '--eval', program], {
      cwd: application,
    });
    expect(stdout.trim()).toBe(
      'ApiError,createClient,isRejection,WebhookVerificationError,signTestWebhook,verifyWebhook,webhookListener,createSandbox',
    );
  }
});

test('a bundler for browsers does not find it', async () => {
  writeFileSync(join(application, 'page.js'), "import '@financial-accounts/client';");
  const bundled = (platform: 'browser' | 'node') =>
    build({ entryPoints: [join(application, 'page.js')], bundle: true, write: false, logLevel: 'silent', platform });
  await expect(bundled('browser')).rejects.toThrow('@financial-accounts/client');
  await bundled('node');
});
