import { createHash, randomUUID } from 'node:crypto';
import type { Bank } from '../bank/bank.ts';
import type { Payment } from '../bank/books.ts';
import { settingsOf } from './customers.ts';
import { type FileOutcome, fileOutcomeOf } from './outcomes.ts';
import type { Booking, CustomerSettings, Instruction, InstructionPlace, Notice } from './records.ts';

export type NewBooking = Omit<Booking, 'id' | 'sequence' | 'bookedAt' | 'balanceMinor' | 'direction'>;

/** The rows that a change brings. */
export interface NewRows {
  readonly bookings: Booking[];
  readonly notices: Notice[];
}

const SECOND_COPY_AFTER_MS = 1_000;
const DETAILS_AFTER_MS = 500;

/** How one change of a payment is booked and told. */
export class PaymentTeller {
  readonly #bank: Bank;
  readonly #payment: Payment;
  readonly #instruction: Instruction;
  readonly #rows: NewRows;
  readonly #book: (booking: NewBooking) => Booking;
  readonly #settings: CustomerSettings;
  readonly #outcome: FileOutcome;

  constructor(change: {
    readonly bank: Bank;
    readonly payment: Payment;
    readonly instruction: Instruction;
    readonly rows: NewRows;
    readonly book: (booking: NewBooking) => Booking;
  }) {
    this.#bank = change.bank;
    this.#payment = change.payment;
    this.#instruction = change.instruction;
    this.#rows = change.rows;
    this.#book = change.book;
    this.#settings = settingsOf(change.bank, change.instruction.customer);
    this.#outcome = fileOutcomeOf(change.payment.amountMinor);
  }

  /** Accepted in some way, or rejected. */
  status(status: 'ACCP' | 'ACSP' | 'ACSC' | 'RJCT', code: string | null = null): void {
    const { statusReports } = this.#settings;
    const { tells, copies = 1, statusAfterMs = 0 } = this.#outcome;
    if (tells === 'statement' || (tells === 'open-untold' && ['ACCP', 'ACSP'].includes(status))) return;
    if (status !== 'RJCT' && statusReports === 'rejections') return;
    // Of a payment that is completed at once, such a bank tells the acceptance only.
    const told = status === 'ACSC' && statusReports === 'acceptances' ? 'ACSP' : status;
    for (let round = 0; round < copies; round += 1) {
      this.#rows.notices.push({
        ...this.#noticeHead(statusAfterMs + round * SECOND_COPY_AFTER_MS, round),
        kind: 'status',
        place: placeOf(this.#instruction),
        status: told,
        reasons: code === null ? [] : [code],
        additional: null,
        bankReference: this.#payment.paymentReference,
      });
    }
  }

  completed(): void {
    this.status('ACSC');
    this.debit();
  }

  debit(): void {
    const { bankReference, entryReference, isOfBatch } = this.#references();
    const booking = this.#book({
      ...this.#bookingHead('payment-out', this.#payment.amountMinor),
      bankReference,
      entryReference,
      isOfBatch,
      returnCode: null,
    });
    this.#tellEntry(booking);
  }

  /** Money that comes back, as the payment’s return of this number. */
  credit(kind: 'payment-out-failed' | 'payment-out-returned', amountMinor: bigint, code: string, number: string): void {
    const reference = `${this.#payment.paymentReference}R${number}`;
    const booking = this.#book({
      ...this.#bookingHead(kind, amountMinor),
      bankReference: reference,
      entryReference: reference,
      isOfBatch: false,
      returnCode: code,
    });
    this.#tellEntry(booking);
  }

  /** The answer to a requested cancellation. */
  recall(cancellationId: string, isAccepted: boolean, code: string | null): void {
    this.#rows.notices.push({
      ...this.#noticeHead(0, 0),
      kind: 'cancellation',
      cancellationId,
      place: placeOf(this.#instruction),
      isAccepted,
      reason: isAccepted ? null : code,
    });
  }

  #tellEntry(booking: Booking): void {
    if (!this.#settings.notifications || this.#outcome.tells === 'statement') return;
    const { copies = 1, entryAfterMs = 0 } = this.#outcome;
    const { batchBooking } = this.#settings;
    const tell = (afterMs: number, round: number, hasDetails: boolean) =>
      this.#rows.notices.push(entryNotice(booking, { ...this.#noticeHead(afterMs, round), hasDetails }));
    if (booking.isOfBatch) {
      tell(0, 0, batchBooking === 'with-details');
      if (batchBooking === 'details-apart') tell(DETAILS_AFTER_MS, 1, true);
      return;
    }
    for (let round = 0; round < copies; round += 1) tell(entryAfterMs + round * SECOND_COPY_AFTER_MS, round, true);
  }

  /** A batch is booked as one sum with those of its payments that are completed at once and told like all others. */
  #references(): Pick<Booking, 'bankReference' | 'entryReference' | 'isOfBatch'> {
    const { customer, messageId, batchId, fileId, hold } = this.#instruction;
    const { tells, copies, statusAfterMs, entryAfterMs } = this.#outcome;
    const isUsual = [tells, copies, statusAfterMs, entryAfterMs].every((special) => special === undefined);
    const isBeingRead = this.#bank.books.receivedFiles.get(fileId)?.outcome === 'reading' && hold === null;
    const bankReference = this.#payment.paymentReference;
    if (this.#settings.batchBooking === 'single' || !isBeingRead || !isUsual) {
      return { bankReference, entryReference: bankReference, isOfBatch: false };
    }
    // Bookings of two days are two entries.
    const day = this.#bank.now().toISOString().slice(0, 10);
    const digest = createHash('sha256')
      .update(JSON.stringify([customer, messageId, batchId, day]))
      .digest('hex');
    return { bankReference, entryReference: `SBB${digest.slice(0, 20).toUpperCase()}`, isOfBatch: true };
  }

  #bookingHead(kind: Booking['kind'], amountMinor: bigint) {
    const { customer, account, creditor, remittanceText } = this.#instruction;
    const { currency } = this.#payment;
    const party = {
      name: creditor.name,
      account: creditor.iban ?? creditor.accountNumber,
      bic: creditor.routingCodes.bic ?? null,
    };
    return { customer, account, currency, kind, amountMinor, place: placeOf(this.#instruction), party, remittanceText };
  }

  #noticeHead(afterMs: number, round: number) {
    const { customer, fileId } = this.#instruction;
    return { id: randomUUID(), customer, dueAtMs: this.#bank.now().getTime() + afterMs, fileId, round };
  }
}

/** One notice for an entry and round: a batch's bookings are told together. */
export function entryNotice(
  { customer, account, currency, entryReference }: Booking,
  telling: Pick<Notice, 'dueAtMs' | 'fileId' | 'round'> & { readonly hasDetails: boolean },
): Notice {
  const { dueAtMs, fileId, round, hasDetails } = telling;
  return {
    id: `${entryReference} ${round}`,
    customer,
    dueAtMs,
    fileId,
    round,
    kind: 'entry',
    account,
    currency,
    entryReference,
    hasDetails,
  };
}

export function placeOf(place: InstructionPlace): InstructionPlace {
  const { customer, fileId, messageId, version, batchId, instructionId, endToEndId } = place;
  return { customer, fileId, messageId, version, batchId, instructionId, endToEndId };
}
