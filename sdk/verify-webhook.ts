import { Webhook } from 'standardwebhooks';
import { WEBHOOK_NAMES, type WebhookEvents } from './webhook-events.ts';

// For receivers of webhooks: copy this file and webhook-events.ts, and install the package `standardwebhooks`.

/** A webhook of a type that these files know: `name` decides what `event` has. */
export type KnownWebhook = { [Name in keyof WebhookEvents]: Verified<Name, WebhookEvents[Name]> }[keyof WebhookEvents];

/** A webhook of a type that a later release added. Answer it with 2xx, or it is sent again. */
export type UnknownWebhook = Verified<'unknown', UnknownEvent>;

interface Verified<Name, Event> {
  /** `<module>.<type>`, such as `accounts.account-activated`. */
  readonly name: Name;
  /** The same at every attempt: store it, and ignore what has come before. */
  readonly id: string;
  readonly event: Event;
}

interface UnknownEvent {
  readonly webhook: { readonly module: string; readonly type: string };
  readonly data: Readonly<Record<string, unknown>>;
}

/** As Node's `request.headers` or `request.headersDistinct`, or fetch's `Headers`. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Verifies a webhook by Standard Webhooks 1.0, and answers it with its type. `rawBody` is the body as received: a body that
 * was parsed and written again has another signature. Several secrets: any of them may have signed, as while you exchange
 * one. Throws where no signature fits, or the timestamp is more than 5 minutes off.
 */
export function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
): KnownWebhook | UnknownWebhook {
  const body = typeof rawBody === 'string' ? rawBody : Buffer.from(rawBody);
  const given = plainHeaders(headers);
  const event = verified(body, given, typeof secrets === 'string' ? [secrets] : secrets);
  const { module, type } = event.webhook;
  const id = given['webhook-id'] ?? '';
  const name = WEBHOOK_NAMES.find((known) => known === `${module}.${type}`);
  if (name === undefined) return { name: 'unknown', id, event };
  // The signature says that the service wrote it, and the service writes what its OpenAPI document says.
  return { name, id, event } as unknown as KnownWebhook;
}

function verified(body: string | Buffer, headers: Record<string, string>, secrets: readonly string[]): UnknownEvent {
  let failure: unknown = new Error('verifyWebhook needs a secret');
  for (const secret of secrets) {
    try {
      return new Webhook(secret).verify(body, headers) as UnknownEvent;
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function plainHeaders(headers: WebhookHeaders): Record<string, string> {
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (value === undefined ? [] : [[name.toLowerCase(), [value].flat().join(' ')]])),
  );
}
