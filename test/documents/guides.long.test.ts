import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { guides } from '../../api/documentation/guides.ts';
import { freePort } from '../../dev/servers/ports.ts';
import {
  newServiceInstallation,
  removeServiceInstallation,
  type ServiceInstallation,
  startService,
} from '../harness/servers/started-service.ts';
import { moduleBlocksOf, runModule } from './guide-module.ts';
import { blocksOf, GuideShell, isOutput } from './guide-shell.ts';

// The guides are run as they stand, in their order, by one shell against one service of `npm start`.

const GUIDES = guides();
let installation: ServiceInstallation;
let shell: GuideShell;

beforeAll(async () => {
  installation = await newServiceInstallation();
  const file = join(installation.dataDirectory, 'configuration.json');
  writeFileSync(file, configurationOf('review'));
  installation.environment.CONFIG_FILE = file;
  await startService(installation);
  const { apiUrl: api, sandboxUrl: sandbox, environment } = installation;
  shell = new GuideShell({ ...environment, api, sandbox, RECEIVER_PORT: String(await freePort()) });
});

afterAll(async () => {
  shell?.close();
  await removeServiceInstallation(installation);
});

/** What a guide tells its reader to save before the service is started. */
function configurationOf(name: string): string {
  const guide = GUIDES.find((one) => one.name === name);
  const block = blocksOf(guide?.markdown ?? '').find(({ language }) => language === 'json');
  if (block === undefined) throw new Error(`${name} has no configuration`);
  return block.text;
}

test.each(GUIDES.map(({ name, markdown }) => [name, markdown]))('%s runs as it stands', async (_, markdown) => {
  let printed = '';
  let last = '';
  for (const { language, text } of blocksOf(markdown)) {
    if (language === 'bash') printed = await shell.run(text);
    if (language === 'text' && last === 'bash' && !isOutput(text, printed)) expect(printed).toBe(text);
    last = language;
  }
});

test('the TypeScript blocks compile strictly and run as they stand, as one module', async () => {
  // What Authenticate shows needs no client: test/harness/http/token-samples.ts runs it.
  const blocks = moduleBlocksOf(GUIDES.filter(({ name }) => name !== 'authenticate'));
  expect(blocks.length).toBeGreaterThan(8);
  const { apiUrl: api, sandboxUrl: sandbox, environment } = installation;
  const printed = await runModule(blocks, { ...environment, api, sandbox });
  expect(printed).toHaveLength(blocks.length);
  for (const [at, { guide, shown }] of blocks.entries()) {
    if (shown !== null && !isOutput(shown, printed[at] ?? '')) expect(printed[at], guide).toBe(shown);
  }
});

test('a block that fails anywhere, or prints something else than its guide shows, is found', async () => {
  await expect(shell.run('false | cat; true')).rejects.toThrow('This block fails');
  await expect(shell.run('inner() { false; true; }; inner')).rejects.toThrow('This block fails');
  await expect(shell.run('get /accounts/none | pick account.id')).rejects.toThrow('This block fails');
  expect(await shell.run('echo still here')).toBe('still here\n');
  expect([isOutput('a\n…\nb\n', 'a\n1\n2\nb'), isOutput('a…', 'b'), isOutput('1', '12')]).toEqual([true, false, false]);
});
