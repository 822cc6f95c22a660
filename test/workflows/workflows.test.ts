import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ProviderUnavailable } from '../../activities/providers/port.ts';
import { wake } from '../../db/common/workflow-wakeups.ts';
import { applyPaymentReport } from '../../db/outgoing-transfers/outgoing-transfers.ts';
import { cancellation } from '../../db/outgoing-transfers/requested-changes.ts';
import { changeUnderLocks } from '../../db/transfers/requested-changes.ts';
import { type AccountId, asId, type OutgoingTransferId } from '../../domain/common/ids.ts';
import { workflowId } from '../../workflows/common/messages.ts';
import { TESTER } from '../harness/audit.ts';
import { startTemporalDevServer, type TestTemporal } from '../harness/servers/temporal.ts';
import { credit, type Stage, setStage, until } from '../harness/stage.ts';
import { countEvents, type History, textOf } from '../harness/workflows/histories.ts';
import { acceptedPayment, completedPayment } from '../harness/workflows/scripted-provider.ts';

let temporal: TestTemporal;
let stage: Stage;

beforeAll(async () => {
  temporal = await startTemporalDevServer();
  stage = await setStage({ name: 'workflows', address: temporal.address });
  stage.relay.start();
  stage.admissions.start();
  await stage.startWorkers().ready;
});

afterAll(async () => {
  await stage?.close();
  await temporal?.close();
});

const handleOf = (id: OutgoingTransferId) => stage.client.workflow.getHandle(workflowId('outgoing-transfer', id));
const reaches = (id: OutgoingTransferId, status: string) =>
  until(
    () => stage.find(id),
    (row) => row.status === status,
  );
const waitsFor = (id: OutgoingTransferId, what: string) =>
  until(
    () => shown(id),
    (attribute) => attribute === what,
  );
const submissionsOf = (id: string) => stage.provider.submissions.filter((reference) => reference === id).length;

/** What operators see of the running workflow. */
async function shown(id: OutgoingTransferId): Promise<unknown> {
  const description = await handleOf(id)
    .describe()
    .catch(() => undefined);
  return description?.typedSearchAttributes.getAll().find(({ key }) => key.name === 'WaitingFor')?.value;
}

/** Answers every payment so until the test is over. */
function answering(change: Partial<Stage['provider']['answer']>): Disposable {
  const before = { ...stage.provider.answer };
  Object.assign(stage.provider.answer, change);
  return { [Symbol.dispose]: () => Object.assign(stage.provider.answer, before) };
}

const report = (outcome: 'completed' | 'failed') =>
  ({ outcome, serviceProviderId: 'p', serviceProviderReference: null, code: null }) as const;

describe('an external transfer', () => {
  test('is submitted once and completed, in the fewest workflow tasks there can be', async () => {
    const life = async () => {
      const id = await stage.transfer(await stage.account(10_000n));
      await reaches(id, 'completed');
      await handleOf(id).result();
      expect(submissionsOf(id)).toBe(1);
      const history = await handleOf(id).fetchHistory();
      expect(countEvents(history, 'activityTaskScheduledEventAttributes')).toBe(1);
      expect(countEvents(history, 'upsertWorkflowSearchAttributesEventAttributes')).toBe(0);
      return countEvents(history, 'workflowTaskCompletedEventAttributes');
    };
    // A transition that a busy machine does not get done in time costs a task more: the fewest of several lives count.
    const tasks = [await life()];
    while (Math.min(...tasks) > 2 && tasks.length < 10) tasks.push(await life());
    expect(Math.min(...tasks)).toBe(2);
  });

  test('leaves no personal data in its history, also when the provider fails', async () => {
    const failures = ['Ann Example owes 12345678', 'Bob Receiver'];
    using _ = answering({
      submit: async ({ ourReference }) => {
        const message = failures.pop();
        if (message !== undefined) throw new Error(message);
        return completedPayment(ourReference);
      },
    });
    const id = await stage.transfer(await stage.account(10_000n));
    await reaches(id, 'completed');
    await handleOf(id).result();
    const text = textOf(await handleOf(id).fetchHistory());
    expect(text).toContain(id);
    for (const secret of ['Ann', 'Bob', '12345678', '040004', 'Invoice']) expect(text).not.toContain(secret);
  });

  test('waits for its provider where an operator sees it, and ends with the callback', async () => {
    using _ = answering({ submit: async ({ ourReference }) => acceptedPayment(ourReference) });
    const account = await stage.account(10_000n);
    const id = await stage.transfer(account);
    await waitsFor(id, 'provider');
    const description = await handleOf(id).describe();
    const attributes = Object.fromEntries(
      description.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]),
    );
    expect(attributes).toMatchObject({
      ClientId: account.clientId,
      AccountId: account.id,
      TransferStatus: 'released',
      Scheme: 'faster-payments',
      Currency: 'GBP',
      Provider: 'sandbox-bank',
      WaitingFor: 'provider',
    });
    const metadata = await handleOf(id).query<{ currentDetails?: string }, []>('__temporal_workflow_metadata');
    expect(metadata.currentDetails).toMatch(/^Waits for the provider since 20[\d: -]+ UTC; until 20/);
    await stage.database.transaction((tx) =>
      applyPaymentReport(tx, { id, provider: 'sandbox-bank' }, report('completed'), stage.configuration),
    );
    await handleOf(id).result();
    expect((await stage.find(id)).status).toBe('completed');
  });

  test('is distinguished from others of its kind by summaries of its timers and activities', async () => {
    const id = await stage.transfer(await stage.account(10_000n), {
      authorizationStatus: 'not-checked',
      scheme: 'chaps',
    });
    await waitsFor(id, 'authorization');
    const { events } = await handleOf(id).fetchHistory();
    const summaries = (events ?? []).map((event) => Buffer.from(event.userMetadata?.summary?.data ?? []).toString());
    expect(summaries).toContainEqual(expect.stringContaining('Waits for authorization since 20'));
    expect(summaries).toContainEqual(expect.stringContaining('Advance the transfer'));
  });

  test('whose callback comes before the answer is completed once', async () => {
    using _ = answering({
      submit: async ({ ourReference }) => {
        const id = asId<OutgoingTransferId>(ourReference);
        await stage.database.transaction((tx) =>
          applyPaymentReport(tx, { id, provider: 'sandbox-bank' }, report('completed'), stage.configuration),
        );
        return acceptedPayment(ourReference);
      },
    });
    const account = await stage.account(1_000n);
    const id = await stage.transfer(account);
    await reaches(id, 'completed');
    await handleOf(id).result();
    expect(submissionsOf(id)).toBe(1);
    expect(await balanceOf(account.id)).toBe(0n);
  });

  test('whose submission has an unknown outcome is submitted again with the same reference', async () => {
    let calls = 0;
    using _ = answering({
      submit: async ({ ourReference }) => {
        calls += 1;
        if (calls < 3) throw new ProviderUnavailable('sandbox-bank', calls === 1 ? 'timeout' : 'status 503');
        return completedPayment(ourReference);
      },
    });
    const id = await stage.transfer(await stage.account(10_000n));
    const row = await reaches(id, 'completed');
    expect(submissionsOf(id)).toBe(3);
    expect(row.submissionAttempt).toBe(1);
  });

  test('that a callback has failed before the answer was lost is not submitted again', async () => {
    let calls = 0;
    using _ = answering({
      submit: async ({ ourReference }) => {
        calls += 1;
        if (calls > 1) return completedPayment(ourReference);
        const id = asId<OutgoingTransferId>(ourReference);
        await stage.database.transaction((tx) =>
          applyPaymentReport(tx, { id, provider: 'sandbox-bank' }, report('failed'), stage.configuration),
        );
        throw new ProviderUnavailable('sandbox-bank', 'timeout');
      },
    });
    const account = await stage.account(1_000n);
    const id = await stage.transfer(account);
    await reaches(id, 'failed');
    await handleOf(id).result();
    expect(submissionsOf(id)).toBe(1);
    expect(await balanceOf(account.id)).toBe(1_000n);
  });

  test('that lacks money goes out as soon as the account is credited', async () => {
    const account = await stage.account(0n);
    const id = await stage.transfer(account);
    await waitsFor(id, 'balance');
    await credit(stage.database, account.id, 1_000n);
    await reaches(id, 'completed');
    expect(submissionsOf(id)).toBe(1);
  });
});

/** Whether the row was read after every signal in the history. */
function lookedAfterLastSignal({ events }: History): boolean {
  const last = (attributes: string) => (events ?? []).findLastIndex((event) => Reflect.get(event, attributes) != null);
  return last('markerRecordedEventAttributes') > last('workflowExecutionSignaledEventAttributes');
}

async function balanceOf(id: AccountId): Promise<bigint> {
  const [row] = await stage.database.reader.statement<{ balance: bigint }>(
    'SELECT posted_minor AS balance FROM accounts WHERE id = $1',
    [id],
  );
  return row?.balance ?? -1n;
}

describe('a waiting workflow', () => {
  const waiting = async () => {
    const id = await stage.transfer(await stage.account(10_000n), { authorizationStatus: 'not-checked' });
    await waitsFor(id, 'authorization');
    return id;
  };

  test("ends with the business's cancel, and nothing was submitted", async () => {
    const id = await waiting();
    await stage.database.transaction((tx) =>
      changeUnderLocks(tx, cancellation({ id, initiator: TESTER, rules: stage.configuration })),
    );
    await handleOf(id).result();
    expect((await stage.find(id)).status).toBe('cancelled');
    expect(submissionsOf(id)).toBe(0);
  });

  test('continues after a Temporal cancellation, which no business operation requests', async () => {
    const id = await waiting();
    await handleOf(id).cancel();
    await stage.database.transaction(async (tx) => wake(tx, 'outgoing-transfer', workflowId('outgoing-transfer', id)));
    await until(
      () => handleOf(id).fetchHistory(),
      (history) => countEvents(history, 'markerRecordedEventAttributes') >= 2,
    );
    expect((await handleOf(id).describe()).status.name).toBe('RUNNING');
    await stage.database.transaction((tx) =>
      changeUnderLocks(tx, cancellation({ id, initiator: TESTER, rules: stage.configuration })),
    );
    await handleOf(id).result();
  });

  test('shrugs off any number of signals, and writes its search attributes once', async () => {
    const id = await waiting();
    for (let times = 0; times < 30; times += 1) await handleOf(id).signal('changed');
    const history = await until(() => handleOf(id).fetchHistory(), lookedAfterLastSignal);
    expect(countEvents(history, 'workflowExecutionSignaledEventAttributes')).toBeGreaterThan(30);
    expect(countEvents(history, 'upsertWorkflowSearchAttributesEventAttributes')).toBe(1);
    expect((await handleOf(id).describe()).status.name).toBe('RUNNING');
    expect((await stage.find(id)).status).toBe('pending');
    await stage.database.transaction((tx) =>
      changeUnderLocks(tx, cancellation({ id, initiator: TESTER, rules: stage.configuration })),
    );
    await handleOf(id).result();
  });

  test('that is woken after its end reads its row and ends again', async () => {
    const id = await stage.transfer(await stage.account(10_000n));
    await reaches(id, 'completed');
    await handleOf(id).result();
    const { runId } = await handleOf(id).describe();
    await stage.database.transaction(async (tx) => wake(tx, 'outgoing-transfer', workflowId('outgoing-transfer', id)));
    await until(
      () => handleOf(id).describe(),
      (description) => description.runId !== runId && description.status.name === 'COMPLETED',
    );
    expect(submissionsOf(id)).toBe(1);
  });

  test('of a row that does not exist ends', async () => {
    const id = asId<OutgoingTransferId>(crypto.randomUUID());
    await stage.database.transaction(async (tx) => wake(tx, 'outgoing-transfer', workflowId('outgoing-transfer', id)));
    await until(
      async () =>
        (
          await handleOf(id)
            .describe()
            .catch(() => undefined)
        )?.status.name,
      (status) => status === 'COMPLETED',
    );
  });
});
