import { Client, type Connection, ScheduleAlreadyRunning } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { NativeConnection } from '@temporalio/worker';
import type { Logger } from 'pino';
import { SEARCH_ATTRIBUTES, TASK_QUEUES } from '../workflows/common/messages.ts';

/** Runs never overlap, and one run after an outage is enough: each does all that is due. */
const SCHEDULES = [
  { name: 'housekeeping', every: '10 minutes', summary: 'Upkeep of the service' },
  // The first run after midnight (UTC) compares the day that has ended. Later runs find nothing due, unless a provider was unavailable.
  {
    name: 'reconciliation',
    every: '1 hour',
    offset: '15 minutes',
    summary: 'Each day of each provider compared with our ledger',
  },
] as const;

/** Temporal's database may be lost under a running worker, which reconnects without noticing. */
export const PREPARE_INTERVAL_MS = 20_000;

/**
 * Creates what the first workflow needs. Safe to repeat, also by several workers at once. On hosted Temporal, operators may
 * have to do it (docs/reference/deployment.md): returns what this connection is not permitted to create, whether or not it exists.
 */
export async function prepareNamespace(
  connection: NativeConnection | Connection,
  namespace: string,
): Promise<readonly string[]> {
  const client = new Client({ connection, namespace });
  const reserved: string[] = [];
  if (!(await isPermitted(registerSearchAttributes(connection, namespace)))) reserved.push('search attributes');
  for (const each of SCHEDULES) {
    if (!(await isPermitted(schedule(client, each)))) reserved.push(`schedule ${each.name}`);
  }
  return reserved;
}

/** Prepares the namespace at each call. Warns once about the same missing permissions. */
export function namespacePreparation(
  connection: NativeConnection | Connection,
  namespace: string,
  logger: Logger,
): () => Promise<void> {
  let warnedOf = '';
  return async () => {
    const reserved = (await prepareNamespace(connection, namespace)).join(', ');
    if (reserved !== '' && reserved !== warnedOf) {
      logger.warn({ namespace, reserved }, 'the worker is not permitted to create these in Temporal: they must exist');
    }
    warnedOf = reserved;
  };
}

const PERMISSION_DENIED = 7;
const UNIMPLEMENTED = 12;

async function isPermitted(creation: Promise<void>): Promise<boolean> {
  try {
    await creation;
    return true;
  } catch (error) {
    const code = statusOf(error);
    if (code !== PERMISSION_DENIED && code !== UNIMPLEMENTED) throw error;
    return false;
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
    // Another worker was first.
    if (statusOf(error) !== ALREADY_EXISTS) throw error;
  }
}

const ALREADY_EXISTS = 6;

/** The gRPC status of a failed call, even if a client has wrapped it. */
function statusOf(error: unknown): unknown {
  if (!(error instanceof Error)) return undefined;
  return 'code' in error ? error.code : statusOf(error.cause);
}

async function schedule(client: Client, { name, summary, ...interval }: (typeof SCHEDULES)[number]): Promise<void> {
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
        staticSummary: summary,
      },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}
