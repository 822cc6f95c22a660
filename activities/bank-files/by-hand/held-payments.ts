import { endHeld, keepHeld, listPaymentsToEnd, type ToEnd } from '../../../db/bank-files/by-hand/held.ts';
import { readClock } from '../../../db/common/clock.ts';
import { rejectionCode } from '../../../domain/bank-files/exchange/progress.ts';
import { rejectionOf } from '../../providers/iso20022/rejections.ts';
import type { ProviderEvent } from '../../providers/port.ts';
import type { BankServices } from '../exchange/bank.ts';
import { applyOnce } from '../exchange/instruction-news.ts';
import { isPassing } from '../exchange/take.ts';

const PAYMENTS_AT_ONCE = 1_000;

/** The bank gave no code to the people who asked: a rejection that is not tried again. */
const REASONS: readonly string[] = [rejectionCode([])];

/**
 * Ends held payments as the bank says by the word of two people: first the payment, once, then the instruction. After a crash in between the
 * same word leads to the same. One that cannot be ended holds up no other, and none of the bank's files.
 */
export async function endHeldPayments(services: BankServices): Promise<void> {
  const { database, bank, logger } = services;
  const occurredAt = await readClock(database.reader);
  for (const held of await listPaymentsToEnd(database.reader, bank.provider, PAYMENTS_AT_ONCE)) {
    const { transferId } = held;
    try {
      const outcome = await applyOnce(services, eventOf(held, occurredAt));
      const isEnded = outcome === 'applied' || outcome === 'no-effect';
      const reasons = held.bankSays === 'rejected' ? REASONS : [];
      await database.transaction((tx) => (isEnded ? endHeld(tx, held, reasons) : keepHeld(tx, held)));
      if (isEnded) continue;
      logger.error(
        { provider: bank.provider, transferId },
        'what people said of a held payment contradicts its transfer',
      );
    } catch (error) {
      if (isPassing(error)) throw error;
      const name = error instanceof Error ? error.name : 'failure';
      logger.error({ provider: bank.provider, transferId, error: name }, 'a held payment could not be ended');
    }
  }
}

function eventOf({ transferId, attempt, instructionId, bankSays, ...money }: ToEnd, occurredAt: Date): ProviderEvent {
  const shared = {
    occurredAt,
    ourReference: transferId,
    serviceProviderId: instructionId,
    serviceProviderReference: null,
    amountMinor: money.amountMinor,
    currency: money.currency,
  };
  if (bankSays === 'paid') {
    return { type: 'payment-completed', providerEventId: `${instructionId}:completed:by-hand`, ...shared };
  }
  const error = rejectionOf(rejectionCode(REASONS));
  return { type: 'payment-rejected', providerEventId: `${instructionId}:rejected`, attempt, error, ...shared };
}
