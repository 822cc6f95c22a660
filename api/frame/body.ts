import type { IncomingMessage } from 'node:http';
import { refusal } from '../../domain/errors.ts';
import { HttpRefusal } from './errors.ts';

/**
 * Reads a request's body, whole and at most `limitBytes` (1 MiB unless configured). Beyond that the reading stops, whether or not a length was
 * announced, so that memory stays flat; the connection closes after the answer.
 */
export function readBody(incoming: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const announced = Number(incoming.headers['content-length'] ?? 0);
  if (announced > limitBytes) return Promise.reject(tooLarge(limitBytes));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const finish = (settle: () => void) => {
      incoming.off('data', onData).off('end', onEnd).off('error', onAbort).off('close', onAbort);
      settle();
    };
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      if (length > limitBytes) {
        incoming.pause();
        finish(() => reject(tooLarge(limitBytes)));
      } else {
        chunks.push(chunk);
      }
    };
    const onEnd = () => finish(() => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    const onAbort = () => finish(() => reject(aborted()));
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
  return new HttpRefusal(413, problem, { connection: 'close' });
}

function aborted() {
  return refusal(
    'common.validation.field_invalid',
    ['body', 'body', ''],
    'The body ended before its announced length.',
  );
}

/** Refuses a body that is not plain JSON by its headers: another media type, or compressed. */
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
