import { readBankFilesAttention } from '../../../db/bank-files/attention.ts';
import { OPEN_WORK_TYPES, readOverdueSeconds } from '../../../db/common/open-work.ts';
import { readRelayBacklog } from '../../../db/common/workflow-wakeups.ts';
import { readMonthsOver, readTableEnds } from '../../../db/months.ts';
import { readClosure } from '../../../db/providers/submissions.ts';
import { listBreaks } from '../../../db/reconciliation/breaks.ts';
import { readTransferWaits } from '../../../db/transfers/waiting-transfers.ts';
import { readWebhookBacklog } from '../../../db/webhooks/backlog.ts';
import { readNumberingLagSeconds } from '../../../db/webhooks/event-sequencer.ts';
import { type Check, FINE, found, type Problem } from './check.ts';
import type { Installation } from './installation.ts';
import { readerOf } from './servers.ts';

type WithDatabase = Pick<Installation, 'database'>;

/** A check that needs the database alone, so that the console shows it too. */
export interface WorkCheck extends Omit<Check, 'look'> {
  look(installation: WithDatabase): Promise<readonly Problem[]>;
}

/** The service's own work: what lags, waits too long, or needs a person. The limits are those of deploy/prometheus/alerts.yml. */

const AFTER = ['service', 'postgres', 'schema'];
const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;

async function wakeups(installation: WithDatabase): Promise<Problem[]> {
  const { lagSeconds, parked } = await readRelayBacklog(readerOf(installation));
  return [
    ...(lagSeconds <= MINUTE
      ? []
      : found(
          `Temporal has not received a wake-up for ${inWords(lagSeconds)}.`,
          'See whether Temporal answers and a process runs the loops.',
        )),
    ...(parked === 0 ? [] : found(`${parked} wake-ups are parked.`, 'See why: fas workflows parked; then --retry.')),
  ];
}

async function events(installation: WithDatabase): Promise<readonly Problem[]> {
  const seconds = await readNumberingLagSeconds(readerOf(installation));
  if (seconds <= MINUTE) return FINE;
  return found(`Events wait for ${inWords(seconds)} for their position.`, 'See whether a process runs the loops.');
}

/** The sweep looks at an overdue row again after five minutes. */
const OVERDUE_SECONDS_MAX = 10 * MINUTE;

async function sweep(installation: WithDatabase): Promise<Problem[]> {
  const reader = readerOf(installation);
  const overdue = await Promise.all(
    OPEN_WORK_TYPES.map(async (type) => ({ type, seconds: await readOverdueSeconds(reader, type) })),
  );
  return overdue.flatMap(({ type, seconds }) =>
    seconds <= OVERDUE_SECONDS_MAX
      ? []
      : found(`The sweep of ${type} is ${inWords(seconds)} late.`, 'See whether a process runs the loops.'),
  );
}

async function webhooks(installation: WithDatabase): Promise<Problem[]> {
  const { disabled, failing, failingSeconds, oldestSeconds } = await readWebhookBacklog(readerOf(installation));
  return [
    ...(disabled === 0
      ? []
      : found(
          `${disabled} webhook subscriptions were disabled, as their receivers took nothing.`,
          'Find them by fas webhook-subscriptions list, tell their owners, then make them active again.',
        )),
    ...(failingSeconds <= HOUR
      ? []
      : found(
          `${failing} receivers fail, one for ${inWords(failingSeconds)}.`,
          'See what they answer: fas webhook-deliveries list.',
        )),
    ...(oldestSeconds <= HOUR
      ? []
      : found(
          `A webhook is undelivered for ${inWords(oldestSeconds)}.`,
          'See whether a worker runs and receivers answer.',
        )),
  ];
}

interface Limit {
  readonly direction: string;
  readonly waitingFor: string;
  readonly status?: string;
  readonly seconds: number;
  readonly what: string;
}

const LIMITS: readonly Limit[] = [
  {
    direction: 'outgoing',
    waitingFor: 'provider',
    status: 'processing',
    seconds: 10 * MINUTE,
    what: 'payments whose outcome their provider has not said',
  },
  {
    direction: 'outgoing',
    waitingFor: 'provider',
    status: 'released',
    seconds: 2 * DAY,
    what: 'released payments that are not settled',
  },
  { direction: 'incoming', waitingFor: 'match', seconds: DAY, what: 'payments in that matched no account' },
];

async function backlog(installation: WithDatabase): Promise<Problem[]> {
  const waits = await readTransferWaits(readerOf(installation));
  return LIMITS.flatMap(({ direction, waitingFor, status, seconds, what }) => {
    const late = waits.filter(
      (wait) =>
        wait.direction === direction &&
        wait.waitingFor === waitingFor &&
        (status ?? wait.status) === wait.status &&
        wait.oldestSeconds > seconds,
    );
    return late.flatMap(({ count, oldestSeconds }) =>
      found(`${count} ${what}, the oldest for ${inWords(oldestSeconds)}.`, 'Ask of one by fas why ID.'),
    );
  });
}

async function breaks(installation: WithDatabase): Promise<readonly Problem[]> {
  const page = { size: 1, offset: 0 };
  const { totalElements } = await listBreaks(readerOf(installation), { status: 'open' }, page);
  if (totalElements === 0) return FINE;
  return found(`${totalElements} differences to providers’ statements are open.`, 'See fas reconciliations breaks.');
}

async function submissions(installation: WithDatabase): Promise<readonly Problem[]> {
  const closure = await readClosure(readerOf(installation));
  if (closure === null) return FINE;
  return found(
    'No payment goes to any provider: submissions are closed.',
    'Once the cause is gone: fas submissions open.',
  );
}

/** What of the exchange of files with banks waits for a person. */
async function bankFiles(installation: WithDatabase): Promise<Problem[]> {
  const { setAside, undeliveredSeconds, silent, confirmations } = await readBankFilesAttention(readerOf(installation));
  const files = 'See fas bank-files list.';
  return [
    ...(setAside === 0 ? [] : found(`${setAside} bank files are set aside.`, files)),
    ...(undeliveredSeconds <= 30 * MINUTE
      ? []
      : found(`A file of payments has not been at its bank for ${inWords(undeliveredSeconds)}.`, files)),
    ...(silent === 0
      ? []
      : found(
          `${silent} payments by file are held, or their bank says nothing of them.`,
          'Ask the bank; see fas bank-files held.',
        )),
    ...(confirmations === 0
      ? []
      : found(`${confirmations} payments by file wait for a confirmation at the bank.`, 'Confirm them at the bank.')),
  ];
}

const TABLE_DAYS_MIN = 60;
const OVER_DAYS_MAX = 7;

async function months(installation: WithDatabase): Promise<Problem[]> {
  const reader = readerOf(installation);
  const [ends, over] = await Promise.all([readTableEnds(reader), readMonthsOver(reader)]);
  const mend = 'Run `npx tsx db/migrate.ts` with MIGRATION_DATABASE_URL, and then each week.';
  return [
    ...ends.flatMap(({ table, daysLeft }) =>
      daysLeft >= TABLE_DAYS_MIN
        ? []
        : found(`In ${daysLeft} days nothing can be written to ${table}: it has no month then.`, mend),
    ),
    ...(over.oldestDays <= OVER_DAYS_MAX
      ? []
      : found(`${over.count} months of tables were kept for their time and are not removed.`, mend)),
  ];
}

function inWords(seconds: number): string {
  if (seconds < 2 * HOUR) return `${Math.round(seconds / MINUTE)} minutes`;
  return seconds < 2 * DAY ? `${Math.round(seconds / HOUR)} hours` : `${Math.round(seconds / DAY)} days`;
}

export const workChecks: readonly WorkCheck[] = [
  {
    name: 'wake-ups',
    looksAt: 'what Temporal has not received',
    page: 'docs/runbook/temporal.md',
    after: AFTER,
    look: wakeups,
  },
  {
    name: 'events',
    looksAt: 'whether events get their positions',
    page: 'docs/runbook/webhooks.md',
    after: AFTER,
    look: events,
  },
  {
    name: 'sweep',
    looksAt: 'whether overdue work is looked at',
    page: 'docs/runbook/processes.md',
    after: AFTER,
    look: sweep,
  },
  {
    name: 'webhooks',
    looksAt: 'receivers that take nothing',
    page: 'docs/runbook/webhooks.md',
    after: AFTER,
    look: webhooks,
  },
  { name: 'transfers', looksAt: 'what waits too long', page: 'docs/runbook/transfers.md', after: AFTER, look: backlog },
  {
    name: 'reconciliation',
    looksAt: 'open breaks',
    page: 'docs/runbook/reconciliation.md',
    after: AFTER,
    look: breaks,
  },
  {
    name: 'bank-files',
    looksAt: 'files that banks do not have, and what they do not say',
    page: 'docs/runbook/providers.md',
    after: AFTER,
    look: bankFiles,
  },
  {
    name: 'submissions',
    looksAt: 'whether payments may go to providers',
    page: 'docs/runbook/transfers.md',
    after: AFTER,
    look: submissions,
  },
  {
    name: 'months',
    looksAt: 'until when tables have room, and months to remove',
    page: 'docs/runbook/postgres.md',
    after: AFTER,
    look: months,
  },
];
