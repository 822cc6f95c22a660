import { type AccountEvent, accountReportOf, providerMoveOf } from '../../activities/providers/account-reports.ts';
import { CallbackRefused, type PaymentClaim, type ProviderEvent } from '../../activities/providers/port.ts';
import { recallNumber } from '../../activities/providers/ports/payment-port.ts';
import { applyAccountCallback } from '../../db/accounts/connections.ts';
import { applyProviderMove } from '../../db/accounts/provider-moves.ts';
import type { Transaction } from '../../db/driver/client.ts';
import { receiveTogether } from '../../db/incoming-transfers/arrivals.ts';
import { releaseHeldTransfer } from '../../db/incoming-transfers/holds.ts';
import { receivePayment } from '../../db/incoming-transfers/provisioned-account-credits.ts';
import type { StoredCallback } from '../../db/ledger/transfer-changes.ts';
import { applyPaymentReport } from '../../db/outgoing-transfers/outgoing-transfers.ts';
import { applyRecallRefusal } from '../../db/outgoing-transfers/recalls.ts';
import {
  applyCallbackOnce,
  type CallbackOutcome,
  lockPaymentIn,
  recordCallbackBreak,
} from '../../db/providers/callbacks.ts';
import { DomainError, refusal } from '../../domain/frame/errors.ts';
import { asId, isUuid, type OutgoingTransferId } from '../../domain/frame/ids.ts';
import type { PaymentReport } from '../../domain/outgoing-transfers/reports.ts';
import { openRoute } from '../frame/route.ts';
import type { Services } from '../frame/services.ts';

/** Room for tens of events of about a kilobyte. */
const CALLBACK_BYTES_MAX = 64 * 1024;

/**
 * Receives signed callbacks of built-in providers, without a token. Each event is stored and applied in a transaction
 * of its own; if one fails, the provider repeats the callback, and events already applied have no second effect.
 */
const postProviderCallback = openRoute(
  {
    method: 'POST',
    path: '/provider-callbacks/{provider}',
    operationId: 'receiveProviderCallback',
    summary: 'Receive a signed callback from a provider',
    tag: 'Providers',
    body: { mediaType: 'application/json', bytesMax: CALLBACK_BYTES_MAX },
    credential: 'callback-signature',
    responses: {
      200: 'Every event is stored',
      401: 'The signature is not the provider’s',
      404: 'No such provider',
    },
  },
  async ({ services, headers, params, readBody }) => {
    const code = params.provider ?? '';
    const provider = services.providers.get(code);
    if (provider === undefined) {
      throw refusal('common.coding.internal.record_not_found', ['provider', 'code', code], 'No such provider.');
    }
    const body = await readBody();
    let events: ProviderEvent[];
    try {
      events = provider.verifyCallback(headers, body, services.now());
    } catch (error) {
      if (!(error instanceof CallbackRefused)) throw error;
      if (error.reason === 'malformed') services.logger.warn({ provider: code }, 'provider callback not understood');
      throw callbackRefusal(error);
    }
    for (const event of events) await applyEvent(services, code, event);
    return { status: 200, body: '{}', contentType: 'application/json' };
  },
);

function callbackRefusal(error: CallbackRefused): DomainError {
  return error.reason === 'malformed'
    ? refusal('common.validation.field_invalid', ['body', 'body', ''], 'The callback is not understood.')
    : refusal(
        'common.security.unauthenticated',
        ['header', 'signature', ''],
        'The callback is not signed by the provider.',
      );
}

async function applyEvent(services: Services, provider: string, event: ProviderEvent): Promise<void> {
  const callback: StoredCallback = {
    provider,
    providerEventId: event.providerEventId,
    kind: event.type,
    ourReference: referenceOf(event),
    payload: JSON.stringify(event, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)),
  };
  if (await receivedTogether(services, callback, event)) return;
  const outcome = await services.database.transaction(async (tx) => {
    // Locked before the callback is stored: a shared statement that records this payment holds its account, and must not wait for the row.
    if (event.type === 'payment-received') await lockPaymentIn(tx, { ...event, provider });
    return applyCallbackOnce(tx, callback, async () => {
      if ('accountId' in event) return applyToAccount(tx, services, provider, event);
      const applied = await applyToPayment(tx, services, provider, event);
      if (applied === 'break') await recordCallbackBreak(tx, callback);
      return applied;
    });
  });
  if (outcome === 'break') {
    const { providerEventId, kind, ourReference } = callback;
    services.logger.error({ provider, providerEventId, kind, ourReference }, 'provider callback contradicts our books');
  }
}

/** False if the event must be applied under locks. */
async function receivedTogether(
  { database, configuration }: Services,
  callback: StoredCallback,
  event: ProviderEvent,
): Promise<boolean> {
  if (event.type !== 'payment-received') return false;
  return receiveTogether(database, callback, { ...event, provider: callback.provider }, configuration);
}

function referenceOf(event: ProviderEvent): string | null {
  if ('accountId' in event) return event.accountId;
  if (event.type === 'payment-in-released') return event.serviceProviderId;
  return 'ourReference' in event ? event.ourReference : null;
}

/** Account breaks are recorded where they are found. */
async function applyToAccount(
  tx: Transaction,
  { configuration: { providers } }: Services,
  provider: string,
  event: AccountEvent,
): Promise<CallbackOutcome> {
  if (event.type === 'account-status-changed') {
    const move = providerMoveOf(event);
    return move === null ? 'waiting' : applyProviderMove(tx, move, provider);
  }
  const report = accountReportOf(event, { provider, providers });
  return report === null ? 'waiting' : applyAccountCallback(tx, report, provider);
}

async function applyToPayment(
  tx: Transaction,
  { configuration }: Services,
  provider: string,
  event: Exclude<ProviderEvent, AccountEvent>,
): Promise<CallbackOutcome> {
  if (event.type === 'payment-received') return receivePayment(tx, { ...event, provider }, configuration);
  if (event.type === 'payment-in-released') return releaseHeldTransfer(tx, { ...event, provider });
  if (!isUuid(event.ourReference)) return 'waiting';
  const id = asId<OutgoingTransferId>(event.ourReference);
  if (event.type === 'payment-recall-refused') {
    const number = recallNumber(event.ourReference, event.recallReference);
    if (number === null) return 'break';
    return known(() => applyRecallRefusal(tx, { id, provider }, number, configuration));
  }
  return known(() => applyPaymentReport(tx, { id, provider }, reportOf(event), configuration));
}

/** A callback for a transfer that does not exist yet waits. */
async function known(apply: () => Promise<CallbackOutcome>): Promise<CallbackOutcome> {
  try {
    return await apply();
  } catch (error) {
    if (error instanceof DomainError && error.code === 'common.coding.internal.record_not_found') return 'waiting';
    throw error;
  }
}

type PaymentEvent = Extract<ProviderEvent, PaymentClaim>;

const WORDS = {
  'payment-released': 'released',
  'payment-completed': 'completed',
  'payment-refused': 'failed',
  'payment-failed': 'failed',
  'payment-returned': 'returned',
} as const;

function reportOf(event: PaymentEvent): PaymentReport {
  const { serviceProviderId, serviceProviderReference, currency } = event;
  const code = 'error' in event ? event.error.code : 'code' in event ? event.code : null;
  const returned =
    event.type === 'payment-returned'
      ? { reference: event.returnReference, amountMinor: event.returnedMinor.toString() }
      : null;
  const claim = { amountMinor: event.amountMinor.toString(), currency, returned };
  const refused = event.type === 'payment-refused' ? { refusedAttempt: event.attempt } : {};
  const failed = event.type === 'payment-failed' ? { failedAfterRelease: true } : {};
  return { ...refused, ...failed, word: WORDS[event.type], serviceProviderId, serviceProviderReference, code, claim };
}

export const providerCallbackRoutes = [postProviderCallback] as const;
