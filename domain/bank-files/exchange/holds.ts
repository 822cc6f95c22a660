/** Why no file takes a payment, or why a file of ours is not delivered, until a person has decided. */
export const PAID_BEFORE = 'an earlier submission was booked';
export const RESTORED = 'the database was restored: it may be at the bank already';
export const TOLD_BEFORE = 'the bank speaks of it, and no file of ours has carried it';
