import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { guides, servedAddress } from '../../api/documentation/guides.ts';
import { loadConfiguration } from '../../config/configuration.ts';
import { freePort } from '../../dev/servers/ports.ts';
import {
  newServiceInstallation,
  removeServiceInstallation,
  type ServiceInstallation,
  startService,
} from '../harness/servers/started-service.ts';
import { filesBelow } from '../layout/files.ts';
import { moduleBlocksOf, runModule } from './guide-module.ts';
import { blocksOf, GuideShell, isOutput } from './guide-shell.ts';
import { ROOT } from './printed.ts';

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

test('the first page leads to every guide, and each link of a guide to a page that is served or a file that is there', () => {
  const [first, ...others] = GUIDES;
  expect(first?.name).toBe('README');
  expect(GUIDES.map(({ name }) => `docs/guides/${name}.md`).sort()).toEqual(filesBelow(ROOT, 'docs/guides').sort());
  const linked = [...(first?.markdown ?? '').matchAll(/^\d+\. \[(.+?)\]\((.+?)\.md\)/gm)];
  expect(linked.map(([, title, name]) => ({ title, name }))).toEqual(
    others.map(({ title, name }) => ({ title, name })),
  );
  expect(servedAddress('../reference/errors.md#accountbalanceinsufficient')).toBe(
    '/docs/errors/account.balance.insufficient',
  );
  const anchors = GUIDES.flatMap(({ markdown }) => [...markdown.matchAll(/\(\.\.\/reference\/errors\.md#(.+?)\)/g)]);
  expect(anchors.length).toBeGreaterThan(5);
  for (const [, anchor] of anchors)
    expect(servedAddress(`../reference/errors.md#${anchor}`), anchor).toMatch(/^\/docs\/errors\/./);
});

test.each(GUIDES.map(({ name, markdown }) => [name, markdown]))('%s runs as it stands', async (_, markdown) => {
  let printed = '';
  let last = '';
  for (const { language, text } of blocksOf(markdown)) {
    if (language === 'bash') printed = await shell.run(text);
    if (language === 'text' && last === 'bash' && !isOutput(text, printed)) expect(printed).toBe(text);
    last = language;
  }
});

test('the configuration of connect-a-bank-by-files is one, and its tables name settings and nothing else', () => {
  const { markdown } = GUIDES.find(({ name }) => name === 'connect-a-bank-by-files') ?? { markdown: '' };
  const [file = '', ownProfile = ''] = blocksOf(markdown).flatMap(({ language, text }) =>
    language === 'json' ? [text] : [],
  );
  const path = join(installation.dataDirectory, 'banks.json');
  writeFileSync(path, file);
  mkdirSync(join(installation.dataDirectory, 'profiles'));
  writeFileSync(join(installation.dataDirectory, 'profiles/house-bank.json'), ownProfile);
  const { fileExchanges, bankProfiles } = loadConfiguration({ CONFIG_FILE: path });
  const exchanges = [...fileExchanges.values()];
  expect(exchanges.map(({ transport, profile }) => [transport.kind, bankProfiles.get(profile)?.endsBy])).toEqual([
    ['folder', 'camt.054'],
    ['sftp', 'camt.054'],
  ]);
  const known = new Set([...exchanges, ...bankProfiles.values()].flatMap(namesIn));
  const values = [
    'iso20022',
    'structured',
    'hybrid',
    'pain001-ID.xml',
    'camt055-ID.xml',
    '.xml.pgp',
    'NAME.ID.part',
    'PGP_PASSPHRASE',
  ];
  const named = [...markdown.matchAll(/^\|.*\|$/gm)].flatMap(([row]) =>
    [...row.matchAll(/`(.+?)`/g)].map(([, name = '']) => name),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !known.has(name) && !values.includes(name))).toEqual([]);
  // What only one of them asks is asked of every bank.
  const profile = Object.keys(JSON.parse(ownProfile));
  expect(profile.filter((name) => !named.includes(name))).toEqual([]);
});

/** The names of all settings below. */
function namesIn(settings: unknown): string[] {
  if (typeof settings !== 'object' || settings === null) return [];
  const own = Array.isArray(settings) ? [] : Object.keys(settings);
  return [...own, ...Object.values(settings).flatMap(namesIn)];
}

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
