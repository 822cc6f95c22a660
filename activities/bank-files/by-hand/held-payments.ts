import {
  auditReportedOtherwise,
  endHeld,
  keepHeld,
  listPaymentsToEnd,
  type ToEnd,
} from '../../../db/bank-files/by-hand/held.ts';
import { findUnread } from '../../../db/bank-files/by-hand/unread-files.ts';
import { readEventOutcome } from '../../../db/bank-files/entries.ts';
import { readClock } from '../../../db/common/clock.ts';
import { wakeIncoming } from '../../../db/incoming-transfers/work.ts';
import { rejectionCode } from '../../../domain/bank-files/exchange/progress.ts';
import { asId, type IncomingTransferId } from '../../../domain/common/ids.ts';
import { rejectionOf } from '../../providers/iso20022/rejections.ts';
import type { ProviderEvent } from '../../providers/port.ts';
import type { BankServices } from '../exchange/bank.ts';
import { applyOnce } from '../exchange/instruction-news.ts';
import { isPassing } from '../exchange/take.ts';

const PAYMENTS_AT_ONCE = 1_000;

/** The bank gave no code to the people who asked: a rejection that is not tried again. */
const REASONS: readonly string[] = [rejectionCode([])];

/** Ends held payments that the bank has paid by the word of two people. */
export async function endPaidPayments(services: BankServices): Promise<void> {
  await end(services, await listToEnd(services, 'paid'));
}

/**
 * Ends held payments that two people have signed as rejected, unless a file of the bank reports otherwise by now, or cannot be read.
 * `read` reads it. One whose money a round that broke off has given back is ended first: what is read would find it still held.
 */
export async function endRejectedPayments(services: BankServices, read: () => Promise<unknown>): Promise<void> {
  const { database, bank, logger } = services;
  const said: ToEnd[] = [];
  for (const held of await listToEnd(services, 'rejected')) {
    if (await hasGivenBack(services, held)) await end(services, [held]);
    else said.push(held);
  }
  await read();
  for (const held of said) {
    if (!(await database.transaction((tx) => auditReportedOtherwise(tx, held)))) continue;
    const { transferId } = held;
    logger.error(
      { provider: bank.provider, transferId },
      'the bank reports otherwise than the people who signed a held payment as rejected',
    );
  }
  if ((await findUnread(database.reader, bank.provider)) === null) {
    await end(services, await listToEnd(services, 'rejected'));
  }
}

async function hasGivenBack({ database, bank }: BankServices, held: ToEnd): Promise<boolean> {
  if (held.isReturn) return false;
  const outcome = await readEventOutcome(database.reader, bank.provider, rejectionEventId(held));
  return outcome === 'applied' || outcome === 'no-effect';
}

function rejectionEventId({ instructionId }: ToEnd): string {
  return `${instructionId}:rejected`;
}

function listToEnd({ database, bank }: BankServices, bankSays: ToEnd['bankSays']): Promise<ToEnd[]> {
  return listPaymentsToEnd(database.reader, bank.provider, bankSays, PAYMENTS_AT_ONCE);
}

/**
 * First the payment, once, then the instruction. After a crash in between the same word leads to the same. One that cannot be ended holds up no
 * other, and none of the bank's files.
 */
async function end(services: BankServices, payments: readonly ToEnd[]): Promise<void> {
  const { database, bank, logger } = services;
  const occurredAt = await readClock(database.reader);
  for (const held of payments) {
    const { transferId } = held;
    try {
      const event = eventOf(held, occurredAt);
      const outcome = event === null ? 'no-effect' : await applyOnce(services, event);
      const isEnded = outcome === 'applied' || outcome === 'no-effect';
      const reasons = held.bankSays === 'rejected' ? REASONS : [];
      await database.transaction(async (tx) => {
        await (isEnded ? endHeld(tx, held, reasons) : keepHeld(tx, held));
        // Its next attempt is held for people.
        if (held.isReturn) wakeIncoming(tx, asId<IncomingTransferId>(transferId));
      });
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

/** Null: nothing changes for the transfer, whose return goes on waiting. */
function eventOf(held: ToEnd, occurredAt: Date): ProviderEvent | null {
  const { transferId, attempt, instructionId, bankSays, isReturn, amountMinor, currency } = held;
  const claim = { occurredAt, ourReference: transferId, amountMinor, currency };
  const shared = { ...claim, serviceProviderId: instructionId, serviceProviderReference: null };
  if (bankSays === 'paid') {
    const providerEventId = `${instructionId}:completed:by-hand`;
    if (isReturn) return { type: 'payment-in-sent-back', isInstructed: true, providerEventId, ...claim };
    return { type: 'payment-completed', providerEventId, ...shared };
  }
  if (isReturn) return null;
  const error = rejectionOf(rejectionCode(REASONS));
  return { type: 'payment-rejected', providerEventId: rejectionEventId(held), attempt, error, ...shared };
}
