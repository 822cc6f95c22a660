import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wake } from '../../db/common/workflow-wakeups.ts';
import { CHANGED_SIGNAL, TASK_QUEUES, workflowId } from '../../workflows/common/messages.ts';
import { startTemporalDevServer, type TestTemporal } from '../harness/servers/temporal.ts';
import { type Stage, setStage, until } from '../harness/stage.ts';
import { type History, textOf } from '../harness/workflows/histories.ts';
import { configFileOf, STORIES } from '../harness/workflows/stories.ts';

let temporal: TestTemporal;
let stage: Stage;

beforeAll(async () => {
  temporal = await startTemporalDevServer();
  stage = await setStage({ name: 'workflow-stories', address: temporal.address });
  stage.relay.start();
  await stage.startWorkers().ready;
});

afterAll(async () => {
  await stage?.close();
  await temporal?.close();
});

/** Runs a story to its end; its history must not reveal whom it was about. */
async function lives(name: string, on: Stage = stage): Promise<string> {
  const workflow = (await STORIES[name]?.(on)) ?? '';
  const text = textOf(await on.client.workflow.getHandle(workflow).fetchHistory());
  expect(text).toContain(workflow);
  for (const secret of ['Ann', 'Paul', 'Payer', 'Invoice', '040004']) expect(text).not.toContain(secret);
  return workflow.split('/')[1] ?? '';
}

async function statusOf(table: 'accounts' | 'incoming_transfers', id: string): Promise<string | undefined> {
  const [row] = await stage.database.reader.statement<{ status: string }>(
    table === 'accounts'
      ? 'SELECT status FROM accounts WHERE id = $1'
      : 'SELECT status FROM incoming_transfers WHERE id = $1',
    [id],
  );
  return row?.status;
}

describe('the workflow of an account', () => {
  test('makes the client known, opens the account and ends', async () => {
    expect(await statusOf('accounts', await lives('account-connection-opened'))).toBe('active');
  });

  test('closes the account and ends', async () => {
    expect(await statusOf('accounts', await lives('account-connection-closed'))).toBe('closed');
  });
});

test('the workflow of an outgoing transfer waits while it is in review, and pays once it is approved', async () => {
  const id = await lives('outgoing-transfer-reviewed');
  expect(stage.provider.submissions.filter((reference) => reference === id)).toEqual([id]);
});

test.each(['outgoing-transfer-screened', 'incoming-transfer-screened'])(
  'a transfer that the built-in rules review continues when they approve it: %s',
  async (name) => {
    // Of its own, because workers of another configuration would take its work.
    const server = await startTemporalDevServer();
    const screening = await setStage({ name: `stories-${name}`, address: server.address, ...configFileOf(name) });
    try {
      screening.relay.start();
      await screening.startWorkers().ready;
      const id = await lives(name, screening);
      const [row] = await screening.database.reader.statement<{ result: string }>(
        `SELECT compliance_result AS result FROM ${name.replace('-screened', 's').replaceAll('-', '_')} WHERE id = $1`,
        [id],
      );
      expect(row?.result).toBe('all-passed');
    } finally {
      await screening.close();
      await server.close();
    }
  },
);

describe('the workflow of an incoming transfer', () => {
  test('waits while the money is held, and books it when the account is active', async () => {
    expect(await statusOf('incoming_transfers', await lives('incoming-transfer-held'))).toBe('completed');
  });

  test('waits while the money is in review, ignores what is no decision, and books it once approved', async () => {
    expect(await statusOf('incoming_transfers', await lives('incoming-transfer-reviewed'))).toBe('completed');
  });

  test('sends money for a closed account back, once', async () => {
    const id = await lives('incoming-transfer-sent-back');
    expect(await statusOf('incoming_transfers', id)).toBe('failed');
    expect(stage.provider.returned).toEqual([id]);
  });
});

describe('reconciliation', () => {
  test('runs by its schedule and says what it found at each provider', async () => {
    const workflow = (await STORIES.reconciliation?.(stage)) ?? '';
    expect(await stage.client.workflow.getHandle(workflow).result()).toEqual({ 'sandbox-bank': 'ok' });
  });
});

test('the workflow of a consent waits for the account holder, the exchange and the end of the grant, and ends when it is revoked', async () => {
  const id = await lives('consent-revoked');
  const { events = [] } = await stage.client.workflow.getHandle(`consent/${id}`).fetchHistory();
  // A timer's summary is all that Temporal's page shows of a wait.
  const summaries = (events ?? []).flatMap(({ timerStartedEventAttributes: started, userMetadata }) =>
    started == null ? [] : [Buffer.from(userMetadata?.summary?.data ?? []).toString('utf8')],
  );
  // A wake-up that Temporal got twice lets it wait for the same once more.
  const waits = summaries.filter((summary, at) => summary !== summaries[at - 1]);
  expect(waits).toEqual([
    expect.stringMatching(/^"Waits for the account holder’s approval since .+ UTC; until .+ UTC"$/),
    expect.stringMatching(/^"Waits for the third party’s exchange of its code since .+ UTC; until .+ UTC"$/),
    expect.stringMatching(/^"Waits for the end of the grant since .+ UTC; until .+ UTC"$/),
  ]);
});

describe('housekeeping', () => {
  test('runs by its schedule and leaves nothing to do for an operator', async () => {
    const workflow = (await STORIES.housekeeping?.(stage)) ?? '';
    const report = await stage.client.workflow.getHandle(workflow).result();
    // Dates that are published a year at a time are due at the end of each year.
    const { 'check the calendars': calendars, ...others } = report;
    expect(['ok', 'calendar-horizon-near']).toContain(calendars);
    expect(new Set(Object.values(others))).toEqual(new Set(['ok']));
  });

  test('says that the ledger was not checked when it could not be, and not that the books fail', async () => {
    const { client } = stage;
    await stage.testDatabase.asOwner('ALTER TABLE ledger_checks RENAME TO ledger_checks_away');
    try {
      const run = { taskQueue: TASK_QUEUES.workflows, workflowId: 'housekeeping-without-checks' };
      const report = await client.workflow.execute('housekeeping', run);
      expect(report).toMatchObject({ 'check the ledger': 'not-done', 'sweep the fees': 'ok' });
    } finally {
      await stage.testDatabase.asOwner('ALTER TABLE ledger_checks_away RENAME TO ledger_checks');
    }
  });
});

describe('a move of the clock while scheduled work is under way', () => {
  // A lock on a table that only the last activity reads holds a run there, after all others have read the clock.
  test.each([
    ['housekeeping', 'forgetWhatHasExpired', 'third_party_assertions'],
    ['reconciliation', 'reconcileProvider', 'accounts'],
  ] as const)('makes %s do all of it again', async (type, last, table) => {
    const workflow = workflowId(type, 'sandbox-clock');
    const run = stage.client.workflow.getHandle(workflow);
    const history = async () => namesOf(await run.fetchHistory().catch(() => ({})));
    const move = () => stage.database.transaction(async (tx) => wake(tx, type, workflow));
    const holder = stage.database.apart({ deadlineMs: 180_000 });
    try {
      await holder.transaction(async (tx) => {
        await tx.statement(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`, []);
        await move();
        await until(history, (names) => names.at(-1) === last);
        await move();
        await until(history, (names) => names.at(-1) === CHANGED_SIGNAL);
      });
    } finally {
      await holder.close();
    }
    await run.result();
    const [, first = '', again] = (await history()).join(' ').split(CHANGED_SIGNAL);
    expect(first.trim().split(' ').at(-1)).toBe(last);
    expect(again?.trim()).toBe(first.trim());
  });
});

/** Signals and calls of activities, in order. */
function namesOf({ events }: History): string[] {
  return (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signalled, ...event }) => {
    const name = signalled?.signalName ?? event.activityTaskScheduledEventAttributes?.activityType?.name;
    return name == null ? [] : [name];
  });
}
