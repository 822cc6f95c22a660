import { parseArgs } from 'node:util';
import { prepareNamespace } from '../../activities/temporal-namespace.ts';
import { readCalendarFile } from '../../config/calendars/calendar-files.ts';
import { ConfigurationError } from '../../config/files.ts';
import type { Database } from '../../db/driver/client.ts';
import type { Initiator } from '../../db/frame/audit-entries.ts';
import { OPEN_WORK_TYPES, wakeAllOpen } from '../../db/frame/open-work.ts';
import { listParkedWakeups, wake } from '../../db/frame/workflow-wakeups.ts';
import { assignIncomingTransfer, returnIncomingTransfer } from '../../db/incoming-transfers/incoming-transfers.ts';
import { type AccountId, asId, type Id, type IncomingTransferId, isUuid } from '../../domain/frame/ids.ts';
import type { TemporalClient } from '../../loops/temporal.ts';
import { WEBHOOK_SHARDS, workflowId } from '../../workflows/frame/messages.ts';
import { RemedyError } from '../frame/remedy.ts';
import { catchUpAfterRestore } from './after-restore.ts';
import { decideCheck } from './decide.ts';
import { operateMachineUsers } from './machine-user-operation.ts';
import { findStuckWork } from './stuck-work.ts';
import { sweepFeesNow } from './sweep-fees.ts';

/** What an operator's command needs. */
export interface Operation {
  readonly summary: string;
  /** Returns the exit status: 0, or 1 if it found something to follow up. */
  run(context: OperationContext): Promise<0 | 1>;
}

export interface OperationContext {
  readonly database: Database;
  readonly temporal: Pick<TemporalClient, 'client' | 'connection'>;
  /** The operator, for the audit log. */
  readonly initiator: Initiator;
  /** Arguments after the command's name. */
  readonly arguments: readonly string[];
  print(line: string): void;
}

const restartWorkflows: Operation = {
  summary: 'Wakes the workflow of every open row, and those of the webhooks: after Temporal lost its database.',
  async run({ database, temporal, print }) {
    await prepareNamespace(temporal.connection, temporal.client.options.namespace);
    for (const type of OPEN_WORK_TYPES) {
      print(`${type}: ${await wakeAllOpen(database, type)} to be woken`);
    }
    await database.transaction(async (tx) => {
      for (let shard = 0; shard < WEBHOOK_SHARDS; shard += 1) {
        await wake(tx, 'webhook-delivery', workflowId('webhook-delivery', String(shard)));
      }
    });
    print(`webhook-delivery: ${WEBHOOK_SHARDS} to be woken`);
    print('A running API process hands them to Temporal.');
    return 0;
  },
};

const afterRestore: Operation = {
  summary: '--since INSTANT: catches up with the providers after an older Postgres was restored.',
  run: (context) => catchUpAfterRestore(context, () => restartWorkflows.run(context)),
};

const PARKED_MAX = 1_000;

const parked: Operation = {
  summary: 'Lists the wake-ups that Temporal found invalid; --retry tries them again.',
  async run({ database, arguments: given, print }) {
    const { values } = parseArgs({ args: [...given], options: { retry: { type: 'boolean', default: false } } });
    const rows = await listParkedWakeups(database.reader, PARKED_MAX);
    for (const row of rows) {
      print(`${row.workflowId}  parked ${row.parkedAt.toISOString()}  attempts ${row.attemptCount}  ${row.lastError}`);
    }
    print(rows.length === 0 ? 'No wake-up is parked.' : `${rows.length} parked.`);
    if (!values.retry) return rows.length === 0 ? 0 : 1;
    await database.transaction(async (tx) => {
      for (const row of rows) await wake(tx, row.workflowType, row.workflowId);
    });
    return 0;
  },
};

const stuck: Operation = {
  summary: 'Lists open rows without a workflow, and workflows without an open row.',
  async run({ database, temporal, print }) {
    const { rowsWithoutWorkflow, workflowsWithoutRow } = await findStuckWork(database, temporal.client);
    for (const id of rowsWithoutWorkflow) print(`open row without a workflow: ${id}`);
    for (const id of workflowsWithoutRow) print(`workflow without an open row: ${id}`);
    const found = rowsWithoutWorkflow.length + workflowsWithoutRow.length;
    print(found === 0 ? 'Every open row has its workflow, and every workflow its open row.' : `${found} found.`);
    return found === 0 ? 0 : 1;
  },
};

const assignIncoming: Operation = {
  summary: 'INCOMING_TRANSFER ACCOUNT: assigns a payment that matched no account, or several, to one.',
  async run({ database, initiator, arguments: given, print }) {
    const id = readId<IncomingTransferId>(given, 0, 'INCOMING_TRANSFER');
    const accountId = readId<AccountId>(given, 1, 'ACCOUNT');
    await database.transaction((tx) => assignIncomingTransfer(tx, id, accountId, initiator));
    print(`${id} is assigned to ${accountId}.`);
    return 0;
  },
};

const returnIncoming: Operation = {
  summary: 'INCOMING_TRANSFER: sends money that is on hold back to where it came from.',
  async run({ database, initiator, arguments: given, print }) {
    const id = readId<IncomingTransferId>(given, 0, 'INCOMING_TRANSFER');
    await database.transaction((tx) => returnIncomingTransfer(tx, id, initiator));
    print(`${id} goes back.`);
    return 0;
  },
};

const machineUser: Operation = {
  summary: 'register | add-key | revoke | list: registers the first machine user, and any other.',
  run: operateMachineUsers,
};

const sweepFees: Operation = {
  summary: '[DATE]: moves fee revenue to settlement now, counted to the date (default: today).',
  run: sweepFeesNow,
};

const checkCalendar: Operation = {
  summary: 'FILE: checks a calendar file before it takes the place of the present one.',
  async run({ arguments: [path], print }) {
    if (path === undefined) throw new RemedyError('Give FILE, the path of a calendar file.');
    try {
      const { from, publishedUntil, until, closedDates } = readCalendarFile(path).calendar;
      print(`Sound: ${closedDates.size} closed dates from ${from} to ${until}, published until ${publishedUntil}.`);
      return 0;
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      print(error.message);
      return 1;
    }
  },
};

const decide: Operation = {
  summary: 'KIND ID RESULT: decides the compliance check of an incoming-transfer or outgoing-transfer.',
  run: decideCheck,
};

function readId<Branded extends Id<string>>(given: readonly string[], index: number, name: string): Branded {
  const id = (given[index] ?? '').toLowerCase();
  if (!isUuid(id)) throw new RemedyError(`Give ${name} as its id.`);
  return asId<Branded>(id);
}

/** Every command, one line each. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  'restart-workflows': restartWorkflows,
  'after-restore': afterRestore,
  parked,
  stuck,
  'assign-incoming': assignIncoming,
  'return-incoming': returnIncoming,
  decide,
  'machine-user': machineUser,
  'sweep-fees': sweepFees,
  'check-calendar': checkCalendar,
};
