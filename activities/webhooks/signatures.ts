import { createHmac } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';

/**
 * The three headers of Standard Webhooks 1.0, with one `v1` signature per secret, so that receivers can verify with
 * either secret during a rotation.
 */
export function signedHeaders(message: {
  readonly id: string;
  readonly timestamp: Date;
  readonly body: string;
  readonly secrets: readonly string[];
}): { 'webhook-id': string; 'webhook-timestamp': string; 'webhook-signature': string } {
  const seconds = Math.floor(message.timestamp.getTime() / 1_000).toString();
  const signed = `${message.id}.${seconds}.${message.body}`;
  return {
    'webhook-id': message.id,
    'webhook-timestamp': seconds,
    'webhook-signature': message.secrets.map((secret) => signature(signed, secret)).join(' '),
  };
}

function signature(signed: string, secret: string): string {
  if (!secret.startsWith(SECRET_PREFIX)) throw new Error('a webhook secret does not begin with whsec_');
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
}
