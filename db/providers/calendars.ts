import { type Calendar, compareClosedDates } from '../../domain/common/time/calendars.ts';
import type { LocalDate } from '../../domain/common/time/dates.ts';
import { appendAuditEntry, type Initiator } from '../common/audit-entries.ts';
import type { Reader, Transaction } from '../query/database.ts';

/** A calendar's content, as a process has read it. */
export interface NamedEdition {
  readonly name: string;
  readonly digest: string;
  readonly calendar: Calendar;
}

const DIGESTS = 'SELECT calendar AS name, digest FROM calendar_editions';

/** The digests of the calendars in force. */
export async function readCalendarDigests(reader: Reader): Promise<ReadonlyMap<string, string>> {
  const rows = await reader.statement<{ name: string; digest: string }>(DIGESTS, []);
  return new Map(rows.map(({ name, digest }) => [name, digest]));
}

const VALUES = '($1, $2, $3, $4, $5, $6::text[], service_now())';
const FIRST = `
  INSERT INTO calendar_editions (calendar, digest, source, published_until, until, closed_dates, in_force_since)
  VALUES ${VALUES} ON CONFLICT DO NOTHING RETURNING calendar`;
const LOCK = `
  SELECT digest, source, published_until::text AS "publishedUntil", until::text AS until, closed_dates AS "closedDates"
  FROM calendar_editions WHERE calendar = $1 FOR UPDATE`;
const REPLACE = `
  UPDATE calendar_editions SET (digest, source, published_until, until, closed_dates, in_force_since) =
    ROW ($2, $3, $4::date, $5::date, $6::text[], service_now()) WHERE calendar = $1`;

interface EditionInForce {
  readonly digest: string;
  readonly source: string;
  readonly publishedUntil: LocalDate;
  readonly until: LocalDate;
  readonly closedDates: readonly LocalDate[];
}

/**
 * Puts a calendar in force and records in the audit log what it closes and opens. Of several processes that read the same
 * file, one does so; the others find its digest already stored. The first edition has no entry, because it changes nothing.
 */
export async function putCalendarInForce(
  tx: Transaction,
  { name, digest, calendar }: NamedEdition,
  initiator: Initiator,
): Promise<void> {
  const { source, publishedUntil, until } = calendar;
  const closedDates = [...calendar.closedDates].sort();
  const values = [name, digest, source, publishedUntil, until, closedDates];
  if ((await tx.statement(FIRST, values)).length > 0) return;
  const [before] = await tx.statement<EditionInForce>(LOCK, [name]);
  if (before === undefined || before.digest === digest) return;
  await tx.statement(REPLACE, values);
  appendAuditEntry(tx, {
    initiator,
    resource: 'calendar',
    resourceId: name,
    action: 'changed',
    before: { source: before.source, publishedUntil: before.publishedUntil, until: before.until },
    after: { source, publishedUntil, until, ...compareClosedDates(before.closedDates, closedDates) },
  });
}
