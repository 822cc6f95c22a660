import { requireWrites } from '../../../db/common/clock.ts';
import { MigrationRejected } from '../../../db/migration-files.ts';
import type { Reader } from '../../../db/query/database.ts';
import { readDatabaseClock, readSchemaState, whyPostgresIsUnfit } from '../../../db/schema-state.ts';
import { errorMessage } from '../../common/actionable-error.ts';
import { findUnservedQueues } from '../workflows/task-queues.ts';
import { type Check, FINE, found, type Problem } from './check.ts';
import type { Installation } from './installation.ts';

/** The servers around the service: Postgres, Temporal, its own processes. */

export function readerOf({ database }: Pick<Installation, 'database'>): Reader {
  if (database === null) throw new Error('no database is known');
  return database.reader;
}

async function postgres(installation: Installation): Promise<readonly Problem[]> {
  const reader = readerOf(installation);
  try {
    const unfit = await whyPostgresIsUnfit(reader);
    return unfit === null ? FINE : found(unfit, 'Move to a Postgres that fits (docs/installation.md).');
  } catch (error) {
    const why = reasonOf(error);
    return found(`Postgres does not answer: ${why}.`, 'Start it, or mend DATABASE_URL; then see whether it is full.');
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return errorMessage(cause).split('\n')[0] || 'no connection';
}

const MIGRATE = 'Run `npx tsx db/migrate.ts` with MIGRATION_DATABASE_URL; `npm start` does it by itself.';

async function schema(installation: Installation): Promise<readonly Problem[]> {
  try {
    const { pending, otherFunctions, isNewer } = await readSchemaState(readerOf(installation));
    const functions = isNewer ? [] : otherFunctions;
    return [
      ...(pending.length === 0 ? [] : found(`Migrations are not applied: ${pending.join(', ')}.`, MIGRATE)),
      ...(functions.length === 0
        ? []
        : found(`Functions are not this release's: ${functions.join(', ')}.`.replace("'", '’'), MIGRATE)),
    ];
  } catch (error) {
    if (!(error instanceof MigrationRejected)) throw error;
    return found(error.message, 'Use the database of this service, or the release that made it.');
  }
}

async function writes(installation: Installation): Promise<readonly Problem[]> {
  try {
    await requireWrites(readerOf(installation));
    return FINE;
  } catch (error) {
    return found(`Postgres takes no writes: ${reasonOf(error)}.`, 'Connect to the primary, or promote a standby.');
  }
}

const SKEW_MS_MAX = 2_000;

async function clock(installation: Installation): Promise<readonly Problem[]> {
  const before = Date.now();
  const there = (await readDatabaseClock(readerOf(installation))).getTime();
  const after = Date.now();
  const skewMs = there < before ? before - there : Math.max(0, there - after);
  if (skewMs <= SKEW_MS_MAX) return FINE;
  return found(
    `The clocks of this machine and of Postgres differ by ${Math.round(skewMs / 1_000)} s.`,
    'Synchronize both by NTP: dates and cut-offs follow Postgres, tokens this machine.',
  );
}

const TEMPORAL_MS_MAX = 5_000;

async function temporal(installation: Installation): Promise<readonly Problem[]> {
  const { connection } = installation.temporal();
  const { namespace } = installation;
  try {
    await connection.withDeadline(Date.now() + TEMPORAL_MS_MAX, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
    return FINE;
  } catch (error) {
    const isMissing = errorMessage(error).includes('NOT_FOUND');
    return isMissing
      ? found(`Temporal has no namespace ${namespace}.`, `Create it, or set TEMPORAL_NAMESPACE to the right one.`)
      : found(
          `Temporal does not answer: ${reasonOf(error)}.`,
          'Start it, or mend TEMPORAL_ADDRESS. Payments are accepted and wait.',
        );
  }
}

async function workers(installation: Installation): Promise<readonly Problem[]> {
  const queues = await findUnservedQueues(installation.temporal().connection, installation.namespace);
  const unpolled = queues.filter(({ pollers }) => pollers.length === 0).map(({ name }) => name);
  const others = queues.filter(({ pollers }) => pollers.length > 0);
  const versions = new Set(others.map(({ current }) => current?.buildId ?? 'without a version'));
  return [
    ...(unpolled.length === 0
      ? []
      : found(`No worker polls the task queues ${unpolled.join(', ')}.`, 'Start a worker (`npm run worker`).')),
    ...(others.length === 0
      ? []
      : found(
          `The workers that poll ${others.map(({ name }) => name).join(', ')} get no tasks: those go to workers ${[...versions].join(', ')}.`,
          'Start workers of that release, or give the tasks to those that run: fas worker-versions set-current BUILD_ID.',
        )),
  ];
}

const READY_MS_MAX = 5_000;

async function api({ endpoints }: Installation): Promise<readonly Problem[]> {
  if (endpoints === null) return FINE;
  const url = `${endpoints.apiUrl}/health/ready`;
  try {
    const { ok, status } = await fetch(url, { signal: AbortSignal.timeout(READY_MS_MAX) });
    return ok ? FINE : found(`${url} answers ${status}.`, 'See what it names as away.');
  } catch (error) {
    return found(`${url} does not answer: ${reasonOf(error)}.`, 'Run "npm start", or start the API.');
  }
}

export const serverChecks: readonly Check[] = [
  {
    name: 'postgres',
    looksAt: 'whether Postgres answers, its version and its settings',
    page: 'docs/runbook/postgres.md',
    after: ['service'],
    look: postgres,
  },
  {
    name: 'schema',
    looksAt: 'migrations and functions',
    page: 'docs/runbook/releases.md',
    after: ['service', 'postgres'],
    look: schema,
  },
  {
    name: 'writes',
    looksAt: 'whether Postgres takes writes',
    page: 'docs/runbook/postgres.md',
    after: ['service', 'postgres', 'schema'],
    look: writes,
  },
  {
    name: 'clock',
    looksAt: 'the clocks of this machine and of Postgres',
    page: 'docs/runbook/postgres.md',
    after: ['service', 'postgres'],
    look: clock,
  },
  {
    name: 'temporal',
    looksAt: 'whether Temporal answers, and its namespace',
    page: 'docs/runbook/temporal.md',
    after: ['service'],
    look: temporal,
  },
  {
    name: 'workers',
    looksAt: 'whether each task queue has a worker that gets its tasks',
    page: 'docs/runbook/processes.md',
    after: ['service', 'temporal'],
    look: workers,
  },
  { name: 'api', looksAt: 'the readiness of the API', page: 'docs/runbook/api.md', after: ['service'], look: api },
];
