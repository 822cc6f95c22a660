import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { WEBHOOK_NAMES, type WebhookEvents } from './generated/webhooks.ts';
import { decode, encode, inexactNumber, isObject } from './http/json.ts';

/** A webhook of a type that this release knows: `name` determines the fields of `event`. */
export type KnownWebhook = { [Name in keyof WebhookEvents]: Verified<Name, WebhookEvents[Name]> }[keyof WebhookEvents];

/** A webhook of a type that a later release added. Answer it with 2xx; otherwise it is sent again. */
export type UnknownWebhook = Verified<'unknown', UnknownEvent>;

interface Verified<Name, Event> {
  /** `<module>.<type>`, such as `accounts.account-activated`. */
  readonly name: Name;
  /** The same at every attempt: store it, and ignore a webhook that you have received before. */
  readonly id: string;
  readonly event: Event;
}

export interface UnknownEvent {
  readonly webhook: { readonly module: string; readonly type: string };
  readonly data: Readonly<Record<string, unknown>>;
}

/** As Node's `request.headers` or `request.headersDistinct`, or fetch's `Headers`. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The request is not a webhook that the service signed with one of these secrets within the last minutes: answer 401. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

const NO_SECRET = 'A webhook secret is missing: whsec_ and base64, as the subscription was answered';

/** Standard Webhooks' tolerance: a recorded request is worthless later. */
const AGE_MAX_SECONDS = 5 * 60;

/**
 * Verifies a webhook by Standard Webhooks 1.0, and returns it with its type, its date-times as `Date`s. `rawBody` is the body as
 * received: a body that was parsed and serialized again has another signature. Several secrets: any of them may have signed, as
 * while you rotate one.
 */
export function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
): KnownWebhook | UnknownWebhook {
  if (typeof rawBody !== 'string' && !(rawBody instanceof Uint8Array)) {
    throw new TypeError('rawBody must be the text or the bytes (Uint8Array) as received, not what was parsed');
  }
  const body = Buffer.from(rawBody);
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = plainHeaders(headers);
  if (id === undefined) throw missing('webhook-id');
  if (timestamp === undefined) throw missing('webhook-timestamp');
  if (signatures === undefined) throw missing('webhook-signature');
  if (!isRecent(timestamp)) throw failure('The timestamp is more than 5 minutes off this machine’s clock.');
  if ([secrets].flat().length === 0) throw new TypeError(NO_SECRET);
  const given = signatures.split(' ').map((signature) => Buffer.from(signature));
  const expected = [secrets].flat().map((secret) => Buffer.from(signatureOf(secret, id, timestamp, body)));
  if (!expected.some((one) => given.some((other) => one.length === other.length && timingSafeEqual(one, other)))) {
    throw failure('No signature matches: another secret signed, or this is not the body as received.');
  }
  return webhookOf(id, body.toString('utf8'));
}

function webhookOf(id: string, text: string): KnownWebhook | UnknownWebhook {
  const inexact = inexactNumber(text);
  if (inexact !== null) throw new RangeError(`A JavaScript number cannot hold ${inexact}.`);
  const event = decode(text);
  if (!isEvent(event)) throw failure('The body is no event.');
  const { module, type } = event.webhook;
  const name = WEBHOOK_NAMES.find((known) => known === `${module}.${type}`);
  if (name === undefined) return { name: 'unknown', id, event };
  // The signature says that the service wrote it, and the service writes what its OpenAPI document says.
  return { name, id, event } as unknown as KnownWebhook;
}

function isEvent(value: unknown): value is UnknownEvent {
  return isObject(value) && isObject(value.webhook) && isObject(value.data);
}

export interface WebhookHandling {
  /** Asked at each request, as secrets rotate. */
  readonly secrets: () => string | readonly string[];
  /** Store the webhook, and work on it afterwards: the service waits for 15 seconds. What it throws has the webhook sent again. */
  readonly handle: (webhook: KnownWebhook | UnknownWebhook) => unknown;
  /** Why it could not be handled. */
  readonly failed: (error: unknown) => void;
}

/** More than any webhook has. */
const BODY_BYTES_MAX = 2 ** 20;

/**
 * Receives webhooks: for Node's `createServer`, or a route of a framework that has not read the body. It answers 204 once `handle`
 * is done, 401 to what is not signed, and 500 if `handle` fails.
 */
export function webhookListener({ secrets, handle, failed }: WebhookHandling) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let status = 204;
    try {
      const body = await bodyOf(request);
      if (body === null) status = 413;
      else await handle(verifyWebhook(body, request.headers, secrets()));
    } catch (error) {
      // The sender has gone: there is no one to answer.
      if (!request.complete) return;
      status = error instanceof WebhookVerificationError ? 401 : 500;
      if (status === 500) failed(error);
    }
    response.writeHead(status).end();
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    // What follows is read and dropped: a sender that still writes would not see the answer.
    if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
  }
  return bytes > BODY_BYTES_MAX ? null : Buffer.concat(chunks);
}

/** A webhook as the service sends it. */
export interface SignedWebhook {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface TestWebhook<Name extends keyof WebhookEvents> {
  readonly name: Name;
  readonly data: WebhookEvents[Name]['data'];
  readonly secret: string;
  /** The event's id; drawn unless given. Give it again to try a repetition. */
  readonly id?: string;
  /** When it is signed; now unless given. Give an earlier instant to try an old one. */
  readonly at?: Date;
}

/** Signs an event of your own, so that a receiver's tests need no service: post `body` with `headers`. */
export function signTestWebhook<Name extends keyof WebhookEvents>(webhook: TestWebhook<Name>): SignedWebhook {
  const { name, data, secret, id = randomUUID(), at = new Date() } = webhook;
  const [module, type] = name.split('.');
  const metadata = { sequence: 1, eventId: id, eventDateTime: at };
  const body = encode({ webhook: { module, type }, data, connect: {}, metadata });
  const timestamp = `${Math.floor(at.getTime() / 1_000)}`;
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatureOf(secret, id, timestamp, Buffer.from(body)),
  };
  return { body, headers };
}

function signatureOf(secret: string, id: string, timestamp: string, body: Buffer): string {
  const key = Buffer.from(`${secret ?? ''}`.replace(/^whsec_/, ''), 'base64');
  // An empty key signs for everyone.
  if (key.length === 0) throw new TypeError(NO_SECRET);
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}

function isRecent(timestamp: string): boolean {
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  return Math.abs(Date.now() / 1_000 - Number(timestamp)) <= AGE_MAX_SECONDS;
}

function plainHeaders(headers: WebhookHeaders): Record<string, string> {
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (value === undefined ? [] : [[name.toLowerCase(), [value].flat().join(' ')]])),
  );
}

function missing(header: string): WebhookVerificationError {
  return failure(`The header ${header} is missing.`);
}

function failure(message: string): WebhookVerificationError {
  return new WebhookVerificationError(message);
}
