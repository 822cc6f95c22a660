import { implausibleDates } from '../../../domain/common/parties/plausible-dates.ts';

export interface ImplausibleField {
  readonly path: readonly string[];
  readonly value: unknown;
  readonly rule: string;
}

/** The implausible dates anywhere in a request. It works for every route, so new ones are covered automatically. */
export function implausibleFields(sent: unknown, path: readonly string[], now: Date): ImplausibleField[] {
  if (Array.isArray(sent)) return sent.flatMap((item, index) => implausibleFields(item, [...path, String(index)], now));
  if (!isRecord(sent)) return [];
  const own = implausibleDates(sent, now).map(({ field, rule }) => ({
    path: [...path, field],
    value: sent[field],
    rule,
  }));
  const below = Object.entries(sent).filter(([, value]) => typeof value === 'object' && value !== null);
  return [...own, ...below.flatMap(([key, value]) => implausibleFields(value, [...path, key], now))];
}

/** Removes implausible dates, and returns the names of the removed fields. */
export function withoutImplausibleDates<Sent>(sent: Sent, now: Date): { readonly kept: Sent; readonly left: string[] } {
  const left: string[] = [];
  const without = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(without);
    if (!isRecord(value)) return value;
    const fields = implausibleDates(value, now).map(({ field }) => field);
    left.push(...fields);
    const entries = Object.entries(value).filter(([key]) => !fields.includes(key));
    return Object.fromEntries(entries.map(([key, item]) => [key, without(item)]));
  };
  return { kept: without(sent) as Sent, left };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
