/** Keys and certificates are changed by hand, with others: how long before its end one is told of. */
export const KEY_NOTICE_MS = 30 * 24 * 3_600_000;
