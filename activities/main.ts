import { DefaultLogger, type LogEntry } from '@temporalio/worker';
import { type Logger, pino } from 'pino';
import { watchCalendars } from '../config/calendars/calendar-watch.ts';
import { type Configuration, loadConfiguration } from '../config/configuration.ts';
import { endIfOnlyChecking } from '../config/environment/check.ts';
import { readEncryptionKeys } from '../config/environment/encryption-keys.ts';
import { stopOnSignals } from '../config/environment/signals.ts';
import { readEnvironment, warnOfPlainDatabase } from '../config/environment.ts';
import { connectionWaits } from '../config/metrics/connection-waits.ts';
import { type MetricsText, readMetricsAddress, startMetricsServer } from '../config/metrics/metrics-server.ts';
import { reportSharedFailures } from '../config/metrics/shared-failures.ts';
import { temporalSettings, workerVersion } from '../config/temporal.ts';
import { startTracing, stopTracing, tracedLines, tracing } from '../config/tracing/tracing.ts';
import { createDatabase } from '../db/client.ts';
import { createKeyring } from '../db/common/keyring.ts';
import { serviceClock } from '../db/common/sandbox-clock.ts';
import type { Database } from '../db/query/database.ts';
import { rejectSharedSessions, warnOfRole } from '../db/service-role.ts';
import { providerCalls, registry, sharedStatementFailures, workerMetricsText } from './common/metrics.ts';
import { installRuntime } from './common/sdk-metrics.ts';
import { requireNameLists } from './compliance/name-lists.ts';
import { createProviders } from './providers/providers.ts';
import { type RunningWorkers, startWorkers } from './worker.ts';
import { AFTER_DRAIN, readWorkerSettings } from './worker-settings.ts';

async function main(): Promise<void> {
  const environment = readEnvironment(process.env);
  const configuration = loadConfiguration(process.env);
  await requireNameLists(configuration.complianceRules);
  const temporal = temporalSettings(process.env);
  const version = workerVersion(process.env);
  const keyring = createKeyring(readEncryptionKeys(process.env));
  const metricsAddress = readMetricsAddress(process.env);
  const settings = readWorkerSettings(process.env);
  await startTracing(process.env, 'worker');
  endIfOnlyChecking(process, 'The worker');
  const base = { process: 'worker', pid: process.pid };
  const logger = pino({ level: environment.logLevel, base, ...tracedLines() });
  const sdkMetrics = await installRuntime(sdkLogger(logger));
  let workers: RunningWorkers | undefined;
  const isReady = () => workers?.isPolling() === true;
  const metrics = await startMetricsServer(metricsAddress, () => metricsText(sdkMetrics), isReady);

  warnOfPlainDatabase(process.env, logger);
  const database = openDatabase(environment.databaseUrl, configuration.pools, logger);
  const providers = createProviders(configuration, { ...environment, database }, providerCalls);
  void rejectSharedSessions(database, reject);
  void warnOfRole(database, logger);
  const serviceNow = await serviceClock(database, environment, { now: () => new Date(), reject });
  const calendars = watchCalendars({ calendars: configuration.calendars, logger, registry, now: serviceNow });
  const running = startWorkers({
    temporal,
    settings,
    dependencies: {
      database,
      providers,
      configuration,
      logger,
      keyring,
      publicUrl: environment.publicUrl,
      mail: environment.mail,
    },
    pools: configuration.pools,
    version,
  });
  workers = running;

  const { isStopping } = stopOnSignals({
    process: 'worker',
    logger,
    message: 'worker stopping',
    limitSeconds: settings.drainSeconds + AFTER_DRAIN.stopSeconds,
    stop: async () => {
      calendars.stop();
      await running.stop();
      await stopTracing();
      await database.close();
      await metrics.close();
    },
  });
  await running.ready;
  if (isStopping()) return;
  const { address, namespace } = temporal;
  logger.info({ temporal: address, namespace, ...version, metricsPort: metrics.port }, 'worker ready');
}

function openDatabase(url: string, pools: Configuration['pools'], logger: Logger): Database {
  return createDatabase({
    url,
    maxConnections: pools.workerDatabaseConnections,
    applicationName: 'worker',
    readTraceparent: tracing()?.activeTraceparent,
    onSharedFailure: reportSharedFailures(logger, sharedStatementFailures),
    onConnectionWait: connectionWaits(registry, ['worker']),
  });
}

async function metricsText(sdkMetrics: () => Promise<string>): Promise<MetricsText> {
  const own = await workerMetricsText();
  return { ...own, text: own.text + (await sdkMetrics()) };
}

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** Activities log their own failures in more detail, and some workers have no workflows on purpose. */
const LOGGED_ELSEWHERE = new Set(['Activity failed', 'No workflows registered, not polling for workflow tasks']);

/** Logs the SDK's messages in our format, without its routine ones. */
function sdkLogger(logger: Logger): DefaultLogger {
  return new DefaultLogger('WARN', ({ level, message, meta }: LogEntry) => {
    if (!LOGGED_ELSEWHERE.has(message)) logger[LEVELS[level]]({ sdk: meta }, message);
  });
}

main().catch((error: unknown) => reject(error instanceof Error ? error.message : String(error)));

function reject(reason: string): never {
  console.error(`The worker cannot start: ${reason}`);
  process.exit(1);
}
