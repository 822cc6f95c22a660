import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readEndpoints } from '../../../cli/common/endpoints.ts';
import { createDatabase } from '../../../db/client.ts';
import { checkLedger } from '../../../db/ledger/check.ts';
import { FILES_ACCOUNT_NUMBER, FILES_PROVIDER } from '../../../dev/start/development-bank.ts';
import { paymentReferenceOf } from '../../../domain/common/payment-references.ts';
import type { Json } from '../../harness/api.ts';
import { HAS_CHROMIUM, startBrowser } from '../../harness/http/pages.ts';
import { ClockedService } from '../../harness/servers/clocked-service.ts';
import {
  newServiceInstallation,
  removeServiceInstallation,
  type ServiceInstallation,
} from '../../harness/servers/started-service.ts';
import { until } from '../../harness/stage.ts';
import { exchangeSettings, MISTAKE, rejectedByMistake, WINDOW } from './bank-night.ts';
import { AtConsole, AtShell } from './night-shift.ts';

// The night in which the bank's server is away (docs/runbook/providers.md), by two people at the console. The tests are its hours.

describe.skipIf(!HAS_CHROMIUM)('the night in which the bank’s server is away', () => {
  let installation: ServiceInstallation;
  let service: ClockedService;
  let browser: Browser;
  let olga: AtConsole;
  let otto: AtConsole;
  let shell: AtShell;
  let account: Json;
  /** A payment whose file is carried, one whose file is doubted, and one that the bank rejects before any file has it. */
  let carried: Json;
  let doubted: Json;
  let mistaken: Json;

  beforeAll(async () => {
    installation = await newServiceInstallation();
    service = await ClockedService.start(installation, await exchangeSettings(installation));
    browser = await startBrowser();
    shell = new AtShell(installation);
    olga = await AtConsole.signIn(browser, installation, 'Olga Ladyzhenskaya');
    otto = await AtConsole.signIn(browser, installation, 'Otto Hahn');
    account = await service.account('GBP', FILES_PROVIDER);
    await service.fileBank('POST', '/payments-in', {
      amount: 1_000,
      currency: 'GBP',
      scheme: 'faster-payments',
      senderName: 'A Payer',
      accountNumber: FILES_ACCOUNT_NUMBER,
      routingCodes: account.routingCodes,
      reference: account.ledgerNumber,
    });
    await until(
      () => service.get(`/accounts/${account.id}`, 'account'),
      ({ availableBalance }) => availableBalance === 1_000,
    );
    expect((await service.fileBank('POST', '/faults', { connection: 'away' })).status).toBe(200);
  });

  afterAll(async () => {
    await browser?.close();
    if (installation !== undefined) await removeServiceInstallation(installation);
  });

  const pay = async (amount: number) => {
    const paid = await service.pay(account, amount, 'faster-payments');
    await shell.fasUntil('it waits for the next file', 'why', paid.id);
    return paid;
  };
  const isCompleted = (id: string) => service.transferUntil(id, ({ status }) => status === 'completed');
  const lastPart = (page: AtConsole) => new URL(page.page.url()).pathname.split('/').at(-1) ?? '';

  /** The customer's folders at the bank, which its staff reach without its server. */
  const atBank = (folder: 'in' | 'out') =>
    join(installation.dataDirectory, 'sandbox/file-bank/customers', FILES_PROVIDER, folder);
  function giveToBank(name: string, content: string | Buffer): void {
    writeFileSync(join(atBank('in'), `.${name}`), content);
    renameSync(join(atBank('in'), `.${name}`), join(atBank('in'), name));
  }

  /** The bank's newest message of a kind that has this text. */
  function fromBank(kind: string, text: string): Promise<string> {
    return until(
      async () =>
        readdirSync(atBank('out'))
          .filter((name) => name.startsWith(kind))
          .find((name) => readFileSync(join(atBank('out'), name), 'utf8').includes(text)) ?? '',
      (name) => name !== '',
    );
  }

  /** One of ours, which a person takes from the service; its bytes. */
  async function takenOut(fileId: string): Promise<{ readonly name: string; readonly content: Buffer }> {
    const folder = join(installation.dataDirectory, 'carried');
    mkdirSync(folder, { recursive: true });
    const said = await shell.fas('bank-files', 'deliver', fileId, '--to', folder, '--reason', 'its server is away');
    expect(said).toContain('is yours to carry');
    const [name = ''] = readdirSync(folder).slice(-1);
    const content = readFileSync(join(folder, name));
    await shell.fas('bank-files', 'show', fileId);
    return { name, content };
  }

  const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex');
  const digest = (person: AtConsole, text: string) => () =>
    person.page.getByLabel('Digest of what the bank has').fill(text);

  /** From any page: a file of ours that waits for its delivery. */
  async function openBuilt(person: AtConsole): Promise<string> {
    await person.section('Bank files');
    await person.page.locator('select[name=state]').selectOption('built');
    await person.page.getByRole('main').getByRole('button', { name: 'Filter' }).click();
    await person.page.waitForURL('**state=built**');
    // A busy service builds it later, and rows under the pointer, which is where the button was, do not refresh.
    await until(
      async () => {
        await person.page.reload();
        return person.page
          .getByRole('main')
          .getByRole('link', { name: /^pain001/ })
          .count();
      },
      (count) => count > 0,
    );
    await person.follow(/^pain001/);
    return lastPart(person);
  }

  /** Olga brings a file of the bank; the request's id. */
  async function bring(name: string): Promise<string> {
    const { page } = olga;
    await olga.section('Bank files');
    await olga.remedy('Bring a file of a bank', {
      says: 'It is kept. It is read once another person has signed.',
      fill: async () => {
        await page.locator('select[name=bank]').selectOption(FILES_PROVIDER);
        await page.getByLabel('Its name').fill(name);
        await page.getByLabel('The bank’s file').setInputFiles(join(atBank('out'), name));
      },
    });
    return lastPart(olga);
  }

  const openRequest = async (person: AtConsole, id: string) => {
    await person.page.goto(`${installation.consoleUrl}/bank-file-requests/${id}`);
  };

  async function signed(id: string): Promise<void> {
    await openRequest(otto, id);
    await otto.remedy('Sign', { says: 'Signed: all 1 done.' });
  }

  test('in which a file is not delivered: an alarm, until one person carries it and the bank has its digest', async () => {
    carried = await pay(25);
    await service.moveClock({ advanceBy: WINDOW });
    await olga.section('Bank files');
    await olga.sees(/^pain001/);
    await service.moveClock({ advanceBy: 'PT31M' });
    await olga.today(/A file of payments has not been at its bank for/);
    await olga.follow('See the bank files');
    const id = await openBuilt(olga);
    await olga.sees('sandbox-files, ours');
    await olga.sees(carried.transactionNumber);
    const { name, content } = await takenOut(id);
    await olga.page.reload();
    await olga.sees(/handed-out/);
    giveToBank(name, content);

    await olga.remedy('The bank has it', { says: 'is not that of this file', fill: digest(olga, '0'.repeat(64)) });
    await olga.follow('Leave it as it is');
    await olga.remedy('The bank has it', {
      says: 'It is at the bank, and never uploaded again.',
      fill: digest(olga, sha256(content)),
    });
    await olga.sees(/^delivered/);
    await olga.sees('£25.00');
  });

  test('in which what the bank answers is brought: it counts once another person has signed', async () => {
    const name = await fromBank('pain.002', paymentReferenceOf(carried.id));
    const rejected = await bring(name);
    await olga.sees('You asked for it: another person must sign.');
    await olga.page.goto(`${installation.consoleUrl}/bank-file-requests/${rejected}/sign-bank-file-request`);
    await olga.sees('You asked for it: another person must sign.');

    // Otto reads, while Olga changes her mind.
    await olga.section('Approvals');
    await olga.sees('Yours: another person must sign.');
    await otto.section('Approvals');
    await otto.follow('Sign: Read a file that a person brought, sandbox-files');
    await otto.sees('What will happen');
    await openRequest(olga, rejected);
    await olga.remedy('Reject', { says: 'Rejected: nothing is done.' });
    await otto.page.getByLabel('Reason, for the audit log').fill('as the bank says');
    await otto.page.getByRole('main').getByRole('button', { name: 'Sign' }).click();
    await otto.sees('cannot be signed: it was rejected');
    expect((await service.transfer(carried.id)).status).toBe('processing');

    await signed(await bring(name));
    await isCompleted(carried.id);
    await otto.section('Bank files');
    await otto.follow(name);
    await otto.sees(/taken/);
    await otto.sees(/settled/);
  });

  test('in which a file is doubted: set aside, it is not seen to while its payment is open, and the other person finds it at the bank', async () => {
    doubted = await pay(30);
    await service.moveClock({ advanceBy: WINDOW });
    const id = await openBuilt(olga);
    const { name, content } = await takenOut(id);
    giveToBank(name, content);
    await olga.page.reload();
    await olga.remedy('Set aside', { says: 'It is set aside.' });
    await olga.sees(/Payments of it are open: ask the bank/);
    await olga.page.goto(`${installation.consoleUrl}/bank-files/${id}/settle-file`);
    await olga.sees(/Payments of it are open: ask the bank/);

    await otto.today(/1 bank files are set aside/);
    await otto.follow('See the bank files');
    await otto.follow('Set aside');
    await otto.follow(name);
    await otto.remedy('The bank has it', {
      says: 'It is at the bank, and never uploaded again.',
      fill: digest(otto, sha256(content).toUpperCase()),
    });
    await otto.sees(/^delivered/);
    await signed(await bring(await fromBank('pain.002', paymentReferenceOf(doubted.id))));
    await isCompleted(doubted.id);
  });

  test('in which the bank rejects what it never had: held, and released by two people once all is read', async () => {
    mistaken = await pay(26);
    writeFileSync(join(atBank('out'), MISTAKE), rejectedByMistake(paymentReferenceOf(mistaken.id)));
    await signed(await bring(MISTAKE));
    await olga.section('Bank files');
    await olga.follow('Held payments');
    await olga.sees('the bank speaks of it, and no file of ours has carried it');
    await service.fileBank('POST', '/strange-files', { customer: FILES_PROVIDER, kind: 'garbage' });
    const garbage = await fromBank('pain.002', 'Dear customer');
    await signed(await bring(garbage));

    await olga.section('Bank files');
    await olga.follow('Held payments');
    await olga.remedy('Say what the bank says', {
      says: 'It is asked for. Nothing happens until another person has signed.',
      fill: async () => {
        await olga.page.locator('select[name=bank]').selectOption(FILES_PROVIDER);
        await olga.page.locator('select[name=says]').selectOption('not-received');
        await olga.page.getByLabel('Payment, by its id').fill(mistaken.id);
      },
    });
    const release = lastPart(olga);
    await openRequest(otto, release);
    await otto.remedy('Sign', { says: `The file ${garbage} of ${FILES_PROVIDER} is not read` });

    await olga.section('Bank files');
    await olga.follow('Set aside');
    await olga.follow(garbage);
    await olga.remedy('It is seen to', { says: 'Its alarm has ended.' });
    await signed(release);
    await olga.section('Bank files');
    await olga.follow('Held payments');
    await olga.sees('No payment is held.');
  });

  test('in which the server is back: what waited goes out, what was carried goes no second time, and the books agree', async () => {
    expect((await service.fileBank('DELETE', '/faults')).status).toBe(200);
    await service.moveClock({ advanceBy: WINDOW });
    await isCompleted(mistaken.id);
    await olga.today(/differences to providers’ statements are open/);
    await olga.section('Bank files');
    const { body } = await service.fileBank('GET', `/statement?account=${FILES_ACCOUNT_NUMBER}`);
    const debits = body.entries.filter(({ direction }: Json) => direction === 'debit');
    expect(debits.map(({ amount }: Json) => amount)).toEqual([25, 30, 26]);
    const left = await service.get(`/accounts/${account.id}`, 'account');
    expect(left).toMatchObject({ availableBalance: 919 });
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
