import { ServiceError, type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import type { Initiator } from '../../../db/common/audit-entries.ts';
import { OPEN_WORK_TYPES, type OpenWorkType, wakeRestarted, whichAreOpen } from '../../../db/common/open-work.ts';
import { CHECKED_TYPES, isComplianceCheckOpen, listRecordedDecisions } from '../../../db/compliance/checks.ts';
import type { Database, Reader } from '../../../db/query/database.ts';
import { rejection } from '../../../domain/common/errors.ts';
import { parseWrittenId } from '../../../domain/common/payment-references.ts';
import { parseSignalledDecision, type SignalledDecision } from '../../../domain/compliance/procedures.ts';
import type { TemporalClient } from '../../../loops/temporal.ts';
import { COMPLIANCE_DECISION_SIGNAL, resourceIdOf, workflowId } from '../../../workflows/common/messages.ts';
import { errorMessage } from '../../common/actionable-error.ts';

const TEMPORAL_MS_MAX = 10_000;

/** Temporal did not carry a restart out, or did not say so: the row is woken only by a repetition. */
export class TemporalUnanswered extends Error {
  override readonly name = 'TemporalUnanswered';
}

interface Restarting {
  readonly database: Database;
  readonly temporal: Pick<TemporalClient, 'client' | 'connection'>;
  readonly initiator: Initiator;
  readonly answerTimeoutMs?: number | undefined;
}

export interface Row {
  readonly type: OpenWorkType;
  readonly id: string;
  readonly workflowId: string;
}

export type Result = 'restarted' | 'unchanged' | 'not-ended';

export interface Restarted {
  readonly row: Row;
  readonly endedRunId: string | null;
  readonly result: Result;
  readonly unrecorded: readonly SignalledDecision[];
}

/**
 * Ends the run of an open row's workflow and wakes the row, so that a fresh run continues from what the row says.
 *
 * Nothing is paid twice, even if an activity of the ended run still works: Temporal drops its result, and it does no more than any
 * activity that has timed out while its retry runs. Both runs submit under the same reference, for which the provider pays once;
 * a transition locks the row and decides from what it finds there.
 *
 * The run ends first, and the wake-up follows: one that the relay had delivered before would have ended with the run. If the command
 * dies between the two, the row has no workflow, which `stuck` shows; the same command again wakes it, as does the sweep once its
 * check is overdue. If something else wakes the row in between, the fresh run starts a little earlier.
 *
 * A run with compliance decisions that its row does not have is not ended, unless `--anyway`: the fresh run would not know them, and might release
 * what was rejected.
 */
export async function restart(
  context: Restarting,
  { workflow: given, by, anyway }: { readonly workflow: string; readonly by: string; readonly anyway: boolean },
): Promise<Restarted> {
  const { database, initiator } = context;
  const row = await findOpenRow(database.reader, given);
  const { workflow } = context.temporal.client;
  const last = await answered(context, () => workflow.getHandle(row.workflowId).describe());
  const endedRunId = last?.runId ?? null;
  const before = await findUnrecordedDecisions(context, row, endedRunId);
  if (before.length > 0 && !anyway) return { row, endedRunId: null, result: 'not-ended', unrecorded: before };
  if (last !== null && last.status.name === 'RUNNING') {
    const reason = `${initiator.actor}: ${by}`;
    // By its own id, so that two commands at once cannot end each other's new run.
    await answered(context, () => workflow.getHandle(row.workflowId, last.runId).terminate(reason));
  }
  // Checked again before a fresh run can decide anything: one may have arrived meanwhile.
  const unrecorded = await findUnrecordedDecisions(context, row, endedRunId);
  const isRestarted = await database.transaction((tx) => wakeRestarted(tx, row, { endedRunId, initiator }));
  return { row, endedRunId, result: isRestarted ? 'restarted' : 'unchanged', unrecorded };
}

export async function findOpenRow(reader: Reader, given: string): Promise<Row> {
  const type = OPEN_WORK_TYPES.find((known) => given.startsWith(`${known}/`));
  const id = parseWrittenId(resourceIdOf(given));
  if (type === undefined || id === null) {
    const message = `${given} is not a workflow’s id: give KIND/ID, with KIND one of ${OPEN_WORK_TYPES.join(', ')}.`;
    throw rejection('common.validation.field_invalid', ['workflow', 'id', given], message);
  }
  if (!(await whichAreOpen(reader, type, [id])).has(id)) {
    const message = `No open row has the workflow ${given}: the ${type} is unknown or final, or nothing is under way for it.`;
    throw rejection('common.coding.internal.record_not_found', [type, 'id', id], message);
  }
  return { type, id, workflowId: workflowId(type, id) };
}

/** Temporal's answer; null if the run does not exist or, for a termination, has ended. */
async function answered<Answer>(
  { temporal, answerTimeoutMs }: Pick<Restarting, 'temporal' | 'answerTimeoutMs'>,
  call: () => Promise<Answer>,
): Promise<Answer | null> {
  try {
    return await temporal.connection.withDeadline(Date.now() + (answerTimeoutMs ?? TEMPORAL_MS_MAX), call);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    if (!(error instanceof ServiceError)) throw error;
    const reason = error.cause === undefined ? error.message : errorMessage(error.cause);
    throw new TemporalUnanswered(`Temporal does not carry that out (${reason}).`);
  }
}

/**
 * Decisions signalled to a run that its row does not have: only the run knows them. A person decides whether they are valid, as
 * they include decisions that the check rejected on arrival.
 */
async function findUnrecordedDecisions(
  context: Omit<Restarting, 'initiator'>,
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
      // Decisions that the previous run left over are its input.
      const payloads = (isDecision ? signal.input?.payloads : started?.input?.payloads) ?? [];
      return payloads.flatMap(contentOf).flatMap((value) => parseSignalledDecision(value) ?? []);
    },
  );
}

/** Null for a payload that is not JSON: a signal may carry anything. */
function contentOf(payload: Payload): unknown {
  try {
    return defaultPayloadConverter.fromPayload<unknown>(payload);
  } catch {
    return null;
  }
}
