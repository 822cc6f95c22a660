import { dateInUtc, isDate, type LocalDate, yearsLater } from '../time/dates.ts';

/** The longest verified human life was 122 years. */
export const AGE_YEARS_MAX = 130;

/** The time zone furthest ahead of UTC. */
const FIRST_DAY_AHEAD_MS = 14 * 3_600_000;

/** Fields of people, companies and their documents that hold dates of the past. */
const PAST = ['birthDate', 'incorporationDate', 'issueDate'] as const;

export interface ImplausibleDate {
  readonly field: string;
  readonly rule: string;
}

/**
 * The implausible dates among the fields of an identity or a document. A date that is today anywhere on earth is not
 * in the future. Values that are not dates are validated elsewhere.
 */
export function implausibleDates(fields: Readonly<Record<string, unknown>>, now: Date): ImplausibleDate[] {
  const latest = dateInUtc(new Date(now.getTime() + FIRST_DAY_AHEAD_MS));
  const found: ImplausibleDate[] = PAST.filter((field) => (dateOf(fields[field]) ?? '') > latest).map((field) => ({
    field,
    rule: 'must not be in the future',
  }));
  const birthDate = dateOf(fields.birthDate);
  if (birthDate !== null && yearsLater(birthDate, AGE_YEARS_MAX) < dateInUtc(now)) {
    found.push({ field: 'birthDate', rule: `must not be more than ${AGE_YEARS_MAX} years ago` });
  }
  const [issueDate, expirationDate] = [dateOf(fields.issueDate), dateOf(fields.expirationDate)];
  if (issueDate !== null && expirationDate !== null && expirationDate <= issueDate) {
    found.push({ field: 'expirationDate', rule: 'must be after issueDate' });
  }
  return found;
}

function dateOf(value: unknown): LocalDate | null {
  return typeof value === 'string' && isDate(value, 1) ? value : null;
}
