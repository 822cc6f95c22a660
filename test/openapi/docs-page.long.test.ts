import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startApi, TEST_AUDIENCE, type TestApi } from '../harness/api.ts';
import { moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

/** `npm test` installs it where it can (test/tools/chromium.ts), and says so where it cannot. */
const CHROMIUM = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';

/** Timeout of one step, as a last resort on a busy machine. */
const TIMEOUT_MS = 90_000;

const DESKTOP = { viewport: { width: 1400, height: 900 } };
const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };

let database: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  database = await createTestDatabase('docs-page');
  api = await startApi(database);
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

test('the documentation page may load from this service only, and run only scripts that are files of its own', async () => {
  const { status, headers } = await api.call('GET', '/docs', undefined, { as: null });
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  const policy = Object.fromEntries(
    (headers.get('content-security-policy') ?? '').split('; ').map((rule) => {
      const [name = '', ...sources] = rule.split(' ');
      return [name, sources.join(' ')];
    }),
  );
  expect(policy).toEqual({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'unsafe-inline'",
    'connect-src': "'self'",
    'img-src': "'self' data:",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  });
});

describe('the address of the service', () => {
  const get = (accept: string) => fetch(api.url, { headers: { accept } });

  test('is a page for browsers, with the policy of pages, that leads to guides, documentation and health', async () => {
    const response = await get('text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; /);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('vary')).toBe('Accept');
    const page = await response.text();
    const links = [...page.matchAll(/href="(\/[^"]*)"/g)].map(([, path]) => path);
    expect(links).toEqual(expect.arrayContaining(['/docs', '/docs/guides', '/openapi.json', '/health/ready']));
  });

  test('gives programs the same addresses, which exist, and the audience of their tokens', async () => {
    const { body } = await api.call('GET', '/', undefined, { as: null });
    expect(body.audience).toBe(TEST_AUDIENCE);
    for (const path of [body.guides, body.documentation, body.openapi, body.errors, body.health])
      expect((await fetch(api.url + path)).status, path).toBe(200);
  });
});

describe.skipIf(!existsSync(CHROMIUM))('the documentation page in a browser', () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      headless: true,
      timeout: TIMEOUT_MS,
      args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    });
  });

  afterAll(() => browser?.close());

  /** Opens the page, and notes requests to other hosts and whatever the page's policy rejected. */
  async function open(options: BrowserContextOptions, path = '/docs'): Promise<{ page: Page; complaints: string[] }> {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(TIMEOUT_MS);
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('request', (request) => {
      if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== api.url)
        complaints.push(request.url());
    });
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`${api.url}${path}`);
    return { page, complaints };
  }

  async function screenshot(page: Page, name: string): Promise<void> {
    const folder = process.env.SCREENSHOTS;
    if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png` });
  }

  test('shows groups, operations, and the markup of their descriptions, from this service only', async () => {
    const { page, complaints } = await open(DESKTOP, '/docs#tag/outgoing-transfers/POST/outgoing-transfers');
    const operation = page
      .locator('section', { has: page.getByRole('heading', { name: 'Send money', exact: true }) })
      .last();
    await operation.getByText('nothing is written').waitFor();
    expect(await operation.locator('code', { hasText: /^workflow\.dryRun$/ }).count()).toBe(1);
    await page.getByRole('navigation').getByText('Outgoing transfers', { exact: true }).first().waitFor();
    await screenshot(page, 'docs-operation');
    expect(complaints).toEqual([]);
  });

  test('fits a phone', async () => {
    const { page, complaints } = await open(PHONE);
    await page.getByRole('heading', { name: 'Financial Accounts Service' }).waitFor();
    await screenshot(page, 'docs-phone');
    expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBe(0);
    expect(complaints).toEqual([]);
  });

  test('sends a request with the reader’s token, and shows the answer', async () => {
    const clientId = await moneyWorld(api).client();
    const { page, complaints } = await open(DESKTOP, '/docs#tag/clients/GET/clients');
    await screenshot(page, 'docs-try-0');
    await page.getByRole('textbox', { name: /token/i }).first().fill(api.users.viewer.token);
    await page
      .getByRole('button', { name: /test request.*get.*\/clients\)?$/i })
      .first()
      .click();
    await screenshot(page, 'docs-try-1');
    await page.getByRole('button', { name: /^send/i }).first().click();
    await page.getByText(clientId).first().waitFor();
    await screenshot(page, 'docs-answer');
    expect(complaints).toEqual([]);
  });
});
