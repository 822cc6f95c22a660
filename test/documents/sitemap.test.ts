import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { guides, servedAddress } from '../../api/documentation/guides.ts';
import { pagePaths } from '../../api/documentation/sitemap.ts';
import { loadConfiguration } from '../../config/configuration.ts';
import { ERROR_CODES } from '../../domain/common/errors.ts';
import { startApi, type TestApi } from '../harness/api.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { filesBelow } from '../layout/files.ts';
import { blocksOf } from './guide-shell.ts';
import { ROOT } from './printed.ts';

let database: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  database = await createTestDatabase('sitemap');
  api = await startApi(database);
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

const START = '/';

interface Visited {
  readonly status: number;
  readonly contentType: string;
  readonly links: readonly string[];
}

/** Everything of this service that a browser can reach from its address. */
async function walk(): Promise<ReadonlyMap<string, Visited>> {
  const visited = new Map<string, Visited>();
  const open = [START];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (visited.has(path)) continue;
    const browser = { as: null, headers: { accept: 'text/html,*/*;q=0.8' } };
    const { status, headers, text } = await api.call('GET', path, undefined, browser);
    const contentType = headers.get('content-type') ?? '';
    const links = linksIn(contentType, text).map((link) => new URL(link, `${api.url}${path}`));
    const own = links.filter(({ origin }) => origin === api.url).map(({ pathname }) => pathname);
    visited.set(path, { status, contentType, links: own });
    open.push(...own);
  }
  return visited;
}

/** Of a page its links and scripts; of the OpenAPI document and the texts for language models those of their Markdown. */
function linksIn(contentType: string, text: string): string[] {
  const pattern = contentType.startsWith('text/html') ? /(?:href|src)="([^"]+)"/g : /\]\(([^)\s]+)\)/g;
  if (!/^(text\/(html|plain)|application\/json)/.test(contentType)) return [];
  const searched = contentType.startsWith('application/json') ? (JSON.parse(text).info?.description ?? '') : text;
  // The whole text has guides as they are in the repository, where links lead to files.
  return [...searched.matchAll(pattern)]
    .map(([, link = '']) => link)
    .filter((link) => !link.includes('.md') || link.startsWith('/'));
}

test('no link leads nowhere, and no page can be reached only by its address', async () => {
  const visited = await walk();
  const dead = [...visited].filter(([, { status }]) => status !== 200);
  expect(dead).toEqual([]);
  expect(pagePaths().filter((path) => !visited.has(path))).toEqual([]);
  const pages = [...visited].filter(([, { contentType }]) => contentType.startsWith('text/html')).map(([path]) => path);
  expect(pages.filter((path) => !pagePaths().includes(path))).toEqual([]);
  expect(pages.length).toBeGreaterThan(60);
});

test('the sitemap has every page with its public address, once', async () => {
  const { text, headers } = await api.call('GET', '/sitemap.xml', undefined, { as: null });
  expect(headers.get('content-type')).toBe('application/xml; charset=utf-8');
  const addresses = [...text.matchAll(/<loc>(.+?)<\/loc>/g)].map(([, address = '']) => address);
  const { publicUrl } = api.services.environment;
  expect(addresses).toEqual(pagePaths().map((path) => `${publicUrl}${path}`));
  expect(new Set(addresses).size).toBe(addresses.length);
});

test('the guides are served as pages that load and run nothing, and as Markdown', async () => {
  for (const path of pagePaths().filter((one) => one.startsWith('/docs/guides'))) {
    const { text, headers } = await api.call('GET', path, undefined, { as: null });
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(text).not.toMatch(/<script|<img|style=|\son\w+=|\.md"/);
    if (path === '/docs/guides') continue;
    const markdown = await api.call('GET', `${path}.md`, undefined, { as: null });
    expect(markdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(markdown.text).toMatch(/^# /);
  }
  for (const name of ['nothing', 'nothing.md', '..%2F..%2Fpackage.json', 'README']) {
    const { status } = await api.call('GET', `/docs/guides/${name}`, undefined, { as: null });
    expect(status, name).toBe(name === 'README' ? 200 : 404);
  }
});

test('the text for language models has every guide, operation and error code, and its list every guide', async () => {
  const full = await api.call('GET', '/llms-full.txt', undefined, { as: null });
  const list = await api.call('GET', '/llms.txt', undefined, { as: null });
  for (const { headers } of [full, list]) expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
  const [, ...others] = guides();
  expect(others.filter(({ name }) => !list.text.includes(`(/docs/guides/${name}.md)`))).toEqual([]);
  expect(guides().filter(({ markdown }) => !full.text.includes(markdown.trim()))).toEqual([]);
  expect(ERROR_CODES.filter((code) => !full.text.includes(`## \`${code}\``))).toEqual([]);
  const { body } = await api.call('GET', '/openapi.json', undefined, { as: null });
  const operations = Object.entries<object>(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `- \`${method.toUpperCase()} ${path}\``),
  );
  expect(operations.length).toBeGreaterThan(100);
  expect(operations.filter((line) => !full.text.includes(line))).toEqual([]);
});

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
