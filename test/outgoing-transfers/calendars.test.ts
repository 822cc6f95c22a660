import { pino } from 'pino';
import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Configuration, loadConfiguration, localConfigurationFiles } from '../../config/configuration.ts';
import { requestLookUp } from '../../db/outgoing-transfers/operator-commands.ts';
import { advanceOutgoingTransfer, recordSubmission } from '../../db/outgoing-transfers/outgoing-transfers.ts';
import { listWaitingForSchedule } from '../../db/outgoing-transfers/schedules.ts';
import { findDifferingRules } from '../../db/providers/transfer-rules.ts';
import { asId, type OutgoingTransferId } from '../../domain/common/ids.ts';
import { decidePendingTransfer, type PendingTransfer } from '../../domain/outgoing-transfers/outgoing-transfers.ts';
import { calendarChanges } from '../../loops/calendars.ts';
import type { PollingLoop } from '../../loops/polling.ts';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { auditOf, TESTER } from '../harness/audit.ts';
import { builtInAccounts } from '../harness/built-in-accounts.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { until } from '../harness/stage.ts';
import { type OwnCalendar, ownCalendar } from '../harness/transfers/calendar-world.ts';

// Calendars and cut-offs that change while transfers wait. Each loop represents the loops of one process.

let database: TestDatabase;
let api: TestApi;
let own: OwnCalendar;
let world: MoneyWorld;
let payer: string;
let sterling: string;
let euro: string;
let source: { readonly GBP: string; readonly EUR: string };
/** At the built-in provider. */
let atBank: string;
const loops: PollingLoop[] = [];

/** Noon of a Wednesday; the clock runs on from there, or from what a test sets. */
const NOON = Date.parse('2027-06-16T12:00:00Z');
let aheadMs = 0;
const startedAt = Date.now();
const GERMAN = { country: 'DE', currency: 'EUR', iban: 'DE89370400440532013000' };

beforeAll(async () => {
  own = ownCalendar();
  database = await createTestDatabase('calendars');
  api = await startApi(database, {
    clockOffset: () => `${NOON - startedAt + aheadMs} milliseconds`,
    env: { CONFIG_FILE: own.configFile },
    configuration: (configuration) => ({ ...configuration, prices: [] }),
  });
  world = moneyWorld(api);
  payer = await world.client('Ada');
  sterling = await world.beneficiary(payer);
  euro = await world.beneficiary(payer, GERMAN);
  source = {
    GBP: await world.account(payer, { amount: 1_000 }),
    EUR: await world.account(payer, { amount: 1_000, currency: 'EUR' }),
  };
  const account = await builtInAccounts(api).opened(payer);
  await builtInAccounts(api).payIn(account, 'funds', 100_000n);
  atBank = account.id;
});

beforeEach(() => {
  aheadMs = 0;
});

afterEach(async () => {
  for (const loop of loops.splice(0)) await loop.stop();
  own.close();
  api.services.configuration.calendars.reload();
  await api.database.reader.statement(`DELETE FROM calendar_editions`, []);
  await world.invariantsHold();
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
  own?.remove();
});

function post(scheme: string, transferDate: string | undefined, amount = 1, from?: string): Promise<ApiResponse> {
  const currency = scheme === 'sepa' ? 'EUR' : 'GBP';
  const outgoingTransfer = {
    clientId: payer,
    currency,
    amount,
    scope: 'external',
    scheme,
    ...(transferDate === undefined ? {} : { transferDate }),
    source: { type: 'client-account', accountId: from ?? source[currency] },
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: currency === 'EUR' ? euro : sterling },
  };
  return api.call('POST', '/outgoing-transfers', { workflow: { code: 'client.direct' }, data: { outgoingTransfer } });
}

async function make(scheme: string, transferDate: string, amount = 1, from?: string): Promise<string> {
  const answer = await post(scheme, transferDate, amount, from);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.outgoingTransfer.id;
}

async function cancel(id: string): Promise<number> {
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer: { status: 'cancelled' } } };
  return (await api.call('PATCH', `/outgoing-transfers/${id}`, body)).status;
}

async function read(id: string): Promise<Json> {
  return (await api.call('GET', `/outgoing-transfers/${id}`)).body.data.outgoingTransfer;
}

/** The loop of another process, which read the files when it started. */
function startLoop(configuration: Configuration = api.services.configuration): PollingLoop {
  const loop = calendarChanges({
    database: api.database,
    rules: configuration,
    logger: pino({ level: 'silent' }),
    intervalMs: 50,
  });
  loops.push(loop);
  loop.start();
  return loop;
}

const anotherConfiguration = (settings: OwnCalendar = own) =>
  loadConfiguration({ CONFIG_FILE: localConfigurationFiles({ CONFIG_FILE: settings.configFile }) });

/** Generations of the wake-ups, by transfer: each wake raises one. */
async function wakes(ids: readonly string[]): Promise<number[]> {
  const rows = await api.database.reader.statement<{ id: string; generation: number }>(
    `SELECT split_part(workflow_id, '/', 2) AS id, generation::integer AS generation FROM workflow_wakeups`,
    [],
  );
  return ids.map((id) => rows.find((row) => row.id === id)?.generation ?? 0);
}

const rescheduled = async (id: string) =>
  (await auditOf(api.database.reader, id)).filter(({ action }) => action === 'rescheduled');

const onceMoved = (id: string, transferDate: string) =>
  until(
    () => read(id),
    (shown) => shown.transferDate === transferDate,
  );

/** Lets a loop look several times. */
async function onceLooked(loop: PollingLoop): Promise<void> {
  for (let looks = 0; looks < 3; looks += 1) {
    loop.nudge();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const MONDAY = '2027-06-21';
const TUESDAY = '2027-06-22';

describe('a day that a calendar newly closes', () => {
  test('moves exactly the transfers that wait for it, once, however many processes see it', async () => {
    const moved = [await make('chaps', MONDAY), await make('chaps', MONDAY)];
    const others = [
      await make('chaps', TUESDAY),
      await make('sepa', MONDAY),
      await make('faster-payments', MONDAY),
      await make('chaps', '2027-06-23'),
    ];
    const before = await Promise.all(others.map(read));
    const wokenBefore = await wakes([...moved, ...others]);
    startLoop();
    await until(
      () => api.database.reader.statement('SELECT FROM calendar_editions', []),
      (rows) => rows.length === 6,
    );
    expect(await rescheduled(moved[0] ?? '')).toEqual([]);

    own.close(MONDAY);
    api.services.configuration.calendars.reload();
    const processes = [startLoop(anotherConfiguration()), startLoop(anotherConfiguration())];
    for (const id of moved) {
      const shown = await onceMoved(id, TUESDAY);
      expect(shown).toMatchObject({
        status: 'pending',
        originalTransferDate: MONDAY,
        rollCount: 0,
        cutOffDateTime: '2027-06-22T16:00:00',
      });
    }
    for (const loop of processes) await onceLooked(loop);
    for (const id of moved) {
      expect(await rescheduled(id)).toEqual([
        {
          resource: 'outgoing-transfer',
          action: 'rescheduled',
          actor: 'calendars',
          requestId: null,
          before: { transferDate: MONDAY, cutOffDateTime: '2027-06-21T16:00:00' },
          after: { transferDate: TUESDAY, cutOffDateTime: '2027-06-22T16:00:00' },
        },
      ]);
    }
    expect(await Promise.all(others.map(read))).toEqual(before);
    const woken = await wakes([...moved, ...others]);
    expect(woken.map((generation, index) => generation - (wokenBefore[index] ?? 0))).toEqual([1, 1, 0, 0, 0, 0]);
    const entries = (await auditOf(api.database.reader, 'gb')).filter(({ action }) => action === 'changed');
    expect(entries).toMatchObject([
      { resource: 'calendar', actor: 'calendars', after: { closed: [MONDAY], opened: [] } },
    ]);
  });

  test('counts at once for date metadata and new transfers, whose date rolls as on any closed day', async () => {
    const metadata = async () =>
      (await api.call('GET', `/accounts/${source.GBP}/outgoing-transfer-date-metadata/external/chaps`)).body.data;
    expect((await metadata()).unavailableDates).not.toContain(MONDAY);
    const today = '2027-06-16';
    expect(await metadata()).toMatchObject({ nextAvailableDate: today, nextCutoffDateTime: '2027-06-16T16:00:00' });
    own.close(MONDAY, today, '2027-06-17');
    api.services.configuration.calendars.reload();
    const { unavailableDates, ...next } = await metadata();
    expect(unavailableDates).toEqual(expect.arrayContaining([today, '2027-06-17', MONDAY]));
    expect(next).toEqual({ nextAvailableDate: '2027-06-18', nextCutoffDateTime: '2027-06-18T16:00:00' });
    const { body } = await post('chaps', MONDAY);
    expect(body.data.outgoingTransfer).toMatchObject({
      transferDate: TUESDAY,
      originalTransferDate: MONDAY,
      rollCount: 1,
      cutOffDateTime: '2027-06-22T16:00:00',
    });
  });

  test('does not move a transfer back when it opens again, nor count its move as one of its rolls', async () => {
    const id = await make('chaps', MONDAY, 5_000);
    own.close(MONDAY);
    api.services.configuration.calendars.reload();
    const loop = startLoop();
    await onceMoved(id, TUESDAY);
    own.close();
    api.services.configuration.calendars.reload();
    await onceLooked(loop);
    expect(await read(id)).toMatchObject({ transferDate: TUESDAY, rollCount: 0 });
    expect(await rescheduled(id)).toHaveLength(1);
  });

  test('leaves a transfer that its caller cancels at that moment as it is, moved before or not', async () => {
    const ids: string[] = [];
    for (let made = 0; made < 12; made += 1) ids.push(await make('chaps', MONDAY));
    own.close(MONDAY);
    api.services.configuration.calendars.reload();
    startLoop();
    startLoop(anotherConfiguration());
    const cancelled = ids.filter((_, index) => index % 2 === 0);
    const statuses = await Promise.all(cancelled.map(cancel));
    expect(statuses).toEqual(cancelled.map(() => 200));
    for (const id of ids) {
      if (!cancelled.includes(id)) await onceMoved(id, TUESDAY);
      const shown = await read(id);
      expect(shown).toMatchObject({ status: cancelled.includes(id) ? 'cancelled' : 'pending', rollCount: 0 });
      expect(await rescheduled(id)).toHaveLength(shown.transferDate === TUESDAY ? 1 : 0);
    }
  });

  test('does not keep its process from stopping: what is not moved yet is moved by the next one', async () => {
    const ids: string[] = [];
    for (let made = 0; made < 12; made += 1) ids.push(await make('chaps', MONDAY));
    own.close(MONDAY);
    api.services.configuration.calendars.reload();
    const { database: all, services } = api;
    const calendars = services.configuration.calendars.current.size;
    let transactions = 0;
    let stopped = Promise.resolve();
    const stopping = calendarChanges({
      database: {
        ...all,
        transaction: (work, options) => {
          transactions += 1;
          // Each calendar has been put in force; the next one moves a transfer.
          if (transactions === calendars + 1) stopped = stopping.stop();
          return all.transaction(work, options);
        },
      },
      rules: services.configuration,
      logger: pino({ level: 'silent' }),
    });
    stopping.start();
    await until(
      async () => transactions,
      (begun) => begun > calendars,
    );
    await stopped;
    expect((await Promise.all(ids.map(rescheduled))).flat()).toHaveLength(1);
    startLoop();
    for (const id of ids) await onceMoved(id, TUESDAY);
  });

  test('moves a transfer in the same way if its workflow looks first, even after the cut-off of that day', async () => {
    const id = await make('chaps', MONDAY, 5_000);
    own.close(MONDAY);
    api.services.configuration.calendars.reload();
    aheadMs = Date.parse('2027-06-21T18:00:00Z') - NOON;
    await api.database.transaction((tx) =>
      advanceOutgoingTransfer(tx, asId<OutgoingTransferId>(id), api.services.configuration),
    );
    expect(await read(id)).toMatchObject({ transferDate: TUESDAY, rollCount: 0, originalTransferDate: MONDAY });
  });
});

test('each page of transfers to move begins at its place in the index, whatever plan Postgres keeps', async () => {
  let page = '';
  const reader = {
    ...api.database.reader,
    statement: async (text: string) => {
      page = text;
      return [];
    },
  };
  const schedule = { scheme: 'chaps', currency: 'GBP', transferDate: MONDAY, cutOffAt: null };
  await listWaitingForSchedule(reader, schedule, 100);
  const hand = postgres(database.ownerUrl, { max: 1 });
  try {
    await hand`SET plan_cache_mode = force_generic_plan`;
    for (const method of ['seqscan', 'sort', 'bitmapscan']) await hand.unsafe(`SET enable_${method} = off`);
    await hand.unsafe(`PREPARE page AS ${page}`);
    const rows = await hand.unsafe(`EXPLAIN EXECUTE page('chaps', 'GBP', '${MONDAY}', NULL, NULL, 100)`);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('using outgoing_transfers_awaited_schedules');
    expect(plan).toMatch(/Index Cond: .*\(id > /);
    expect(plan).not.toContain('Filter');
  } finally {
    await hand.end();
  }
});

describe('a process that has not read the newest calendar', () => {
  test('moves nothing', async () => {
    own.close(MONDAY);
    const behind = startLoop(anotherConfiguration());
    const closedDates = async () => {
      const rows = await api.database.reader.statement<{ dates: string[] }>(
        `SELECT closed_dates AS dates FROM calendar_editions WHERE calendar = 'gb'`,
        [],
      );
      return rows[0]?.dates ?? [];
    };
    await until(closedDates, (dates) => dates.includes(MONDAY));
    own.close();
    const current = startLoop(anotherConfiguration());
    await until(closedDates, (dates) => dates.length > 0 && !dates.includes(MONDAY));
    const id = await make('chaps', MONDAY);
    await onceLooked(behind);
    await onceLooked(current);
    expect(await read(id)).toMatchObject({ transferDate: MONDAY, rollCount: 0 });
    expect(await rescheduled(id)).toEqual([]);
  });
});

describe('a cut-off that the configuration changes', () => {
  test.each([
    ['has passed by neither: the date stays', '15:00', '14:00', ['reschedule to 2027-06-21, 16:00']],
    ['has passed by the former only: the date stays', '15:00', '15:30', ['reschedule to 2027-06-21, 16:00']],
    [
      'has passed by the present only: the next day, which is no roll',
      '17:00',
      '16:30',
      ['reschedule to 2027-06-22, 16:00'],
    ],
    [
      'has passed by both: the next day, which is a roll',
      '15:00',
      '16:30',
      ['reschedule to 2027-06-21, 16:00', 'roll to 2027-06-22, 16:00'],
    ],
  ])('%s', (_, former, time, decisions) => {
    const transfer = {
      ...{ scheme: 'chaps', currency: 'GBP', transferDate: MONDAY, rollCount: 0, totalMinor: 1n },
      cutOffAt: new Date(`${MONDAY}T${former}:00Z`),
      authorizationStatus: 'not-checked',
      complianceCheckStatus: 'not-required',
      transferDateStatus: 'not-checked',
      balanceCheckStatus: 'not-checked',
    } as const;
    const { schemes } = loadConfiguration({});
    const now = new Date(`${MONDAY}T${time}:00Z`);
    const around = {
      now,
      schemes,
      rollLimit: 5,
      mayBeAtBank: false,
      accountsActive: true,
      destinationGone: false,
      availableMinor: 1n,
    };
    const made: string[] = [];
    let pending: PendingTransfer = transfer;
    for (;;) {
      const decided = decidePendingTransfer(pending, around);
      if (decided.decision !== 'roll' && decided.decision !== 'reschedule') break;
      const { decision, transferDate, cutOffAt } = decided;
      made.push(`${decision} to ${transferDate}, ${cutOffAt?.toISOString().slice(11, 16)}`);
      pending = { ...pending, transferDate, cutOffAt };
    }
    expect(made).toEqual(decisions);
  });

  test('is that of the transfers that wait for it, and no other changes', async () => {
    const [changed, other] = [await make('chaps', MONDAY), await make('sepa', MONDAY)];
    const before = await read(other);
    const earlier = ownCalendar({ schemes: { chaps: { cutOff: '15:00' } } });
    try {
      startLoop(anotherConfiguration(earlier));
      const shown = await until(
        () => read(changed),
        ({ cutOffDateTime }) => cutOffDateTime === '2027-06-21T14:00:00',
      );
      expect(shown).toMatchObject({ transferDate: MONDAY, rollCount: 0, status: 'pending' });
      expect(await rescheduled(changed)).toMatchObject([
        { before: { cutOffDateTime: '2027-06-21T16:00:00' }, after: { cutOffDateTime: '2027-06-21T14:00:00' } },
      ]);
      expect(await read(other)).toEqual(before);
    } finally {
      earlier.remove();
    }
  });

  test('moves a transfer once, though a process with the former configuration still runs', async () => {
    const id = await make('chaps', MONDAY);
    const earlier = ownCalendar({ schemes: { chaps: { cutOff: '15:00' } } });
    try {
      const former = startLoop();
      await onceLooked(former);
      const present = startLoop(anotherConfiguration(earlier));
      await until(
        () => read(id),
        ({ cutOffDateTime }) => cutOffDateTime === '2027-06-21T14:00:00',
      );
      await onceLooked(former);
      await onceLooked(present);
      expect(await rescheduled(id)).toHaveLength(1);
      expect(await read(id)).toMatchObject({ cutOffDateTime: '2027-06-21T14:00:00' });
      // Operators' commands must share the settings of the process that started last.
      const differing = ({ transferRuleDigests }: Configuration) =>
        findDifferingRules(api.database.reader, transferRuleDigests, new Map());
      expect(await differing(api.services.configuration)).toMatchObject([{ name: 'schemes' }]);
      expect(await differing(anotherConfiguration(earlier))).toEqual([]);
    } finally {
      earlier.remove();
    }
  });
});

describe('a rejected payment that waits for another attempt', () => {
  const [TODAY, THURSDAY, FRIDAY] = ['2027-06-16', '2027-06-17', '2027-06-18'] as const;
  const idOf = (id: string) => asId<OutgoingTransferId>(id);
  const advance = (id: string) =>
    api.database.transaction((tx) => advanceOutgoingTransfer(tx, idOf(id), api.services.configuration));
  /** Midnight in London. */
  const opening = (date: string) => new Date(Date.parse(`${date}T00:00:00Z`) - 3_600_000).toISOString();
  const itIs = (instant: string) => {
    aheadMs = Date.parse(instant) - NOON;
  };

  /** Rejected today for a passing reason, so that it waits for Thursday's window. */
  async function rejected(scheme = 'chaps'): Promise<string> {
    const id = await make(scheme, TODAY, 1, atBank);
    expect(await advance(id)).toEqual({ do: 'submit', attempt: 1 });
    const named = { serviceProviderId: null, serviceProviderReference: null };
    const report = { outcome: 'failed', rejectedAttempt: 1, code: 'BE08', ...named } as const;
    const { configuration } = api.services;
    const step = await api.database.transaction((tx) => recordSubmission(tx, idOf(id), 1, report, configuration));
    expect(step).toMatchObject({ do: 'wait', for: 'retry' });
    return id;
  }

  function close(date: string): PollingLoop {
    own.close(date);
    api.services.configuration.calendars.reload();
    return startLoop();
  }

  test('moves to the next open day with an entry in the audit log, and is not sent before it opens', async () => {
    const [id, other] = [await rejected(), await rejected('faster-payments')];
    const before = await read(other);
    expect(await read(id)).toMatchObject({ status: 'processing', transferDate: THURSDAY });
    const wokenBefore = await wakes([id, other]);
    const loop = close(THURSDAY);
    expect(await onceMoved(id, FRIDAY)).toMatchObject({
      status: 'processing',
      originalTransferDate: TODAY,
      cutOffDateTime: `${FRIDAY}T16:00:00`,
      rollCount: 0,
    });
    await onceLooked(loop);
    expect(await rescheduled(id)).toMatchObject([
      {
        actor: 'calendars',
        before: { transferDate: THURSDAY, cutOffDateTime: `${THURSDAY}T16:00:00` },
        after: { transferDate: FRIDAY, cutOffDateTime: `${FRIDAY}T16:00:00` },
      },
    ]);
    expect(await read(other)).toEqual(before);
    const woken = await wakes([id, other]);
    expect(woken.map((generation, index) => generation - (wokenBefore[index] ?? 0))).toEqual([1, 0]);

    const waits = { do: 'wait', for: 'retry', until: opening(FRIDAY) };
    expect(await advance(id)).toEqual(waits);
    itIs(`${THURSDAY}T10:00:00Z`);
    expect(await advance(id)).toEqual(waits);
    itIs(`${FRIDAY}T10:00:00Z`);
    expect(await advance(id)).toEqual({ do: 'submit', attempt: 2 });
    expect(await rescheduled(id)).toHaveLength(1);
  });

  test('does not move once its next attempt has begun, which the bank may pay', async () => {
    const id = await rejected();
    itIs(`${THURSDAY}T10:00:00Z`);
    expect(await advance(id)).toEqual({ do: 'submit', attempt: 2 });
    await onceLooked(close(THURSDAY));
    expect(await read(id)).toMatchObject({ transferDate: THURSDAY });
    expect(await rescheduled(id)).toEqual([]);
    expect(await advance(id)).toEqual({ do: 'submit', attempt: 2 });
  });

  test('whose window is open, but whose account is not active, moves with its window', async () => {
    const id = await rejected();
    const status = (value: string) =>
      api.database.statement('UPDATE accounts SET status = $2 WHERE id = $1', [atBank, value]);
    await status('suspended');
    try {
      itIs(`${THURSDAY}T10:00:00Z`);
      expect(await advance(id)).toMatchObject({ do: 'wait', for: 'account' });
      close(THURSDAY);
      await onceMoved(id, FRIDAY);
      expect(await rescheduled(id)).toHaveLength(1);
      expect(await advance(id)).toEqual({ do: 'wait', for: 'retry', until: opening(FRIDAY) });
    } finally {
      await status('active');
    }
  });

  test('that an operator has looked up at that moment moves, and is looked up', async () => {
    const id = await rejected();
    await api.database.transaction((tx) => requestLookUp(tx, idOf(id), api.services.configuration, TESTER));
    close(THURSDAY);
    await onceMoved(id, FRIDAY);
    expect(await advance(id)).toMatchObject({ do: 'look-up' });
    expect(await advance(id)).toEqual({ do: 'wait', for: 'retry', until: opening(FRIDAY) });
  });

  test('has the cut-off that the configuration now says, on the same date', async () => {
    const id = await rejected();
    const earlier = ownCalendar({ schemes: { chaps: { cutOff: '15:00' } } });
    try {
      startLoop(anotherConfiguration(earlier));
      const shown = await until(
        () => read(id),
        ({ cutOffDateTime }) => cutOffDateTime === `${THURSDAY}T14:00:00`,
      );
      expect(shown).toMatchObject({ transferDate: THURSDAY, status: 'processing' });
      expect(await rescheduled(id)).toHaveLength(1);
      expect(await advance(id)).toEqual({ do: 'wait', for: 'retry', until: opening(THURSDAY) });
    } finally {
      earlier.remove();
    }
  });
});

describe('dates far ahead', () => {
  test('are accepted up to two years ahead, beyond the calendar’s end too, where only weekends are closed', async () => {
    aheadMs = Date.parse('2027-12-01T12:00:00Z') - NOON;
    expect((await post('chaps', '2029-12-02')).body.code).toBe('transfer.date.invalid');
    // A Christmas Day that no table closes yet.
    const id = await make('chaps', '2029-11-30');
    expect(await read(id)).toMatchObject({ transferDate: '2029-11-30', rollCount: 0 });
    const { body } = await post('chaps', '2029-12-01');
    expect(body.code ?? body.data.outgoingTransfer.transferDate).toBe('2029-12-03');
  });

  test('move once a later table closes them', async () => {
    aheadMs = Date.parse('2027-12-20T12:00:00Z') - NOON;
    const id = await make('chaps', '2029-05-07');
    const closedDates = ['2026-12-25', '2027-12-27', '2028-12-25', '2029-05-07'].map((date) => ({
      date,
      name: 'A holiday',
    }));
    const years = { from: '2026-01-01', publishedUntil: '2029-12-31', until: '2029-12-31' };
    own.write(JSON.stringify({ source: 'a test', ...years, closedDates }));
    api.services.configuration.calendars.reload();
    startLoop();
    await onceMoved(id, '2029-05-08');
    expect(await read(id)).toMatchObject({ rollCount: 0, originalTransferDate: '2029-05-07' });
  });
});
