import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Json } from '../harness/api.ts';
import {
  HAS_CHROMIUM,
  headingOf,
  lowestContrast,
  phonePage,
  screenshot,
  startBrowser,
  unnamedControls,
  widthBeyondScreen,
} from '../harness/http/pages.ts';
import { GOOD_PASSWORD, type InvitationStage, startInvitations } from '../harness/parties/invitations.ts';

let on: InvitationStage;
let browser: Browser;

describe.skipIf(!HAS_CHROMIUM)('an invited person with a phone', () => {
  beforeAll(async () => {
    on = await startInvitations('sign-up-browser');
    browser = await startBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    await on?.close();
  });

  /** Opens the mailbox, the newest e-mail in it, and the link in that. */
  async function followMail(page: Page): Promise<void> {
    await page.goto(`${on.sandbox.url}/mail`);
    await page.getByRole('link', { name: 'Your invitation' }).first().click();
    await page.getByRole('link', { name: '/sign-up/' }).first().click();
    await page.waitForURL('**/sign-up/*');
  }

  const usersWith = async (email: string): Promise<Json[]> =>
    (await on.api.call('GET', `/users?data.user.category=external&data.user.email=${email}`)).body.data.users;

  test('opens the mail, sets a password, accepts, and is listed as user; the link works once', async () => {
    await on.invited('touch@example.com', [await on.newClientId(`Brook ${'Long'.repeat(20)} Bakery Ltd`)]);
    const page = await phonePage(browser);
    await followMail(page);
    expect(await headingOf(page)).toBe('Your invitation');
    expect(await widthBeyondScreen(page)).toBe(0);
    expect(await page.locator('input:visible').count()).toBe(1);
    await screenshot(page, 'invitation');
    const accept = page.getByRole('button', { name: 'Accept the invitation' });
    expect((await accept.boundingBox())?.height).toBeGreaterThanOrEqual(44);

    await page.getByLabel('New password').fill('Password2026!');
    await accept.tap();
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('This password is common');
    expect(await page.getByLabel('New password').inputValue()).toBe('');
    await screenshot(page, 'rejected-password');

    const link = page.url();
    await page.getByLabel('New password').fill(GOOD_PASSWORD);
    await accept.tap();
    await page.getByText('You are signed up').waitFor();
    await screenshot(page, 'accepted');
    expect(await usersWith('touch@example.com')).toMatchObject([{ email: 'touch@example.com', status: 'active' }]);

    expect((await page.goto(link))?.status()).toBe(410);
    expect(await headingOf(page)).toBe('This link has already been used');
    await screenshot(page, 'used');
  });

  test('uses nothing but the keyboard, without scripts, in German', async () => {
    await on.invited('keyboard@example.com', [await on.newClientId()]);
    const page = await phonePage(browser, { locale: 'de-DE', javaScriptEnabled: false });
    await followMail(page);
    expect(await headingOf(page)).toBe('Ihre Einladung');
    await screenshot(page, 'german');
    await page.keyboard.press('Tab');
    await page.keyboard.type(GOOD_PASSWORD);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('Einladung angenommen').waitFor();
    expect(await usersWith('keyboard@example.com')).toHaveLength(1);
  });

  test('rejects, in French, and no user is there', async () => {
    await on.invited('reject@example.com', [await on.newClientId()]);
    const page = await phonePage(browser, { locale: 'fr-FR' });
    await followMail(page);
    await page.getByRole('button', { name: 'Refuser l’invitation' }).tap();
    await page.getByText('Rien n’a été créé').waitFor();
    await screenshot(page, 'rejected');
    expect(await usersWith('reject@example.com')).toEqual([]);
    expect(await on.statuses('reject@example.com')).toEqual(['rejected']);
  });

  test('sees that the invitation has expired', async () => {
    await on.invited('late@example.com', [await on.newClientId()]);
    const page = await phonePage(browser);
    await followMail(page);
    on.setClock('7 days');
    onTestFinished(() => on.setClock('0'));
    await page.getByLabel('New password').fill(GOOD_PASSWORD);
    await page.getByRole('button', { name: 'Accept the invitation' }).tap();
    await page.getByText('The invitation has expired').waitFor();
    await screenshot(page, 'expired');
    expect(await usersWith('late@example.com')).toEqual([]);
  });

  test('finds every control named and labelled, with sufficient contrast', async () => {
    await on.invited('reader@example.com', [await on.newClientId()]);
    const page = await phonePage(browser);
    await followMail(page);
    expect(await unnamedControls(page)).toBe(0);
    expect(await page.getAttribute('html', 'lang')).toBe('en');
    expect(await page.getByRole('main').count()).toBe(1);
    const described = await page.getByLabel('New password').getAttribute('aria-describedby');
    expect(await page.locator(`#${described}`).textContent()).toContain('At least 12 characters');
    expect(await lowestContrast(page)).toBeGreaterThanOrEqual(4.5);
  });
});
