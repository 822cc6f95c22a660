import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findGo } from '../../dev/common/user-cache.ts';
import { goPrograms } from '../../dev/servers/go-programs.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { runTokenSample, tokenSample } from '../harness/http/token-samples.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { npmTools } from '../tools/npm-tools.ts';
import { pythonEnvironment } from '../tools/python-environment.ts';
import { PROJECT_DIRECTORY } from '../tools/run/commands.ts';

// What docs/reference/generators.md says of generators, with the document as it is served.

const page = readFileSync(join(PROJECT_DIRECTORY, 'docs/reference/generators.md'), 'utf8');
const execute = promisify(execFile);
const say = (line: string) => console.log(line);

const PYTHON = '0.29.1';
const GO = '2.8.2';
const GO_RUNTIME = '1.9.0';
const HEY_API = '@hey-api/openapi-ts@0.95.0';
const SWAGGER = 'swagger-typescript-api@13.13.0';
const COMPILER = 'typescript@5.9.3';

let database: TestDatabase;
let api: TestApi;
let directory: string;
let documentFile: string;
let operationIds: string[];

beforeAll(async () => {
  database = await createTestDatabase('generators');
  api = await startApi(database);
  directory = mkdtempSync(join(tmpdir(), 'generators-'));
  documentFile = join(directory, 'openapi.json');
  const text = await (await fetch(`${api.url}/openapi.json`)).text();
  writeFileSync(documentFile, text);
  const paths: Json = JSON.parse(text).paths;
  operationIds = Object.values<Json>(paths).flatMap((methods) =>
    Object.values<Json>(methods).map(({ operationId }) => operationId),
  );
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
});

/** What a program prints; its complaints are the failure. */
async function run(command: string, programArguments: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const options = { cwd: directory, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 };
  const done = await execute(command, programArguments, options).catch(({ stdout, stderr }) => {
    throw new Error(`${command} fails:\n${String(stdout).slice(0, 4_000)}\n${String(stderr).slice(0, 4_000)}`);
  });
  return done.stdout;
}

const rowOf = (name: string, version: string) => `| ${name} ${version} |`;

const CALL_IN_PYTHON = `
import importlib, os, pkgutil, sys
sys.path.insert(0, ".")
import accounts
modules = [module.name for module in pkgutil.walk_packages(accounts.__path__, "accounts.")]
for name in modules:
    importlib.import_module(name)
from accounts.api.clients import list_clients
client = accounts.AuthenticatedClient(base_url=os.environ["API_URL"], token=os.environ["TOKEN"])
answer = list_clients.sync_detailed(client=client)
print(int(answer.status_code), answer.parsed.metadata.page.total_elements)
print("\\n".join(name.rpartition(".")[2] for name in modules if ".api." in name))
`;

test('a Python package is generated with every operation, imported whole, and makes a call; so does the guide’s sample', async () => {
  expect(page).toContain(rowOf('openapi-python-client', PYTHON));
  const packages = [`openapi-python-client==${PYTHON}`, 'pyjwt[crypto]==2.15.1'];
  const commands = await pythonEnvironment({ name: 'OpenAPI-Python-client', version: PYTHON, packages }, say);
  if (commands === null) throw new Error('No Python 3.10 or later with venv is there.');
  const config = join(directory, 'python.yaml');
  writeFileSync(config, 'post_hooks: []\n');
  const generate = [
    'generate',
    '--path',
    documentFile,
    '--meta',
    'none',
    '--output-path',
    'accounts',
    '--config',
    config,
  ];
  expect(await run(join(commands, 'openapi-python-client'), [...generate, '--fail-on-warning'])).not.toMatch(
    /warning/i,
  );
  const env = { API_URL: api.url, TOKEN: api.users.viewer.token };
  const [called, ...modules] = (await run(join(commands, 'python'), ['-c', CALL_IN_PYTHON], env)).trim().split('\n');
  expect(called).toBe('200 0');
  const nameOf = (id: string) => id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  expect(operationIds.filter((id) => !modules.includes(nameOf(id)))).toEqual([]);
  expect(await runTokenSample(api, tokenSample('python'), [join(commands, 'python'), '-c'])).toBe('200');
});

test('two TypeScript clients are generated with every operation, and compile under strict settings', async () => {
  const commands = await npmTools([HEY_API, SWAGGER, COMPILER], say);
  for (const one of [HEY_API, SWAGGER]) {
    const at = one.lastIndexOf('@');
    expect(page).toContain(rowOf(one.slice(0, at), one.slice(at + 1)));
  }
  mkdirSync(join(directory, 'swagger'));
  await run(join(commands, 'openapi-ts'), ['-i', documentFile, '-o', 'hey']);
  await run(join(commands, 'swagger-typescript-api'), [
    'generate',
    '-p',
    documentFile,
    '-o',
    'swagger',
    '-n',
    'api.ts',
  ]);
  const swagger = join(directory, 'swagger/api.ts');
  writeFileSync(swagger, readFileSync(swagger, 'utf8').replace('// @ts-nocheck', ''));
  const compilerOptions = {
    target: 'ES2022',
    module: 'ESNext',
    moduleResolution: 'bundler',
    lib: ['ES2022', 'DOM', 'DOM.Iterable'],
    strict: true,
    noUncheckedIndexedAccess: true,
    noImplicitOverride: true,
    noEmit: true,
    types: [],
  };
  const files = ['hey/index.ts', 'swagger/api.ts'];
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  expect(await run(join(commands, 'tsc'), ['--project', directory])).toBe('');
  const hey = readFileSync(join(directory, 'hey/sdk.gen.ts'), 'utf8');
  const own = readFileSync(swagger, 'utf8');
  expect(operationIds.filter((id) => !hey.includes(`export const ${id} = `))).toEqual([]);
  // A method of a group, or of the whole.
  expect(operationIds.filter((id) => !new RegExp(`\\b${id}(:| =) \\(`).test(own))).toEqual([]);
});

test('a Go package is generated with the settings of the page, has every operation, and compiles', async () => {
  expect(page).toContain(rowOf('oapi-codegen', GO));
  const [, settings = ''] = /^```yaml\n(.*?)^```$/ms.exec(page) ?? [];
  const pathOf = await goPrograms(
    {
      title: 'generator of Go clients',
      neededFor: 'the test of generators',
      version: GO,
      packages: { 'oapi-codegen': 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen' },
    },
    say,
  );
  const go = findGo();
  if (go === undefined) throw new Error('No Go is there.');
  writeFileSync(join(directory, 'go.yaml'), `${settings}output: accounts.go\n`);
  await run(pathOf('oapi-codegen'), ['-config', 'go.yaml', documentFile]);
  const manifest = `module accounts\ngo 1.26\nrequire github.com/oapi-codegen/runtime v${GO_RUNTIME}\n`;
  writeFileSync(join(directory, 'go.mod'), manifest);
  await run(go, ['build', '.'], { GOFLAGS: '-mod=mod' });
  const source = readFileSync(join(directory, 'accounts.go'), 'utf8');
  const nameOf = (id: string) => id.replace(/^[a-z]/, (letter) => letter.toUpperCase());
  // An operation with a form has only the function that takes its bytes.
  expect(
    operationIds.filter((id) => !new RegExp(`\\(c \\*ServiceClient\\) ${nameOf(id)}(WithBody)?\\(`).test(source)),
  ).toEqual([]);
});

test('the page names every generator whose client is tested elsewhere', () => {
  const manifest: Json = JSON.parse(readFileSync(join(PROJECT_DIRECTORY, 'package.json'), 'utf8'));
  const version = manifest.devDependencies.oazapfts;
  expect(page.includes(rowOf('oazapfts', version))).toBe(version !== undefined);
});
