/** Why no file takes a payment, or why a file of ours is not delivered, until a person has decided. */
export const PAID_BEFORE = 'an earlier submission was booked';
export const RESTORED = 'the database was restored: it may be at the bank already';
export const TOLD_BEFORE = 'the bank speaks of it, and no file of ours has carried it';

/** Why the return of money in goes by no file. */
export const DEBIT_NOT_KNOWN = 'the bank has booked a debit of its amount, and it is not known what for';
/** It is at the bank, and only people can say how it ended. */
export const CONTRADICTED = 'a debit of it is a break';
export const ACCOUNT_UNCLEAR = 'it is not known at which account it came in';
export const NO_PAYER_ACCOUNT = 'the bank told no account of its payer';

export function unwritableReturn(field: string, rule: string): string {
  return `the bank takes no such payment by file: ${field} breaks its rule ${rule}`;
}

export function rejectedReturn(code: string): string {
  return `the bank has rejected its return: ${code}`;
}
