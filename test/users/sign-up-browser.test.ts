import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Json } from '../harness/api.ts';
import { GOOD_PASSWORD, type InvitationStage, startInvitations } from '../harness/parties/invitations.ts';

/** `npm test` installs it where it can (scripts/testing/chromium.ts), and says so where it cannot. */
const CHROMIUM = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';

/** Of one step, as a last resort on a busy machine. */
const TIMEOUT_MS = 90_000;

/** A small phone. */
const PHONE = { width: 360, height: 640 };

let on: InvitationStage;
let browser: Browser;

describe.skipIf(!existsSync(CHROMIUM))('an invited person with a phone', () => {
  beforeAll(async () => {
    on = await startInvitations('sign-up-browser');
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      headless: true,
      timeout: TIMEOUT_MS,
      args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    });
  });

  afterAll(async () => {
    await browser?.close();
    await on?.close();
  });

  async function phone(options: { locale?: string; javaScriptEnabled?: boolean } = {}): Promise<Page> {
    const context = await browser.newContext({ viewport: PHONE, isMobile: true, hasTouch: true, ...options });
    context.setDefaultTimeout(TIMEOUT_MS);
    onTestFinished(() => context.close());
    return context.newPage();
  }

  /** Opens the mailbox, the newest e-mail in it, and the link in that. */
  async function followMail(page: Page): Promise<void> {
    await page.goto(`${on.sandbox.url}/mail`);
    await page.getByRole('link', { name: 'Your invitation' }).first().click();
    await page.getByRole('link', { name: '/sign-up/' }).first().click();
    await page.waitForURL('**/sign-up/*');
  }

  async function screenshot(page: Page, name: string): Promise<void> {
    const folder = process.env.SCREENSHOTS;
    if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  }

  const usersWith = async (email: string): Promise<Json[]> =>
    (await on.api.call('GET', `/users?data.user.category=external&data.user.email=${email}`)).body.data.users;

  const heading = (page: Page) => page.getByRole('heading', { level: 1 }).textContent();

  async function widthBeyondScreen(page: Page): Promise<number> {
    const size: unknown = await page.evaluate('[document.documentElement.scrollWidth, window.innerWidth]');
    if (!Array.isArray(size)) throw new Error('the page has no size');
    return size[0] - size[1];
  }

  test('opens the mail, sets a password, accepts, and is listed as user; the link works once', async () => {
    await on.invited('touch@example.com', [await on.newClientId(`Brook ${'Long'.repeat(20)} Bakery Ltd`)]);
    const page = await phone();
    await followMail(page);
    expect(await heading(page)).toBe('Your invitation');
    expect(await widthBeyondScreen(page)).toBe(0);
    expect(await page.locator('input:visible').count()).toBe(1);
    await screenshot(page, 'invitation');
    const accept = page.getByRole('button', { name: 'Accept the invitation' });
    expect((await accept.boundingBox())?.height).toBeGreaterThanOrEqual(44);

    await page.getByLabel('New password').fill('Password2026!');
    await accept.tap();
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('Many people use this password');
    expect(await page.getByLabel('New password').inputValue()).toBe('');
    await screenshot(page, 'refused-password');

    const link = page.url();
    await page.getByLabel('New password').fill(GOOD_PASSWORD);
    await accept.tap();
    await page.getByText('You are signed up').waitFor();
    await screenshot(page, 'accepted');
    expect(await usersWith('touch@example.com')).toMatchObject([{ email: 'touch@example.com', status: 'active' }]);

    expect((await page.goto(link))?.status()).toBe(410);
    expect(await heading(page)).toBe('This link was used');
    await screenshot(page, 'used');
  });

  test('uses nothing but the keyboard, without scripts, in German', async () => {
    await on.invited('keyboard@example.com', [await on.newClientId()]);
    const page = await phone({ locale: 'de-DE', javaScriptEnabled: false });
    await followMail(page);
    expect(await heading(page)).toBe('Ihre Einladung');
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
    const page = await phone({ locale: 'fr-FR' });
    await followMail(page);
    await page.getByRole('button', { name: 'Refuser l’invitation' }).tap();
    await page.getByText('Rien n’a été créé').waitFor();
    await screenshot(page, 'rejected');
    expect(await usersWith('reject@example.com')).toEqual([]);
    expect(await on.statuses('reject@example.com')).toEqual(['rejected']);
  });

  test('comes too late', async () => {
    await on.invited('late@example.com', [await on.newClientId()]);
    const page = await phone();
    await followMail(page);
    on.setClock('7 days');
    onTestFinished(() => on.setClock('0'));
    await page.getByLabel('New password').fill(GOOD_PASSWORD);
    await page.getByRole('button', { name: 'Accept the invitation' }).tap();
    await page.getByText('The invitation has expired').waitFor();
    await screenshot(page, 'expired');
    expect(await usersWith('late@example.com')).toEqual([]);
  });

  test('finds every control named, labelled and of good contrast', async () => {
    await on.invited('reader@example.com', [await on.newClientId()]);
    const page = await phone();
    await followMail(page);
    const unnamed: unknown =
      await page.evaluate(`[...document.querySelectorAll('input:not([type=hidden]):not([hidden]), button')]
      .filter((control) => !(control.labels?.length > 0) && control.textContent.trim() === '').length`);
    expect(unnamed).toBe(0);
    expect(await page.getAttribute('html', 'lang')).toBe('en');
    expect(await page.getByRole('main').count()).toBe(1);
    const described = await page.getByLabel('New password').getAttribute('aria-describedby');
    expect(await page.locator(`#${described}`).textContent()).toContain('At least 12 characters');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await leastContrast(page), colorScheme).toBeGreaterThanOrEqual(4.5);
    }
  });

  /** The lowest contrast (WCAG 2) between a text and its background. */
  async function leastContrast(page: Page): Promise<number> {
    const least: unknown = await page.evaluate(`(() => {
      const parse = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
      const luminance = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
      const ground = (element) => {
        for (let at = element; at; at = at.parentElement) {
          const color = parse(getComputedStyle(at).backgroundColor);
          if (color.length === 3 || color[3] === 1) return color;
        }
        return [255, 255, 255];
      };
      const texts = [...document.querySelectorAll('main *')].filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
      return Math.min(...texts.map((one) => {
        const [low, high] = [luminance(parse(getComputedStyle(one).color)), luminance(ground(one))].sort((a, b) => a - b);
        return (high + 0.05) / (low + 0.05);
      }));
    })()`);
    if (typeof least !== 'number') throw new Error('the page has no texts');
    return least;
  }
});
