import { idsNamedIn } from '../../common/payment-references.ts';
import type { MovementKind } from '../movements.ts';
import type { PaymentKey } from '../reconciliation.ts';
import type { StatedPart } from './statement-movements.ts';

/** A payment of ours that a bank's file names. */
export interface NamedPayment extends PaymentKey {
  /** The text in the file, or the id that it contains. */
  readonly name: string;
  readonly amountMinor: bigint;
}

/** Texts for people: they count only if no reference identifies a payment. */
const FREE_TEXTS = ['RmtInf/Ustrd', 'RmtInf/Strd/AddtlRmtInf', 'AddtlTxInf', 'AddtlNtryInf'];

function namesOf(value: string): readonly string[] {
  return [value, ...idsNamedIn(value)];
}

/** Every text by which a part may identify one of our payments. */
export function namesIn({ references }: StatedPart): string[] {
  return [...new Set(references.flatMap(({ value }) => namesOf(value)))];
}

export type IdentifiedPayment = { readonly payment: NamedPayment | null; readonly isAmbiguous: boolean };

/** The payment that a part identifies; none if it identifies two equally well. */
export function identifyPayment(
  part: StatedPart,
  named: ReadonlyMap<string, readonly NamedPayment[]>,
): IdentifiedPayment {
  const isText = ({ place }: StatedPart['references'][number]) => FREE_TEXTS.includes(place);
  for (const texts of [false, true]) {
    const found = part.references
      .filter((reference) => isText(reference) === texts)
      .flatMap(({ value }) => namesOf(value))
      .flatMap((name) => named.get(name) ?? []);
    const payments = [...new Map(found.map((one) => [`${one.direction} ${one.reference}`, one])).values()];
    if (payments.length === 0) continue;
    // A payment between two clients is one out and one in: the entry of either may name both.
    const fitting = payments.filter((one) => isForward(part, one) !== part.isReversal);
    const [payment = null, ...others] = fitting.length > 0 ? fitting : payments;
    return others.length === 0 ? { payment, isAmbiguous: false } : { payment: null, isAmbiguous: true };
  }
  return { payment: null, isAmbiguous: false };
}

function isForward({ direction }: StatedPart, payment: PaymentKey): boolean {
  return (direction === 'credit') === (payment.direction === 'in');
}

export function movementOf(part: StatedPart, payment: NamedPayment | null): MovementKind {
  const isCredit = part.direction === 'credit';
  const isIn = payment === null ? isCredit !== part.isReversal : payment.direction === 'in';
  if (isCredit) return isIn ? 'payment-in' : 'payment-out-undone';
  return isIn ? 'payment-in-sent-back' : 'payment-out';
}

/** The amount of the payment, if the part contains charges as well; otherwise null. */
export function amountWithoutCharges(part: StatedPart, payment: NamedPayment | null): bigint | null {
  if (part.chargesMinor === 0n || payment === null || !isForward(part, payment)) return null;
  const amountMinor = part.amountMinor - part.chargesMinor;
  return amountMinor === payment.amountMinor && amountMinor !== part.amountMinor ? amountMinor : null;
}

/** The reference of an unknown payment: the bank's own for incoming money, the first available one for outgoing money. */
export function unknownName({ references }: StatedPart, isIn: boolean): string | null {
  const bankReference = references.find(({ place }) => place === 'AcctSvcrRef') ?? null;
  const first = references.find(({ place }) => !FREE_TEXTS.includes(place)) ?? null;
  return ((isIn ? bankReference : null) ?? first)?.value ?? null;
}
