import { randomUUID } from 'node:crypto';
import type { Bank } from '../bank/bank.ts';
import type { Change, Payment, PaymentIn } from '../bank/books.ts';
import { returnsOf } from '../bank/payments/returns.ts';
import { accountKey, customerOf, settingsOf } from './customers.ts';
import { fileOutcomeOf } from './outcomes.ts';
import { entryNotice, type NewBooking, type NewRows, PaymentTeller } from './payment-teller.ts';
import type { Booking, Instruction } from './records.ts';

/** Of every change of the payments: the movements on the customers' accounts, and what messages will tell of it. */
export class News {
  /** The last booking of each account, also those of changes that are being written. */
  readonly #last = new Map<string, { readonly sequence: number; readonly balanceMinor: bigint }>();
  #isLoaded = false;

  /** The change with its news, and without the callbacks of a bank that calls. */
  completed(bank: Bank, change: Change): Change {
    this.#load(bank);
    const { callbacks: _, ...rows } = change.put ?? {};
    const put: NewRows = { bookings: [...(rows.bookings ?? [])], notices: [...(rows.notices ?? [])] };
    for (const payment of rows.payments ?? []) {
      const instruction =
        rows.instructions?.find((one) => one.ourReference === payment.ourReference) ??
        bank.books.instructions.get(payment.ourReference);
      if (instruction !== undefined) this.#tellPayment(bank, payment, instruction, put);
    }
    for (const payment of rows.paymentsIn ?? []) this.#tellPaymentIn(bank, payment, put);
    return { ...change, put: { ...rows, ...put } };
  }

  #load({ books }: Bank): void {
    if (this.#isLoaded) return;
    this.#isLoaded = true;
    for (const booking of books.bookings.values()) this.#last.set(accountKey(booking), booking);
  }

  #tellPayment(bank: Bank, payment: Payment, instruction: Instruction, put: NewRows): void {
    const before = bank.books.payments.get(payment.ourReference);
    const outcome = fileOutcomeOf(payment.amountMinor);
    const teller = new PaymentTeller({
      bank,
      payment,
      instruction,
      rows: put,
      book: (booking) => this.#book(bank, booking, put),
    });
    const wasBooked = before !== undefined && ['completed', 'returned'].includes(before.status);
    switch (payment.status) {
      case 'announced':
        return;
      case 'rejected':
        // A repetition of the same attempt changes nothing.
        if (before?.status !== 'rejected' || before.attempt !== payment.attempt) teller.status('RJCT', payment.code);
        return;
      case 'accepted':
      case 'released':
        if (before?.status !== payment.status) teller.status(payment.status === 'accepted' ? 'ACCP' : 'ACSP');
        break;
      case 'completed':
        if (!wasBooked) teller.completed();
        break;
      case 'failed':
        if (before?.status === 'failed') return;
        teller.debit();
        teller.credit('payment-out-failed', payment.amountMinor, payment.code ?? 'AC07', '1');
        return;
      case 'returned':
        if (!wasBooked) teller.completed();
        for (const [index, one] of returnsOf(payment).entries()) {
          if (before === undefined || index >= returnsOf(before).length) {
            teller.credit('payment-out-returned', one.amountMinor, one.code, String(index + 1));
          }
        }
    }
    const { recall } = payment;
    if (recall === undefined || before?.recall?.status !== 'asked' || recall.status === 'asked') return;
    if (outcome.isRecallUntold !== true)
      teller.recall(recall.recallReference, recall.status === 'accepted', recall.code);
  }

  /** A held payment is told once it is released, and the return of one by the reference under which it came. */
  #tellPaymentIn(bank: Bank, payment: PaymentIn, put: NewRows): void {
    const before = bank.books.paymentsIn.get(payment.paymentId);
    const isHeld = before === undefined || before.status === 'held';
    const isNews = payment.status === 'booked' ? isHeld : payment.status === 'sent-back' && before?.status === 'booked';
    if (!isNews) return;
    const account = payment.receiver.iban ?? payment.receiver.accountNumber ?? '';
    const customer = customerOf(bank, account);
    if (customer === null) return;
    const { paymentReference, sentBack } = payment;
    const reference = sentBack === null ? paymentReference : `${paymentReference}B`;
    const booking = this.#book(
      bank,
      {
        customer,
        account,
        currency: payment.currency,
        kind: sentBack === null ? 'payment-in' : 'payment-in-sent-back',
        amountMinor: payment.amountMinor,
        entryReference: reference,
        bankReference: reference,
        isOfBatch: false,
        place: null,
        returnCode: sentBack?.code ?? null,
        ...(sentBack === null ? {} : { originalReference: paymentReference }),
        party: {
          name: payment.senderName,
          account: payment.senderAccount?.iban ?? payment.senderAccount?.accountNumber ?? null,
          bic: payment.senderAccount?.routingCodes?.bic ?? null,
        },
        remittanceText: payment.reference,
      },
      put,
    );
    if (!settingsOf(bank, customer).notifications) return;
    put.notices.push(entryNotice(booking, { dueAtMs: bank.now().getTime(), fileId: null, round: 0, hasDetails: true }));
  }

  #book(bank: Bank, booking: NewBooking, put: NewRows): Booking {
    const last = this.#last.get(accountKey(booking)) ?? { sequence: 0, balanceMinor: 0n };
    const direction = ['payment-out', 'payment-in-sent-back'].includes(booking.kind) ? 'debit' : 'credit';
    const booked: Booking = {
      ...booking,
      id: randomUUID(),
      sequence: last.sequence + 1,
      bookedAt: bank.now().toISOString(),
      direction,
      balanceMinor:
        direction === 'debit' ? last.balanceMinor - booking.amountMinor : last.balanceMinor + booking.amountMinor,
    };
    this.#last.set(accountKey(booked), booked);
    put.bookings.push(booked);
    return booked;
  }
}
