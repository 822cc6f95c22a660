import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { type Calendar, type Calendars, calendarProblems } from '../../domain/common/time/calendars.ts';
import { ConfigurationError, readJson } from '../files.ts';
import { calendarFile, describeIssues } from '../schema/schema.ts';

export interface CalendarEdition {
  readonly calendar: Calendar;
  /** Equal in every process that has read the same content, however its file is formatted. */
  readonly digest: string;
}

/** What a look at the files found: calendars with changed content, and files that have just become unusable. */
export interface CalendarReload {
  readonly changed: readonly string[];
  readonly rejected: readonly { readonly name: string; readonly problems: string }[];
}

/** Reads and checks a calendar file. Throws a ConfigurationError with one line for each problem. */
export function readCalendarFile(path: string): CalendarEdition {
  const parsed = v.safeParse(calendarFile, readJson(path));
  if (!parsed.success) throw new ConfigurationError(describeIssues(parsed.issues).map((line) => `${path}: ${line}`));
  const { closedDates, ...rest } = parsed.output;
  const problems = calendarProblems(rest, closedDates);
  if (problems.length > 0) throw new ConfigurationError(problems.map((line) => `${path}: ${line}`));
  const digest = createHash('sha256').update(JSON.stringify(parsed.output)).digest('hex');
  return { calendar: { ...rest, closedDates: new Set(closedDates.map(({ date }) => date)) }, digest };
}

/** The configured calendars. A file that becomes unusable leaves its calendar as it was. */
export class CalendarFiles {
  readonly #paths: Readonly<Record<string, string>>;
  #editions: ReadonlyMap<string, CalendarEdition>;
  #current: Calendars;
  /** Why a file cannot be used at present, by calendar. */
  readonly #problems = new Map<string, string>();

  constructor(paths: Readonly<Record<string, string>>) {
    this.#paths = paths;
    this.#editions = new Map(Object.entries(paths).map(([name, path]) => [name, readCalendarFile(path)]));
    this.#current = calendarsOf(this.#editions);
  }

  get current(): Calendars {
    return this.#current;
  }

  get editions(): ReadonlyMap<string, CalendarEdition> {
    return this.#editions;
  }

  get problems(): ReadonlyMap<string, string> {
    return this.#problems;
  }

  /** Reads the files again. */
  reload(): CalendarReload {
    const editions = new Map(this.#editions);
    const changed: string[] = [];
    const rejected: { name: string; problems: string }[] = [];
    for (const [name, path] of Object.entries(this.#paths)) {
      try {
        const edition = readCalendarFile(path);
        this.#problems.delete(name);
        if (edition.digest === editions.get(name)?.digest) continue;
        editions.set(name, edition);
        changed.push(name);
      } catch (error) {
        if (!(error instanceof ConfigurationError)) throw error;
        if (this.#problems.get(name) === error.message) continue;
        this.#problems.set(name, error.message);
        rejected.push({ name, problems: error.message });
      }
    }
    if (changed.length > 0) {
      this.#editions = editions;
      this.#current = calendarsOf(editions);
    }
    return { changed, rejected };
  }
}

function calendarsOf(editions: ReadonlyMap<string, CalendarEdition>): Calendars {
  return new Map([...editions].map(([name, { calendar }]) => [name, calendar]));
}
