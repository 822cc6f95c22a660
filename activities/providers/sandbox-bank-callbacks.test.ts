import { stringify } from 'lossless-json';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { CallbackRejected } from './port.ts';
import { verifySandboxBankCallback } from './sandbox-bank-callbacks.ts';

const SECRET = 'a secret of the bank and us';
const NOW = new Date('2026-03-02T10:00:00Z');
const ID = 'event-1';

const COMPLETED = {
  id: ID,
  type: 'payment-completed',
  createdAt: '2026-03-02T09:59:59.000Z',
  data: { ourReference: 'our-1', paymentId: 'p-1', paymentReference: 'SBO1', amount: 12.5, currency: 'GBP' },
};

/** Signed by the reference library, to test our reading of the standard against it. */
function signed(event: unknown, change: { secret?: string; at?: Date; id?: string } = {}) {
  const body = typeof event === 'string' ? event : (stringify(event) ?? '');
  const at = change.at ?? NOW;
  const id = change.id ?? ID;
  const signature = new Webhook(change.secret ?? SECRET, { format: 'raw' }).sign(id, at, body);
  return {
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': signature,
    } as Record<string, string>,
    rawBody: Buffer.from(body),
    now: NOW,
  };
}

function rejectionOf(callback: ReturnType<typeof signed>): string {
  try {
    verifySandboxBankCallback(SECRET, callback);
  } catch (error) {
    if (error instanceof CallbackRejected) return error.reason;
    throw error;
  }
  return 'accepted';
}

describe('a callback of the sandbox bank', () => {
  test('that is signed is read: exact amount, ids, instant', () => {
    expect(verifySandboxBankCallback(SECRET, signed(COMPLETED))).toEqual([
      {
        type: 'payment-completed',
        providerEventId: ID,
        occurredAt: new Date('2026-03-02T09:59:59.000Z'),
        ourReference: 'our-1',
        serviceProviderId: 'p-1',
        serviceProviderReference: 'SBO1',
        amountMinor: 1_250n,
        currency: 'GBP',
      },
    ]);
  });

  test('is taken with one good signature among several, as while a secret changes', () => {
    const callback = signed(COMPLETED);
    callback.headers['webhook-signature'] = `v1,AAAA v2,zzz ${callback.headers['webhook-signature']}`;
    expect(rejectionOf(callback)).toBe('accepted');
  });

  test('with text that Postgres cannot store is read without it, so that the money arrives', () => {
    const data = {
      paymentId: 'p-2',
      amount: 1,
      currency: 'JPY',
      scheme: 'swift',
      routingCodes: {},
      reference: 'a\0b\ud800c 😀',
    };
    const [event] = verifySandboxBankCallback(SECRET, signed({ ...COMPLETED, type: 'payment-received', data }));
    expect(event).toMatchObject({ amountMinor: 1n, remittanceText: 'abc 😀', senderName: null });
  });

  test.each([
    ['another secret', signed(COMPLETED, { secret: 'another secret' })],
    ['a changed body', { ...signed(COMPLETED), rawBody: Buffer.from(`${stringify(COMPLETED)} `) }],
    ['another id', { ...signed(COMPLETED), headers: { ...signed(COMPLETED).headers, 'webhook-id': 'event-2' } }],
    [
      'another timestamp',
      { ...signed(COMPLETED), headers: { ...signed(COMPLETED).headers, 'webhook-timestamp': '1772445601' } },
    ],
    [
      'an empty signature',
      { ...signed(COMPLETED), headers: { ...signed(COMPLETED).headers, 'webhook-signature': '' } },
    ],
    [
      'a signature of zeros',
      {
        ...signed(COMPLETED),
        headers: { ...signed(COMPLETED).headers, 'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}` },
      },
    ],
    ['no headers', { ...signed(COMPLETED), headers: {} }],
  ])('with %s is rejected as forged', (_, callback) => {
    expect(rejectionOf(callback)).toBe('signature');
  });

  test('is taken up to five minutes old or early, and not a second more', () => {
    const aged = (seconds: number) => rejectionOf(signed(COMPLETED, { at: new Date(NOW.getTime() - seconds * 1000) }));
    expect([300, -300].map(aged)).toEqual(['accepted', 'accepted']);
    expect([301, -301].map(aged)).toEqual(['timestamp', 'timestamp']);
  });

  test.each([
    ['no JSON', '{'],
    ['an unknown type', { ...COMPLETED, type: 'payment-lost' }],
    ['a missing field', { ...COMPLETED, data: { ...COMPLETED.data, ourReference: undefined } }],
    ['an amount that its currency cannot have', { ...COMPLETED, data: { ...COMPLETED.data, amount: 1.001 } }],
    ['a negative amount', { ...COMPLETED, data: { ...COMPLETED.data, amount: -1 } }],
    ['an unknown currency', { ...COMPLETED, data: { ...COMPLETED.data, currency: 'XXX' } }],
    ['another id than its header', { ...COMPLETED, id: 'event-2' }],
  ])('that is signed and has %s is rejected as malformed', (_, event) => {
    expect(rejectionOf(signed(event))).toBe('malformed');
  });
});
