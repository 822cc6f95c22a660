import type { Problem } from '../../cli/operations/doctor/check.ts';
import { workChecks } from '../../cli/operations/doctor/work.ts';
import { calendarStates } from '../../config/calendars/calendar-watch.ts';
import { readLastLedgerCheck } from '../../db/ledger/check.ts';
import { dateInUtc } from '../../domain/common/time/dates.ts';
import { age } from '../look/values.tsx';
import type { PageContext } from '../page/page.ts';

/** Something that a person should look at, and where. */
interface Alarm {
  readonly name: string;
  readonly problem: string;
  readonly mend: string;
  readonly page: string | null;
  readonly link: string;
}

/** What a person does here about each of the checks of `fas doctor`, and where. */
const HERE: Readonly<Record<string, Pick<Alarm, 'mend' | 'page' | 'link'>>> = {
  transfers: {
    mend: 'Open the oldest: its page says what it waits for, and what can be done.',
    page: '/waiting',
    link: 'See what waits',
  },
  webhooks: {
    mend: 'See what the receivers answer, and tell their owners.',
    page: '/webhooks',
    link: 'See who does not hear us',
  },
  reconciliation: {
    mend: 'Find out which side is right, and resolve each with a note.',
    page: '/reconciliation-breaks',
    link: 'See the breaks',
  },
  'bank-files': {
    mend: 'Ask the bank, and say here what it says: of a file on its page, of held payments on theirs.',
    page: '/bank-files',
    link: 'See the bank files',
  },
  submissions: { mend: 'Once the cause is gone, start payments again: below.', page: null, link: '' },
  'wake-ups': { mend: 'See whether Temporal answers: docs/runbook/temporal.md.', page: null, link: '' },
};

/** The page does not wait longer for it. */
const TEMPORAL_MS_MAX = 1_500;

/** The next check is late after this. */
const LEDGER_CHECK_MS_MAX = 2 * 3_600_000;

/** The alarms of this moment: the checks of `fas doctor` that need the database alone, the ledger's own check and the calendars. */
export async function readAlarms(context: PageContext): Promise<readonly Alarm[]> {
  const { services } = context;
  const found = await Promise.all([
    ledgerAlarms(context),
    temporalAlarms(context),
    ...workChecks.map(async (check): Promise<Alarm[]> => {
      const problems = await check.look({ database: services.database });
      return problems.map((problem) => alarmOf(check.name, problem));
    }),
  ]);
  return [...found.flat(), ...calendarAlarms(context)];
}

function alarmOf(name: string, { problem, mend }: Problem): Alarm {
  return { name, problem, ...(HERE[name] ?? { mend, page: null, link: '' }) };
}

async function temporalAlarms({ services: { temporal } }: PageContext): Promise<Alarm[]> {
  const { connection } = temporal;
  try {
    await connection.withDeadline(Date.now() + TEMPORAL_MS_MAX, () => connection.workflowService.getSystemInfo({}));
    return [];
  } catch {
    const problem = 'Temporal does not answer: payments are accepted and stand still, and nothing is lost.';
    return [{ name: 'temporal', problem, mend: 'Start it: docs/runbook/temporal.md.', page: null, link: '' }];
  }
}

async function ledgerAlarms({ services, now }: PageContext): Promise<Alarm[]> {
  const { endedAt, violationCount } = await readLastLedgerCheck(services.database.reader);
  const mend = 'Stop submissions, and follow docs/runbook/ledger.md.';
  if (violationCount > 0) {
    return [
      { name: 'ledger', problem: `${violationCount} rules of the ledger do not hold.`, mend, page: null, link: '' },
    ];
  }
  if (endedAt.getTime() === 0 || now.getTime() - endedAt.getTime() <= LEDGER_CHECK_MS_MAX) return [];
  const problem = `The ledger was last checked ${age(endedAt, now)} ago.`;
  return [{ name: 'ledger', problem, mend: 'See whether the worker and Temporal run.', page: null, link: '' }];
}

function calendarAlarms({ services, now }: PageContext): Alarm[] {
  return Object.entries(calendarStates(services.configuration.calendars, dateInUtc(now)))
    .filter(([, { warning }]) => warning !== null)
    .map(([name, { publishedUntil }]) => ({
      name: 'calendars',
      problem: `The published dates of the calendar ${name} end on ${publishedUntil}.`,
      mend: 'Follow docs/runbook/calendars.md.',
      page: null,
      link: '',
    }));
}

export function Alarms({ alarms }: { readonly alarms: readonly Alarm[] }) {
  if (alarms.length === 0) {
    return (
      <section class="card calm">
        <h2>All is well</h2>
        <p>Ledger, breaks, banks, receivers, calendars, backlog and Temporal were looked at just now.</p>
      </section>
    );
  }
  return (
    <section class="card alarm" aria-label="Alarms">
      <h2>
        {alarms.length} {alarms.length === 1 ? 'thing needs' : 'things need'} a person
      </h2>
      <ul class="plain">
        {alarms.map(({ name, problem, mend, page, link }) => (
          <li>
            <strong class="bad">{name}</strong>: {problem}
            <br />
            <span class="quiet">{mend}</span> {page === null ? null : <a href={page}>{link}</a>}
          </li>
        ))}
      </ul>
    </section>
  );
}
