import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../../db/common/ids.ts';
import { HAS_CHROMIUM, headingOf, startBrowser } from '../../harness/http/pages.ts';
import { startConsole } from '../console-under-test.ts';
import { LATER, type TransferWorld, transferWorld } from '../transfers/transfer-world.ts';
import { openSignedIn, type WatchedPage } from './browser-context.ts';

// What only a browser does by itself: rows that refresh, and everything else without a line of JavaScript.

const EVERY_MS = 5_000;
const OPERATOR = 'Olga Ladyzhenskaya';

describe.skipIf(!HAS_CHROMIUM)('in a browser', () => {
  let world: TransferWorld;
  let browser: Browser;

  beforeAll(async () => {
    world = await transferWorld('console-live');
    browser = await startBrowser();
    await world.pay({ transferDate: LATER });
  });

  afterAll(async () => {
    await browser?.close();
    await world?.stop();
  });

  /** The list of outgoing transfers of a console of its own, whose time stands still until the test moves it. */
  async function openList(): Promise<WatchedPage & { stopConsole(): Promise<void> }> {
    const underTest = await startConsole(world.testDatabase);
    const watched = await openSignedIn(browser, underTest.url, OPERATOR);
    const { page } = watched;
    await page.clock.install();
    await page.goto(`${underTest.url}/outgoing-transfers`);
    await page.mouse.move(1, 1);
    await page.evaluate(`{
      window.asked = 0;
      document.body.addEventListener('htmx:beforeRequest', () => { window.asked += 1; });
    }`);
    return { ...watched, stopConsole: () => underTest.stop() };
  }

  const tick = (page: Page) => page.clock.runFor(EVERY_MS);
  /** How often the rows were asked for when the time came. */
  const askedInTick = async (page: Page): Promise<number> => {
    const asked = async () => Number(await page.evaluate('window.asked'));
    // While an answer is on its way, the next request waits for it.
    const isAnswered = () => page.evaluate("document.querySelector('.htmx-request') === null");
    await expect.poll(isAnswered, { timeout: 60_000 }).toBe(true);
    const before = await asked();
    await tick(page);
    return (await asked()) - before;
  };
  const state = (page: Page) => page.locator('[data-live-state=rows]').textContent();

  test('rows refresh by themselves, but not under the pointer, the focus, a selection or the pressed button', async () => {
    const { page, stopConsole, close, objections } = await openList();
    const { transactionNumber } = await world.pay({ transferDate: LATER });
    expect(await page.getByText(transactionNumber).count()).toBe(0);
    await tick(page);
    await page.getByText(transactionNumber).waitFor();
    expect(await state(page)).toMatch(/^as of \d\d:\d\d:\d\d UTC$/);

    const rows = page.locator('#rows');
    await rows.hover();
    expect(await askedInTick(page), 'pointer').toBe(0);
    expect(await state(page)).toMatch(/, held$/);
    await page.mouse.move(1, 1);
    expect(await askedInTick(page), 'free').toBe(1);

    await rows.getByRole('link').first().focus();
    expect(await askedInTick(page), 'focus').toBe(0);
    await page.evaluate('document.activeElement.blur()');

    // From above the rows into them.
    await page.evaluate(
      `getSelection().setBaseAndExtent(document.querySelector('h1'), 0, document.querySelector('#rows td'), 1)`,
    );
    expect(await askedInTick(page), 'selection').toBe(0);
    await page.evaluate('getSelection().removeAllRanges()');
    expect(await askedInTick(page), 'free again').toBe(1);

    await page.getByRole('button', { name: 'Pause' }).click();
    expect(await askedInTick(page), 'button').toBe(0);
    expect(await state(page)).toMatch(/, paused$/);
    await page.getByRole('button', { name: 'Go on' }).click();
    expect(await askedInTick(page), 'button again').toBe(1);
    expect(objections).toEqual([]);
    await close();
    await stopConsole();
  });

  test('rows whose answer comes when the pointer is already there stay as they are', async () => {
    const { page, stopConsole, close } = await openList();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const answered = page.waitForResponse((response) => response.request().headers()['hx-request'] === 'true');
    await page.route('**/outgoing-transfers', async (route) => {
      await held;
      await route.continue();
    });
    await page.evaluate(`document.querySelector('#rows').firstElementChild.dataset.kept = 'yes'`);
    await tick(page);
    await page.locator('#rows').hover();
    release();
    await (await answered).finished();
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))').catch(() => {});
    expect(await page.locator('[data-kept]').count()).toBe(1);
    await close();
    await stopConsole();
  });

  test('rows say that they are old: the session has ended, or the console does not answer', async () => {
    const { page, stopConsole, close } = await openList();
    const asOf = await state(page);
    await page.context().clearCookies();
    await tick(page);
    await page.getByText('Your session has ended: reload the page to sign in.').waitFor();
    await stopConsole();
    await tick(page);
    await page.getByText('Not refreshed since: this may be old.').waitFor();
    expect(await page.locator('#rows.stale').count()).toBe(1);
    // The time of the last good answer, not of the last attempt.
    expect(await state(page)).toBe(asOf);
    await close();
  });

  test('a refresh in one tab leaves the next page what the last act has to say', async () => {
    const { page, stopConsole, close } = await openList();
    const { id } = await world.pay({ transferDate: LATER });
    const other = await page.context().newPage();
    const address = `${new URL(page.url()).origin}/outgoing-transfers/${id}`;
    await other.goto(`${address}/cancel`);
    await other.getByLabel('Reason, for the audit log').fill('asked for');
    // Between the act and the page that says what came of it.
    await other.route(address, async (route) => {
      const refreshed = page.waitForResponse((response) => response.request().headers()['hx-request'] === 'true');
      await tick(page);
      await refreshed;
      await route.continue();
    });
    await other.getByRole('button', { name: 'Cancel' }).click();
    await other.getByRole('status').getByText('It is cancelled').waitFor();
    await close();
    await stopConsole();
  });

  test('filters, pages and remedies work without JavaScript', async () => {
    const { page, close, objections } = await openSignedIn(browser, world.underTest.url, OPERATOR, {
      javaScriptEnabled: false,
    });
    const { transactionNumber } = await world.pay({ transferDate: LATER, description: newId() });
    await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Outgoing transfers' }).click();
    expect(await page.getByRole('button', { name: 'Pause' }).count(), 'what needs JavaScript is not there').toBe(0);
    await page.getByLabel('Status').selectOption('pending');
    await page.getByRole('button', { name: 'Filter' }).click();
    expect(new URL(page.url()).searchParams.get('status')).toBe('pending');
    await page.getByRole('link', { name: transactionNumber }).click();
    expect(await headingOf(page)).toBe(`Outgoing transfer ${transactionNumber}`);
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByRole('heading', { name: 'What will happen' }).waitFor();
    await page.getByLabel('Reason, for the audit log').fill('the client asked for it');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('status').getByText('It is cancelled').waitFor();
    expect(objections).toEqual([]);
    await close();
  });
});
