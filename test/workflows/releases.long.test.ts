import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowBundleOption } from '@temporalio/worker';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NameLists } from '../../activities/compliance/name-lists.ts';
import { activitiesByTaskQueue } from '../../activities/index.ts';
import { checkLedger } from '../../db/ledger/check.ts';
import { eventSequencer } from '../../loops/event-sequencer.ts';
import type { PollingLoop } from '../../loops/polling.ts';
import { TASK_QUEUES, WORKFLOW_TYPES, workflowId } from '../../workflows/common/messages.ts';
import { TEST_KEYRING } from '../harness/keyring.ts';
import { startTemporalDevServer, type TestTemporal } from '../harness/servers/temporal.ts';
import { setStage, until } from '../harness/stage.ts';
import { startReceiver } from '../harness/webhooks/webhooks.ts';
import { codesOf, failuresOf, type History } from '../harness/workflows/histories.ts';
import {
  activitiesCalledIn,
  bundleOf,
  bundleOfChanged,
  codeOf,
  releaseBefore,
  typesIn,
} from '../harness/workflows/releases.ts';
import { keepSilent, WAITING_WORK, type Waiting, type WaitingStage } from '../harness/workflows/waiting-work.ts';

// Workflows outlive releases: what the workflows of the release before began, today's finish, and after a rollback the other
// way round. Activities are today's throughout: a worker of the release before brings its own, on the same schema.

/** Kinds that cannot go back, because their runs begin with a step that the release before lacks. The docs say what to do. */
const CANNOT_GO_BACK: readonly string[] = [];

const ROOT = join(import.meta.dirname, '../..');
const logger = pino({ level: 'silent' });
const RELEASE = releaseBefore();
let temporal: TestTemporal;
let stage: WaitingStage;
let sequencer: PollingLoop;
let before: WorkflowBundleOption;

beforeAll(async () => {
  [temporal, before] = await Promise.all([startTemporalDevServer(), bundleOf(RELEASE)]);
  const bare = await setStage({ name: 'releases', address: temporal.address });
  stage = { ...bare, receiver: await startReceiver(), silent: new Set(), unreported: new Set() };
  keepSilent(stage);
  sequencer = eventSequencer({ database: stage.database, logger, now: () => new Date() });
  for (const loop of [stage.relay, stage.admissions, sequencer]) loop.start();
});

afterAll(async () => {
  await sequencer?.stop();
  await stage?.close();
  await stage?.receiver.close();
  await temporal?.close();
});

/** A wake-up that comes late starts another run, which finds nothing to do: what began is this one. */
interface Begun extends Waiting {
  readonly runId: string;
}

/** One workflow of each kind of wait, waiting; no worker is left. */
async function begunWith(bundle: WorkflowBundleOption | undefined): Promise<Map<string, Begun>> {
  const workers = stage.startWorkers(undefined, bundle);
  try {
    await workers.ready;
    const { housekeeping, ...others } = WAITING_WORK;
    const begun = await Promise.all(
      Object.entries(others).map(async ([kind, begin]) => [kind, await begin(stage)] as const),
    );
    // Last, because it does not wait for long.
    if (housekeeping !== undefined) begun.push(['housekeeping', await housekeeping(stage)]);
    const withRuns = begun.map(async ([kind, waiting]) => {
      const { runId } = await stage.client.workflow.getHandle(waiting.workflow).describe();
      return [kind, { ...waiting, runId }] as const;
    });
    return new Map(await Promise.all(withRuns));
  } finally {
    await workers.stop();
  }
}

const historyOf = ({ workflow, runId }: Begun): Promise<History> =>
  stage.client.workflow.getHandle(workflow, runId).fetchHistory();

/** Two codes had a part in it, and neither found the history to be another's. */
async function expectTakenOver(kind: string, waiting: Begun): Promise<void> {
  const history = await historyOf(waiting);
  expect(failuresOf(history), kind).toEqual([]);
  expect(new Set(codesOf(history)).size, kind).toBeGreaterThan(1);
}

/** Every payment reached the bank; the bank that answered got it once. */
async function expectMoneyAgrees(begun: ReadonlyMap<string, Begun>): Promise<void> {
  expect(await checkLedger(stage.database.reader)).toEqual([]);
  for (const [kind, { workflow }] of begun) {
    if (!kind.startsWith('outgoing transfer')) continue;
    const count = stage.provider.submissions.filter((id) => workflow === workflowId('outgoing-transfer', id)).length;
    if (kind.endsWith('that does not answer')) expect(count, kind).toBeGreaterThan(1);
    else expect(count, kind).toBe(1);
  }
}

/** Ends the waits, and resolves when all workflows are through; rejects at once if one of their tasks fails. */
async function finishAll(begun: ReadonlyMap<string, Begun>): Promise<void> {
  let isOver = false;
  const watching = async (): Promise<void> => {
    while (!isOver) {
      for (const [kind, waiting] of begun) expect(failuresOf(await historyOf(waiting)), kind).toEqual([]);
      await sleep(500);
    }
  };
  const finishing = Promise.all([...begun.values()].map((waiting) => waiting.finish()));
  try {
    await Promise.race([finishing, watching()]);
  } finally {
    isOver = true;
  }
}

describe(`a release after ${RELEASE}`, () => {
  test('finishes every kind of wait that the release before began', async () => {
    const begun = await begunWith(before);
    const finished = finishAll(begun);
    const workers = stage.startWorkers();
    try {
      await finished;
    } finally {
      await workers.stop();
    }
    for (const [kind, waiting] of begun) await expectTakenOver(kind, waiting);
    await expectMoneyAgrees(begun);
  });

  test('can be taken back: the release before finishes what it began, apart from the kinds that are named', async () => {
    const begun = await begunWith(undefined);
    const finished = finishAll(new Map([...begun].filter(([kind]) => !CANNOT_GO_BACK.includes(kind))));
    const workers = stage.startWorkers(undefined, before);
    try {
      await finished;
      for (const [kind, waiting] of begun) {
        if (CANNOT_GO_BACK.includes(kind)) await expectStandsStill(waiting);
        else await expectTakenOver(kind, waiting);
      }
    } finally {
      await workers.stop();
    }
    await expectMoneyAgrees(begun);
  });

  test('has every activity that the release before calls', () => {
    const { database, configuration, provider } = stage;
    const mail = { smtpUrl: null, from: 'no-reply@example.com' };
    const providers = new Map([['sandbox-bank', provider]]);
    const publicUrl = 'http://127.0.0.1:3000';
    const activities = activitiesByTaskQueue(
      { database, providers, configuration, logger, keyring: TEST_KEYRING, publicUrl, mail },
      new NameLists(configuration.complianceRules, logger),
    );
    const names = Object.values(activities).flatMap((queue) => Object.keys(queue));
    const called = activitiesCalledIn(codeOf(RELEASE));
    expect(called).toContain('advanceOutgoingTransfer');
    expect(called).toContain('checkLedger');
    expect(called.filter((name) => !names.includes(name))).toEqual([]);
  });

  test('names in docs/ the types, steps, activities and signals that the workflows of the release before lack', () => {
    const lacked = lackedBy(codeOf(RELEASE));
    const docs = filesIn(join(ROOT, 'docs'), '.md').join('\n');
    expect(lacked.filter((name) => !docs.includes(`\`${name}\``))).toEqual([]);
  });
});

/** Stands for a release that lacks what today's has: the kept one without some of its code. */
describe('a release that is made here', () => {
  const without = (...texts: readonly RegExp[]) =>
    texts.reduce((code, text) => {
      expect(code).toMatch(text);
      return code.replace(text, '');
    }, codeOf(RELEASE));

  test('without a step, an activity, a signal and a type: each is reported as missing', () => {
    const code = without(/"check the ledger": checkLedger,/, /\bcheckLedger\b/, /_SIGNAL = "[^"]+"/).replaceAll(
      'housekeeping',
      'other',
    );
    expect(lackedBy(code)).toEqual(expect.arrayContaining(['housekeeping', 'checkLedger']));
    expect(lackedBy(code).some((name) => signalsIn(sourcesOfToday()).includes(name))).toBe(true);
    expect(patchesIn(`if (patched('a-step')) return; if (patched("other")) return;`)).toEqual(['a-step', 'other']);
  });

  test('without the first step of housekeeping: a run of today’s is stuck under it until an operator ends it', async () => {
    const { housekeeping } = WAITING_WORK;
    const today = stage.startWorkers();
    await today.ready;
    const waiting = await housekeeping?.(stage);
    await today.stop();
    if (waiting === undefined) throw new Error('housekeeping has no kind of wait');
    const handle = stage.client.workflow.getHandle(waiting.workflow);
    const { runId } = await handle.describe();
    const earlier = await bundleOfChanged(RELEASE, without(/"check the ledger": checkLedger,/));
    const workers = stage.startWorkers(undefined, earlier);
    try {
      await workers.ready;
      await expectStandsStill({ ...waiting, runId });
      await handle.terminate('the release was taken back');
      await stage.testDatabase.asOwner('ALTER TABLE ledger_checks_away RENAME TO ledger_checks');
      const next = { taskQueue: TASK_QUEUES.workflows, workflowId: `${waiting.workflow}-next` };
      const report: Record<string, string> = await stage.client.workflow.execute('housekeeping', next);
      expect(report).toMatchObject({ 'forget old events': 'ok' });
      expect(Object.keys(report)).not.toContain('check the ledger');
    } finally {
      await workers.stop();
    }
  });
});

/** The code that runs does not know how it began, and goes no further. */
async function expectStandsStill({ workflow, runId }: Begun): Promise<void> {
  const handle = stage.client.workflow.getHandle(workflow, runId);
  const failures = await until(
    async () => failuresOf(await handle.fetchHistory()),
    ({ length }) => length > 0,
  );
  expect(failures[0]).toBe('WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR');
}

/** What today's workflows have, and that code has not. */
function lackedBy(code: string): string[] {
  const sources = sourcesOfToday();
  // Otherwise nothing was read.
  for (const namesIn of [activitiesCalledIn, signalsIn])
    expect(namesIn(sources).length, namesIn.name).toBeGreaterThan(0);
  return [
    ...WORKFLOW_TYPES.filter((type) => !typesIn(code).includes(type)),
    ...[patchesIn, activitiesCalledIn, signalsIn].flatMap((namesIn) => {
      const known = new Set(namesIn(code));
      return namesIn(sources).filter((name) => !known.has(name));
    }),
  ];
}

function patchesIn(code: string): string[] {
  return [...code.matchAll(/\bpatched\(['"]([^'"]+)['"]\)/g)].map(([, name = '']) => name);
}

function signalsIn(code: string): string[] {
  return [...code.matchAll(/\b\w+_SIGNAL = ['"]([^'"]+)['"]/g)].map(([, name = '']) => name);
}

function sourcesOfToday(): string {
  return filesIn(join(ROOT, 'workflows'), '.ts').join('\n');
}

/** The texts of a folder's files. */
function filesIn(folder: string, extension: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith(extension));
  return names.map((name) => readFileSync(join(folder, name), 'utf8'));
}
