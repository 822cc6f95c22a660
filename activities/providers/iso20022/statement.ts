import * as v from 'valibot';
import type { StatementLine } from '../../../db/bank-files/statements.ts';
import type { PaymentInState } from '../port.ts';
import type { StatementEntry } from '../ports/statement-port.ts';
import {
  maybeNumber,
  maybeProviderId,
  maybeShown,
  NAME_MAX,
  providerId,
  REMITTANCE_MAX,
  routingCodes,
  shown,
} from '../ports/texts.ts';

const KINDS = { payment: 'payment-out', return: 'payment-out-returned', received: 'payment-in' } as const;

/** A line of the statement; null if it is about nothing that we know. The bank states days, so an entry stands at their noon. */
export function statementEntryOf(line: StatementLine): StatementEntry | null {
  const { key, kind, direction, amountMinor, currency, bookedOn, transferId, instructionId, sentBackId } = line;
  if (kind === 'batch' || kind === 'unknown') return null;
  return {
    entryId: key,
    bookedAt: new Date(`${bookedOn}T12:00:00Z`),
    kind: sentBackId === null ? KINDS[kind] : 'payment-in-sent-back',
    direction,
    amountMinor,
    currency,
    serviceProviderId: sentBackId ?? (kind === 'received' ? key : (instructionId ?? key)),
    ourReference: transferId,
    accountId: null,
  };
}

const NUMBERS = { iban: maybeNumber(), accountNumber: maybeNumber(), routingCodes: routingCodes() };
const AMOUNT_TEXT = v.pipe(
  v.unknown(),
  v.transform((value) => BigInt(String(value))),
);

const RECEIVED = v.object({
  serviceProviderId: providerId(),
  serviceProviderReference: maybeProviderId(),
  amountMinor: AMOUNT_TEXT,
  currency: shown(3),
  scheme: shown(40),
  senderName: maybeShown(NAME_MAX),
  senderAccount: v.nullable(
    v.object({
      accountHolderName: maybeShown(NAME_MAX),
      alias: maybeShown(NAME_MAX),
      ledgerNumber: maybeNumber(),
      country: maybeShown(2),
      currency: maybeShown(3),
      ...NUMBERS,
    }),
  ),
  receiver: v.object(NUMBERS),
  remittanceText: maybeShown(REMITTANCE_MAX),
});

/** A payment in, with its texts cleaned. */
export function receivedPayment(payment: unknown): v.InferOutput<typeof RECEIVED> {
  return v.parse(RECEIVED, payment);
}

/** A payment in, as it was reported. */
export function receivedState({ payload, returned }: { payload: unknown; returned: boolean }): PaymentInState {
  return { outcome: 'received', returned, held: false, ...receivedPayment(payload) };
}
