import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WorkflowNotFoundError } from '@temporalio/client';
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { localConfigurationFiles } from '../../config/configuration.ts';
import { retryWebhookDelivery } from '../../db/webhooks/deliveries.ts';
import { changeWebhookSubscription } from '../../db/webhooks/subscriptions.ts';
import { asId, type WebhookDeliveryId } from '../../domain/common/ids.ts';
import { eventSequencer } from '../../loops/event-sequencer.ts';
import type { PollingLoop } from '../../loops/polling.ts';
import { TESTER } from '../harness/audit.ts';
import { TEST_ENCRYPTION_KEY } from '../harness/keyring.ts';
import { startTemporalDevServer, type TestTemporal } from '../harness/servers/temporal.ts';
import { type Stage, setStage, until } from '../harness/stage.ts';
import { insertClient, type Receiver, recordEvents, startReceiver, subscribe } from '../harness/webhooks/webhooks.ts';
import { entryArguments } from '../tools/run/entries.ts';

let temporal: TestTemporal;
let stage: Stage;
let sequencer: PollingLoop;
let receiver: Receiver;

beforeAll(async () => {
  temporal = await startTemporalDevServer();
});

afterAll(() => temporal?.close());

beforeEach(async () => {
  stage = await setStage({ name: 'webhook-workflow', address: temporal.address });
  receiver = await startReceiver();
  const logger = pino({ level: 'silent' });
  const { database, relay } = stage;
  sequencer = eventSequencer({ database, logger, now: () => new Date() });
  relay.start();
  sequencer.start();
});

afterEach(async () => {
  await sequencer.stop();
  await stage.relay.stop();
  // The next test has its own database and workflows.
  for (const shard of [0, 1, 2, 3]) {
    const handle = stage.client.workflow.getHandle(`webhook-delivery/${shard}`);
    await handle.terminate('the test is over').catch((error: unknown) => {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    });
  }
  await stage.close();
  await receiver.close();
});

const allReceived = (count: number) =>
  until(
    async () => receiver.received.length,
    (length) => length >= count,
  );

test('events reach their subscriber through a workflow that is woken once for many of them', async () => {
  await stage.startWorkers().ready;
  const subscription = await subscribe(stage.database, receiver.url);
  const ids = await Promise.all(Array.from({ length: 10 }, () => insertClient(stage.database)));
  for (let turn = 0; turn < 20; turn += 1) await Promise.all(ids.map((id) => recordEvents(stage.database, id, 2)));
  // One whose record a busy machine did not make in time comes again, under its id.
  const firstArrivals = () => [...new Map(receiver.received.map((message) => [message.id, message])).values()];
  await until(
    async () => firstArrivals().length,
    (length) => length >= 400,
  );
  for (const id of ids) {
    const own = firstArrivals().filter((message) => message.body.data.client.id === id);
    expect(own.map((message) => message.body.metadata.sequence)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
  }
  const handle = stage.client.workflow.getHandle(`webhook-delivery/${subscription.shard}`);
  const { events } = await handle.fetchHistory();
  const signals = (events ?? []).filter((event) => event.workflowExecutionSignaledEventAttributes != null);
  // 400 events in 200 transactions; how many wake-ups they need depends on how busy the machine is.
  expect(signals.length).toBeLessThan(100);
});

test('a workflow that sleeps until a retry is woken by a new event, and by a person who retries', async () => {
  await stage.startWorkers().ready;
  await subscribe(stage.database, receiver.url);
  receiver.answer((_message, response) => response.writeHead(503, { 'retry-after': '3600' }).end());
  const id = await insertClient(stage.database);
  await recordEvents(stage.database, id);
  await allReceived(1);
  await until(
    () =>
      stage.database.reader.execute<{ busy: boolean }>(
        sql`SELECT true AS busy FROM webhook_shards WHERE busy_until > service_now()`,
      ),
    (busy) => busy.length === 0,
  );
  receiver.answer((_message, response) => response.writeHead(200).end());
  await recordEvents(stage.database, id);
  await allReceived(2);
  const [pending] = await stage.database.reader.execute<{ id: string }>(
    sql`SELECT id FROM webhook_deliveries WHERE status = 'pending' AND attempt_count = 1`,
  );
  const deliveryId = asId<WebhookDeliveryId>(pending?.id ?? '');
  await stage.database.transaction((tx) => retryWebhookDelivery(tx, deliveryId, TESTER));
  await allReceived(3);
  expect(receiver.received.map((message) => message.body.metadata.sequence)).toEqual([1, 2, 1]);
});

test('what failed is delivered again by the timer of the workflow only', async () => {
  await stage.startWorkers().ready;
  await subscribe(stage.database, receiver.url);
  receiver.answer((_message, response) => response.writeHead(500).end());
  await recordEvents(stage.database, await insertClient(stage.database));
  await allReceived(1);
  receiver.answer((_message, response) => response.writeHead(200).end());
  await allReceived(2);
  expect(receiver.received[0]?.id).toBe(receiver.received[1]?.id);
});

test('events that happen while no worker and no Temporal is there are delivered when they are back', async () => {
  const subscription = await subscribe(stage.database, receiver.url);
  const id = await insertClient(stage.database);
  await temporal.kill();
  await recordEvents(stage.database, id, 3);
  await until(
    () => stage.database.reader.execute(sql`SELECT FROM webhook_deliveries`),
    (rows) => rows.length === 3,
  );
  await temporal.restart();
  await stage.startWorkers().ready;
  await allReceived(3);
  expect(receiver.received.map((message) => message.body.metadata.sequence)).toEqual([1, 2, 3]);

  await stage.database.transaction((tx) =>
    changeWebhookSubscription(tx, subscription.id, { status: 'paused' }, TESTER),
  );
  await recordEvents(stage.database, id);
  await until(
    () => stage.database.reader.execute(sql`SELECT FROM webhook_deliveries`),
    (rows) => rows.length === 4,
  );
  await stage.database.transaction((tx) =>
    changeWebhookSubscription(tx, subscription.id, { status: 'active' }, TESTER),
  );
  await allReceived(4);
});

test('a worker that stops releases its claims, and the next one continues where it was', async () => {
  const first = stage.startWorkers();
  await first.ready;
  await subscribe(stage.database, receiver.url);
  receiver.answer(() => {});
  await recordEvents(stage.database, await insertClient(stage.database), 2);
  await allReceived(1);
  await first.stop();
  const claims = await stage.database.reader.execute(
    sql`SELECT FROM webhook_deliveries WHERE claim_token IS NOT NULL OR attempt_count > 0`,
  );
  expect(claims).toHaveLength(0);
  receiver.answer((_message, response) => response.writeHead(200).end());
  await stage.startWorkers().ready;
  await allReceived(3);
  expect(receiver.received.map((message) => message.body.metadata.sequence)).toEqual([1, 1, 2]);
});

test('a worker killed while an attempt is under way: the next one delivers again under the same id', async () => {
  await subscribe(stage.database, receiver.url);
  // A shorter time-out shortens the claim, which the next worker waits for; the receiver of a busy machine still acts within it.
  const folder = mkdtempSync(join(tmpdir(), 'webhook-worker-'));
  writeFileSync(join(folder, 'configuration.json'), JSON.stringify({ webhooks: { timeoutMs: 10_000 } }));
  const child = spawn(process.execPath, entryArguments('activities/main.ts'), {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: {
      ...process.env,
      DATABASE_URL: stage.testDatabase.url,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      SANDBOX_BANK_SECRET: 'a secret of this test',
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
      METRICS_PORT: '0',
      CONFIG_FILE: localConfigurationFiles({ CONFIG_FILE: join(folder, 'configuration.json') }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk);
    });
  }
  const ended = new Promise((resolve) => child.once('exit', resolve));
  receiver.answer(() => child.kill('SIGKILL'));
  await recordEvents(stage.database, await insertClient(stage.database), 2);
  await until(
    async () => {
      if (child.exitCode !== null) throw new Error(`the worker ended by itself: ${output}`);
      return receiver.received.length;
    },
    (length) => length >= 1,
  );
  await ended;
  rmSync(folder, { recursive: true });
  receiver.answer((_message, response) => response.writeHead(200).end());
  await stage.startWorkers().ready;
  await allReceived(3);
  expect(receiver.received.map((message) => message.body.metadata.sequence)).toEqual([1, 1, 2]);
  expect(receiver.received[1]?.id).toBe(receiver.received[0]?.id);
  const settled = await until(
    () =>
      stage.database.reader.execute<{ attempts: number }>(
        sql`SELECT attempt_count AS attempts FROM webhook_deliveries WHERE status = 'succeeded'`,
      ),
    (rows) => rows.length === 2,
  );
  expect(settled.map(({ attempts }) => attempts)).toEqual([1, 1]);
});
