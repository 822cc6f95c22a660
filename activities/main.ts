import { DefaultLogger, type LogEntry, Runtime } from '@temporalio/worker';
import { type Logger, pino } from 'pino';
import { watchCalendars } from '../config/calendars/calendar-watch.ts';
import { loadConfiguration } from '../config/configuration.ts';
import { readEncryptionKeys } from '../config/encryption-keys.ts';
import { readEnvironment, warnOfPlainDatabase } from '../config/environment.ts';
import { readMetricsAddress, startMetricsServer } from '../config/metrics/metrics-server.ts';
import { reportSharedFailures } from '../config/metrics/shared-failures.ts';
import { temporalSettings } from '../config/temporal.ts';
import { createDatabase } from '../db/driver/client.ts';
import { createKeyring } from '../db/frame/keyring.ts';
import { serviceClock } from '../db/frame/sandbox-clock.ts';
import { warnOfRole } from '../db/service-role.ts';
import { requireNameLists } from './compliance/name-lists.ts';
import { providerCalls, registry, sharedStatementFailures, workerMetricsText } from './frame/metrics.ts';
import { createProviders } from './providers/providers.ts';
import { startWorkers } from './worker.ts';

/** Draining takes at most 15 s; the starter kills the process a little later. */
const STOP_LIMIT_MS = 18_000;

async function main(): Promise<void> {
  const environment = readEnvironment(process.env);
  const configuration = loadConfiguration(process.env);
  await requireNameLists(configuration.complianceRules);
  const temporal = temporalSettings(process.env);
  const keyring = createKeyring(readEncryptionKeys(process.env));
  const metrics = await startMetricsServer(readMetricsAddress(process.env), workerMetricsText);
  const logger = pino({ level: environment.logLevel, base: { process: 'worker', pid: process.pid } });
  // Otherwise the SDK installs its own signal handlers and shuts down its workers unasked.
  Runtime.install({ shutdownSignals: [], logger: sdkLogger(logger) });

  warnOfPlainDatabase(process.env, logger);
  const database = createDatabase({
    url: environment.databaseUrl,
    maxConnections: configuration.pools.workerDatabaseConnections,
    applicationName: 'worker',
    onSharedFailure: reportSharedFailures(logger, sharedStatementFailures),
  });
  void warnOfRole(database, logger);
  const serviceNow = await serviceClock(database, environment, { now: () => new Date(), refuse });
  const calendars = watchCalendars({ calendars: configuration.calendars, logger, registry, now: serviceNow });
  const providers = createProviders(configuration, environment, providerCalls);
  const workers = startWorkers({
    temporal,
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
  });

  let stopping = false;
  const stop = async (signal: string): Promise<void> => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
    logger.info({ signal }, 'worker stops');
    calendars.stop();
    await workers.stop();
    await database.close();
    await metrics.close();
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      stop(signal).catch((error: unknown) => {
        logger.error({ error }, 'worker did not stop in order');
        process.exit(1);
      });
    });
  }
  await workers.ready;
  if (stopping) return;
  const { address, namespace } = temporal;
  logger.info({ temporal: address, namespace, metricsPort: metrics.port }, 'worker ready');
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

main().catch((error: unknown) => refuse(error instanceof Error ? error.message : String(error)));

function refuse(reason: string): never {
  console.error(`The worker cannot start: ${reason}`);
  process.exit(1);
}
