/** What one event shows differently from the unchanging fields of its resource's row (for accounts and clients: all). */
export interface EventEntry {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What an event says of fields that most resources never have: nothing of those that are null. */
export function presentOnly(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
