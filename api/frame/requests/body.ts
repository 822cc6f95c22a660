import type { IncomingMessage } from 'node:http';
import { refusal } from '../../../domain/frame/errors.ts';
import { HttpRefusal } from '../errors.ts';

/** Limits the memory of bodies that are still arriving. */
export interface BodyRoom {
  /** Takes nothing and returns false if there is no room. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

export function createBodyRoom(bytesMax: number): BodyRoom {
  let taken = 0;
  return {
    take: (bytes) => {
      if (taken + bytes > bytesMax) return false;
      taken += bytes;
      return true;
    },
    give: (bytes) => {
      taken -= bytes;
    },
  };
}

export interface BodyLimit {
  readonly bytes: number;
  /** Time limit for the whole body; defaults to the server's for every request. */
  readonly deadlineMs?: number;
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
const openBodies = createBodyRoom(OPEN_BODIES_BYTES_MAX);

/** Reads the body of a request that carries no token. */
export function readOpenBody(incoming: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return readBody(incoming, { bytes: bytesMax, deadlineMs: OPEN_BODY_MS_MAX, room: openBodies });
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
    const { deadlineMs } = limit;
    const timer = deadlineMs === undefined ? undefined : setTimeout(() => refuse(tooSlow()), deadlineMs);
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
