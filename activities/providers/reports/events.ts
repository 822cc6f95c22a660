import type { Logger } from 'pino';
import type { Configuration } from '../../../config/configuration.ts';
import { applyAccountCallback } from '../../../db/accounts/connections.ts';
import { applyProviderStatusChange } from '../../../db/accounts/provider-status-changes.ts';
import { receiveWithoutLocks } from '../../../db/incoming-transfers/arrivals.ts';
import { releaseHeldTransfer } from '../../../db/incoming-transfers/holds.ts';
import { applySentBack } from '../../../db/incoming-transfers/incoming-transfers.ts';
import { receivePayment } from '../../../db/incoming-transfers/provisioned-account-credits.ts';
import { applyPaymentReport } from '../../../db/outgoing-transfers/outgoing-transfers.ts';
import { applyRecallRejection } from '../../../db/outgoing-transfers/recalls.ts';
import {
  applyCallbackOnce,
  type CallbackOutcome,
  lockPaymentIn,
  recordCallbackBreak,
} from '../../../db/providers/callbacks.ts';
import type { Database, Transaction } from '../../../db/query/database.ts';
import type { StoredCallback } from '../../../db/transfers/transfer-changes.ts';
import { DomainError } from '../../../domain/common/errors.ts';
import { asId, type IncomingTransferId, isUuid, type OutgoingTransferId } from '../../../domain/common/ids.ts';
import type { PaymentReport } from '../../../domain/outgoing-transfers/reports.ts';
import type { PaymentClaim, ProviderEvent } from '../port.ts';
import { recallNumber } from '../ports/payment-port.ts';
import { type AccountEvent, accountReportOf, providerStatusChangeOf } from './account-reports.ts';

/** What applying an event needs. */
export interface EventServices {
  readonly database: Database;
  readonly configuration: Configuration;
  readonly logger: Pick<Logger, 'error' | 'warn'>;
}

/**
 * Stores what a provider reports, by callback or by file, and applies it in the same transaction, once. The one way in which a provider's
 * report changes anything. Returns `no-effect` for a repetition.
 */
export async function applyEvent(
  services: EventServices,
  provider: string,
  event: ProviderEvent,
): Promise<CallbackOutcome> {
  const callback = callbackOf(provider, event);
  if (await isReceivedInSharedStatement(services, callback, event)) return 'applied';
  const outcome = await services.database.transaction(async (tx) => {
    // Locked before the callback is stored: a shared statement that records this payment has locked its account, and must not wait for the row.
    if (event.type === 'payment-received') await lockPaymentIn(tx, { ...event, provider });
    return applyCallbackOnce(tx, callback, async () => {
      if ('accountId' in event) return applyToAccount(tx, services, provider, event);
      const applied = await applyToPayment(tx, services, provider, event);
      if (applied === 'break') await recordCallbackBreak(tx, callback);
      return applied;
    });
  });
  if (outcome === 'break') logBreak(services, callback);
  return outcome;
}

/** Stores a report that contradicts what the provider has reported before, once, as a break: it changes nothing else. */
export async function recordContradiction(
  services: EventServices,
  provider: string,
  event: ProviderEvent,
): Promise<void> {
  const callback = callbackOf(provider, event);
  const outcome = await services.database.transaction((tx) =>
    applyCallbackOnce(tx, callback, async () => {
      await recordCallbackBreak(tx, callback);
      return 'break';
    }),
  );
  if (outcome === 'break') logBreak(services, callback);
}

function callbackOf(provider: string, event: ProviderEvent): StoredCallback {
  return {
    provider,
    providerEventId: event.providerEventId,
    kind: event.type,
    ourReference: referenceOf(event),
    payload: JSON.stringify(event, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)),
  };
}

function logBreak({ logger }: EventServices, { provider, providerEventId, kind, ourReference }: StoredCallback): void {
  logger.error({ provider, providerEventId, kind, ourReference }, 'provider callback contradicts our books');
}

/** False if the event must be applied under locks. */
async function isReceivedInSharedStatement(
  { database, configuration }: EventServices,
  callback: StoredCallback,
  event: ProviderEvent,
): Promise<boolean> {
  if (event.type !== 'payment-received') return false;
  return receiveWithoutLocks(database, callback, { ...event, provider: callback.provider }, configuration);
}

function referenceOf(event: ProviderEvent): string | null {
  if ('accountId' in event) return event.accountId;
  // Money that arrives has no reference of ours.
  if (event.type === 'payment-received' || event.type === 'payment-in-released') return event.serviceProviderId;
  return 'ourReference' in event ? event.ourReference : null;
}

/** Breaks of accounts are recorded by the change itself. */
async function applyToAccount(
  tx: Transaction,
  { configuration: { providers } }: EventServices,
  provider: string,
  event: AccountEvent,
): Promise<CallbackOutcome> {
  if (event.type === 'account-status-changed') {
    const move = providerStatusChangeOf(event);
    return move === null ? 'waiting' : applyProviderStatusChange(tx, move, provider);
  }
  const report = accountReportOf(event, { provider, providers });
  return report === null ? 'waiting' : applyAccountCallback(tx, report, provider);
}

async function applyToPayment(
  tx: Transaction,
  { configuration }: EventServices,
  provider: string,
  event: Exclude<ProviderEvent, AccountEvent>,
): Promise<CallbackOutcome> {
  if (event.type === 'payment-received') return receivePayment(tx, { ...event, provider }, configuration);
  if (event.type === 'payment-in-released') return releaseHeldTransfer(tx, { ...event, provider });
  if (!isUuid(event.ourReference)) return 'waiting';
  if (event.type === 'payment-in-sent-back') {
    const incomingId = asId<IncomingTransferId>(event.ourReference);
    return appliedOrWaiting(() => applySentBack(tx, { ...event, id: incomingId, provider }));
  }
  const id = asId<OutgoingTransferId>(event.ourReference);
  if (event.type === 'payment-recall-rejected') {
    const number = recallNumber(event.ourReference, event.recallReference);
    if (number === null) return 'break';
    return appliedOrWaiting(() => applyRecallRejection(tx, { id, provider }, number, configuration));
  }
  return appliedOrWaiting(() => applyPaymentReport(tx, { id, provider }, reportOf(event), configuration));
}

/** A callback for a transfer that does not exist yet is kept until it does. */
async function appliedOrWaiting(apply: () => Promise<CallbackOutcome>): Promise<CallbackOutcome> {
  try {
    return await apply();
  } catch (error) {
    if (error instanceof DomainError && error.code === 'common.coding.internal.record_not_found') return 'waiting';
    throw error;
  }
}

type PaymentEvent = Extract<ProviderEvent, PaymentClaim>;

const OUTCOMES = {
  'payment-released': 'released',
  'payment-completed': 'completed',
  'payment-rejected': 'failed',
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
  const rejected = event.type === 'payment-rejected' ? { rejectedAttempt: event.attempt } : {};
  const failed = event.type === 'payment-failed' ? { failedAfterRelease: true } : {};
  return {
    ...rejected,
    ...failed,
    outcome: OUTCOMES[event.type],
    serviceProviderId,
    serviceProviderReference,
    code,
    claim,
  };
}
