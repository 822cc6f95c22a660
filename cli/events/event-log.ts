import { isLosslessNumber, type LosslessNumber, parse, stringify } from 'lossless-json';
import * as v from 'valibot';
import { parseDateTime } from '../../domain/common/time/dates.ts';

/** An event as `GET /events` shows it. */
export interface LoggedEvent {
  readonly position: number;
  readonly id: string;
  /** `<module>.<type>`. */
  readonly name: string;
  readonly resourceId: string;
  readonly at: Date;
  /** As a webhook has it. */
  readonly body: string;
}

export interface EventPage {
  readonly events: readonly LoggedEvent[];
  readonly nextPosition: number;
}

/** Reads the events after a position. */
export type ReadEvents = (after: number, filter?: EventFilter) => Promise<EventPage>;

export interface EventFilter {
  readonly module?: string | undefined;
  readonly type?: string | undefined;
}

const PAGE_SIZE = 100;
/** Beyond every position: the log then answers its last one. */
const END = 999_999_999_999_999;

const whole = v.pipe(
  v.custom<LosslessNumber>(isLosslessNumber),
  v.transform((number) => Number(number.value)),
);
const LogAnswer = v.object({
  data: v.object({
    events: v.array(
      v.looseObject({
        position: whole,
        resourceId: v.string(),
        webhook: v.object({ module: v.string(), type: v.string() }),
        metadata: v.looseObject({ eventId: v.string(), eventDateTime: v.string() }),
      }),
    ),
  }),
  metadata: v.looseObject({ nextPositionAfter: whole }),
});

/** `get` answers the text of a path of the API. */
export function eventLog(get: (path: string) => Promise<string>): ReadEvents {
  return async (after, { module, type } = {}) => {
    const query = new URLSearchParams({
      'data.event.positionAfter': String(after),
      'metadata.page.size': String(PAGE_SIZE),
      ...(module === undefined ? {} : { 'data.event.module': module }),
      ...(type === undefined ? {} : { 'data.event.type': type }),
    });
    // Amounts keep their digits.
    const { data, metadata } = v.parse(LogAnswer, parse(await get(`/events?${query}`)));
    return { events: data.events.map(loggedEvent), nextPosition: metadata.nextPositionAfter };
  };
}

type Logged = v.InferOutput<typeof LogAnswer>['data']['events'][number];

function loggedEvent({ position, resourceId, ...event }: Logged): LoggedEvent {
  const { module, type } = event.webhook;
  const { eventId, eventDateTime, ...metadata } = event.metadata;
  const at = parseDateTime(eventDateTime);
  if (at === null) throw new Error(`event ${eventId} has no date-time`);
  const { data, connect } = event;
  const document = { webhook: { module, type }, data, connect, metadata: { ...metadata, eventId, eventDateTime } };
  return { position, id: eventId, name: `${module}.${type}`, resourceId, at, body: stringify(document) ?? '' };
}

/** The position of the last event. */
export async function lastPosition(read: ReadEvents): Promise<number> {
  return (await read(END)).nextPosition;
}

/** The position before the first event at or after the instant; the end if there is none. */
export async function positionBefore(read: ReadEvents, from: Date): Promise<number> {
  // Events show whole seconds.
  const second = Math.floor(from.getTime() / 1_000) * 1_000;
  for (let position = 0; ; ) {
    const { events, nextPosition } = await read(position);
    const first = events.find(({ at }) => at.getTime() >= second);
    if (first !== undefined) return first.position - 1;
    if (events.length === 0) return nextPosition;
    position = nextPosition;
  }
}
