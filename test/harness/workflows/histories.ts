import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';

const HistoryMessage = proto.temporal.api.history.v1.History;

export type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;

/** All readable text of a history, payloads included. */
export function textOf(history: History): string {
  const texts: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value);
    else if (value instanceof Uint8Array) texts.push(Buffer.from(value).toString('utf8'));
    else if (Array.isArray(value)) for (const item of value) walk(item);
    else if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) walk(item);
  };
  walk(history);
  return texts.join('\n');
}

/** Counts events, by their attributes' name in Temporal's API. */
export function countEvents(history: History, attributes: string): number {
  return (history.events ?? []).filter((event) => Reflect.get(event, attributes) != null).length;
}

/** Which code carried out each workflow task, in order: a release's build id, if its workers have versions. */
export function codesOf(history: History): string[] {
  return (history.events ?? []).flatMap(({ workflowTaskCompletedEventAttributes: completed }) => {
    const { deploymentVersion, workerVersion, binaryChecksum } = completed ?? {};
    const id = deploymentVersion?.buildId || workerVersion?.buildId || binaryChecksum;
    return id ? [id] : [];
  });
}

const Cause = proto.temporal.api.enums.v1.WorkflowTaskFailedCause;

/** Why workflow tasks failed. That a signal arrived at the last moment is no fault: the task is only repeated. */
export function failuresOf(history: History): (string | undefined)[] {
  return (history.events ?? []).flatMap(({ workflowTaskFailedEventAttributes: failed }) =>
    failed == null || failed.cause === Cause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND
      ? []
      : [Cause[failed.cause ?? 0]],
  );
}

/** How long each timer was set for. */
export function timersSeconds(history: History): number[] {
  return (history.events ?? []).flatMap(({ timerStartedEventAttributes: started }) =>
    started == null ? [] : [Number(started.startToFireTimeout?.seconds)],
  );
}

/** A history in its file format. (The SDK's own conversion fails on the installed protobufjs.) */
export function historyToJson(history: History): string {
  const plain = HistoryMessage.toObject(HistoryMessage.fromObject(history), {
    enums: String,
    longs: String,
    bytes: String,
  });
  return `${JSON.stringify(plain, null, 1)}\n`;
}

export function historyFromJson(text: string): History {
  return HistoryMessage.fromObject(JSON.parse(text));
}
