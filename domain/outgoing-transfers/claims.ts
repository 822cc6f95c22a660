/**
 * How much a payment is of, as its provider says. In minor units as decimal text: what a look-up found passes through a
 * workflow's history, which holds no bigint.
 */
export interface PaymentClaim {
  readonly amountMinor: string;
  readonly currency: string;
  /** What came back of it, under the provider's id of the return. */
  readonly returned: { readonly reference: string; readonly amountMinor: string } | null;
}

/** Whether a claim is of other money than the transfer, or says that more came back than went out. */
export function isOfOtherMoney(
  { currency, returned, ...claim }: PaymentClaim,
  transfer: { readonly amountMinor: bigint; readonly currency: string },
): boolean {
  if (currency !== transfer.currency || BigInt(claim.amountMinor) !== transfer.amountMinor) return true;
  return returned !== null && BigInt(returned.amountMinor) > transfer.amountMinor;
}
