import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ProviderUnavailable } from '../../activities/providers/port.ts';
import type { RunningWorkers } from '../../activities/worker.ts';
import { wake } from '../../db/common/workflow-wakeups.ts';
import {
  failOutgoingTransfer,
  moveToNextWindow,
  requestLookUp,
  retrySubmission,
} from '../../db/outgoing-transfers/operator-commands.ts';
import { authorization } from '../../db/outgoing-transfers/requested-changes.ts';
import { changeUnderLocks } from '../../db/transfers/requested-changes.ts';
import { asId, type OutgoingTransferId } from '../../domain/common/ids.ts';
import { calendarChanges } from '../../loops/calendars.ts';
import { workflowId } from '../../workflows/common/messages.ts';
import { timeSkippingEnvironment } from '../harness/servers/temporal.ts';
import { type Stage, type StageOptions, setStage, until } from '../harness/stage.ts';
import { type OwnCalendar, ownCalendar } from '../harness/transfers/calendar-world.ts';
import { countEvents, type History, textOf, timersSeconds } from '../harness/workflows/histories.ts';
import { bundleOf, releaseBefore } from '../harness/workflows/releases.ts';
import { acceptedPayment, completedPayment, MONEY } from '../harness/workflows/scripted-provider.ts';
import { stagedConsent } from '../harness/workflows/staged-consents.ts';

/** Days pass in moments: Temporal's test server skips idle time, and the database's clock follows it. */
let environment: TestWorkflowEnvironment;
let stage: Stage;
let workers: RunningWorkers;
let own: OwnCalendar;
let offsetMs = 0;
/** How far the database's clock is ahead of the server's. */
let aheadMs = 0;

/**
 * Before each transaction, and not now and then: the server skips weeks in no time, so that a worker which its timer woke
 * would decide by a clock that still shows the day on which it began to wait. While anything is being done nothing is skipped.
 */
async function followServer(): Promise<void> {
  offsetMs = (await environment.currentTimeMs()) - Date.now() + aheadMs;
}

beforeAll(async () => {
  own = ownCalendar();
  environment = await timeSkippingEnvironment();
});

afterAll(async () => {
  await environment?.teardown();
  own?.remove();
});

function setSkippingStage(pools: StageOptions['pools'] = {}): Promise<Stage> {
  return setStage({
    name: 'workflow-timers',
    address: environment.address,
    clockOffset: () => `${offsetMs} milliseconds`,
    readClock: followServer,
    configFile: own.configFile,
    pools,
  });
}

beforeEach(async () => {
  aheadMs = 0;
  await followServer();
  stage = await setSkippingStage();
  stage.relay.start();
  workers = stage.startWorkers();
  await workers.ready;
});

afterEach(async () => {
  own.close();
  await stage.close();
});

/** Waits until Temporal has received the transfer's wake-ups. */
async function wokenUp(id: OutgoingTransferId): Promise<void> {
  const query = 'SELECT FROM workflow_wakeups WHERE workflow_id = $1';
  await until(
    () => stage.database.reader.statement(query, [workflowId('outgoing-transfer', id)]),
    (wakeups) => wakeups.length === 0,
  );
}

/** Waits for the workflow's end; while it does, time is skipped. */
async function end(id: OutgoingTransferId) {
  const handle = environment.client.workflow.getHandle(workflowId('outgoing-transfer', id));
  await until(
    () => handle.describe().catch(() => undefined),
    (description) => description !== undefined,
  );
  await handle.result();
  return handle.fetchHistory();
}

const DAY_MS = 86_400_000;
const dateIn = (days: number) => new Date(Date.now() + offsetMs + days * DAY_MS).toISOString().slice(0, 10);

describe('a transfer that is dated ahead', () => {
  test('is released on its date, weeks later, not before and once', async () => {
    const of = { scheme: 'chaps', currency: 'GBP' };
    const { schemes } = stage.configuration;
    const { transferDate } = schemes.roll(of, dateIn(30), new Date(Date.now() + offsetMs));
    const submittedAt: number[] = [];
    stage.provider.answer.submit = async ({ ourReference }) => {
      submittedAt.push(await environment.currentTimeMs());
      return completedPayment(ourReference);
    };
    const id = await stage.transfer(await stage.account(10_000n), { scheme: 'chaps', transferDate });
    const history = await end(id);
    expect((await stage.find(id)).status).toBe('completed');
    expect(submittedAt).toHaveLength(1);
    expect(submittedAt[0]).toBeGreaterThanOrEqual(schemes.opensAt(of, transferDate).getTime());
    expect(submittedAt[0]).toBeLessThan(schemes.cutOff(of, transferDate)?.getTime() ?? 0);
    // A timer is an alarm: one for weeks, and perhaps some of seconds where the clocks differ.
    expect(timersSeconds(history).filter((seconds) => seconds > 60)).toHaveLength(1);
  });
});

/** Closes the dates, which moves the transfer. */
async function calendarCloses(dates: readonly string[], id: OutgoingTransferId, movedTo: string): Promise<void> {
  own.close(...dates);
  const { configuration, database } = stage;
  configuration.calendars.reload();
  const loop = calendarChanges({ database, rules: configuration, logger: pino({ level: 'silent' }), intervalMs: 200 });
  loop.start();
  try {
    await until(
      () => stage.find(id),
      ({ transferDate }) => transferDate === movedTo,
    );
  } finally {
    await loop.stop();
  }
}

describe('a transfer that is dated two years ahead', () => {
  const RESTARTS = 20;
  const DAYS_BETWEEN = 36;

  test('goes through twenty restarts, a new release and a calendar that changes, and is paid once, on its date', async () => {
    aheadMs = Date.parse('2026-06-15T12:00:00Z') - (await environment.currentTimeMs());
    await followServer();
    const of = { scheme: 'chaps', currency: 'GBP' };
    // Without a cache a worker understands the whole history at each task. (Nor does this server notice that a cache is gone.)
    await stage.close();
    stage = await setSkippingStage({ cachedWorkflows: 0 });
    stage.relay.start();
    const submittedAt: number[] = [];
    stage.provider.answer.submit = async ({ ourReference }) => {
      submittedAt.push((await environment.currentTimeMs()) + aheadMs);
      return completedPayment(ourReference);
    };
    const before = await bundleOf(releaseBefore());
    const id = await stage.transfer(await stage.account(10_000n), { scheme: 'chaps', transferDate: '2028-06-15' });
    const handle = environment.client.workflow.getHandle(workflowId('outgoing-transfer', id));
    const historySoFar = (): Promise<History> => handle.fetchHistory().catch(() => ({}));
    for (let restart = 1; restart <= RESTARTS; restart += 1) {
      const bundle = restart <= RESTARTS / 2 ? before : undefined;
      workers = stage.startWorkers(undefined, bundle);
      await workers.ready;
      const tasks = countEvents(await historySoFar(), 'workflowTaskCompletedEventAttributes');
      await stage.database.transaction(async (tx) => wake(tx, 'outgoing-transfer', handle.workflowId));
      await wokenUp(id);
      if (restart === RESTARTS / 2) await calendarCloses(['2028-06-15'], id, '2028-06-16');
      await until(historySoFar, (history) => {
        const done = countEvents(history, 'workflowTaskCompletedEventAttributes');
        // A task that the server gave to a stopping worker times out, and is scheduled again.
        const ended = done + countEvents(history, 'workflowTaskTimedOutEventAttributes');
        return done > tasks && ended === countEvents(history, 'workflowTaskScheduledEventAttributes');
      });
      await environment.sleep(DAYS_BETWEEN * DAY_MS);
      await workers.stop();
    }
    workers = stage.startWorkers();
    await workers.ready;
    const history = await end(id);
    const moved = { transferDate: '2028-06-16', originalTransferDate: '2028-06-15', rollCount: 0 };
    expect(await stage.find(id)).toMatchObject({ status: 'completed', ...moved });
    expect(submittedAt).toHaveLength(1);
    const { schemes } = stage.configuration;
    expect(submittedAt[0]).toBeGreaterThanOrEqual(schemes.opensAt(of, '2028-06-16').getTime() - 1_000);
    expect(submittedAt[0]).toBeLessThan(schemes.cutOff(of, '2028-06-16')?.getTime() ?? 0);
    expect(countEvents(history, 'workflowTaskFailedEventAttributes')).toBe(0);
  });
});

describe('a calendar that changes under a transfer that is dated ahead', () => {
  test('wakes its workflow, which releases the payment on the new date and not on the closed one', async () => {
    aheadMs = Date.parse('2027-06-16T12:00:00Z') - (await environment.currentTimeMs());
    await followServer();
    const of = { scheme: 'chaps', currency: 'GBP' };
    const submittedAt: number[] = [];
    stage.provider.answer.submit = async ({ ourReference }) => {
      submittedAt.push((await environment.currentTimeMs()) + aheadMs);
      return completedPayment(ourReference);
    };
    const id = await stage.transfer(await stage.account(10_000n), { scheme: 'chaps', transferDate: '2027-07-12' });
    await until(
      () => stage.find(id),
      ({ waitingFor }) => waitingFor === 'date',
    );
    // Otherwise one wake-up would serve the creation and the change, or the workflow's first step would move the date itself.
    await wokenUp(id);
    const { workflow } = environment.client;
    await until(
      async () => timersSeconds(await workflow.getHandle(workflowId('outgoing-transfer', id)).fetchHistory()),
      (timers) => timers.length > 0,
    );
    await calendarCloses(['2027-07-12', '2027-07-13'], id, '2027-07-14');
    // The server skips time as soon as a client waits for the workflow's end, so its wake-up must have arrived.
    await wokenUp(id);
    const history = await end(id);
    const moved = { transferDate: '2027-07-14', originalTransferDate: '2027-07-12', rollCount: 0 };
    expect(await stage.find(id)).toMatchObject({ status: 'completed', ...moved });
    expect(submittedAt).toHaveLength(1);
    const { schemes } = stage.configuration;
    expect(submittedAt[0]).toBeGreaterThanOrEqual(schemes.opensAt(of, '2027-07-14').getTime() - 1_000);
    expect(submittedAt[0]).toBeLessThan(schemes.cutOff(of, '2027-07-14')?.getTime() ?? 0);
    expect(
      history.events?.filter(({ workflowExecutionSignaledEventAttributes: signal }) => signal != null),
    ).toHaveLength(2);
  });
});

/** A retryable rejection. */
const PASSING = {
  category: 'technical',
  origin: 'provider',
  code: 'BE08',
  message: 'A bank on the way made an error.',
  attributes: {},
} as const;

describe('a calendar that changes under a rejected payment that waits for another attempt', () => {
  test('wakes its workflow, which submits the payment again when the new date opens and not on the closed one', async () => {
    aheadMs = Date.parse('2027-06-16T12:00:00Z') - (await environment.currentTimeMs());
    await followServer();
    const submittedAt: number[] = [];
    stage.provider.answer.submit = async ({ ourReference }) => {
      submittedAt.push((await environment.currentTimeMs()) + aheadMs);
      if (submittedAt.length > 1) return completedPayment(ourReference);
      return { outcome: 'rejected', error: PASSING };
    };
    const id = await stage.transfer(await stage.account(10_000n), { scheme: 'chaps' });
    await until(
      () => stage.find(id),
      ({ waitingFor }) => waitingFor === 'retry',
    );
    await wokenUp(id);
    await calendarCloses(['2027-06-17', '2027-06-18'], id, '2027-06-21');
    await wokenUp(id);
    await end(id);
    const moved = { transferDate: '2027-06-21', originalTransferDate: '2027-06-16', rollCount: 0 };
    expect(await stage.find(id)).toMatchObject({ status: 'completed', submissionAttempt: 2, ...moved });
    const { schemes } = stage.configuration;
    const of = { scheme: 'chaps', currency: 'GBP' };
    expect(submittedAt).toHaveLength(2);
    expect(submittedAt[1]).toBeGreaterThanOrEqual(schemes.opensAt(of, '2027-06-21').getTime() - 1_000);
    expect(submittedAt[1]).toBeLessThan(schemes.cutOff(of, '2027-06-21')?.getTime() ?? 0);
  });
});

describe('a transfer whose authorization never comes', () => {
  test('rolls at every cut-off, and fails after the last roll', async () => {
    const id = await stage.transfer(await stage.account(10_000n), {
      scheme: 'chaps',
      authorizationStatus: 'not-checked',
    });
    await end(id);
    expect(await stage.find(id)).toMatchObject({
      status: 'failed',
      rollCount: 5,
      failureCode: 'transfer.roll.limit_exceeded',
      reservedMinor: 0n,
    });
    expect(stage.provider.submissions).toEqual([]);
  });

  test('rolls at the end of each day of a scheme that never closes, the day on which the clocks change included', async () => {
    aheadMs = Date.parse('2027-03-26T12:00:00Z') - (await environment.currentTimeMs());
    await followServer();
    const id = await stage.transfer(await stage.account(10_000n), {
      scheme: 'faster-payments',
      authorizationStatus: 'not-checked',
    });
    const history = await end(id);
    expect(await stage.find(id)).toMatchObject({
      status: 'failed',
      originalTransferDate: '2027-03-26',
      transferDate: '2027-03-31',
      cutOffAt: null,
      rollCount: 5,
      failureCode: 'transfer.roll.limit_exceeded',
    });
    // London's midnights: half a day to the first; 28 March has 23 hours. What is shorter than a minute is two clocks apart.
    const hours = timersSeconds(history)
      .filter((seconds) => seconds > 60)
      .map((seconds) => Math.round(seconds / 3_600));
    expect(hours).toEqual([12, 24, 23, 24, 24, 24]);
    expect(stage.provider.submissions).toEqual([]);
  });
});

describe('a provider that does not answer for long', () => {
  test('gets the same payment again and again until it does, and nothing fails meanwhile', async () => {
    let calls = 0;
    stage.provider.answer.submit = async ({ ourReference }) => {
      calls += 1;
      if (calls <= 20) throw new ProviderUnavailable('sandbox-bank', 'timeout');
      return completedPayment(ourReference);
    };
    const id = await stage.transfer(await stage.account(10_000n));
    const history = await end(id);
    expect(await stage.find(id)).toMatchObject({ status: 'completed', submissionAttempt: 1 });
    expect(new Set(stage.provider.submissions)).toEqual(new Set([id]));
    expect(calls).toBe(21);
    // Between the rounds the workflow says what it waits for.
    expect(textOf(history)).toContain('Waits for the provider');
  });

  test('is looked up when it took the payment and never called back', async () => {
    stage.provider.answer.submit = async ({ ourReference }) => acceptedPayment(ourReference);
    let lookUps = 0;
    stage.provider.answer.lookUp = async (ourReference) => {
      lookUps += 1;
      if (lookUps === 1) return { outcome: 'not-found' };
      return lookUps < 4 ? acceptedPayment(ourReference) : completedPayment(ourReference);
    };
    const id = await stage.transfer(await stage.account(10_000n));
    await end(id);
    expect((await stage.find(id)).status).toBe('completed');
    expect(lookUps).toBe(4);
    expect(stage.provider.submissions).toEqual([id]);
  });
});

describe('a provider that takes a payment and decides on it later', () => {
  const operator = { actor: 'night-operator', requestId: null };
  beforeEach(() => {
    stage.provider.answer.submit = async ({ attempt }) => ({ outcome: 'queued', attempt });
  });

  test('is looked up until it has decided, and is sent nothing more; the money stays reserved meanwhile', async () => {
    let lookUps = 0;
    let sum: unknown;
    stage.provider.answer.lookUp = async (ourReference) => {
      lookUps += 1;
      sum = await stage.find(asId<OutgoingTransferId>(ourReference));
      return lookUps < 4 ? { outcome: 'queued', attempt: 1, ...MONEY } : completedPayment(ourReference);
    };
    const id = await stage.transfer(await stage.account(10_000n));
    const history = await end(id);
    expect(sum).toMatchObject({ status: 'processing', submissionStatus: 'queued', reservedMinor: MONEY.amountMinor });
    expect(await stage.find(id)).toMatchObject({
      status: 'completed',
      submissionStatus: 'resolved',
      reservedMinor: 0n,
    });
    expect(lookUps).toBe(4);
    expect(stage.provider.submissions).toEqual([id]);
    expect(textOf(history)).toContain('Waits for the provider');
  });

  test('has it submitted again after a rejection for a passing reason, and after no other', async () => {
    for (const [code, attempts, status] of [
      ['BE08', 2, 'completed'],
      ['AC04', 1, 'failed'],
    ] as const) {
      const error = { code, category: 'functional', origin: 'provider', message: code, attributes: {} } as const;
      let submitted = 0;
      stage.provider.answer.submit = async ({ ourReference }) => {
        submitted += 1;
        return submitted === 1 ? { outcome: 'queued', attempt: 1 } : completedPayment(ourReference);
      };
      stage.provider.answer.lookUp = async () => ({ outcome: 'rejected', attempt: 1, error, ...MONEY });
      const id = await stage.transfer(await stage.account(10_000n));
      await end(id);
      expect(await stage.find(id)).toMatchObject({ status, submissionAttempt: attempts, reservedMinor: 0n });
      expect(submitted).toBe(attempts);
    }
  });

  test('keeps it: an operator cannot fail it, and has it submitted again under the same attempt only', async () => {
    let asked = false;
    stage.provider.answer.lookUp = async (ourReference) => {
      const id = asId<OutgoingTransferId>(ourReference);
      const { database, configuration: rules } = stage;
      if (asked) return completedPayment(ourReference);
      asked = true;
      const failure = database.transaction((tx) =>
        failOutgoingTransfer(tx, { id, reason: 'It takes too long.' }, rules, operator),
      );
      await expect(failure).rejects.toThrow(/the provider has taken it/);
      const { transfer } = await database.transaction((tx) => retrySubmission(tx, id, rules, operator));
      expect(transfer).toMatchObject({ submissionStatus: 'unresolved', submissionAttempt: 1 });
      return { outcome: 'queued', attempt: 1, ...MONEY };
    };
    const attempts: number[] = [];
    stage.provider.answer.submit = async ({ attempt }) => {
      attempts.push(attempt);
      return { outcome: 'queued', attempt };
    };
    const id = await stage.transfer(await stage.account(10_000n));
    await end(id);
    expect(asked).toBe(true);
    expect((await stage.find(id)).status).toBe('completed');
    expect(new Set(attempts)).toEqual(new Set([1]));
  });
});

describe('an operator’s command to a workflow that waits', () => {
  const operator = { actor: 'night-operator', requestId: null };

  test('next-window: the payment is released in the window after, not before and once', async () => {
    aheadMs = Date.parse('2027-06-16T12:00:00Z') - (await environment.currentTimeMs());
    await followServer();
    const submittedAt: number[] = [];
    stage.provider.answer.submit = async ({ ourReference }) => {
      submittedAt.push((await environment.currentTimeMs()) + aheadMs);
      return completedPayment(ourReference);
    };
    const waits = { scheme: 'chaps', authorizationStatus: 'not-checked' } as const;
    const id = await stage.transfer(await stage.account(10_000n), waits);
    const { configuration, database } = stage;
    const moved = await database.transaction((tx) => moveToNextWindow(tx, id, configuration, operator));
    expect(moved.transfer).toMatchObject({ transferDate: '2027-06-17', rollCount: 1 });
    await database.transaction((tx) =>
      changeUnderLocks(tx, authorization({ id, initiator: operator, rules: configuration })),
    );
    await wokenUp(id);
    await end(id);
    expect(await stage.find(id)).toMatchObject({ status: 'completed', transferDate: '2027-06-17' });
    expect(submittedAt).toHaveLength(1);
    const of = { scheme: 'chaps', currency: 'GBP' };
    expect(submittedAt[0]).toBeGreaterThanOrEqual(configuration.schemes.opensAt(of, '2027-06-17').getTime() - 1_000);
  });

  test('look-up: a payment that its provider does not know rests for a minute, and is then submitted again by itself', async () => {
    const asked: { readonly call: 'submit' | 'look-up'; readonly at: number }[] = [];
    const note = async (call: 'submit' | 'look-up') => asked.push({ call, at: await environment.currentTimeMs() });
    stage.provider.answer.submit = async ({ ourReference }) => {
      await note('submit');
      if (asked.every(({ call }) => call === 'submit')) throw new ProviderUnavailable('sandbox-bank', 'timeout');
      return completedPayment(ourReference);
    };
    stage.provider.answer.lookUp = async () => {
      await note('look-up');
      return { outcome: 'not-found' };
    };
    const id = await stage.transfer(await stage.account(10_000n));
    await stage.database.transaction((tx) => requestLookUp(tx, id, stage.configuration, operator));
    await end(id);
    expect(await stage.find(id)).toMatchObject({ status: 'completed', submissionAttempt: 1, lookUpCount: 1 });
    const lookUp = asked.findIndex(({ call }) => call === 'look-up');
    const [lookedUp, again] = asked.slice(lookUp);
    expect(again?.call).toBe('submit');
    expect((again?.at ?? 0) - (lookedUp?.at ?? 0)).toBeGreaterThan(55_000);
    expect(asked.length).toBe(lookUp + 2);
  });
});

describe('a consent expires by its workflow’s timer, within half an hour, if no loop has been there before', () => {
  const JITTER_SECONDS_MAX = 1_800;

  test.each([
    ['ten minutes after the request', 'awaiting-authorisation', 600],
    ['a minute after the approval, if the code is not exchanged', 'awaiting-exchange', 60],
    ['ninety days after the exchange', 'authorised', 90 * 86_400],
  ] as const)('%s', async (_, status, seconds) => {
    // Nothing else wakes or expires it: the loops do not run.
    const consent = await stagedConsent(stage);
    if (status !== 'awaiting-authorisation') await consent.approve();
    if (status === 'authorised') await consent.exchange();
    const before = await consent.find();
    expect(before?.status).toBe(status);
    const handle = environment.client.workflow.getHandle(workflowId('consent', consent.id));
    await until(
      () => handle.describe().catch(() => undefined),
      (description) => description !== undefined,
    );
    await handle.result();
    expect(await consent.find()).toMatchObject({ status: 'expired', nextCheckAt: null });
    // A timer is an alarm: one for the deadline, and perhaps some of seconds where the clocks differ.
    const timers = timersSeconds(await handle.fetchHistory());
    expect(Math.max(...timers)).toBeGreaterThan(seconds - 30);
    expect(Math.max(...timers)).toBeLessThanOrEqual(seconds + JITTER_SECONDS_MAX);
    const [event] = await stage.database.reader.statement<{ at: Date }>(
      `SELECT occurred_at AS at FROM events WHERE resource_id = $1 AND entries::text LIKE '%consent-expired%'`,
      [consent.id],
    );
    const deadline = before?.expiresAt ?? before?.codeExpiresAt ?? before?.requestExpiresAt;
    expect(event?.at.getTime()).toBeGreaterThanOrEqual(deadline?.getTime() ?? 0);
  });
});
