import type { IncomingMessage } from 'node:http';
import { rejection } from '../../../domain/common/errors.ts';
import { HttpRejection } from '../errors.ts';
import type { JsonSchemaHint } from '../schemas/schemas.ts';

/** The memory that the bodies of one owner may use. */
export interface BodyBudget {
  /** Returns false and reserves nothing if that exceeds the limit. */
  reserve(bytes: number): boolean;
  release(bytes: number): void;
}

/** The most that one owner may use of the budget, so that some is left for others. */
const SHARE = 1 / 4;

/** Limits the memory of bodies that are still arriving, in total and per owner. A body without owner (null) counts only in the total. */
export class BodyBudgets {
  readonly #bytesMax: number;
  #taken = 0;
  readonly #takenBy = new Map<string, number>();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  of(owner: string | null): BodyBudget {
    return { reserve: (bytes) => this.#reserve(owner, bytes), release: (bytes) => this.#release(owner, bytes) };
  }

  #reserve(owner: string | null, bytes: number): boolean {
    if (this.#taken + bytes > this.#bytesMax) return false;
    if (owner !== null) {
      const taken = (this.#takenBy.get(owner) ?? 0) + bytes;
      if (taken > this.#bytesMax * SHARE) return false;
      this.#takenBy.set(owner, taken);
    }
    this.#taken += bytes;
    return true;
  }

  #release(owner: string | null, bytes: number): void {
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
  readonly budget?: BodyBudget;
}

export interface OpenBody {
  readonly mediaType: string;
  /** Only for the document: the handler checks the body. */
  readonly schema: JsonSchemaHint;
  /** Generous for any real body: unauthenticated bodies take memory too. */
  readonly bytesMax: number;
}

/** Providers and browsers send their few kilobytes at once; slow senders would use up the budget below. */
const OPEN_BODY_MS_MAX = 5_000;
/** A thousand of the largest unauthenticated bodies; without it, memory would grow with connections. */
const OPEN_BODIES_BYTES_MAX = 64 * 1024 * 1024;
const openBodies = new BodyBudgets(OPEN_BODIES_BYTES_MAX);

/** Reads the body of a request without a token; its memory counts for `source`. */
export function readOpenBody(
  incoming: IncomingMessage,
  { bytesMax }: Pick<OpenBody, 'bytesMax'>,
  source: string | null,
): Promise<Buffer> {
  return readBody(incoming, { bytes: bytesMax, deadlineMs: OPEN_BODY_MS_MAX, budget: openBodies.of(source) });
}

/**
 * Reads a whole body within its limit. Reading stops beyond the limit, announced or not, so that memory stays bounded; the
 * connection is then closed after the answer.
 */
export function readBody(incoming: IncomingMessage, limit: BodyLimit): Promise<Buffer> {
  const announced = Number(incoming.headers['content-length'] ?? 0);
  if (announced > limit.bytes) return Promise.reject(tooLarge(limit.bytes));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      limit.budget?.release(length);
      incoming.off('data', onData).off('end', onEnd).off('error', onAbort).off('close', onAbort);
      settle();
    };
    const stopReading = (problem: HttpRejection) => {
      incoming.pause();
      finish(() => reject(problem));
    };
    const onData = (chunk: Buffer) => {
      if (length + chunk.length > limit.bytes) return stopReading(tooLarge(limit.bytes));
      if (limit.budget?.reserve(chunk.length) === false) return stopReading(tooManyBodies());
      length += chunk.length;
      chunks.push(chunk);
    };
    const onEnd = () => finish(() => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    const onAbort = () => finish(() => reject(aborted()));
    // Most bodies arrive with their headers and need no timer.
    const timer = incoming.complete ? undefined : setTimeout(() => stopReading(tooSlow()), limit.deadlineMs);
    incoming.on('data', onData).on('end', onEnd).on('error', onAbort).on('close', onAbort);
    if (incoming.destroyed && !incoming.readableEnded) onAbort();
  });
}

function tooLarge(limitBytes: number): HttpRejection {
  const problem = {
    code: 'common.validation.limit_exceeded',
    message: `The body is larger than ${limitBytes} bytes.`,
    messageParameters: ['body', 'body', ''],
  } as const;
  return new HttpRejection(413, problem);
}

function tooSlow(): HttpRejection {
  const problem = {
    code: 'common.validation.field_invalid',
    message: 'The body did not arrive in time.',
    messageParameters: ['body', 'body', ''],
  } as const;
  return new HttpRejection(408, problem);
}

export function tooManyBodies(): HttpRejection {
  const problem = {
    code: 'common.rate.limited',
    message: 'Too many bodies are being sent at once: retry in 5 s.',
    messageParameters: ['body', 'body', ''],
  } as const;
  return new HttpRejection(429, problem, { 'retry-after': '5' });
}

function aborted() {
  return rejection(
    'common.validation.field_invalid',
    ['body', 'body', ''],
    'The body ended before its announced length.',
  );
}

/** Rejects by its headers a body that is not plain JSON: another media type, or compressed. */
export function requireJson(incoming: IncomingMessage): void {
  const mediaType = (incoming.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  const encoding = (incoming.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (mediaType === 'application/json' && encoding === 'identity') return;
  const [field, value] =
    mediaType === 'application/json' ? ['Content-Encoding', encoding] : ['Content-Type', mediaType ?? ''];
  throw new HttpRejection(415, {
    code: 'common.validation.field_invalid',
    message: 'The body must be application/json, not compressed.',
    messageParameters: ['header', field, value.slice(0, 100)],
  });
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

export function decodeBody(body: Buffer): string {
  try {
    return UTF8.decode(body);
  } catch {
    throw rejection('common.validation.field_invalid', ['body', 'body', ''], 'The body is not UTF-8.');
  }
}
