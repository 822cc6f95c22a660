import { type Logger, pino } from 'pino';
import { createDirectories } from '../activities/providers/directories/directories.ts';
import { createProviders } from '../activities/providers/providers.ts';
import { watchCalendars } from '../config/calendars/calendar-watch.ts';
import { type Configuration, loadConfiguration } from '../config/configuration.ts';
import { endIfOnlyChecking } from '../config/environment/check.ts';
import { readDirectoryTls } from '../config/environment/directory-tls.ts';
import { readEncryptionKeys } from '../config/environment/encryption-keys.ts';
import { stopOnSignals } from '../config/environment/signals.ts';
import { type Environment, readEnvironment, warnOfPlainDatabase } from '../config/environment.ts';
import { connectionWaits } from '../config/metrics/connection-waits.ts';
import { readMetricsAddress, startMetricsServer } from '../config/metrics/metrics-server.ts';
import { reportSharedFailures } from '../config/metrics/shared-failures.ts';
import { temporalSettings } from '../config/temporal.ts';
import { startTracing, stopTracing } from '../config/tracing/tracing.ts';
import { createDatabase } from '../db/client.ts';
import { createKeyring } from '../db/common/keyring.ts';
import { serviceClock } from '../db/common/sandbox-clock.ts';
import type { ReplicaOutcome } from '../db/postgres/replica.ts';
import type { Database } from '../db/query/database.ts';
import { rejectSharedSessions, warnOfRole } from '../db/service-role.ts';
import { backgroundLoops } from '../loops/loops.ts';
import { loopMetrics } from '../loops/metrics.ts';
import { lazyTemporalClient } from '../loops/temporal.ts';
import { createApi } from './app.ts';
import { showCertificateEnd } from './beneficiaries/directory-certificate.ts';
import { SecurityLog } from './http/connections/security-rejections.ts';
import { startServer } from './http/connections/server.ts';
import { providerCalls, registry, replicaReads, sharedStatementFailures, writesTotal } from './http/metrics.ts';
import type { Services } from './http/services.ts';
import { metricsText } from './metrics-text.ts';

const LOG_BUFFER_LENGTH = 8_192;
const LOG_FLUSH_INTERVAL_MS = 100;

async function main(): Promise<void> {
  const environment = readEnvironment(process.env);
  const keyring = createKeyring(readEncryptionKeys(process.env));
  const metricsAddress = readMetricsAddress(process.env);
  const directoryTls = readDirectoryTls(process.env);
  const configuration = loadConfiguration(process.env);
  await startTracing(process.env, 'api');
  const destination = bufferedOutput();
  const logger = pino({ level: environment.logLevel, base: { process: 'api', pid: process.pid } }, destination);
  warnOfPlainDatabase(process.env, logger);
  if (directoryTls.identity !== null) showCertificateEnd(directoryTls.identity.endsAt, logger, new Date());
  const database = openDatabase(environment, configuration.pools, logger);
  const serviceNow = await serviceClock(database, environment, { now: () => new Date(), reject });
  const temporal = lazyTemporalClient(temporalSettings(process.env));
  const loops = environment.apiRunsLoops
    ? await backgroundLoops({ database, client: temporal.client, configuration, keyring, logger, environment })
    : [];
  const services: Services = {
    database,
    configuration,
    environment,
    logger,
    securityLog: new SecurityLog(logger),
    keyring,
    providers: createProviders(configuration, { ...environment, database }, providerCalls),
    directories: createDirectories(configuration, { ...environment, directoryTls }, providerCalls),
    now: () => new Date(),
    serviceNow,
    isTemporalReachable: async () => {
      await temporal.connection.workflowService.getSystemInfo({});
      return true;
    },
  };
  const application = createApi(services);
  endIfOnlyChecking(process, 'The API');
  void rejectSharedSessions(database, reject);
  void warnOfRole(database, logger);
  const ofLoops = environment.apiRunsLoops ? loopMetrics : null;
  const metrics = await startMetricsServer(metricsAddress, metricsText(services, ofLoops));
  const { withoutTokenPerAddress } = configuration.connections;
  const server = await startServer(application, environment, {
    limits: { unauthenticatedPerAddressMax: withoutTokenPerAddress },
    onConnectionRejected: services.securityLog.connectionRejected,
  });
  const calendars = watchCalendars({ calendars: configuration.calendars, logger, registry, now: serviceNow });
  for (const loop of loops) loop.start();
  logger.info({ metricsPort: metrics.port, port: server.port }, 'api ready');
  destination.flush();

  stopOnSignals({
    process: 'api',
    logger,
    message: 'api stops',
    stop: async () => {
      calendars.stop();
      await server.drain();
      for (const loop of [...loops].reverse()) await loop.stop();
      await stopTracing();
      await temporal.close();
      await database.close();
      await metrics.close();
    },
    flush: () => destination.flushSync(),
  });
}

function openDatabase(
  { databaseUrl, databaseReadUrl: readUrl }: Environment,
  pools: Configuration['pools'],
  logger: Logger,
): Database {
  const replica =
    readUrl === null
      ? {}
      : { replica: { url: readUrl, onRead: (outcome: ReplicaOutcome) => replicaReads.inc({ outcome }) } };
  return createDatabase({
    url: databaseUrl,
    maxConnections: pools.apiDatabaseConnections,
    applicationName: 'api',
    lists: { maxConnections: pools.apiListConnections, ...replica },
    onSharedFailure: reportSharedFailures(logger, sharedStatementFailures),
    onWrite: (way) => writesTotal.inc({ way }),
    onConnectionWait: connectionWaits(registry, ['api', 'api-lists', ...(readUrl === null ? [] : ['api-replica'])]),
  });
}

/** Saves a system call per request. A kill loses only the last lines. */
function bufferedOutput() {
  const destination = pino.destination({ dest: 1, sync: false, minLength: LOG_BUFFER_LENGTH });
  setInterval(() => destination.flush(), LOG_FLUSH_INTERVAL_MS).unref();
  return destination;
}

main().catch((error: unknown) => reject(error instanceof Error ? error.message : String(error)));

function reject(reason: string): never {
  console.error(`The API cannot start: ${reason}`);
  process.exit(1);
}
