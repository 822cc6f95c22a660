/** An event's type and the fields that may change; the row supplies the others. Accounts and clients repeat all fields. */
export interface EventEntry {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Omits null fields, for fields that few resources have. */
export function presentOnly(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
