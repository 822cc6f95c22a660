import { parseArgs } from 'node:util';
import { ServiceError, type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { CHECKED_TYPES, isComplianceCheckOpen, listRecordedDecisions } from '../../db/compliance/checks.ts';
import { OPEN_WORK_TYPES, type OpenWorkType, wakeAfresh, whichAreOpen } from '../../db/frame/open-work.ts';
import { parseSignalledDecision, type SignalledDecision } from '../../domain/compliance/procedures.ts';
import { refusal } from '../../domain/frame/errors.ts';
import { idWritten } from '../../domain/frame/payment-references.ts';
import { COMPLIANCE_DECISION_SIGNAL, resourceIdOf, workflowId } from '../../workflows/frame/messages.ts';
import { errorMessage, RemedyError } from '../frame/remedy.ts';
import type { Operation, OperationContext } from './operations.ts';
import { showRefusal } from './refusals.ts';

const TEMPORAL_MS_MAX = 10_000;

/**
 * Ends the run of an open row's workflow and wakes the row, so that a fresh run goes on from what the row says.
 *
 * Nothing is paid twice, even if an activity of the ended run still works: Temporal drops its answer, and what it does is what any
 * activity may do whose time ran out while the next try works. A submission has the same reference from either run, under which the
 * provider pays once; a transition locks the row and decides from what it finds there.
 *
 * The run ends first, and the wake-up follows: one that the relay had delivered before would have ended with the run. If the command
 * dies between the two, the row has no workflow, which `stuck` shows; the same command again wakes it, as does the sweep once its
 * check is overdue. A wake-up by something else in between starts the fresh run a little earlier.
 *
 * A run that has compliance decisions which its row does not is not ended, unless `--anyway`: the fresh run would not know them, and might release
 * what was rejected.
 */
export const restartWorkflow: Operation = {
  summary: 'WORKFLOW_ID [--anyway]: ends the run of an open row’s workflow; a fresh one goes on from the row.',
  async run(context) {
    const { values, positionals } = parseArgs({
      args: [...context.arguments],
      options: { json: { type: 'boolean', default: false }, anyway: { type: 'boolean', default: false } },
      allowPositionals: true,
    });
    const [given, ...more] = positionals;
    if (given === undefined || more.length > 0)
      throw new RemedyError('Give WORKFLOW_ID, such as outgoing-transfer/ID, and nothing else.');
    try {
      const { row, endedRunId, result, unrecorded } = await restart(context, given, values.anyway);
      const decisions = unrecorded.map(({ decisionId, result: decided, actor }) => ({
        decisionId,
        result: decided,
        actor,
      }));
      if (values.json) context.print(JSON.stringify({ id: row.workflowId, endedRunId, result, decisions }));
      else for (const line of linesOf(row, result, decisions)) context.print(line);
      return decisions.length === 0 ? 0 : 1;
    } catch (error) {
      return showRefusal(context, { error, isJson: values.json, subject: { id: given } });
    }
  },
};

interface Row {
  readonly type: OpenWorkType;
  readonly id: string;
  readonly workflowId: string;
}

type Result = 'restarted' | 'unchanged' | 'not-ended';

interface Restarted {
  readonly row: Row;
  readonly endedRunId: string | null;
  readonly result: Result;
  readonly unrecorded: readonly SignalledDecision[];
}

async function restart(context: OperationContext, given: string, anyway: boolean): Promise<Restarted> {
  const { database, initiator } = context;
  const row = await findOpenRow(context, given);
  const { workflow } = context.temporal.client;
  const last = await answered(context, () => workflow.getHandle(row.workflowId).describe());
  const endedRunId = last?.runId ?? null;
  const before = await findUnrecordedDecisions(context, row, endedRunId);
  if (before.length > 0 && !anyway) return { row, endedRunId: null, result: 'not-ended', unrecorded: before };
  if (last !== null && last.status.name === 'RUNNING') {
    const reason = `${initiator.actor}: npm run operate -- restart-workflow ${row.workflowId}`;
    // By its own id, so that of two commands at once neither ends the run that the other has begun.
    await answered(context, () => workflow.getHandle(row.workflowId, last.runId).terminate(reason));
  }
  // Once more, before a fresh run can decide anything: one may have come meanwhile.
  const unrecorded = await findUnrecordedDecisions(context, row, endedRunId);
  const isRestarted = await database.transaction((tx) => wakeAfresh(tx, row, { endedRunId, initiator }));
  return { row, endedRunId, result: isRestarted ? 'restarted' : 'unchanged', unrecorded };
}

async function findOpenRow({ database }: OperationContext, given: string): Promise<Row> {
  const type = OPEN_WORK_TYPES.find((known) => given.startsWith(`${known}/`));
  const id = idWritten(resourceIdOf(given));
  if (type === undefined || id === null) {
    const message = `${given} is not the id of a row’s workflow, which is KIND/ID, with KIND one of ${OPEN_WORK_TYPES.join(', ')}.`;
    throw refusal('common.validation.field_invalid', ['workflow', 'id', given], message);
  }
  if (!(await whichAreOpen(database.reader, type, [id])).has(id)) {
    const message = `No open row has the workflow ${given}: the ${type} is unknown or final, or nothing is under way for it.`;
    throw refusal('common.coding.internal.record_not_found', [type, 'id', id], message);
  }
  return { type, id, workflowId: workflowId(type, id) };
}

/** Temporal's answer; null if the run does not exist or, for a termination, has ended. */
async function answered<Answer>(
  { temporal, patienceMs }: OperationContext,
  call: () => Promise<Answer>,
): Promise<Answer | null> {
  try {
    return await temporal.connection.withDeadline(Date.now() + (patienceMs ?? TEMPORAL_MS_MAX), call);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    if (!(error instanceof ServiceError)) throw error;
    const reason = error.cause === undefined ? error.message : errorMessage(error.cause);
    throw new RemedyError(`Temporal does not carry that out (${reason}). Give the same command again once it does.`);
  }
}

/**
 * Decisions signalled to a run that its row does not have: only the run knows them. A person decides whether they stand, as one that
 * the check refused when it came is among them.
 */
async function findUnrecordedDecisions(
  context: OperationContext,
  { type, id, workflowId: of }: Row,
  runId: string | null,
): Promise<readonly SignalledDecision[]> {
  const { reader } = context.database;
  const checked = CHECKED_TYPES.find((known) => known === type);
  if (checked === undefined || runId === null) return [];
  if (!(await isComplianceCheckOpen(reader, { type: checked, id }))) return [];
  const run = context.temporal.client.workflow.getHandle(of, runId);
  const history = await answered(context, () => run.fetchHistory());
  const signalled = signalledDecisions(history?.events ?? []);
  const recorded = await listRecordedDecisions(reader, id);
  const lost = signalled.filter(({ decisionId }) => !recorded.has(decisionId));
  return [...new Map(lost.map((decision) => [decision.decisionId, decision])).values()];
}

type HistoryEvents = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>;

function signalledDecisions(events: HistoryEvents): readonly SignalledDecision[] {
  return events.flatMap(
    ({ workflowExecutionStartedEventAttributes: started, workflowExecutionSignaledEventAttributes: signal }) => {
      const isDecision = signal?.signalName === COMPLIANCE_DECISION_SIGNAL;
      // Those that the run before left are its input.
      const payloads = (isDecision ? signal.input?.payloads : started?.input?.payloads) ?? [];
      return payloads.flatMap(contentOf).flatMap((value) => parseSignalledDecision(value) ?? []);
    },
  );
}

/** Null for what is no JSON: a signal may carry anything. */
function contentOf(payload: Payload): unknown {
  try {
    return defaultPayloadConverter.fromPayload<unknown>(payload);
  } catch {
    return null;
  }
}

type Decisions = readonly Pick<SignalledDecision, 'decisionId' | 'result' | 'actor'>[];

const OUTCOMES: Readonly<Record<Result, string>> = {
  restarted: 'A fresh run goes on from the row once a running API process has handed it to Temporal.',
  unchanged: 'Another command has restarted it.',
  'not-ended':
    'Its run goes on: it has decisions that are not recorded. Record those that stand, then give the command with --anyway.',
};

function linesOf({ type, id, workflowId: of }: Row, result: Result, decisions: Decisions): string[] {
  return [
    `${of}: ${OUTCOMES[result]}`,
    ...decisions.map(
      ({ decisionId, result: decided, actor }) =>
        `Decision ${decisionId} (${decided}) of ${actor} is not recorded. If it stands: npm run -s operate -- decide ${type} ${id} ${decided}`,
    ),
  ];
}
