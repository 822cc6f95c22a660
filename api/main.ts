import { type Logger, pino } from 'pino';
import { createDirectories } from '../activities/providers/directories.ts';
import { createProviders } from '../activities/providers/providers.ts';
import { watchCalendars } from '../config/calendars/calendar-watch.ts';
import { type Configuration, loadConfiguration } from '../config/configuration.ts';
import { readEncryptionKeys } from '../config/encryption-keys.ts';
import { readEnvironment, warnOfPlainDatabase } from '../config/environment.ts';
import { readMetricsAddress, startMetricsServer } from '../config/metrics/metrics-server.ts';
import { reportSharedFailures } from '../config/metrics/shared-failures.ts';
import { temporalSettings } from '../config/temporal.ts';
import { createDatabase, type Database } from '../db/driver/client.ts';
import { createKeyring } from '../db/frame/keyring.ts';
import { serviceClock } from '../db/frame/sandbox-clock.ts';
import { warnOfRole } from '../db/service-role.ts';
import { backgroundLoops } from '../loops/loops.ts';
import { loopMetrics } from '../loops/metrics.ts';
import { lazyTemporalClient } from '../loops/temporal.ts';
import { createApi } from './app.ts';
import { SecurityLog } from './frame/connections/security-refusals.ts';
import { startServer } from './frame/connections/server.ts';
import { providerCalls, registry, sharedStatementFailures, writesTotal } from './frame/metrics.ts';
import type { Services } from './frame/services.ts';
import { metricsText } from './metrics-text.ts';

/** A hanging drain must not keep the process alive: the starter kills what is left after 20 s. */
const STOP_LIMIT_MS = 15_000;

const LOG_BUFFER_LENGTH = 8_192;
const LOG_FLUSH_INTERVAL_MS = 100;

async function main(): Promise<void> {
  const environment = readEnvironment(process.env);
  const keyring = createKeyring(readEncryptionKeys(process.env));
  const metricsAddress = readMetricsAddress(process.env);
  const configuration = loadConfiguration(process.env);
  const destination = bufferedOutput();
  const logger = pino({ level: environment.logLevel, base: { process: 'api', pid: process.pid } }, destination);
  warnOfPlainDatabase(process.env, logger);
  const database = openDatabase(environment.databaseUrl, configuration.pools, logger);
  void warnOfRole(database, logger);
  const serviceNow = await serviceClock(database, environment, { now: () => new Date(), refuse });
  const temporal = lazyTemporalClient(temporalSettings(process.env));
  const loops = environment.apiRunsLoops
    ? backgroundLoops({ database, client: temporal.client, configuration, keyring, logger })
    : [];
  const services: Services = {
    database,
    configuration,
    environment,
    logger,
    securityLog: new SecurityLog(logger),
    keyring,
    providers: createProviders(configuration, environment, providerCalls),
    directories: createDirectories(configuration, environment, providerCalls),
    now: () => new Date(),
    serviceNow,
    isTemporalReachable: async () => {
      await temporal.connection.workflowService.getSystemInfo({});
      return true;
    },
  };
  const metrics = await startMetricsServer(
    metricsAddress,
    metricsText(services, environment.apiRunsLoops ? loopMetrics : null),
  );
  const { withoutTokenPerAddress } = configuration.connections;
  const server = await startServer(createApi(services), environment, {
    limits: { strangersPerAddressMax: withoutTokenPerAddress },
    onConnectionRefused: services.securityLog.connectionRefused,
  });
  const calendars = watchCalendars({ calendars: configuration.calendars, logger, registry, now: serviceNow });
  for (const loop of loops) loop.start();
  logger.info({ metricsPort: metrics.port, port: server.port }, 'api ready');
  destination.flush();

  let stopping = false;
  const stop = async (signal: string): Promise<void> => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
    logger.info({ signal }, 'api stops');
    calendars.stop();
    await server.drain();
    for (const loop of [...loops].reverse()) await loop.stop();
    await temporal.close();
    await database.close();
    await metrics.close();
    destination.flushSync();
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      stop(signal).catch((error: unknown) => {
        logger.error({ error: error instanceof Error ? error.name : 'unknown' }, 'api did not stop in order');
        destination.flushSync();
        process.exit(1);
      });
    });
  }
}

function openDatabase(url: string, pools: Configuration['pools'], logger: Logger): Database {
  return createDatabase({
    url,
    maxConnections: pools.apiDatabaseConnections,
    applicationName: 'api',
    lists: { maxConnections: pools.apiListConnections },
    onSharedFailure: reportSharedFailures(logger, sharedStatementFailures),
    onWrite: (transaction) => writesTotal.inc({ transaction }),
  });
}

/** Saves a system call per request. A kill loses only the last lines. */
function bufferedOutput() {
  const destination = pino.destination({ dest: 1, sync: false, minLength: LOG_BUFFER_LENGTH });
  setInterval(() => destination.flush(), LOG_FLUSH_INTERVAL_MS).unref();
  return destination;
}

main().catch((error: unknown) => refuse(error instanceof Error ? error.message : String(error)));

function refuse(reason: string): never {
  console.error(`The API cannot start: ${reason}`);
  process.exit(1);
}
