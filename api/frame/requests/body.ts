import type { IncomingMessage } from 'node:http';
import { refusal } from '../../../domain/frame/errors.ts';
import { HttpRefusal } from '../errors.ts';

/** Memory for bodies that one owner sends. */
export interface BodyRoom {
  /** Takes nothing and returns false if there is no room. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

/** Nobody takes more than this part of a room, so that others find some. */
const SHARE = 1 / 4;

/** Limits the memory of bodies that are still arriving, together and of each owner; null is no owner, with no share. */
export class BodyRooms {
  readonly #bytesMax: number;
  #taken = 0;
  readonly #takenBy = new Map<string, number>();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  of(owner: string | null): BodyRoom {
    return { take: (bytes) => this.#take(owner, bytes), give: (bytes) => this.#give(owner, bytes) };
  }

  #take(owner: string | null, bytes: number): boolean {
    if (this.#taken + bytes > this.#bytesMax) return false;
    if (owner !== null) {
      const taken = (this.#takenBy.get(owner) ?? 0) + bytes;
      if (taken > this.#bytesMax * SHARE) return false;
      this.#takenBy.set(owner, taken);
    }
    this.#taken += bytes;
    return true;
  }

  #give(owner: string | null, bytes: number): void {
    this.#taken -= bytes;
    if (owner === null) return;
    const left = (this.#takenBy.get(owner) ?? 0) - bytes;
    if (left > 0) this.#takenBy.set(owner, left);
    else this.#takenBy.delete(owner);
  }
}

export interface BodyLimit {
  readonly bytes: number;
  /** Time limit for the whole body. */
  readonly deadlineMs: number;
  readonly room?: BodyRoom;
}

export interface OpenBody {
  readonly mediaType: string;
  /** Generous for any real body: unauthenticated bodies take memory too. */
  readonly bytesMax: number;
}

/** Providers and browsers send their few kilobytes at once; slow senders would fill the room below. */
const OPEN_BODY_MS_MAX = 5_000;
/** A thousand of the largest unauthenticated bodies; without it, memory would grow with connections. */
const OPEN_BODIES_BYTES_MAX = 64 * 1024 * 1024;
const openBodies = new BodyRooms(OPEN_BODIES_BYTES_MAX);

/** Reads the body of a request that carries no token; `source` is whom its share of the room is for. */
export function readOpenBody(
  incoming: IncomingMessage,
  { bytesMax }: Pick<OpenBody, 'bytesMax'>,
  source: string | null,
): Promise<Buffer> {
  return readBody(incoming, { bytes: bytesMax, deadlineMs: OPEN_BODY_MS_MAX, room: openBodies.of(source) });
}

/**
 * Reads a whole body within its limit. It stops reading beyond that, announced or not, so that memory stays flat; what
 * is still on its way closes the connection after the answer.
 */
export function readBody(incoming: IncomingMessage, limit: BodyLimit): Promise<Buffer> {
  const announced = Number(incoming.headers['content-length'] ?? 0);
  if (announced > limit.bytes) return Promise.reject(tooLarge(limit.bytes));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      limit.room?.give(length);
      incoming.off('data', onData).off('end', onEnd).off('error', onAbort).off('close', onAbort);
      settle();
    };
    const refuse = (problem: HttpRefusal) => {
      incoming.pause();
      finish(() => reject(problem));
    };
    const onData = (chunk: Buffer) => {
      if (length + chunk.length > limit.bytes) return refuse(tooLarge(limit.bytes));
      if (limit.room?.take(chunk.length) === false) return refuse(refuseWithoutRoom());
      length += chunk.length;
      chunks.push(chunk);
    };
    const onEnd = () => finish(() => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    const onAbort = () => finish(() => reject(aborted()));
    // Most bodies come with their headers, and need no timer.
    const timer = incoming.complete ? undefined : setTimeout(() => refuse(tooSlow()), limit.deadlineMs);
    incoming.on('data', onData).on('end', onEnd).on('error', onAbort).on('close', onAbort);
    if (incoming.destroyed && !incoming.readableEnded) onAbort();
  });
}

function tooLarge(limitBytes: number): HttpRefusal {
  const problem = {
    code: 'common.validation.limit_exceeded',
    message: `The body is larger than ${limitBytes} bytes.`,
    messageParameters: ['body', 'body', ''],
  } as const;
  return new HttpRefusal(413, problem);
}

function tooSlow(): HttpRefusal {
  const problem = {
    code: 'common.validation.field_invalid',
    message: 'The body did not arrive in time.',
    messageParameters: ['body', 'body', ''],
  } as const;
  return new HttpRefusal(408, problem);
}

export function refuseWithoutRoom(): HttpRefusal {
  const problem = {
    code: 'common.rate.limited',
    message: 'Too many bodies are being sent at once: retry in 5 s.',
    messageParameters: ['body', 'body', ''],
  } as const;
  return new HttpRefusal(429, problem, { 'retry-after': '5' });
}

function aborted() {
  return refusal(
    'common.validation.field_invalid',
    ['body', 'body', ''],
    'The body ended before its announced length.',
  );
}

/** Refuses by its headers a body that is not plain JSON: another media type, or compressed. */
export function requireJson(incoming: IncomingMessage): void {
  const mediaType = (incoming.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  const encoding = (incoming.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (mediaType === 'application/json' && encoding === 'identity') return;
  const [field, value] =
    mediaType === 'application/json' ? ['Content-Encoding', encoding] : ['Content-Type', mediaType ?? ''];
  throw new HttpRefusal(415, {
    code: 'common.validation.field_invalid',
    message: 'Bodies are application/json, not compressed.',
    messageParameters: ['header', field, value.slice(0, 100)],
  });
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

export function decodeBody(body: Buffer): string {
  try {
    return UTF8.decode(body);
  } catch {
    throw refusal('common.validation.field_invalid', ['body', 'body', ''], 'The body is not UTF-8.');
  }
}
