import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage } from '../common/actionable-error.ts';
import { CommandFailure } from '../program/exit-statuses.ts';
import type { EventFilter, EventPage, ReadEvents } from './event-log.ts';

const POLL_MS = 500;
/** While the service does not answer: soon at first. */
const RETRY_MS = 100;
const RETRY_MS_MAX = 2_000;

export interface Followed {
  readonly read: ReadEvents;
  /** Events after this one. */
  readonly position: number;
  readonly filter?: EventFilter | undefined;
  readonly signal: AbortSignal;
  /** For the reader: that the service is away or back, and what cannot be had any more. */
  note(text: string): void;
}

/** The events after a position, page by page as they come, through every break, until the signal. */
export async function* follow({ read, position, filter, signal, note }: Followed): AsyncGenerator<EventPage> {
  let at = position;
  let failures = 0;
  while (!signal.aborted) {
    try {
      const page = await readOn({ read, position: at, filter, note });
      if (failures > 0) note(`The service answers again; continuing after position ${at}.`);
      failures = 0;
      if (page.nextPosition !== at) yield page;
      at = page.nextPosition;
      if (page.events.length === 0) await pause(POLL_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (!isPassing(error)) throw error;
      if (failures === 0) note(`The service does not answer (${reasonOf(error)}): trying again from position ${at} …`);
      await pause(Math.min(RETRY_MS * 2 ** failures, RETRY_MS_MAX), signal);
      failures += 1;
    }
  }
}

/** The next page; without events if it begins after a gap. */
async function readOn({ read, position, filter, note }: Omit<Followed, 'signal'>): Promise<EventPage> {
  try {
    return await read(position, filter);
  } catch (error) {
    if (!isRejected(error)) throw error;
    return { events: [], nextPosition: await afterGap(read, position, note, error) };
  }
}

/** Where the log begins now, if events after the position were deleted; any other rejection stays one. */
async function afterGap(read: ReadEvents, at: number, note: Followed['note'], rejection: unknown): Promise<number> {
  const { events, nextPosition } = await read(0);
  const next = (events[0]?.position ?? nextPosition + 1) - 1;
  if (next <= at) throw rejection;
  note(
    `GAP: the events after position ${at}, up to ${next}, are no longer kept. Read what they changed from the resources.`,
  );
  return next;
}

function isRejected(error: unknown): boolean {
  return error instanceof CommandFailure && error.details.httpStatus === 400;
}

/** The service is away, or has too much to do; a token that it rejects stays rejected. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof CommandFailure)) return false;
  const { httpStatus } = error.details;
  if (typeof httpStatus !== 'number') return error.reason === 'unknown';
  return httpStatus >= 500 || httpStatus === 408 || httpStatus === 429;
}

/** fetch hides the reason in the cause. */
export function reasonOf(error: unknown): string {
  const reason = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const within = reason instanceof Error && reason.cause !== undefined ? reason.cause : reason;
  return errorMessage(within) || 'no connection';
}

/** Ends early, without an error, when the signal comes. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => {});
}
