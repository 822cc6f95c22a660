import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readEndpoints } from '../../cli/common/endpoints.ts';
import { createDatabase } from '../../db/client.ts';
import { checkLedger } from '../../db/ledger/check.ts';
import type { Json } from '../harness/api.ts';
import {
  HAS_CHROMIUM,
  lowestContrast,
  phonePage,
  screenshot,
  startBrowser,
  unnamedControls,
  widthBeyondScreen,
} from '../harness/http/pages.ts';
import { ClockedService } from '../harness/servers/clocked-service.ts';
import {
  newServiceInstallation,
  removeServiceInstallation,
  type ServiceInstallation,
} from '../harness/servers/started-service.ts';
import { until } from '../harness/stage.ts';

let installation: ServiceInstallation;
let service: ClockedService;
let browser: Browser;
let email = '';
let password = '';

describe.skipIf(!HAS_CHROMIUM)('a person whom the start has made, with a phone', () => {
  beforeAll(async () => {
    installation = await newServiceInstallation();
    service = await ClockedService.start(installation);
    browser = await startBrowser();
    [, email = '', password = ''] = /Sign in as (\S+) with the password (\S+)/.exec(service.output()) ?? [];
    await until(accounts, (found) => found.every(({ availableBalance }) => availableBalance > 0));
  });

  afterAll(async () => {
    await browser?.close();
    await removeServiceInstallation(installation);
  });

  const accounts = async (): Promise<Json[]> => {
    const [user] = await service.get(`/users?data.user.category=external&data.user.email=${email}`, 'users');
    return service.get(`/accounts?data.account.userId=${user.id}`, 'accounts');
  };
  const consents = (): Promise<Json[]> => service.get('/open-banking/GB/consents?metadata.page.size=100', 'consents');
  const latestConsent = async (): Promise<Json> => (await consents()).at(-1);
  const transfers = (): Promise<Json[]> => service.get('/outgoing-transfers', 'outgoingTransfers');

  const open = (page: Page, path = '/third-party') => page.goto(`${installation.sandboxUrl}${path}`);
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

  /** Waits for the page with this heading. */
  const titled = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

  async function signIn(page: Page, submit: string, labels = ['E-mail address', 'Password']): Promise<void> {
    await page.getByLabel(labels[0] ?? '').fill(email);
    await page.getByLabel(labels[1] ?? '').fill(password);
    await press(page, submit);
    await page.getByRole('group').waitFor();
  }

  /** Looks at a page as its readers do. */
  async function look(page: Page, name: string): Promise<void> {
    await screenshot(page, name);
    expect(await widthBeyondScreen(page), name).toBe(0);
    expect(await unnamedControls(page), name).toBe(0);
    expect(await lowestContrast(page), name).toBeGreaterThanOrEqual(4.5);
    expect(await page.getByRole('main').count(), name).toBe(1);
  }

  test('shares one account: asks, signs in, chooses, comes back, and the application reads only that account', async () => {
    const page = await phonePage(browser);
    await open(page, '/');
    await look(page, 'sandbox');
    await page.getByRole('link', { name: 'Harbour Budget' }).tap();
    await titled(page, 'What would you like to do?');
    await look(page, 'home');
    await press(page, 'Read my accounts');

    await titled(page, 'Sign in to answer');
    await look(page, 'sign-in');
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password').fill('not the password');
    await press(page, 'Sign in');
    await page.getByText('No user has this e-mail address and this password.').waitFor();
    await look(page, 'sign-in-wrong');
    expect(await page.getByLabel('E-mail address').inputValue()).toBe(email);
    await signIn(page, 'Sign in');

    await titled(page, 'Harbour Budget asks to see your accounts');
    await look(page, 'consent-accounts');
    await press(page, 'Approve');
    await page.getByText('Please choose at least one account.').waitFor();
    await look(page, 'consent-accounts-none');
    await page.getByRole('checkbox', { name: 'Everyday' }).check();
    await press(page, 'Approve');
    await page.waitForURL('**/third-party/accounts');

    await titled(page, 'Your accounts');
    expect(await page.getByRole('listitem').count()).toBe(1);
    await page.getByText('Available: £1,250.00').waitFor();
    await look(page, 'accounts');
    await page.getByRole('link', { name: 'Transactions of Everyday' }).tap();
    await titled(page, 'Transactions of Everyday');
    expect(await page.getByRole('listitem').allTextContents()).toEqual([expect.stringContaining('£1,250.00')]);
    await look(page, 'transactions');
    const cookies = await page.context().cookies();
    expect(cookies.map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite])).toEqual(
      expect.arrayContaining([['third-party', true, 'Lax']]),
    );
    // The session at the front office has ended with the answer.
    expect(cookies.find(({ name }) => name === 'front-office')).toBeUndefined();

    const { id, accounts: shared } = await latestConsent();
    expect(shared).toEqual([(await accounts()).find(({ alias }) => alias === 'Everyday').id]);
    await service.call('PATCH', `/open-banking/GB/consents/${id}`, {
      workflow: { code: 'direct' },
      data: { consent: { action: 'revoke' } },
    });
    await page.reload();
    await titled(page, 'Access has ended');
    await look(page, 'over');
  });

  test('a sign-in answers one request: the next one at the same browser asks who is there', async () => {
    const page = await phonePage(browser);
    await open(page);
    await press(page, 'Read my accounts');
    await signIn(page, 'Sign in');
    await titled(page, 'Harbour Budget asks to see your accounts');
    await page.reload();
    await titled(page, 'Harbour Budget asks to see your accounts');
    await open(page);
    await press(page, 'Pay');
    await titled(page, 'Sign in to answer');
    expect(await page.getByText('Everyday').count()).toBe(0);
  });

  test('pays once: the transfer is there, and reloaded pages pay nothing more', async () => {
    const page = await phonePage(browser);
    await open(page);
    await page.getByLabel('Amount in pounds').fill('0');
    await press(page, 'Pay');
    await page.getByText('Please enter an amount above zero').waitFor();
    await look(page, 'amount-wrong');
    await page.getByLabel('Amount in pounds').fill('40,50');
    await press(page, 'Pay');
    await signIn(page, 'Sign in');
    await titled(page, 'Harbour Budget asks to pay £40.50 for you');
    await look(page, 'consent-payment');
    await page.getByRole('radio', { name: 'Savings' }).check();
    await press(page, 'Approve the payment');
    await page.waitForURL('**/third-party/payment');
    await titled(page, 'Your payment is on its way');
    await look(page, 'payment');
    await page.reload();
    await page.goBack();

    const made = await until(transfers, (all) => all.length > 0 && all.every(({ status }) => status === 'completed'));
    expect(made).toEqual([expect.objectContaining({ amount: 40.5, currency: 'GBP', status: 'completed' })]);
    expect((await latestConsent()).status).toBe('consumed');
    expect((await accounts()).map(({ availableBalance }) => availableBalance).sort()).toEqual([1_250, 7_959.5]);
  });

  test('rejects, in French and with the keyboard only: nothing is shared', async () => {
    const page = await phonePage(browser, { locale: 'fr-FR' });
    await open(page);
    await titled(page, 'Que souhaitez-vous faire ?');
    await look(page, 'home-french');
    await page.getByRole('button', { name: 'Lire mes comptes' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Adresse e-mail').focus();
    await page.keyboard.type(email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(password);
    await page.keyboard.press('Enter');
    await page.getByRole('group').waitFor();
    await titled(page, 'Harbour Budget demande à voir vos comptes');
    await look(page, 'consent-french');
    // Past the accounts and the approval.
    await page.getByRole('button', { name: 'Accepter' }).focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('Rien n’a été communiqué').waitFor();
    await titled(page, 'Vous avez refusé');
    await look(page, 'rejected-french');
    expect((await latestConsent()).status).toBe('rejected');
  });

  test('goes the whole way in German without JavaScript, by pasting the address', async () => {
    const page = await phonePage(browser, { locale: 'de-DE', javaScriptEnabled: false });
    await open(page);
    await titled(page, 'Was möchten Sie tun?');
    await press(page, 'Meine Konten lesen');
    await signIn(page, 'Anmelden', ['E-Mail-Adresse', 'Passwort']);
    await titled(page, 'Harbour Budget möchte Ihre Konten sehen');
    await screenshot(page, 'consent-german');
    for (const box of await page.getByRole('checkbox').all()) await box.check();
    await press(page, 'Zustimmen');
    await page.waitForURL('**/third-party/callback#*');
    await titled(page, 'Willkommen zurück');
    await screenshot(page, 'callback-german');
    const address = page.url();
    await page.getByLabel('Adresse dieser Seite').fill('http://127.0.0.1/third-party/callback');
    await press(page, 'Weiter');
    await page.getByText('Diese Adresse enthält keine Antwort').waitFor();
    await page.getByLabel('Adresse dieser Seite').fill(address);
    await press(page, 'Weiter');
    await page.waitForURL('**/third-party/accounts');
    await titled(page, 'Ihre Konten');
    expect(await page.getByRole('listitem').count()).toBe(2);

    // An answer belongs to the browser that has asked, and counts once.
    const other = await phonePage(browser, { javaScriptEnabled: false });
    for (const [at, heading] of [
      [page, 'Diese Antwort gehört zu keiner offenen Anfrage'],
      [other, 'This answer belongs to no open request'],
    ] as const) {
      await open(at, '/third-party/callback');
      await at.getByRole('textbox').fill(address);
      await at.getByRole('button').click();
      await titled(at, heading);
    }
    expect((await latestConsent()).status).toBe('authorised');
  });

  test('switches the language of every page, which is remembered', async () => {
    const page = await phonePage(browser);
    await open(page);
    await page.getByRole('link', { name: 'Deutsch' }).tap();
    await titled(page, 'Was möchten Sie tun?');
    expect(await page.getAttribute('html', 'lang')).toBe('de');
    await press(page, 'Meine Konten lesen');
    await titled(page, 'Zum Antworten anmelden');
    await page.getByRole('link', { name: 'Français' }).tap();
    await titled(page, 'Connectez-vous pour répondre');
    await page.getByRole('link', { name: 'English' }).tap();
    await signIn(page, 'Sign in');
    await page.getByRole('link', { name: 'Deutsch' }).tap();
    await titled(page, 'Harbour Budget möchte Ihre Konten sehen');
  });

  test('cannot be made to answer by another site, or for accounts of others', async () => {
    const page = await phonePage(browser);
    await open(page);
    await press(page, 'Read my accounts');
    await signIn(page, 'Sign in');
    const stranger = await service.account('GBP');
    const [own] = await accounts();
    const csrf = await page.locator('form[action$="/answer"] input[name=csrf]').inputValue();
    // With the cookies of the browser.
    const answer = async (form: Record<string, string>) => {
      const response = await page.request.post(`${page.url()}/answer`, { form });
      return [response.status(), /role="alert" id="problem">([^<]*)</.exec(await response.text())?.[1]];
    };
    const stale = [422, 'This page was open for too long. Please answer again.'];
    expect(await answer({ answer: 'approve', account: own.id })).toEqual(stale);
    expect(await answer({ csrf: 'x'.repeat(csrf.length), answer: 'reject' })).toEqual(stale);
    expect(await answer({ csrf, answer: 'approve', account: stranger.id })).toEqual([
      422,
      'Please choose at least one account.',
    ]);
    expect(await answer({ csrf, account: own.id })).toEqual([200, undefined]);
    expect(await latestConsent()).toMatchObject({ status: 'awaiting-authorisation', accounts: null });
    expect(await page.content()).not.toContain(stranger.id);

    // A user who may no longer sign in sees and answers nothing more.
    const [{ id }] = await service.get(`/users?data.user.category=external&data.user.email=${email}`, 'users');
    const become = (status: string) =>
      service.call('PATCH', `/users/${id}`, {
        workflow: { code: 'human.external.direct' },
        data: { user: { status } },
      });
    expect((await become('inactive')).status).toBe(200);
    expect(await answer({ csrf, answer: 'reject' })).toEqual([200, undefined]);
    expect((await latestConsent()).status).toBe('awaiting-authorisation');
    await page.reload();
    await titled(page, 'Sign in to answer');
    expect((await become('active')).status).toBe(200);
  });

  test('says in plain words what came too late', async () => {
    const page = await phonePage(browser, { javaScriptEnabled: false });
    await open(page);
    await press(page, 'Read my accounts');
    await signIn(page, 'Sign in');
    await page.getByRole('checkbox', { name: 'Everyday' }).check();
    await press(page, 'Approve');
    await page.waitForURL('**/third-party/callback#*');
    await service.moveClock({ advanceBy: 'PT2M' });
    await page.getByRole('textbox').fill(page.url());
    await page.getByRole('button').click();
    await page.getByText('An approval must be used within a minute').waitFor();
    await titled(page, 'This answer came too late');

    await open(page);
    await press(page, 'Read my accounts');
    const request = page.url();
    await service.moveClock({ advanceBy: 'PT11M' });
    await until(
      async () => (await latestConsent()).status,
      (status) => status === 'expired',
    );
    expect((await page.goto(request))?.status()).toBe(410);
    await titled(page, 'This request has expired');
    await page.getByRole('link', { name: 'Back to Harbour Budget' }).click();
    await page.waitForURL('**/third-party');
    expect((await page.goto(`${installation.sandboxUrl}/front-office/consents/${crypto.randomUUID()}`))?.status()).toBe(
      404,
    );
    await titled(page, 'There is no such request');
  });

  test('leaves books that balance', async () => {
    const { databaseUrl } = readEndpoints(installation.dataDirectory);
    const database = createDatabase({
      url: databaseUrl,
      maxConnections: 2,
      applicationName: 'checks',
      deadlineMs: 60_000,
    });
    expect(await checkLedger(database.reader).finally(() => database.close())).toEqual([]);
  });
});
