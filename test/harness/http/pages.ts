import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { onTestFinished } from 'vitest';

/** `npm test` installs it where it can (test/tools/chromium.ts), and says so where it cannot. */
const CHROMIUM = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
export const HAS_CHROMIUM = existsSync(CHROMIUM);

/** Timeout of one step, as a last resort on a busy machine. */
export const STEP_TIMEOUT_MS = 90_000;

/** A small phone. */
const PHONE = { viewport: { width: 360, height: 640 }, isMobile: true, hasTouch: true };

export function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    headless: true,
    timeout: STEP_TIMEOUT_MS,
    args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
}

/** A page with no cookies, in a context that is closed after the test. */
export async function phonePage(browser: Browser, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ ...PHONE, ...options });
  context.setDefaultTimeout(STEP_TIMEOUT_MS);
  onTestFinished(() => context.close());
  return context.newPage();
}

/** Saves it in the folder SCREENSHOTS, for review by eye. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

export function headingOf(page: Page): Promise<string | null> {
  return page.getByRole('heading', { level: 1 }).textContent();
}

export async function widthBeyondScreen(page: Page): Promise<number> {
  const size: unknown = await page.evaluate('[document.documentElement.scrollWidth, window.innerWidth]');
  if (!Array.isArray(size)) throw new Error('the page has no size');
  return size[0] - size[1];
}

/** Fields without a label, and buttons without a text. */
export async function unnamedControls(page: Page): Promise<number> {
  const unnamed: unknown =
    await page.evaluate(`[...document.querySelectorAll('input:not([type=hidden]):not([hidden]), textarea, button')]
      .filter((control) => !(control.labels?.length > 0) && control.textContent.trim() === '').length`);
  if (typeof unnamed !== 'number') throw new Error('the page has no controls');
  return unnamed;
}

/** The lowest contrast (WCAG 2) between a text and its background, in the light and in the dark. */
export async function lowestContrast(page: Page): Promise<number> {
  const found: number[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    found.push(await lowestContrastNow(page));
  }
  await page.emulateMedia({ colorScheme: null });
  return Math.min(...found);
}

async function lowestContrastNow(page: Page): Promise<number> {
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
    const texts = [...document.querySelectorAll('main *, header *')].filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
    return Math.min(...texts.map((one) => {
      const [low, high] = [luminance(parse(getComputedStyle(one).color)), luminance(ground(one))].sort((a, b) => a - b);
      return (high + 0.05) / (low + 0.05);
    }));
  })()`);
  if (typeof least !== 'number') throw new Error('the page has no texts');
  return least;
}
