import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { describe, expect, test } from 'vitest';
import { workflowBundle } from '../../activities/workflow-bundle.ts';
import { WORKFLOW_TYPES } from '../../workflows/common/messages.ts';
import { type History, historyFromJson } from '../harness/workflows/histories.ts';
import '../harness/workflows/temporal-runtime.ts';

/** Recorded from real runs by test/workflows/record-histories.ts, a folder per release. */
const DIRECTORY = join(import.meta.dirname, '../histories');

const recorded = readdirSync(DIRECTORY).flatMap((release) =>
  readdirSync(join(DIRECTORY, release))
    .filter((file) => file.endsWith('.json'))
    .map((file) => `${release}/${file}`),
);

function read(file: string): History {
  return historyFromJson(readFileSync(join(DIRECTORY, file), 'utf8'));
}

function typeOf(history: History): string {
  return history.events?.[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name ?? 'unknown';
}

type Traces = Parameters<typeof workflowBundle>[0];

async function replay(history: History, traces?: Traces): Promise<void> {
  await Worker.runReplayHistory({ workflowBundle: await workflowBundle(traces) }, history);
}

describe('workflows that began under an earlier release continue under this one', () => {
  test.each(recorded)('%s', async (file) => {
    await replay(read(file));
  });

  test.each(recorded)('%s, with traces on', async (file) => {
    await replay(read(file), 'traced');
  });

  test('a history of every type of workflow is kept', () => {
    expect(new Set(recorded.map((file) => typeOf(read(file))))).toEqual(new Set(WORKFLOW_TYPES));
  });
});

describe('the replay detects', () => {
  const completed = recorded.find((file) => file.endsWith('outgoing-transfer-completed.json')) ?? '';

  test('another activity than the recorded one', async () => {
    const history = read(completed);
    for (const { activityTaskScheduledEventAttributes: scheduled } of history.events ?? []) {
      if (scheduled?.activityType != null) scheduled.activityType.name = 'cancelOutgoingTransfer';
    }
    await expect(replay(history)).rejects.toThrow(DeterminismViolationError);
  });

  test('a command that was not given then', async () => {
    const history = read(completed);
    for (const event of history.events ?? []) {
      if (event.markerRecordedEventAttributes == null) continue;
      event.markerRecordedEventAttributes = null;
      event.timerStartedEventAttributes = { timerId: '1', startToFireTimeout: null };
      event.eventType = 17;
      break;
    }
    await expect(replay(history)).rejects.toThrow(DeterminismViolationError);
  });
});
