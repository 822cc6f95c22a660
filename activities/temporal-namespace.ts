import { Client, type Connection, ScheduleAlreadyRunning } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { NativeConnection } from '@temporalio/worker';
import { SEARCH_ATTRIBUTES, TASK_QUEUES } from '../workflows/frame/messages.ts';

/** A running one is not joined by another, and after an outage one run is enough: each does all that is due. */
const SCHEDULES = {
  housekeeping: { every: '10 minutes', summary: 'Upkeep of the service' },
  // The first run after midnight (UTC) compares the day that has ended. The others find nothing due, unless a provider was away.
  reconciliation: {
    every: '1 hour',
    offset: '15 minutes',
    summary: 'Each day of each provider compared with our ledger',
  },
} as const;

/** Temporal's database may be lost under a running worker, which reconnects without noticing. */
export const PREPARE_INTERVAL_MS = 20_000;

/** Creates what the first workflow needs. Safe to repeat, also by several workers at once. */
export async function prepareNamespace(connection: NativeConnection | Connection, namespace: string): Promise<void> {
  await unlessReserved(() => registerSearchAttributes(connection, namespace));
  await unlessReserved(() => schedule(new Client({ connection, namespace })));
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

async function schedule(client: Client): Promise<void> {
  for (const [name, { summary: staticSummary, ...interval }] of Object.entries(SCHEDULES)) {
    try {
      await client.schedule.create({
        scheduleId: name,
        spec: { intervals: [interval] },
        policies: { overlap: 'SKIP', catchupWindow: '1 minute' },
        action: {
          type: 'startWorkflow',
          workflowType: name,
          workflowId: name,
          taskQueue: TASK_QUEUES.workflows,
          args: [],
          staticSummary,
        },
      });
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    }
  }
}
