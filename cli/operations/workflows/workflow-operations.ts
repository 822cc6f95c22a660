import { parseArgs } from 'node:util';
import { prepareNamespace } from '../../../activities/temporal-namespace.ts';
import { auditorOf } from '../../../db/common/audit-entries.ts';
import { OPEN_WORK_TYPES, wakeAllOpen } from '../../../db/common/open-work.ts';
import { listParkedWakeups, wake } from '../../../db/common/workflow-wakeups.ts';
import { formatDateTime } from '../../../domain/common/time/dates.ts';
import { WEBHOOK_SHARDS, workflowId } from '../../../workflows/common/messages.ts';
import type { Operation, OperationContext } from '../operation.ts';
import { catchUpAfterRestore } from '../restores/after-restore.ts';
import { operate } from '../why/commands.ts';
import { findStuckWork } from './stuck-work.ts';
import { findUnstartedTasks, UNSTARTED_MS_MAX } from './unstarted-tasks.ts';

const audit = auditorOf('workflow');

export const restartWorkflows: Operation = {
  run: restart,
};

async function restart({ database, temporal, initiator, print, progressed }: OperationContext): Promise<0 | 1> {
  const reserved = await prepareNamespace(temporal.connection, temporal.client.options.namespace);
  for (const what of reserved) print(`not permitted, so make sure that it exists: ${what}`);
  // The entry is in the first transaction: it shows that the command was begun, whatever becomes of the others.
  await database.transaction(async (tx) => {
    audit(tx, 'all', { action: 'restarted', initiator, after: { types: [...OPEN_WORK_TYPES, 'webhook-delivery'] } });
    for (let shard = 0; shard < WEBHOOK_SHARDS; shard += 1) {
      await wake(tx, 'webhook-delivery', workflowId('webhook-delivery', String(shard)));
    }
  });
  print(`webhook-delivery: ${WEBHOOK_SHARDS} to be woken`);
  for (const [index, type] of OPEN_WORK_TYPES.entries()) {
    progressed?.(index, OPEN_WORK_TYPES.length);
    print(`${type}: ${await wakeAllOpen(database, type)} to be woken`);
  }
  print('A running API process hands them to Temporal.');
  return 0;
}

export const afterRestore: Operation = {
  run: (context) => catchUpAfterRestore(context, () => restart(context)),
};

const PARKED_MAX = 1_000;

export const parked: Operation = {
  async run({ database, initiator, arguments: given, print }) {
    const isOff = { type: 'boolean', default: false } as const;
    const { values } = parseArgs({ args: [...given], options: { retry: isOff, json: isOff } });
    const rows = await listParkedWakeups(database.reader, PARKED_MAX);
    const lines = rows.map(
      ({ workflowId: id, parkedAt, attemptCount, lastError }) =>
        `${id}  parked ${parkedAt.toISOString()}  attempts ${attemptCount}  ${lastError}`,
    );
    if (values.json) print(JSON.stringify({ parked: rows, isRetried: values.retry }));
    else
      for (const line of [...lines, rows.length === 0 ? 'No wake-up is parked.' : `${rows.length} parked.`])
        print(line);
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
  async run({ database, temporal: { client }, arguments: given, print, answerTimeoutMs, progressed }) {
    const { values } = parseArgs({ args: [...given], options: { json: { type: 'boolean', default: false } } });
    const { rowsWithoutWorkflow, workflowsWithoutRow } = await findStuckWork(database, client, progressed);
    const { tasks, isPartial, rowsMax } = await findUnstartedTasks(
      database,
      client,
      answerTimeoutMs ?? UNSTARTED_MS_MAX,
    );
    const found = rowsWithoutWorkflow.length + workflowsWithoutRow.length + tasks.length;
    if (values.json) {
      print(JSON.stringify({ rowsWithoutWorkflow, workflowsWithoutRow, unstartedTasks: tasks, isPartial }));
      return found === 0 ? 0 : 1;
    }
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
    if (isPartial)
      print(`Only the ${rowsMax} open rows of each kind with the earliest checks were searched for tasks.`);
    print(found === 0 ? 'Every open row has its workflow, and every workflow its open row.' : `${found} found.`);
    return found === 0 ? 0 : 1;
  },
};
