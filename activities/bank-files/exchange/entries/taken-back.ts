import type { Instruction } from '../../../../db/bank-files/instructions.ts';
import { findTakenBack, readPayer } from '../../../../db/bank-files/returns.ts';
import type { BookedEntry } from '../../../../domain/bank-files/messages.ts';
import type { BankServices } from '../bank.ts';
import { applyOnce, holdIfQueued } from '../instruction-news.ts';
import { type Found, type Report, UNKNOWN } from './found.ts';
import { receivedEvent } from './received-money.ts';

// Money that came in and goes back.

/**
 * A return of ours that came back is money in of its own. It is for no account that it names, so that it is held for a person and never
 * goes back and forth; its payer is the one of the money that was returned.
 */
export async function cameBack(
  services: BankServices,
  own: Instruction,
  entry: BookedEntry,
  of: Report,
): Promise<Found> {
  await holdIfQueued(services, own);
  const { name, account } = await readPayer(services.database.reader, own.transferId);
  const nowhere = { iban: null, accountNumber: null, routingCodes: {} };
  const parties = { senderName: name, senderAccount: account, receiver: nowhere, remittanceText: null };
  const outcome = await applyOnce(services, receivedEvent(services, entry, of, parties));
  return { kind: 'received', transferId: null, code: entry.returnReason, outcome };
}

/** No name: what stands where a payer has given no id. */
const NO_NAMES: ReadonlySet<string> = new Set(['NOTPROVIDED', 'NONREF']);

/** A debit by which the bank, by itself or as a person has asked, returns money that waits for its return. It names it by its own references. */
export async function takenBack(
  services: BankServices,
  entry: BookedEntry,
  of: Report,
  known: Found | null,
): Promise<Found> {
  const { database, bank } = services;
  const { amountMinor, currency, bookedOn, returnReason: code } = entry;
  if (known !== null && known.outcome !== 'waiting') return known;
  const told = [entry.paymentReference, entry.instructionId, ...(entry.references ?? [])];
  const references = told.flatMap((one) => (one === null || NO_NAMES.has(one) ? [] : [one]));
  const eventId = `entry:${entry.key}`;
  const debit = { provider: bank.provider, amountMinor, currency, bookedOn, references, isReturn: code !== null };
  const found = await findTakenBack(database.reader, eventId, debit);
  if (found === null) return UNKNOWN;
  const { id: transferId, isBooked } = found;
  if (isBooked) return { kind: 'payment', transferId, code, outcome: 'no-effect' };
  const outcome = await applyOnce(services, {
    type: 'payment-in-sent-back',
    providerEventId: eventId,
    occurredAt: of.occurredAt,
    ourReference: transferId,
    amountMinor,
    currency,
    isInstructed: false,
  });
  return outcome === 'applied' ? { kind: 'payment', transferId, code, outcome } : UNKNOWN;
}
