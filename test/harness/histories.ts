import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';

const HistoryMessage = proto.temporal.api.history.v1.History;

export type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;

/** Everything that can be read in a history: texts, and payloads as the text that they are. */
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

/** How often something happened, by the name of its attributes in Temporal's interface. */
export function countEvents(history: History, attributes: string): number {
  return (history.events ?? []).filter((event) => Reflect.get(event, attributes) != null).length;
}

/** How long each timer was set for. */
export function timersSeconds(history: History): number[] {
  return (history.events ?? []).flatMap(({ timerStartedEventAttributes: started }) =>
    started == null ? [] : [Number(started.startToFireTimeout?.seconds)],
  );
}

/** A history as it is kept in a file. (The SDK's own conversion fails on the protobufjs that npm installs beside it.) */
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
