import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readEndpoints } from '../../../cli/common/endpoints.ts';
import { signalProcess } from '../../../cli/common/processes.ts';
import { createDatabase } from '../../../db/client.ts';
import { checkLedger } from '../../../db/ledger/check.ts';
import type { Json } from '../../harness/api.ts';
import { HAS_CHROMIUM, startBrowser } from '../../harness/http/pages.ts';
import { ClockedService } from '../../harness/servers/clocked-service.ts';
import {
  newServiceInstallation,
  recordedProcess,
  removeServiceInstallation,
  type ServiceInstallation,
} from '../../harness/servers/started-service.ts';
import { until } from '../../harness/stage.ts';
import { AtConsole, AtShell, type Way } from './night-shift.ts';
import { type DeadReceiver, deadReceivers, reviewedTransfers, unmatchedPayments } from './night-world.ts';
import { expectNights, keepNight } from './nights-document.ts';

// Six nights, each twice: by the console in a browser, and by commands. A night begins with an alarm and ends mended.

/** Internal transfers in euros are reviewed; a receiver that takes nothing for a day is turned off. */
const SETTINGS = {
  compliance: { outgoing: { byCurrency: { EUR: 'external' } } },
  webhooks: { disableAfterHours: 24 },
};

describe.skipIf(!HAS_CHROMIUM)('a night', () => {
  let installation: ServiceInstallation;
  let service: ClockedService;
  let browser: Browser;
  let operator: AtConsole;
  let shell: AtShell;
  let account: Json;
  let reviewed: readonly Json[];
  let unmatched: readonly Json[];
  let firstDay = '';
  /** A payment that was asked for while all were stopped. */
  let stopped = '';
  let dead: readonly DeadReceiver[] = [];

  beforeAll(async () => {
    installation = await newServiceInstallation();
    service = await ClockedService.start(installation, SETTINGS);
    browser = await startBrowser();
    shell = new AtShell(installation);
    operator = await AtConsole.signIn(browser, installation, 'Olga Ladyzhenskaya');
    account = await service.account('GBP');
    await service.payIn(account, 1_000);
    [reviewed, unmatched, dead] = await Promise.all([
      reviewedTransfers(service),
      unmatchedPayments(service, account),
      deadReceivers(service),
    ]);
    await service.bank('/faults', { statement: ['unknown-payment', 'unknown-payment'] });
    firstDay = (await service.now()).toISOString().slice(0, 10);
    // The day ends, and what waits has waited for long.
    await service.moveClock({ advanceBy: 'P1DT2H' });
  });

  afterAll(async () => {
    await browser?.close();
    if (installation !== undefined) await removeServiceInstallation(installation);
    for (const { receiver } of dead) await receiver.close();
  });

  /** Both ways of a night, for docs/console.md. */
  const kept = (name: string, byConsole: Way, byCommands: Way) => keepNight({ name, byConsole, byCommands });
  const file = (name: string, content: unknown): string => {
    const path = join(installation.dataDirectory, name);
    writeFileSync(path, JSON.stringify(content));
    return path;
  };

  test('in which a bank is silent: stopped, started again once it answers, and looked up', async () => {
    /** The bank cuts every answer off after its effect. */
    const silence = async (amount: number) => {
      await service.bank('/faults', { cutRate: 1 });
      const { id } = await service.pay(account, amount, 'faster-payments');
      const transfer = await service.transferUntil(id, ({ status }) => status === 'processing');
      await service.moveClock({ advanceBy: 'PT15M' });
      return transfer;
    };
    const answers = () => service.bank('/faults', { cutRate: 0 });

    const first = await silence(25);
    await operator.today(/1 payments whose outcome their provider has not said/);
    await operator.follow('See what waits');
    await operator.follow(first.transactionNumber);
    await operator.remedy('Look up at the bank', { says: 'The bank is being asked.' });
    await operator.today(/1 payments whose outcome/);
    await operator.remedy('Stop all payments', { says: 'No payment goes to any bank' });
    ({ id: stopped } = await service.pay(account, 26, 'faster-payments'));
    await answers();
    await operator.remedy('Start payments again', { says: 'What waited goes out' });
    await operator.search(first.transactionNumber);
    await operator.follow(first.transactionNumber);
    await operator.sees('It waits for nothing');
    expect((await service.transfer(first.id)).status).toBe('completed');

    const second = await silence(27);
    expect(await shell.fas('doctor')).toContain('payments whose outcome their provider has not said');
    await shell.fas('outgoing-transfers', 'list', '--query', 'data.outgoingTransfer.status=processing');
    expect(await shell.fas('why', second.id)).toContain('processing');
    await shell.fas('submissions', 'close', '--reason', 'the bank is silent');
    await answers();
    await shell.fas('submissions', 'open', '--reason', 'the bank answers');
    await shell.fas('outgoing-transfers', 'look-up', second.id);
    await service.transferUntil(second.id, ({ status }) => status === 'completed');
    expect(await shell.fas('why', second.id)).toContain('completed');
    kept('A bank is silent', operator.way(), shell.way());
  });

  test('in which a payment matches no account: assigned to the account that is near', async () => {
    const [first, second] = unmatched;
    await operator.today(/payments in that matched no account/);
    await operator.section('Money without an owner');
    await operator.follow(first.transactionNumber);
    await operator.sees('Who is it for?');
    await operator.remedy('Assign to an account', {
      link: 'Assign it to this account',
      says: 'is credited to the account',
    });
    await operator.sees('It waits for nothing');
    expect(await service.get(`/incoming-transfers/${first.id}`, 'incomingTransfer')).toMatchObject({
      status: 'completed',
    });

    expect(await shell.fas('doctor')).toContain('payments in that matched no account');
    await shell.fas('incoming-transfers', 'list', '--query', 'data.incomingTransfer.status=on-hold');
    expect(await shell.fas('why', second.id)).toContain(account.id);
    await shell.fas('held-transfers', 'assign', second.id, account.id);
    expect(await shell.fas('why', second.id)).toContain('completed');
    kept('A payment in matches no account', operator.way(), shell.way());
  });

  test('in which a review waits: decided by compliance', async () => {
    const [first, second] = reviewed;
    const reviewer = await AtConsole.signIn(browser, installation, 'Carl Friedrich Gauss');
    await reviewer.today('compliance');
    await reviewer.section('Reviews');
    await reviewer.follow(first.transactionNumber);
    await reviewer.remedy('Decide', {
      says: 'the transfer completed',
      fill: () => reviewer.page.getByLabel('Result').selectOption('all-passed'),
    });
    expect((await service.transfer(first.id)).status).toBe('completed');

    await shell.fas('outgoing-transfers', 'list', '--query', 'data.outgoingTransfer.waitingFor=compliance');
    await shell.fas('why', second.id);
    await shell.fas('compliance', 'decide', 'outgoing-transfer', second.id, 'all-passed');
    expect(await shell.fas('why', second.id)).toContain('completed');
    kept('A review waits', reviewer.way(), shell.way());
  });

  test('in which receivers are dead: active again, and what they missed is delivered', async () => {
    const [first, second] = dead;
    if (first === undefined || second === undefined) throw new Error('there are two receivers');
    await until(
      () => service.get('/webhook-subscriptions', 'webhookSubscriptions'),
      (all: Json[]) => all.filter(({ status }) => status === 'disabled').length === 2,
    );
    for (const { receiver } of dead) receiver.answer((_message, response) => response.writeHead(200).end());
    const delivered = ({ receiver }: DeadReceiver, before: number) =>
      until(
        async () => receiver.received.length,
        (count) => count > before,
      );
    const seen = dead.map(({ receiver }) => receiver.received.length);
    const from = new Date((await service.now()).getTime() - 3 * 24 * 3_600_000).toISOString().slice(0, 19);

    const admin = await AtConsole.signIn(browser, installation, 'Alan Turing');
    await admin.today(/webhook subscriptions were disabled/);
    await admin.follow('See who does not hear us');
    await admin.follow(`127.0.0.1:${first.receiver.port}`);
    await admin.remedy('Make active', { says: 'They are active' });
    await admin.remedy('Replay a range', {
      says: 'are being sent again',
      fill: () => admin.page.getByLabel('From, in UTC').fill(from),
    });
    await delivered(first, seen[0] ?? 0);
    await admin.follow('All, newest first');
    await admin.sees('succeeded');

    expect(await shell.fas('doctor')).toContain('were disabled');
    await shell.fas('webhook-subscriptions', 'list');
    const active = file('active.json', {
      workflow: { code: 'direct' },
      data: { webhookSubscription: { status: 'active' } },
    });
    await shell.fas('webhook-subscriptions', 'update', second.id, '--data', `@${active}`);
    const range = file('range.json', { workflow: { code: 'direct' }, data: { replay: { from: `${from}Z` } } });
    await shell.fas('webhook-subscriptions', 'replay', second.id, '--data', `@${range}`);
    await delivered(second, seen[1] ?? 0);
    await shell.fas('webhook-deliveries', 'list', '--query', `data.webhookDelivery.webhookSubscriptionId=${second.id}`);
    kept('A receiver is dead', admin.way(), shell.way());
  });

  test('in which a day does not agree: each break is resolved with a note', async () => {
    const open = (): Promise<Json[]> =>
      service.get('/reconciliation-breaks?data.reconciliationBreak.status=open', 'reconciliationBreaks');
    // The morning's comparison, which does not wait for its schedule here.
    expect(await shell.fas('reconciliations', 'run', 'sandbox-bank', firstDay)).toContain('statement-unknown-payment');
    shell.way();
    expect((await open()).length).toBe(2);
    await operator.today(/differences to providers’ statements are open/);
    await operator.section('Reconciliation');
    await operator.follow(/: differ/);
    await operator.follow('statement-unknown-payment');
    await operator.remedy('Resolve with a note', {
      says: 'resolved',
      fill: () => operator.page.getByLabel('What was found out').fill('theirs by mistake; they took it back'),
    });

    expect(await shell.fas('doctor')).toContain('differences to providers’ statements are open');
    const [left] = await open();
    await shell.fas('reconciliations', 'breaks');
    await shell.fas('reconciliations', 'resolve-break', left.id, '--note', 'theirs by mistake; they took it back');
    await shell.fas('reconciliations', 'breaks');
    expect((await open()).length).toBe(0);
    kept('A day does not agree', operator.way(), shell.way());
  });

  test('in which Temporal is away: the console says so, and a payment goes on once it is back', async () => {
    /** Amounts ending in .10 stay released until the bank settles them. */
    const released = async (amount: number) => {
      const { id } = await service.pay(account, amount, 'faster-payments');
      return service.transferUntil(id, ({ status }) => status === 'released');
    };
    const temporal = () => {
      const found = recordedProcess(installation, 'temporal');
      if (found === undefined) throw new Error('Temporal does not run');
      return found;
    };
    const [first, second] = [await released(30.1), await released(31.1)];
    // It is killed while it stands still: its supervisor starts it again.
    signalProcess(temporal(), 'SIGSTOP');
    await operator.today('Temporal does not answer');
    await operator.search(first.transactionNumber);
    await operator.follow(first.transactionNumber);
    await operator.sees('not known, as Temporal does not answer');
    await operator.sees(/^It waits for (?!nothing)/);
    signalProcess(temporal(), 'SIGKILL');
    await operator.sees(/Workflow.*runs/);
    await operator.remedy('Restart its workflow', { says: 'The run is ended.' });
    await service.bank(`/payments/${first.id}/settle`, {});
    await operator.sees('It waits for nothing');
    expect((await service.transfer(first.id)).status).toBe('completed');

    signalProcess(temporal(), 'SIGSTOP');
    expect(await shell.fas('doctor')).toContain('Temporal does not answer');
    await shell.fas('why', second.id);
    signalProcess(temporal(), 'SIGKILL');
    await shell.fasUntil('runs', 'why', second.id);
    await shell.fasUntil('fresh run', 'workflows', 'restart', `outgoing-transfer/${second.id}`);
    await service.bank(`/payments/${second.id}/settle`, {});
    await service.transferUntil(second.id, ({ status }) => status === 'completed');
    expect(await shell.fas('why', second.id)).toContain('completed');
    kept('Temporal is away', operator.way(), shell.way());
  });

  test('ends with every payment made, books that balance, and the page of the six nights', async () => {
    await service.transferUntil(stopped, ({ status }) => status === 'completed');
    const { databaseUrl } = readEndpoints(installation.dataDirectory);
    const database = createDatabase({
      url: databaseUrl,
      maxConnections: 2,
      applicationName: 'checks',
      deadlineMs: 60_000,
    });
    expect(await checkLedger(database.reader).finally(() => database.close())).toEqual([]);
    expectNights('docs/console.md');
  });
});
