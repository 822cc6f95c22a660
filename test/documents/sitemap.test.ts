import { afterAll, beforeAll, expect, test } from 'vitest';
import { guides } from '../../api/documentation/guides.ts';
import { pagePaths } from '../../api/documentation/sitemap.ts';
import { ERROR_CODES } from '../../domain/common/errors.ts';
import { startApi, type TestApi } from '../harness/api.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

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
