import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { STEP_TIMEOUT_MS } from '../../harness/http/pages.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A page of a person's browser, and what the browser itself objects to in it: content security, scripts, what cannot be loaded. */
export interface WatchedPage {
  readonly page: Page;
  readonly objections: string[];
  close(): Promise<void>;
}

/** In a context of its own, signed in at the console as the person of this name. */
export async function openSignedIn(
  browser: Browser,
  consoleUrl: string,
  person: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 900 }, ...options });
  context.setDefaultTimeout(STEP_TIMEOUT_MS);
  // Not a script of the page: it is not under its content security policy.
  await context.addInitScript({ content: AXE });
  const page = await context.newPage();
  await signIn(page, consoleUrl, person);
  const objections: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') objections.push(`${page.url()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => objections.push(`${page.url()}: ${error.message}`));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== consoleUrl && url.protocol !== 'data:') objections.push(`asks ${url.origin}`);
  });
  return { page, objections, close: () => context.close() };
}

export async function signIn(page: Page, consoleUrl: string, person: string): Promise<void> {
  await page.goto(`${consoleUrl}/`);
  await page.getByRole('button', { name: person }).click();
  await page.waitForURL(`${consoleUrl}/`);
}

/** What axe finds wrong, one line each. */
export async function axeFindings(page: Page): Promise<string[]> {
  const found: unknown =
    await page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.flatMap(({ id, help, nodes }) => nodes.map(({ html, failureSummary }) => id + ': ' + help + ' ' + html.slice(0, 200) + ' ' + failureSummary)))`);
  if (!Array.isArray(found)) throw new Error('axe has not looked');
  return found.map(String);
}

/** Cells of tables whose text runs into the next one. */
export async function cutCells(page: Page): Promise<string[]> {
  const found: unknown = await page.evaluate(
    `[...document.querySelectorAll('th, td')].filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.outerHTML.slice(0, 200))`,
  );
  if (!Array.isArray(found)) throw new Error('the page has no size');
  return found.map(String);
}

/** What is wider than the screen, if the page is. */
export async function wideElements(page: Page): Promise<string[]> {
  const found: unknown = await page.evaluate(`document.documentElement.scrollWidth <= window.innerWidth ? [] :
    [...document.querySelectorAll('body *')].filter((one) => one.closest('.scroll *') === null && one.getBoundingClientRect().right > window.innerWidth + 0.5)
      .map((one) => one.outerHTML.slice(0, 150))`);
  if (!Array.isArray(found)) throw new Error('the page has no size');
  return found.map(String);
}

/** Presses Tab through the whole page: the controls that got no focus, or did not show it, and whether the first is the skip link. */
export async function keyboardProblems(page: Page): Promise<string[]> {
  const count: unknown = await page.evaluate(`(() => {
    // What a closed part of the page hides is reached after it was opened.
    document.querySelectorAll('details').forEach((one) => { one.open = true; });
    // Rows that are replaced meanwhile would be others.
    document.querySelectorAll('[data-live-pause]').forEach((one) => one.click());
    const shown = (one) => one.checkVisibility() && !one.disabled && one.type !== 'hidden';
    const radios = new Set();
    const controls = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')].filter(shown);
    window.keyboard = { controls, reached: [], unseen: [] };
    document.addEventListener('focusin', ({ target }) => {
      const { outlineStyle, outlineWidth } = getComputedStyle(target);
      window.keyboard.reached.push(target);
      if (outlineStyle === 'none' || parseFloat(outlineWidth) === 0) window.keyboard.unseen.push(target);
    });
    document.activeElement.blur();
    window.getSelection().removeAllRanges();
    window.scrollTo(0, 0);
    return controls.length;
  })()`);
  if (typeof count !== 'number') throw new Error('the page has no controls');
  // A date has several parts.
  const presses = count + 4 * (await page.locator('input[type=date], input[type=datetime-local]').count());
  for (let press = 0; press < presses; press += 1) await page.keyboard.press('Tab');
  const problems: unknown = await page.evaluate(`(() => {
    const { controls, reached, unseen } = window.keyboard;
    const text = (one) => one.outerHTML.slice(0, 150);
    return [
      ...(reached[0]?.matches('a.skip') ? [] : ['the first control is not the link to the content']),
      ...controls.filter((one) => !reached.includes(one)).map((one) => 'not reached: ' + text(one)),
      ...unseen.map((one) => 'focus not visible: ' + text(one)),
    ];
  })()`);
  if (!Array.isArray(problems)) throw new Error('the page has no controls');
  return problems.map(String);
}
