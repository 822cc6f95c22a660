import { existsSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { calendarStates } from '../../../config/calendars/calendar-watch.ts';
import { dateInUtc } from '../../../domain/common/time/dates.ts';
import { endpointsFile } from '../../common/endpoints.ts';
import { profilesFile, readProfiles } from '../../program/profiles.ts';
import { type Check, FINE, found, type Problem } from './check.ts';
import type { Installation } from './installation.ts';

/** What this machine has: settings, files, space. */

const PRIVATE_FILES = [
  'encryption-key',
  'sandbox-bank-secret',
  'development-users.json',
  'development-parties.json',
  'development-password',
  'listener-secret',
];
const READ_BY_OTHERS = 0o077;

function privateFiles({ directory, environment }: Installation): string[] {
  const keys = Object.values(readProfiles(profilesFile(environment)).profiles).map(({ keyFile }) => keyFile);
  const own = environment.FAS_KEY_FILE === undefined ? [] : [environment.FAS_KEY_FILE];
  return [...PRIVATE_FILES.map((name) => join(directory, name)), endpointsFile(directory), ...keys, ...own];
}

function modesOf(installation: Installation): Problem[] {
  return privateFiles(installation).flatMap((file) => {
    if (!existsSync(file)) return [];
    const mode = statSync(file).mode & 0o777;
    if ((mode & READ_BY_OTHERS) === 0) return [];
    return found(
      `${file} can be read by others (mode ${mode.toString(8)}).`,
      `chmod 600 ${file}; if others may have read it, make new keys.`,
    );
  });
}

const FREE_SHARE_MIN = 0.05;
const FREE_BYTES_MIN = 1_000_000_000;

/** Whether so little space is left that Postgres may stop. */
export function isDiskFull({ free, size }: { readonly free: number; readonly size: number }): boolean {
  return free < FREE_BYTES_MIN || free < size * FREE_SHARE_MIN;
}

function space({ directory }: Installation): readonly Problem[] {
  if (!existsSync(directory)) return FINE;
  const { bavail, bsize, blocks } = statfsSync(directory);
  const free = bavail * bsize;
  if (!isDiskFull({ free, size: blocks * bsize })) return FINE;
  return found(`The disk of ${directory} has only ${Math.round(free / 1_000_000)} MB left.`, 'Free some space.');
}

function calendars(installation: Installation): Problem[] {
  const states = calendarStates(installation.configuration().calendars, dateInUtc(new Date()));
  return Object.entries(states).flatMap(([name, { publishedUntil, daysLeft }]) =>
    daysLeft >= CALENDAR_DAYS_MIN
      ? []
      : found(
          `The published dates of the calendar ${name} end on ${publishedUntil}.`,
          'Put a newer file in its place.',
        ),
  );
}

/** As in deploy/prometheus/alerts.yml. */
const CALENDAR_DAYS_MIN = 60;

export const machineChecks: readonly Check[] = [
  {
    name: 'service',
    looksAt: 'which installation this is',
    page: 'docs/installation.md',
    after: [],
    look: ({ database, directory }) =>
      database !== null
        ? FINE
        : found(
            `No service was started with the data directory ${directory}, and DATABASE_URL is not set.`,
            'Run "npm start", or set DATA_DIR or DATABASE_URL.',
          ),
  },
  {
    name: 'configuration',
    looksAt: 'CONFIG_FILE and what overrides it',
    page: 'docs/reference/configuration.md',
    after: [],
    look: (installation) => {
      try {
        installation.configuration();
        return FINE;
      } catch (error) {
        const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : '';
        return found(reason, 'Mend the file or variable that it names.');
      }
    },
  },
  { name: 'files', looksAt: 'who may read keys and passwords', page: 'docs/runbook/keys.md', after: [], look: modesOf },
  { name: 'disk', looksAt: 'the space of DATA_DIR', page: 'docs/runbook/postgres.md', after: [], look: space },
  {
    name: 'calendars',
    looksAt: 'until when calendars are published',
    page: 'docs/runbook/calendars.md',
    after: ['configuration'],
    look: calendars,
  },
];
