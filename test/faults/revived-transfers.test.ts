import { afterAll, beforeAll, expect, test } from 'vitest';
import { ProviderUnavailable } from '../../activities/providers/port.ts';
import { type Decisions, decideRevived } from '../../cli/operations/restores/revived-transfers.ts';
import type { Configuration } from '../../config/configuration.ts';
import type { FileExchange } from '../../config/schema/file-exchange.ts';
import { newId } from '../../db/common/ids.ts';
import { checkLedger } from '../../db/ledger/check.ts';
import { advanceOutgoingTransfer, recordSubmission } from '../../db/outgoing-transfers/outgoing-transfers.ts';
import { asId, type OutgoingTransferId } from '../../domain/common/ids.ts';
import { dateInUtc } from '../../domain/common/time/dates.ts';
import { workflowId } from '../../workflows/common/messages.ts';
import { auditOf, TESTER } from '../harness/audit.ts';
import { startTemporalDevServer, type TestTemporal } from '../harness/servers/temporal.ts';
import { type Stage, setStage, until } from '../harness/stage.ts';
import { completedPayment } from '../harness/workflows/scripted-provider.ts';

// What `after-restore` does with transfers that had ended before the restore. The whole command: restore.long.test.ts.
let temporal: TestTemporal;
let stage: Stage;

const SINCE = new Date(Date.now() - 60_000);
const NONE: Decisions = { end: [], resume: [] };
/** No worker reads it. */
const queueOf = (id: string) => `no-worker-${id}`;
/** COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION of Temporal's interface. */
const COMPLETE_WORKFLOW = 4;

beforeAll(async () => {
  temporal = await startTemporalDevServer();
  stage = await setStage({ name: 'revived-transfers', address: temporal.address });
});

afterAll(async () => {
  await stage?.close();
  await temporal?.close();
});

function startWorkflow(id: string): Promise<unknown> {
  const options = { workflowId: workflowId('outgoing-transfer', id), taskQueue: queueOf(id) };
  return stage.client.workflow.start('outgoing-transfer', options);
}

/** On its way, with an attempt of which nothing is known. */
async function onItsWay(): Promise<OutgoingTransferId> {
  const id = await stage.transfer(await stage.account(100_000n));
  await stage.database.transaction((tx) => advanceOutgoingTransfer(tx, id, stage.configuration));
  expect(await stage.find(id)).toMatchObject({ status: 'processing', submissionStatus: 'unresolved' });
  return id;
}

async function pending(): Promise<OutgoingTransferId> {
  const transferDate = dateInUtc(new Date(Date.now() + 30 * 86_400_000));
  return stage.transfer(await stage.account(100_000n), { transferDate });
}

/** A transfer whose workflow has ended, as an older Postgres and Temporal's present database show it. */
async function revivedTransfer(transfer: Promise<OutgoingTransferId> = pending()): Promise<OutgoingTransferId> {
  const id = await transfer;
  await startWorkflow(id);
  const { workflowService } = stage.temporal.connection;
  const namespace = 'default';
  const task = await stage.temporal.connection.withDeadline(Date.now() + 30_000, () =>
    workflowService.pollWorkflowTaskQueue({ namespace, taskQueue: { name: queueOf(id) }, identity: 'test' }),
  );
  await workflowService.respondWorkflowTaskCompleted({
    namespace,
    taskToken: task.taskToken,
    commands: [{ commandType: COMPLETE_WORKFLOW, completeWorkflowExecutionCommandAttributes: {} }],
  });
  // Temporal lists it as ended a little later.
  await until(
    async () =>
      (await stage.client.workflow.count(`WorkflowId = 'outgoing-transfer/${id}' AND ExecutionStatus = 'Completed'`))
        .count,
    (ended) => ended === 1,
  );
  return id;
}

async function decide(
  decisions: Decisions,
  since = SINCE,
  { fileExchanges }: Pick<Configuration, 'fileExchanges'> = stage.configuration,
): Promise<{ done: boolean; lines: string[] }> {
  const lines: string[] = [];
  const { database, provider } = stage;
  const configuration = { ...stage.configuration, fileExchanges };
  const providers = new Map([['sandbox-bank', provider]]);
  const context = { database, temporal: stage.temporal, configuration, providers, initiator: TESTER };
  const given = { ...context, print: (line: string) => void lines.push(line) };
  const done = await decideRevived(given, { since, from: SINCE }, decisions);
  return { done, lines };
}

const statusOf = async (id: OutgoingTransferId) => (await stage.find(id)).status;

test('a payment that the bank has, or gives no answer about, is never ended; every other decision is carried out on its own and kept', async () => {
  const [unknown, paid, silent, wanted] = [
    await revivedTransfer(),
    await revivedTransfer(),
    await revivedTransfer(),
    await revivedTransfer(),
  ];
  const absent = asId<OutgoingTransferId>(newId());
  stage.provider.answer.lookUp = async (reference) => {
    if (reference === paid) return completedPayment(reference);
    if (reference === silent) throw new ProviderUnavailable('sandbox-bank', 'no answer');
    return { outcome: 'not-found' };
  };
  const listed = async (decisions: Decisions, since?: Date) => {
    const { done, lines } = await decide(decisions, since);
    const open = lines.filter((line) => line.startsWith('ended after the backup, and open again: '));
    return {
      done,
      lines,
      open: open.map((line) => line.replace(/^.*outgoing-transfer\/(\S+) {2}\S+ {2}\S+ {2}(.*)$/, '$1 $2')),
    };
  };

  const first = await listed(NONE);
  expect(first.done).toBe(false);
  expect(new Set(first.open)).toEqual(
    new Set([`${unknown} not-found`, `${paid} completed`, `${silent} no-answer`, `${wanted} not-found`]),
  );

  // A worker has been started: the workflow runs again, and is still undecided.
  await startWorkflow(silent);
  const second = await listed({ end: [paid, absent, silent, unknown], resume: [wanted] });
  expect(second.done).toBe(false);
  expect(second.open).toEqual([`${paid} completed`, `${silent} no-answer`]);
  expect(second.lines).toContain(`ended again: outgoing-transfer/${unknown}  cancelled`);
  expect(second.lines).toContain(`continues: outgoing-transfer/${wanted}  pending`);
  for (const id of [paid, absent, silent])
    expect(second.lines).toContainEqual(expect.stringContaining(`not ended: outgoing-transfer/${id}`));
  expect(await Promise.all([unknown, paid, silent, wanted].map(statusOf))).toEqual([
    'cancelled',
    'pending',
    'pending',
    'pending',
  ]);
  const actions = async (id: string) => (await auditOf(stage.database.reader, id)).map(({ action }) => action);
  expect(await actions(unknown)).toContain('ended-after-restore');
  expect(await actions(wanted)).toContain('resumed-after-restore');

  // The same decisions again change nothing, and a decision of this restore is none for another one.
  const third = await listed({ end: [unknown], resume: [wanted] });
  expect(third.lines).toContain(`had ended: outgoing-transfer/${unknown}  cancelled`);
  expect(third.lines).toContain(`nothing to decide: outgoing-transfer/${wanted}`);
  expect((await actions(wanted)).filter((action) => action === 'resumed-after-restore')).toHaveLength(1);
  const another = await listed(NONE, new Date(SINCE.getTime() - 1_000));
  expect(another.open).toContain(`${wanted} not-found`);

  stage.provider.answer.lookUp = async () => ({ outcome: 'not-found' });
  expect((await decide({ end: [silent], resume: [paid] })).done).toBe(true);
  expect((await decide({ end: [absent], resume: [] })).done).toBe(false);
});

test('a payment on its way is ended only if the bank does not know it and its workflow has ended', async () => {
  const [ended, again, never] = [
    await revivedTransfer(onItsWay()),
    await revivedTransfer(onItsWay()),
    await onItsWay(),
  ];
  stage.provider.answer.lookUp = async () => ({ outcome: 'not-found' });
  await startWorkflow(again);
  const { done, lines } = await decide({ end: [ended, again, never], resume: [] });
  expect(done).toBe(false);
  expect(lines).toContain(`ended again: outgoing-transfer/${ended}  failed`);
  for (const id of [again, never]) {
    const rejected = `not ended: outgoing-transfer/${id}  .*attempt 1 is unresolved: the provider may have paid it`;
    expect(lines).toContainEqual(expect.stringMatching(rejected));
    expect(await statusOf(id)).toBe('processing');
  }
  expect(await stage.find(ended)).toMatchObject({ status: 'failed', failureCode: 'operator.failed' });
  const [entry] = (await auditOf(stage.database.reader, ended)).filter(
    ({ action }) => action === 'ended-after-restore',
  );
  expect(entry?.after).toMatchObject({ status: 'failed', since: SINCE.toISOString() });
  expect(await checkLedger(stage.database.reader)).toEqual([]);
});

test('a payment that both the bank and the books have as paid is not ended', async () => {
  const id = await onItsWay();
  const paid = {
    outcome: 'completed',
    serviceProviderId: `p-${id}`,
    serviceProviderReference: null,
    code: null,
  } as const;
  await stage.database.transaction((tx) => recordSubmission(tx, id, 1, paid, stage.configuration));
  const { done, lines } = await decide({ end: [id], resume: [] });
  expect(lines[0]).toBe(`not ended: outgoing-transfer/${id}  completed`);
  expect(done).toBe(false);
});

test('of a payment by file nothing is known, as the rows that answer for its bank were restored as well: it is never ended', async () => {
  const id = await revivedTransfer();
  stage.provider.answer.lookUp = async () => ({ outcome: 'not-found' });
  const fileExchanges: Configuration['fileExchanges'] = new Map([['sandbox-bank', BY_FILE]]);
  const { done, lines } = await decide({ end: [id], resume: [] }, SINCE, { fileExchanges });
  expect(done).toBe(false);
  expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^not ended: outgoing-transfer/${id}  .*no-answer`)));
  expect(await statusOf(id)).toBe('pending');
});

const BY_FILE: FileExchange = {
  profile: 'uk',
  party: { name: 'Clients Ltd', id: null, country: 'GB' },
  files: 'at-once',
  windowSeconds: 0,
  paymentsPerFileMax: 1_000,
  pollSeconds: 15,
  transport: { kind: 'folder', out: '/out', in: '/in', archive: '/archive' },
};
