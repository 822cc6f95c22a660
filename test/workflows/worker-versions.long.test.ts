import type { WorkflowBundleOption } from '@temporalio/worker';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { RunningWorkers } from '../../activities/worker.ts';
import { OPERATIONS } from '../../cli/operations/operations.ts';
import { findUnservedQueues } from '../../cli/operations/workflows/task-queues.ts';
import { wake } from '../../db/common/workflow-wakeups.ts';
import { authorization } from '../../db/outgoing-transfers/requested-changes.ts';
import { changeUnderLocks } from '../../db/transfers/requested-changes.ts';
import type { OutgoingTransferId } from '../../domain/common/ids.ts';
import { TASK_QUEUES, workflowId } from '../../workflows/common/messages.ts';
import { auditOf, TESTER } from '../harness/audit.ts';
import { startTemporalDevServer, type TestTemporal } from '../harness/servers/temporal.ts';
import { type Stage, setStage, until } from '../harness/stage.ts';
import { codesOf, failuresOf, type History } from '../harness/workflows/histories.ts';
import { bundleOf, bundleOfChanged, codeOf, releaseBefore } from '../harness/workflows/releases.ts';

// Temporal gives the tasks of every workflow to the release that is current, whichever began it. Three releases that are made here: one that
// knows nothing of a new step, one that knows it but takes it only where a history has it, and one that takes it.

const DEPLOYMENT = 'service';
const RELEASES = ['without-the-step', 'knowing-the-step', 'taking-the-step'] as const;
type ReleaseName = (typeof RELEASES)[number];

const KEPT = releaseBefore();
let temporal: TestTemporal;
let stage: Stage;
let bundles: Readonly<Record<ReleaseName, WorkflowBundleOption>>;
const running = new Map<ReleaseName, RunningWorkers>();

beforeAll(async () => {
  const [server, without, knowing, taking] = await Promise.all([
    startTemporalDevServer(),
    bundleOf(KEPT),
    bundleOfChanged(KEPT, withStep('workflowInfo().unsafe.isReplaying && patched("a new step")')),
    bundleOfChanged(KEPT, withStep('patched("a new step")')),
  ]);
  temporal = server;
  bundles = { 'without-the-step': without, 'knowing-the-step': knowing, 'taking-the-step': taking };
  stage = await setStage({ name: 'worker-versions', address: temporal.address });
  stage.relay.start();
  vi.stubEnv('TEMPORAL_DEPLOYMENT_NAME', DEPLOYMENT);
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await stage?.close();
  await temporal?.close();
});

/** The kept release with a step at the start of each transfer that the condition lets take it. */
function withStep(condition: string): string {
  const begin = 'function outgoingTransfer(undecided = []) {';
  const code = codeOf(KEPT);
  expect(code.split(begin)).toHaveLength(2);
  const first = `${begin} return ${condition} ? sleep(1).then(() => goOn(undecided)) : goOn(undecided); }`;
  const importing = 'import { patched } from "@temporalio/workflow";';
  return `${importing}\n${code.replace(begin, `${first}\nfunction goOn(undecided) {`)}`;
}

async function start(name: ReleaseName): Promise<void> {
  const workers = stage.startWorkers(undefined, bundles[name], {
    version: { deploymentName: DEPLOYMENT, buildId: name },
  });
  running.set(name, workers);
  await workers.ready;
}

async function operate(...given: string[]): Promise<{ status: number | undefined; lines: string[] }> {
  const lines: string[] = [];
  const { database, temporal: connected } = stage;
  const context = { database, temporal: connected, initiator: TESTER, arguments: given };
  const limit = given.includes('never-started') || given.includes('--json') ? { answerTimeoutMs: 0 } : {};
  const status = await OPERATIONS['worker-versions']?.run({ ...context, ...limit, print: (line) => lines.push(line) });
  return { status, lines };
}

const makeCurrent = async (name: ReleaseName) =>
  expect(await operate('set-current', name)).toEqual({ status: 0, lines: [`Workers of ${name} get all tasks.`] });

const historyOf = (id: OutgoingTransferId): Promise<History> =>
  stage.client.workflow.getHandle(workflowId('outgoing-transfer', id)).fetchHistory();

/** A transfer that waits for its authorization, and who began it. */
async function begun(): Promise<OutgoingTransferId> {
  const id = await stage.transfer(await stage.account(5_000n), { authorizationStatus: 'not-checked' });
  await until(
    async () => (await historyOf(id).catch(() => undefined))?.events ?? [],
    (events) => events.some((event) => event.upsertWorkflowSearchAttributesEventAttributes != null),
  );
  return id;
}

/** Wakes its workflow, and returns whose worker took the task. */
async function takerOf(id: OutgoingTransferId): Promise<string | undefined> {
  const { length } = codesOf(await historyOf(id));
  await stage.database.transaction(async (tx) => wake(tx, 'outgoing-transfer', workflowId('outgoing-transfer', id)));
  const codes = await until(
    async () => codesOf(await historyOf(id)),
    (now) => now.length > length,
  );
  return codes.at(-1);
}

async function authorized(id: OutgoingTransferId): Promise<void> {
  const request = { id, initiator: TESTER, rules: stage.configuration };
  await stage.database.transaction((tx) => changeUnderLocks(tx, authorization(request)));
}

async function completes(id: OutgoingTransferId): Promise<string[]> {
  await authorized(id);
  await stage.client.workflow.getHandle(workflowId('outgoing-transfer', id)).result();
  expect((await stage.find(id)).status).toBe('completed');
  return [...new Set(codesOf(await historyOf(id)))];
}

test('tasks go to the current release alone, to the share that is ramped, and never to one whose workers do not poll', async () => {
  const unserved = async () => (await findUnservedQueues(stage.temporal.connection, 'default')).map(({ name }) => name);
  await start('knowing-the-step');
  expect(await unserved(), 'as doctor reports').toEqual(Object.values(TASK_QUEUES));
  await makeCurrent('knowing-the-step');
  // A queue without tasks learns of it with its workers' next poll.
  await until(unserved, ({ length }) => length === 0);
  const id = await begun();
  await start('taking-the-step');
  for (let time = 0; time < 3; time += 1) expect(await takerOf(id)).toBe('knowing-the-step');

  expect(await operate('set-current', 'never-started', '--json')).toEqual({
    status: 1,
    lines: [
      expect.stringContaining(
        '"rejected":"No worker of never-started polls the task queues workflows, providers, webhooks',
      ),
    ],
  });
  expect(await takerOf(id)).toBe('knowing-the-step');

  expect((await operate('ramp', 'taking-the-step', '100')).status).toBe(0);
  expect(await takerOf(id)).toBe('taking-the-step');
  expect((await operate('list')).lines).toEqual(
    expect.arrayContaining([
      'knowing-the-step  gets 0 % of the tasks  its workers poll',
      'taking-the-step  gets 100 % of the tasks  its workers poll',
    ]),
  );
  await makeCurrent('knowing-the-step');
  expect(await takerOf(id)).toBe('knowing-the-step');
  expect(await completes(id)).toEqual(['knowing-the-step', 'taking-the-step']);
  expect(await auditOf(stage.database.reader, 'all')).toContainEqual(
    expect.objectContaining({
      resource: 'workflow',
      action: 'routed',
      after: { ramping: 'taking-the-step', percent: 100 },
    }),
  );
});

test('a run goes on with the next release and back again, if the release before knows the new step; what is not current leaves in order', async () => {
  const before = await begun();
  await makeCurrent('taking-the-step');
  const after = await begun();
  expect(await takerOf(before)).toBe('taking-the-step');
  await running.get('knowing-the-step')?.stop();
  expect(await takerOf(before)).toBe('taking-the-step');

  await start('knowing-the-step');
  await makeCurrent('knowing-the-step');
  expect(await completes(after)).toEqual(['taking-the-step', 'knowing-the-step']);
  expect(await completes(before)).toEqual(['knowing-the-step', 'taking-the-step']);
  for (const id of [before, after]) expect(failuresOf(await historyOf(id))).toEqual([]);
});

// Temporal waits longer and longer before it tries the failed task again.
test('a run that took a step stands still with a release that does not know it, and goes on when the other is current again', async () => {
  await makeCurrent('taking-the-step');
  const id = await begun();
  await start('without-the-step');
  await makeCurrent('without-the-step');
  await authorized(id);
  const failures = await until(
    async () => failuresOf(await historyOf(id)),
    ({ length }) => length > 0,
  );
  expect(new Set(failures)).toEqual(new Set(['WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR']));
  expect(stage.provider.submissions).not.toContain(id);
  // What it begins itself, it finishes.
  expect(await completes(await begun())).toEqual(['without-the-step']);

  await makeCurrent('taking-the-step');
  await stage.client.workflow.getHandle(workflowId('outgoing-transfer', id)).result();
  expect((await stage.find(id)).status).toBe('completed');
  expect(stage.provider.submissions.filter((submitted) => submitted === id)).toHaveLength(1);
});

test('to unset the variable, tasks go to workers without a version, once such poll, and open runs follow when the others leave', async () => {
  const before = 'taking-the-step';
  const id = await begun();
  expect(await operate('set-current', '--unversioned', '--json')).toEqual({
    status: 1,
    lines: [expect.stringContaining('"rejected":"No worker without a version polls the task queues workflows,')],
  });
  expect(await takerOf(id)).toBe(before);

  const workers = stage.startWorkers(undefined, bundles[before]);
  await workers.ready;
  expect(await operate('set-current', '--unversioned')).toEqual({
    status: 0,
    lines: ['Workers without a version get all tasks.'],
  });
  expect((await operate('list')).lines).toContain('workers without a version get 100 %');
  // Those that a worker of the release before holds in its memory stay there until it leaves.
  expect(RELEASES).not.toContain(codesOf(await historyOf(await begun())).at(-1));
  await Promise.all([...running.values()].map((worker) => worker.stop()));
  expect(RELEASES).not.toContain(await takerOf(id));
  expect(await completes(id)).toHaveLength(2);
  await workers.stop();
});
