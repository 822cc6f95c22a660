import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A configuration whose calendar `gb` is a file of the test's own. */
export interface OwnCalendar {
  readonly configFile: string;
  /** Replaces the calendar by one that closes these dates in addition to Christmas Day. */
  close(...dates: readonly string[]): void;
  /** Replaces its file by any text. */
  write(text: string): void;
  remove(): void;
}

const CHRISTMAS = ['2026-12-25', '2027-12-27', '2028-12-25'];

/** Covers 2026 to 2028, `settings` on top of the configuration. */
export function ownCalendar(settings: object = {}): OwnCalendar {
  const folder = mkdtempSync(join(tmpdir(), 'calendar-'));
  const configFile = join(folder, 'configuration.json');
  const write = (text: string) => {
    writeFileSync(join(folder, 'new.json'), text);
    // Replaced atomically, as an operator should: no process ever reads half a file.
    renameSync(join(folder, 'new.json'), join(folder, 'gb.json'));
  };
  const close = (...dates: readonly string[]) => {
    const closedDates = [...CHRISTMAS, ...dates].sort().map((date) => ({ date, name: 'A holiday' }));
    const years = { from: '2026-01-01', publishedUntil: '2028-12-31', until: '2028-12-31' };
    write(JSON.stringify({ source: 'a test', ...years, closedDates }));
  };
  writeFileSync(configFile, JSON.stringify({ calendars: { gb: 'gb.json' }, ...settings }));
  close();
  return { configFile, close, write, remove: () => rmSync(folder, { recursive: true }) };
}
