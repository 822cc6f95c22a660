import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { guides, servedAddress } from '../../api/documentation/guides.ts';
import { loadConfiguration } from '../../config/configuration.ts';
import { filesBelow } from '../layout/files.ts';
import { blocksOf } from './guide-shell.ts';
import { ROOT } from './printed.ts';

// What the guides say without being run: guides.long.test.ts runs them.

const GUIDES = guides();

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

test('the configuration of connect-a-bank-by-files is one, and its tables name settings and nothing else', () => {
  const { markdown } = GUIDES.find(({ name }) => name === 'connect-a-bank-by-files') ?? { markdown: '' };
  const [file = '', ownProfile = ''] = blocksOf(markdown).flatMap(({ language, text }) =>
    language === 'json' ? [text] : [],
  );
  const folder = mkdtempSync(join(tmpdir(), 'guides-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'banks.json');
  writeFileSync(path, file);
  mkdirSync(join(folder, 'profiles'));
  writeFileSync(join(folder, 'profiles/house-bank.json'), ownProfile);
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
