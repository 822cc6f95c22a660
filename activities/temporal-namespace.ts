import { Client, type Connection, ScheduleAlreadyRunning } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { NativeConnection } from '@temporalio/worker';
import { SEARCH_ATTRIBUTES, TASK_QUEUES } from '../workflows/frame/messages.ts';

const SCHEDULE_ID = 'housekeeping';
const HOUSEKEEPING_INTERVAL = '10 minutes';

/** Temporal's database may be lost under a running worker, which reconnects without noticing. */
export const PREPARE_INTERVAL_MS = 20_000;

/** Creates what the first workflow needs. Safe to repeat, also by several workers at once. */
export async function prepareNamespace(connection: NativeConnection | Connection, namespace: string): Promise<void> {
  await unlessReserved(() => registerSearchAttributes(connection, namespace));
  await unlessReserved(() => scheduleHousekeeping(new Client({ connection, namespace })));
}

const PERMISSION_DENIED = 7;
const UNIMPLEMENTED = 12;

/** On hosted Temporal, operators prepare the namespace (docs/operations.md). */
async function unlessReserved(prepare: () => Promise<void>): Promise<void> {
  try {
    await prepare();
  } catch (error) {
    const code = statusOf(error);
    if (code !== PERMISSION_DENIED && code !== UNIMPLEMENTED) throw error;
  }
}

/** Through the API, because the local server's own flag has no effect on an existing database. */
async function registerSearchAttributes(connection: NativeConnection | Connection, namespace: string): Promise<void> {
  const { operatorService } = connection;
  const known = await operatorService.listSearchAttributes({ namespace });
  const missing = Object.keys(SEARCH_ATTRIBUTES).filter((name) => !Object.hasOwn(known.customAttributes ?? {}, name));
  if (missing.length === 0) return;
  const type = proto.temporal.api.enums.v1.IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD;
  try {
    const searchAttributes = Object.fromEntries(missing.map((name) => [name, type]));
    await operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    // Another worker was faster.
    if (statusOf(error) !== ALREADY_EXISTS) throw error;
  }
}

const ALREADY_EXISTS = 6;

/** The gRPC status of a failed call, also where a client has wrapped it. */
function statusOf(error: unknown): unknown {
  if (!(error instanceof Error)) return undefined;
  return 'code' in error ? error.code : statusOf(error.cause);
}

/** A running housekeeping is not joined by another. After an outage one run is enough. */
async function scheduleHousekeeping(client: Client): Promise<void> {
  try {
    await client.schedule.create({
      scheduleId: SCHEDULE_ID,
      spec: { intervals: [{ every: HOUSEKEEPING_INTERVAL }] },
      policies: { overlap: 'SKIP', catchupWindow: '1 minute' },
      action: {
        type: 'startWorkflow',
        workflowType: 'housekeeping',
        workflowId: 'housekeeping',
        taskQueue: TASK_QUEUES.workflows,
        args: [],
        staticSummary: 'Upkeep of the service',
      },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}
