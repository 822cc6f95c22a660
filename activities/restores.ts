import type { Initiator } from '../db/common/audit-entries.ts';
import { releaseHeldTransfer } from '../db/incoming-transfers/holds.ts';
import { adoptReturn } from '../db/incoming-transfers/incoming-transfers.ts';
import { receivePayment } from '../db/incoming-transfers/provisioned-account-credits.ts';
import { adoptPayment } from '../db/outgoing-transfers/outgoing-transfers.ts';
import { findArrival, listHeldByProvider, listUnsettledPayments } from '../db/providers/restores.ts';
import type { Position } from '../db/reconciliation/schema.ts';
import { listCurrencies, readStandings } from '../db/reconciliation/statements.ts';
import { DomainError } from '../domain/common/errors.ts';
import { asId, type IncomingTransferId, isUuid, type OutgoingTransferId } from '../domain/common/ids.ts';
import { CURRENCIES } from '../domain/common/money.ts';
import { findOffer } from '../domain/providers/providers.ts';
import type { ActivityDependencies } from './common/dependencies.ts';
import { reportOf } from './outgoing-transfers/activities.ts';
import type { Provider } from './providers/port.ts';
import { type ReportedPayments, readStatement } from './reconciliation/reconciliation.ts';

type Dependencies = Pick<ActivityDependencies, 'database' | 'providers' | 'configuration'> & {
  /** Who runs the recovery. */
  readonly initiator: Initiator;
};

const PAGE = 500;

export interface CatchUpResult {
  /** Incoming payments, received again through the usual path. */
  readonly received: number;
  /** Outgoing payments that had progressed further at the provider than in our rows. */
  readonly adopted: number;
}

/**
 * After a restore: brings our rows up to the providers' state for the lost window, `from` to `to`. Payments in come
 * first, since payments out may have been funded by them. Safe to repeat; throws `ProviderUnavailable`. The next
 * comparison of statements records what cannot be booked.
 */
export async function catchUpWithProviders(
  dependencies: Dependencies,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<CatchUpResult> {
  let received = 0;
  let adopted = 0;
  for (const [code, provider] of dependencies.providers) {
    const paidOut = new Set<string>();
    // A bank with files tells nothing when it is asked: what its files have told is in Postgres, or with the bank.
    const isAsked = !dependencies.configuration.fileExchanges.has(code);
    for (const currency of isAsked ? await currenciesOf(dependencies, code) : []) {
      const { reported } = await readStatement(provider, { currency, from, to }, {});
      received += await receiveAgain(dependencies, provider, { provider: code, currency }, reported);
      for (const { key } of reported.values()) if (key.direction === 'out') paidOut.add(key.reference);
    }
    await releaseAgain(dependencies, provider, code);
    for await (const ids of unsettledPages(dependencies, code)) for (const id of ids) paidOut.add(id);
    for (const reference of paidOut) if (await adopt(dependencies, provider, code, reference)) adopted += 1;
  }
  return { received, adopted };
}

/** Includes currencies in which the restored database has nothing yet. */
async function currenciesOf({ database, configuration }: Dependencies, code: string): Promise<readonly string[]> {
  const used = await listCurrencies(database.reader, code);
  const provider = configuration.providers.find((configured) => configured.code === code);
  const offered = CURRENCIES.filter(
    (currency) => provider !== undefined && findOffer(provider, { currency, country: null }) !== null,
  );
  return [...new Set([...used, ...offered])];
}

async function receiveAgain(
  { database, configuration, initiator }: Dependencies,
  provider: Provider,
  position: Position,
  reported: ReportedPayments,
): Promise<number> {
  let received = 0;
  const payments = [...reported.values()].filter(({ key }) => key.direction === 'in');
  for (let start = 0; start < payments.length; start += PAGE) {
    const page = payments.slice(start, start + PAGE);
    const references = page.map(({ key }) => key.reference);
    const ours = await readStandings(database.reader, position, 'in', references);
    for (const { key, standing } of page) {
      if (ours.get(key.reference)?.moved === standing.moved) continue;
      const payment = await provider.lookUpPaymentIn(key.reference, {});
      if (payment.outcome === 'not-found') continue;
      const { outcome: _, returned, ...incoming } = payment;
      const outcome = await database.transaction((tx) =>
        receivePayment(tx, { ...incoming, provider: position.provider }, configuration),
      );
      if (outcome === 'applied') received += 1;
      if (returned) await settleReturn(database, position.provider, key.reference, initiator);
    }
  }
  return received;
}

/** Releases payments that the provider held at the time of the backup and released in the lost window. */
async function releaseAgain({ database }: Dependencies, provider: Provider, code: string): Promise<void> {
  for (const serviceProviderId of await listHeldByProvider(database.reader, code)) {
    const payment = await provider.lookUpPaymentIn(serviceProviderId, {});
    if (payment.outcome === 'not-found' || payment.held || payment.returned) continue;
    await database.transaction((tx) => releaseHeldTransfer(tx, { ...payment, provider: code }));
  }
}

/**
 * The provider returned the money in the lost window, under the id of a row that no longer exists. It must not return it
 * twice.
 */
async function settleReturn(
  database: Dependencies['database'],
  provider: string,
  reference: string,
  initiator: Initiator,
): Promise<void> {
  await database.transaction(async (tx) => {
    const arrival = await findArrival(tx, provider, reference);
    if (arrival !== null) await adoptReturn(tx, asId<IncomingTransferId>(arrival.id), initiator);
  });
}

async function* unsettledPages({ database }: Dependencies, code: string): AsyncGenerator<OutgoingTransferId[]> {
  let after: OutgoingTransferId | null = null;
  do {
    const page: OutgoingTransferId[] = await listUnsettledPayments(database.reader, code, after, PAGE);
    yield page;
    after = page.length === PAGE ? (page.at(-1) ?? null) : null;
  } while (after !== null);
}

/** Looks up a payment out by our reference and books the provider’s state. True if that changed our books and left no break. */
async function adopt(
  { database, configuration }: Dependencies,
  provider: Provider,
  code: string,
  reference: string,
): Promise<boolean> {
  if (!isUuid(reference)) return false;
  const id = asId<OutgoingTransferId>(reference);
  const state = await provider.lookUpPayment(reference, {});
  if (state.outcome === 'not-found') return false;
  try {
    return (
      (await database.transaction((tx) =>
        adoptPayment(tx, { id, provider: code }, reportOf(reference, state), configuration),
      )) === 'applied'
    );
  } catch (error) {
    // Created and paid in the lost window: its owner is no longer on record.
    if (error instanceof DomainError && error.code === 'common.coding.internal.record_not_found') return false;
    throw error;
  }
}
