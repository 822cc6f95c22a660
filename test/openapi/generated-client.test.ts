import { spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateSource } from 'oazapfts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readEndpoints } from '../../scripts/frame/endpoints.ts';
import { developmentToken } from '../../scripts/start/development-users.ts';
import {
  clearServicePlace,
  newServicePlace,
  type ServicePlace,
  startService,
} from '../harness/servers/started-service.ts';

const PROJECT_DIRECTORY = fileURLToPath(new URL('../..', import.meta.url));
const MODULES = join(PROJECT_DIRECTORY, 'node_modules');

/** Strict, as a caller's project would be. */
const COMPILER_OPTIONS = {
  target: 'ES2022',
  module: 'NodeNext',
  types: ['node'],
  strict: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  noEmit: true,
};

let place: ServicePlace;
let directory: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'generated-client-'));
  place = await newServicePlace();
  await startService(place);
});

afterAll(async () => {
  if (place !== undefined) await clearServicePlace(place);
  rmSync(directory, { recursive: true, force: true });
});

test('a strict TypeScript client generated from the served document compiles, and does the main job of the demo', async () => {
  const document = join(directory, 'openapi.json');
  writeFileSync(document, await (await fetch(`${place.apiUrl}/openapi.json`)).text());
  writeFileSync(join(directory, 'client.ts'), await generateSource(document));
  copyFileSync(join(PROJECT_DIRECTORY, 'test/openapi/main-job.ts'), join(directory, 'main-job.ts'));
  writeFileSync(
    join(directory, 'package.json'),
    JSON.stringify({ type: 'module', imports: { '#client': './client.ts' } }),
  );
  writeFileSync(
    join(directory, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: COMPILER_OPTIONS, files: ['main-job.ts'] }),
  );
  symlinkSync(MODULES, join(directory, 'node_modules'));

  const compiled = await run(join(MODULES, 'typescript/bin/tsc'), '--project', directory);
  expect(compiled).toEqual({ exitCode: 0, output: '' });

  const token = await developmentToken(place.dataDirectory, readEndpoints(place.dataDirectory), { now: new Date() });
  const job = join(directory, 'main-job.ts');
  const done = await run('--import', 'tsx', job, place.apiUrl, place.sandboxUrl, token);
  expect(done.exitCode, done.output).toBe(0);
  expect(JSON.parse(done.output)).toEqual({
    internal: 'completed',
    external: 'completed',
    balances: [250, 209.5, 189.51],
  });
});

/** Runs Node, and gives everything that it printed. */
async function run(...nodeArguments: readonly string[]): Promise<{ exitCode: number | null; output: string }> {
  const child = spawn(process.execPath, [...nodeArguments], { cwd: directory, env: place.environment });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { exitCode, output };
}
