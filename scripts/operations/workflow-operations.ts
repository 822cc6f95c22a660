import { parseArgs } from 'node:util';
import { prepareNamespace } from '../../activities/temporal-namespace.ts';
import { auditorOf } from '../../db/frame/audit-entries.ts';
import { OPEN_WORK_TYPES, wakeAllOpen } from '../../db/frame/open-work.ts';
import { listParkedWakeups, wake } from '../../db/frame/workflow-wakeups.ts';
import { formatDateTime } from '../../domain/frame/time/dates.ts';
import { WEBHOOK_SHARDS, workflowId } from '../../workflows/frame/messages.ts';
import { catchUpAfterRestore } from './after-restore.ts';
import type { Operation, OperationContext } from './operations.ts';
import { findStuckWork } from './stuck-work.ts';
import { findUnbegunTasks, UNBEGUN_MS_MAX } from './unbegun-tasks.ts';
import { operate } from './why/commands.ts';

const audit = auditorOf('workflow');

export const restartWorkflows: Operation = {
  summary: 'Wakes the workflow of every open row, and those of the webhooks: after Temporal lost its database.',
  run: restart,
};

async function restart({ database, temporal, initiator, print }: OperationContext): Promise<0 | 1> {
  const reserved = await prepareNamespace(temporal.connection, temporal.client.options.namespace);
  for (const what of reserved) print(`not permitted, so make sure that it exists: ${what}`);
  // The entry is in the first transaction: whatever becomes of the others, somebody has begun this.
  await database.transaction(async (tx) => {
    audit(tx, 'all', { action: 'restarted', initiator, after: { types: [...OPEN_WORK_TYPES, 'webhook-delivery'] } });
    for (let shard = 0; shard < WEBHOOK_SHARDS; shard += 1) {
      await wake(tx, 'webhook-delivery', workflowId('webhook-delivery', String(shard)));
    }
  });
  print(`webhook-delivery: ${WEBHOOK_SHARDS} to be woken`);
  for (const type of OPEN_WORK_TYPES) {
    print(`${type}: ${await wakeAllOpen(database, type)} to be woken`);
  }
  print('A running API process hands them to Temporal.');
  return 0;
}

export const afterRestore: Operation = {
  summary:
    '--since INSTANT [--end ID]… [--go-on ID]…: catches up with the providers after an older Postgres was restored.',
  run: (context) => catchUpAfterRestore(context, () => restart(context)),
};

const PARKED_MAX = 1_000;

export const parked: Operation = {
  summary: 'Lists the wake-ups that Temporal found invalid; --retry tries them again.',
  async run({ database, initiator, arguments: given, print }) {
    const { values } = parseArgs({ args: [...given], options: { retry: { type: 'boolean', default: false } } });
    const rows = await listParkedWakeups(database.reader, PARKED_MAX);
    for (const row of rows) {
      print(`${row.workflowId}  parked ${row.parkedAt.toISOString()}  attempts ${row.attemptCount}  ${row.lastError}`);
    }
    print(rows.length === 0 ? 'No wake-up is parked.' : `${rows.length} parked.`);
    if (!values.retry) return rows.length === 0 ? 0 : 1;
    await database.transaction(async (tx) => {
      for (const { workflowType, workflowId: id, parkedAt } of rows) {
        await wake(tx, workflowType, id);
        const before = { parkedDateTime: formatDateTime(parkedAt) };
        audit(tx, id, { action: 'woken', initiator, before, after: { parkedDateTime: null } });
      }
    });
    return 0;
  },
};

export const stuck: Operation = {
  summary: 'Lists open rows without a workflow, workflows without an open row, and tasks that no worker begins.',
  async run({ database, temporal: { client }, print, patienceMs }) {
    const { rowsWithoutWorkflow, workflowsWithoutRow } = await findStuckWork(database, client);
    const { tasks, isPartial, rowsMax } = await findUnbegunTasks(database, client, patienceMs ?? UNBEGUN_MS_MAX);
    for (const id of rowsWithoutWorkflow) print(`open row without a workflow: ${id}`);
    for (const id of workflowsWithoutRow) print(`workflow without an open row: ${id}`);
    for (const { workflowId: id, since } of tasks) {
      print(`workflow whose task no worker has begun since ${since.toISOString()}: ${id}`);
    }
    if (tasks.length > 0) {
      print(
        'No worker runs, or all are busy: see to the workers first. If others are begun meanwhile, Temporal has lost the',
      );
      print(`task: ${operate('restart-workflow ID')}.`);
    }
    if (isPartial) print(`Tasks were looked for in the ${rowsMax} open rows of each kind whose checks come first.`);
    const found = rowsWithoutWorkflow.length + workflowsWithoutRow.length + tasks.length;
    print(found === 0 ? 'Every open row has its workflow, and every workflow its open row.' : `${found} found.`);
    return found === 0 ? 0 : 1;
  },
};
