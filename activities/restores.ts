import type { Initiator } from '../db/frame/audit-entries.ts';
import { releaseHeldTransfer } from '../db/incoming-transfers/holds.ts';
import { recordReturn, returnIncomingTransfer } from '../db/incoming-transfers/incoming-transfers.ts';
import { receivePayment } from '../db/incoming-transfers/provisioned-account-credits.ts';
import { listCurrencies, type Position, readStandings } from '../db/ledger/reconciliation.ts';
import { adoptPayment } from '../db/outgoing-transfers/outgoing-transfers.ts';
import { findArrival, listHeldByProvider, listUnsettledPayments } from '../db/providers/restores.ts';
import { DomainError } from '../domain/frame/errors.ts';
import { asId, type IncomingTransferId, isUuid, type OutgoingTransferId } from '../domain/frame/ids.ts';
import { CURRENCIES } from '../domain/frame/money.ts';
import { findOffer } from '../domain/providers/providers.ts';
import type { ActivityDependencies } from './frame/dependencies.ts';
import { type ReportedPayments, readStatement } from './ledger/reconciliation.ts';
import { reportOf } from './outgoing-transfers/activities.ts';
import type { Provider } from './providers/port.ts';

type Dependencies = Pick<ActivityDependencies, 'database' | 'providers' | 'configuration'> & {
  /** Who has the lost window read again. */
  readonly initiator: Initiator;
};

const PAGE = 500;

export interface CaughtUp {
  /** Payments in that were read again, and went through the same door as at first. */
  readonly received: number;
  /** Payments out that the provider had carried out further than our rows knew. */
  readonly adopted: number;
}

/**
 * After a restore: brings the rows to where the providers are, for what happened between `from` and `to`. Money that came
 * in goes first, as what went out may have been paid from it. Safe to repeat; throws `ProviderUnavailable`. What cannot
 * be booked is left as it is: the comparison of statements that follows records it.
 */
export async function catchUpWithProviders(
  dependencies: Dependencies,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<CaughtUp> {
  let received = 0;
  let adopted = 0;
  for (const [code, provider] of dependencies.providers) {
    const paidOut = new Set<string>();
    for (const currency of await currenciesOf(dependencies, code)) {
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

/** Also those in which the restored database has nothing yet. */
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
        receivePayment(tx, { ...incoming, provider: position.provider }, configuration.prices),
      );
      if (outcome === 'applied') received += 1;
      if (returned) await settleReturn(database, position.provider, key.reference, initiator);
    }
  }
  return received;
}

/** What the provider held when the database was saved, and let go of in the lost window. */
async function releaseAgain({ database }: Dependencies, provider: Provider, code: string): Promise<void> {
  for (const serviceProviderId of await listHeldByProvider(database.reader, code)) {
    const payment = await provider.lookUpPaymentIn(serviceProviderId, {});
    if (payment.outcome === 'not-found' || payment.held || payment.returned) continue;
    await database.transaction((tx) => releaseHeldTransfer(tx, { ...payment, provider: code }));
  }
}

/** The money went back to its payer in the lost window, under the id of a row that is gone: it does not go again. */
async function settleReturn(
  database: Dependencies['database'],
  provider: string,
  reference: string,
  initiator: Initiator,
): Promise<void> {
  await database.transaction(async (tx) => {
    const arrival = await findArrival(tx, provider, reference);
    if (arrival === null) return;
    const id = asId<IncomingTransferId>(arrival.id);
    if (arrival.status === 'on-hold') await returnIncomingTransfer(tx, id, initiator);
    await recordReturn(tx, id);
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

/** Looks a payment out up by our reference, and books what the provider did with it. True where that was news. */
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
      (await database.transaction((tx) => adoptPayment(tx, { id, provider: code }, reportOf(state), configuration))) ===
      'applied'
    );
  } catch (error) {
    // Made and paid in the lost window: nobody here knows for whom.
    if (error instanceof DomainError && error.code === 'common.coding.internal.record_not_found') return false;
    throw error;
  }
}
