import type { Logger } from 'pino';
import { Counter, Gauge, type Registry } from 'prom-client';
import { daysLeft, endsSoon } from '../../domain/common/time/calendars.ts';
import { dateInUtc, type LocalDate } from '../../domain/common/time/dates.ts';
import type { CalendarFiles } from './calendar-files.ts';

const LOOK_INTERVAL_MS = 5_000;

/** Each process rereads its calendars, so that a new file takes effect without a restart. */
export interface CalendarWatch {
  /** Reads the files now. */
  look(): void;
  stop(): void;
}

/**
 * Reads the calendar files every few seconds. Logs a changed one; logs and counts one that cannot be used, which leaves the
 * calendar as it was. Warns once a day about each calendar that ends soon.
 */
export function watchCalendars(options: {
  readonly calendars: CalendarFiles;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly now?: () => Date;
  readonly intervalMs?: number;
}): CalendarWatch {
  const { calendars, logger, registry, now = () => new Date() } = options;
  const rejections = new Counter({
    name: 'calendar_files_rejected_total',
    help: 'New files of a calendar that could not be used.',
    labelNames: ['calendar'] as const,
    registers: [registry],
  });
  for (const name of calendars.current.keys()) rejections.labels(name).inc(0);
  showDaysLeft(calendars, registry, now);
  let warnedOn: LocalDate | null = null;

  function look(): void {
    const { changed, rejected } = calendars.reload();
    for (const name of changed) {
      const calendar = calendars.current.get(name);
      logger.info({ calendar: name, source: calendar?.source, until: calendar?.until }, 'calendar changed');
    }
    for (const { name, problems } of rejected) {
      rejections.labels(name).inc();
      logger.error({ calendar: name, problems }, 'the calendar file cannot be used: the calendar stays as it was');
    }
    const today = dateInUtc(now());
    if (warnedOn === today) return;
    warnedOn = today;
    for (const [name, calendar] of calendars.current) {
      if (!endsSoon(calendar, today)) continue;
      const { publishedUntil } = calendar;
      logger.warn({ calendar: name, publishedUntil, daysLeft: daysLeft(calendar, today) }, ENDS_SOON);
    }
  }

  look();
  const timer = setInterval(look, options.intervalMs ?? LOOK_INTERVAL_MS).unref();
  return { look, stop: () => clearInterval(timer) };
}

const ENDS_SOON = 'the published dates of a calendar end soon: update its file';

function showDaysLeft(calendars: CalendarFiles, registry: Registry, now: () => Date): void {
  new Gauge({
    name: 'calendar_days_left',
    help: 'Days until the published dates of a calendar end.',
    labelNames: ['calendar'] as const,
    registers: [registry],
    collect() {
      const today = dateInUtc(now());
      for (const [name, calendar] of calendars.current) this.labels(name).set(daysLeft(calendar, today));
    },
  });
}

/** Each calendar as readiness shows it. */
export function calendarStates(calendars: CalendarFiles, today: LocalDate) {
  const states = [...calendars.current].map(([name, calendar]) => {
    const { publishedUntil } = calendar;
    const warning = calendars.problems.has(name) ? 'file-rejected' : endsSoon(calendar, today) ? 'ends-soon' : null;
    return [name, { publishedUntil, daysLeft: daysLeft(calendar, today), warning }] as const;
  });
  return Object.fromEntries(states);
}
