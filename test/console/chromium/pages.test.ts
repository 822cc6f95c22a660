import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressAt } from '../../../console/page/page.ts';
import { PAGES, REMEDIES } from '../../../console/pages.ts';
import type { Remedy } from '../../../console/remedies/remedy.ts';
import { addressOf } from '../../../console/remedies/remedy-pages.tsx';
import { startApi, type TestApi } from '../../harness/api.ts';
import { HAS_CHROMIUM, screenshot, startBrowser } from '../../harness/http/pages.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/servers/postgres.ts';
import { modes } from '../../harness/transfers/reviews.ts';
import { type ConsoleUnderTest, startConsole } from '../console-under-test.ts';
import {
  axeFindings,
  cutCells,
  keyboardProblems,
  openSignedIn,
  type WatchedPage,
  wideElements,
} from './browser-context.ts';
import { makeShownWorld } from './shown-world.ts';

// Every page and every remedy's form of the console in a browser: a new one is looked at as soon as it stands in its table (console/pages.ts).

const WIDE = { width: 1_280, height: 900 };
const NARROW = { width: 320, height: 640 };
/** In every role, so that every page and every form opens. */
const EVERYONE = {
  id: 'everyone',
  name: 'Emmy Noether',
  email: 'everyone@company.example',
  groups: ['sandbox-operators', 'sandbox-approvers', 'sandbox-compliance', 'sandbox-admins'],
  title: 'Everything',
};

describe.skipIf(!HAS_CHROMIUM)('in a browser', () => {
  let testDatabase: TestDatabase;
  let api: TestApi;
  let underTest: ConsoleUnderTest;
  let browser: Browser;
  let ids: Readonly<Record<string, string>>;
  let watched: WatchedPage;

  beforeAll(async () => {
    testDatabase = await createTestDatabase('console-pages-browser');
    api = await startApi(testDatabase, {
      env: { AUTHORIZATION_RULE: '10000' },
      configuration: modes('none', 'external'),
    });
    const { configuration } = api.services;
    underTest = await startConsole(testDatabase, { people: [EVERYONE], configuration: () => configuration });
    browser = await startBrowser();
    const { personId } = await underTest.signIn(EVERYONE.id);
    ids = { ...(await makeShownWorld(api, personId)), people: personId };
    watched = await openSignedIn(browser, underTest.url, EVERYONE.name);
  });

  afterAll(async () => {
    await browser?.close();
    await underTest?.stop();
    await api?.stop();
    await testDatabase?.drop();
  });

  const idFor = (path: string) => ids[path.slice(1).split('/:')[0] ?? ''];
  /** A remedy for many names in its address the remedy that it is for. */
  const queryFor = ({ kind }: Remedy) => (kind.startsWith('for-all-') ? '?remedy=cancel' : '');

  const PATHS = PAGES.map(({ path }) => ({ path }));
  test.each(PATHS)(
    'the page $path is for everybody: axe, 320 px, dark, keyboard, content security',
    async ({ path }) => {
      const { page, objections } = watched;
      const id = idFor(path);
      if (path.includes(':') && id === undefined) throw new Error(`the world of this test has nothing for ${path}`);
      await page.setViewportSize(WIDE);
      await page.emulateMedia({ colorScheme: 'light' });
      const answer = await page.goto(`${underTest.url}${addressAt(path, { id: id ?? '' })}`);
      expect(answer?.status(), path).toBe(200);
      const name = path.replaceAll(/\W+/g, '-').replace(/^-|-$/g, '') || 'today';
      await screenshot(page, name);
      expect(await axeFindings(page), 'light and wide').toEqual([]);
      expect(await wideElements(page), 'wide').toEqual([]);
      expect(await cutCells(page), 'cells').toEqual([]);
      await page.setViewportSize(NARROW);
      await page.emulateMedia({ colorScheme: 'dark' });
      await screenshot(page, `${name}-narrow-dark`);
      expect(await axeFindings(page), 'dark and narrow').toEqual([]);
      expect(await wideElements(page), 'narrow').toEqual([]);
      await page.setViewportSize(WIDE);
      expect(await keyboardProblems(page)).toEqual([]);
      expect(objections).toEqual([]);
    },
  );

  const KINDS = REMEDIES.map((remedy) => ({ kind: remedy.kind, remedy }));
  test.each(KINDS)('the form of $kind is for everybody: axe, 320 px, dark, content security', async ({ remedy }) => {
    const { page, objections } = watched;
    const id = idFor(remedy.page);
    objections.splice(0);
    await page.setViewportSize(NARROW);
    await page.emulateMedia({ colorScheme: 'dark' });
    const answer = await page.goto(`${underTest.url}${addressOf(remedy, { id: id ?? '' })}${queryFor(remedy)}`);
    expect(answer?.status(), remedy.kind).toBe(200);
    await screenshot(page, `remedy-${remedy.kind}`);
    expect(await axeFindings(page), 'dark and narrow').toEqual([]);
    expect(await wideElements(page), 'narrow').toEqual([]);
    expect(objections).toEqual([]);
  });
});
