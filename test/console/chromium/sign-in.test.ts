import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { REMEDIES } from '../../../console/pages.ts';
import { HAS_CHROMIUM, headingOf, startBrowser } from '../../harness/http/pages.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/servers/postgres.ts';
import { type ConsoleUnderTest, SESSION_COOKIE, startConsole } from '../console-under-test.ts';

// What only a browser decides: whether it takes the cookies, where a form may lead, and how it gets from page to page.

describe.skipIf(!HAS_CHROMIUM)('a person with a browser', () => {
  let testDatabase: TestDatabase;
  let console_: ConsoleUnderTest;
  let browser: Browser;

  beforeAll(async () => {
    testDatabase = await createTestDatabase('sign-in-browser');
    // No sign-in is recent enough to move money.
    console_ = await startConsole(testDatabase, { settings: (settings) => ({ ...settings, recentSignInMinutes: 0 }) });
    browser = await startBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    await console_?.stop();
    await testDatabase?.drop();
  });

  /** With what the browser itself objected to, and what it loaded from elsewhere. */
  async function openPage(options: {
    readonly javaScriptEnabled: boolean;
  }): Promise<{ page: Page; objections: string[] }> {
    const context = await browser.newContext(options);
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const objections: string[] = [];
    page.on('console', (message) => {
      const isOfConsole = message.location().url.startsWith(console_.url) || message.text().includes('Security Policy');
      if (message.type() === 'error' && isOfConsole) objections.push(message.text());
    });
    page.on('request', (request) => {
      const { hostname, protocol } = new URL(request.url());
      if (hostname !== '127.0.0.1' && protocol !== 'data:') objections.push(`leaves this machine for ${hostname}`);
    });
    return { page, objections };
  }

  async function signIn(page: Page, who: RegExp): Promise<void> {
    await page.goto(`${console_.url}/search`);
    await page.getByRole('button', { name: who }).click();
    await page.waitForURL(`${console_.url}/search`);
  }

  test.each([true, false])(
    'signs in and out (JavaScript: %s), with a secure cookie even on this machine',
    async (javaScriptEnabled) => {
      const { page, objections } = await openPage({ javaScriptEnabled });
      await signIn(page, /^Vera Rubin/);
      const [cookie] = (await page.context().cookies()).filter(({ name }) => name === SESSION_COOKIE);
      expect(cookie).toMatchObject({ secure: true, httpOnly: true, sameSite: 'Lax', path: '/' });
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.waitForURL(`${console_.issuer}/session/end**`);
      await page.getByRole('button', { name: 'Yes, sign me out' }).click();
      await page.waitForURL(`${console_.url}/signed-out`);
      expect(await headingOf(page)).toBe('You are signed out');
      await page.goto(`${console_.url}/search`);
      expect(await headingOf(page), 'neither knows the person any more').toBe('Who are you?');
      expect(objections).toEqual([]);
    },
  );

  test('whose form needs a recent sign-in gets to the identity provider and back', async () => {
    const { page } = await openPage({ javaScriptEnabled: true });
    await signIn(page, /^Olga/);
    const remedy = REMEDIES.find(
      ({ movesMoney, page: of, roles }) => movesMoney && of === '/' && roles.includes('operator'),
    );
    // As the remedy's own page does, had it been open since the sign-in was recent.
    await page.evaluate(`{
      const form = document.querySelector('form[action="/sign-out"]');
      form.action = '/${remedy?.kind}';
      form.requestSubmit();
    }`);
    await page.getByRole('button', { name: /^Olga/ }).waitFor();
    expect(page.url().startsWith(console_.issuer)).toBe(true);
    expect(await headingOf(page)).toBe('Who are you?');
  });
});
