import { hostname } from 'node:os';
import { Connection } from '@temporalio/client';
import { temporalSettings } from '../config/temporal.ts';
import { TASK_QUEUES } from '../workflows/frame/messages.ts';
import { describeFailure } from './frame/remedy.ts';

/** Workers poll continuously; one silent for this long hangs. */
const POLLED_WITHIN_MS = 120_000;
const TIMEOUT_MS = 4_000;
const TASK_QUEUE_TYPE_WORKFLOW = 1;

/** Health check of a worker's container: exits 0 while a worker on this host polls Temporal for workflow tasks. */
async function main(): Promise<void> {
  const settings = temporalSettings(process.env);
  const connection = await Connection.connect({
    address: settings.address,
    connectTimeout: TIMEOUT_MS,
    ...(settings.tls === undefined ? {} : { tls: settings.tls }),
    ...(settings.apiKey === undefined ? {} : { apiKey: settings.apiKey }),
  });
  const { pollers } = await connection.withDeadline(Date.now() + TIMEOUT_MS, () =>
    connection.workflowService.describeTaskQueue({
      namespace: settings.namespace,
      taskQueue: { name: TASK_QUEUES.workflows },
      taskQueueType: TASK_QUEUE_TYPE_WORKFLOW,
    }),
  );
  const oldestMs = Date.now() - POLLED_WITHIN_MS;
  // The SDK's identity of a worker is process id and host.
  const polls = pollers.some(
    ({ identity, lastAccessTime }) =>
      identity?.endsWith(`@${hostname()}`) && Number(lastAccessTime?.seconds ?? 0) * 1000 > oldestMs,
  );
  await connection.close();
  if (!polls) throw new Error(`No worker of ${hostname()} polls.`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${describeFailure(error)}\n`);
  process.exit(1);
});
