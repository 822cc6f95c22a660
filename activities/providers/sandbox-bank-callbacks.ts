import { createHmac, timingSafeEqual } from 'node:crypto';
import { parse } from 'lossless-json';
import * as v from 'valibot';
import { PROVIDER_ACCOUNT_STATUSES } from '../../domain/accounts/connections.ts';
import { isCurrency } from '../../domain/common/money.ts';
import { CallbackRejected, type PaymentInState, type ProviderEvent, ProviderUnavailable } from './port.ts';
import {
  code,
  instant,
  maybeNumber,
  maybeOne,
  maybeProviderId,
  maybeShown,
  NAME_MAX,
  one,
  ourReference,
  providerId,
  REMITTANCE_MAX,
  shown,
} from './ports/texts.ts';
import {
  AMOUNT,
  IDENTIFIERS,
  isCountry,
  MONEY,
  minorOf,
  REFERENCE_MAX,
  REJECTION,
  understood,
} from './sandbox-bank-wire.ts';

/** Allows for clock skew and for the callback's time in transit. */
const TOLERANCE_S = 300;

interface SignedCallback {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly rawBody: Buffer;
  readonly now: Date;
}

/** Verifies the Standard Webhooks 1.0 signature (HMAC-SHA256 over `id.timestamp.body`) and reads the one event. */
export function verifySandboxBankCallback(secret: string, callback: SignedCallback): ProviderEvent[] {
  const { headers, rawBody, now } = callback;
  const id = headers['webhook-id'] ?? '';
  const timestamp = headers['webhook-timestamp'] ?? '';
  const expected = createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(rawBody).digest();
  const signatures = (headers['webhook-signature'] ?? '').split(' ');
  if (id === '' || !signatures.some((signature) => isSignature(signature, expected))) {
    throw new CallbackRejected('signature', 'The signature is missing or wrong.');
  }
  // Whole seconds since 1970; the timestamp is covered by the signature.
  const ageS = now.getTime() / 1000 - (/^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN);
  if (!(Math.abs(ageS) <= TOLERANCE_S)) {
    throw new CallbackRejected('timestamp', 'The timestamp of the callback is too old, or in the future.');
  }
  return [eventOf(rawBody, id)];
}

function isSignature(signature: string, expected: Buffer): boolean {
  if (!signature.startsWith('v1,')) return false;
  const given = Buffer.from(signature.slice('v1,'.length), 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

const ALIAS_MAX = 140;
const SCHEME_MAX = 40;
const EVENT_ID_MAX = 255;
const PAYMENT = { paymentId: providerId(), paymentReference: maybeProviderId(), ...MONEY };
const PAYMENT_OUT = { ourReference: ourReference(), ...PAYMENT };
const CHANGE = { ourReference: ourReference(), changeReference: ourReference() };

const SENDER_ACCOUNT = v.object({
  accountHolderName: maybeShown(NAME_MAX),
  alias: maybeShown(ALIAS_MAX),
  ledgerNumber: maybeNumber(),
  ...IDENTIFIERS,
  country: maybeOne(isCountry),
  currency: maybeOne(isCurrency),
});

const PAYMENT_RECEIVED = {
  ...PAYMENT,
  scheme: shown(SCHEME_MAX),
  senderName: maybeShown(NAME_MAX),
  senderAccount: v.nullish(SENDER_ACCOUNT, null),
  ...IDENTIFIERS,
  reference: maybeShown(REMITTANCE_MAX),
  held: v.optional(v.boolean(), false),
};

function eventType<Type extends string, Data extends v.ObjectEntries>(type: Type, data: Data) {
  return v.object({ type: v.literal(type), id: providerId(EVENT_ID_MAX), createdAt: instant(), data: v.object(data) });
}

const EVENT = v.variant('type', [
  eventType('account-opened', {
    ourReference: ourReference(),
    reference: providerId(REFERENCE_MAX),
    currency: one(isCurrency),
    country: one(isCountry),
    ...IDENTIFIERS,
  }),
  eventType('account-opening-rejected', { ourReference: ourReference(), error: REJECTION }),
  eventType('account-changed', CHANGE),
  eventType('account-change-rejected', { ...CHANGE, error: REJECTION }),
  eventType('account-status-changed', {
    ourReference: ourReference(),
    status: v.picklist(PROVIDER_ACCOUNT_STATUSES),
    number: v.pipe(
      AMOUNT,
      v.regex(/^[1-9]\d{0,17}$/),
      v.transform((digits) => BigInt(digits)),
    ),
  }),
  eventType('payment-completed', PAYMENT_OUT),
  eventType('payment-failed', { ...PAYMENT_OUT, code: code() }),
  // Without `returnedAmount` the whole payment was returned.
  eventType('payment-returned', {
    ...PAYMENT_OUT,
    code: code(),
    returnReference: providerId(),
    returnedAmount: v.optional(AMOUNT),
  }),
  eventType('payment-recall-rejected', { ourReference: ourReference(), recallReference: ourReference() }),
  eventType('payment-received', PAYMENT_RECEIVED),
  eventType('payment-in-released', PAYMENT),
]);

type BankEvent = v.InferOutput<typeof EVENT>;

function eventOf(rawBody: Buffer, id: string): ProviderEvent {
  let event: BankEvent;
  try {
    event = v.parse(EVENT, parse(rawBody.toString('utf8')));
  } catch {
    throw new CallbackRejected('malformed', 'The signature of the callback is valid, but its body is not.');
  }
  if (event.id !== id)
    throw new CallbackRejected('malformed', 'The id in the header of the callback differs from the id in its body.');
  try {
    return { providerEventId: id, occurredAt: event.createdAt, ...contentOf(event) };
  } catch (error) {
    if (error instanceof ProviderUnavailable)
      throw new CallbackRejected('malformed', 'The callback contains an invalid amount.');
    throw error;
  }
}

type WithoutEnvelope<Event> = Event extends ProviderEvent ? Omit<Event, 'providerEventId' | 'occurredAt'> : never;

function contentOf(event: BankEvent): WithoutEnvelope<ProviderEvent> {
  switch (event.type) {
    case 'account-opened': {
      const { ourReference: accountId, ...account } = event.data;
      return { type: event.type, accountId, ...account };
    }
    case 'account-opening-rejected':
      return { type: event.type, accountId: event.data.ourReference, error: event.data.error };
    case 'account-changed': {
      const { ourReference: accountId, changeReference } = event.data;
      return { type: event.type, accountId, changeReference };
    }
    case 'account-change-rejected': {
      const { ourReference: accountId, changeReference, error } = event.data;
      return { type: event.type, accountId, changeReference, error };
    }
    case 'account-status-changed': {
      const { ourReference: accountId, status, number } = event.data;
      return { type: event.type, accountId, status, number };
    }
    case 'payment-completed':
      return { type: event.type, ...claimOf(event.data) };
    case 'payment-failed':
      return { type: event.type, ...claimOf(event.data), code: event.data.code };
    case 'payment-returned': {
      const { code, returnReference, amount, currency, returnedAmount = amount } = event.data;
      const returnedMinor = minorOf({ amount: returnedAmount, currency });
      return { type: event.type, ...claimOf(event.data), code, returnReference, returnedMinor };
    }
    case 'payment-recall-rejected': {
      const { ourReference, recallReference } = event.data;
      return { type: event.type, ourReference, recallReference };
    }
    case 'payment-received':
      return { type: event.type, ...receivedOf(event.data) };
    case 'payment-in-released': {
      const { paymentId, currency } = event.data;
      return { type: event.type, serviceProviderId: paymentId, amountMinor: minorOf(event.data), currency };
    }
  }
}

type DataOf<Type extends BankEvent['type']> = Extract<BankEvent, { readonly type: Type }>['data'];

function claimOf(data: DataOf<'payment-completed'>) {
  const { ourReference, paymentId, paymentReference, currency } = data;
  return {
    ourReference,
    serviceProviderId: paymentId,
    serviceProviderReference: paymentReference,
    amountMinor: minorOf(data),
    currency,
  };
}

function receivedOf(data: DataOf<'payment-received'>) {
  const { paymentId, paymentReference, currency, scheme, senderName, senderAccount } = data;
  const { iban, accountNumber, routingCodes, reference, held } = data;
  return {
    serviceProviderId: paymentId,
    serviceProviderReference: paymentReference,
    amountMinor: minorOf(data),
    currency,
    scheme,
    senderName,
    senderAccount,
    receiver: { iban, accountNumber, routingCodes },
    remittanceText: reference,
    held,
  };
}

const PAYMENT_IN = v.object({ ...PAYMENT_RECEIVED, status: v.picklist(['held', 'booked', 'sent-back']) });

/** The answer to a look-up of a payment in has the shape of its callback. */
export function paymentInState(body: unknown): PaymentInState {
  const payment = understood(PAYMENT_IN, body);
  return { outcome: 'received', returned: payment.status === 'sent-back', ...receivedOf(payment) };
}
