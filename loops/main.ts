import { pino } from 'pino';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { watchCalendars } from '../config/calendars/calendar-watch.ts';
import { loadConfiguration } from '../config/configuration.ts';
import { endIfOnlyChecking } from '../config/environment/check.ts';
import { readEncryptionKeys } from '../config/environment/encryption-keys.ts';
import { stopOnSignals } from '../config/environment/signals.ts';
import { readEnvironment, warnOfPlainDatabase } from '../config/environment.ts';
import { connectionWaits } from '../config/metrics/connection-waits.ts';
import { readMetricsAddress, startMetricsServer } from '../config/metrics/metrics-server.ts';
import { reportSharedFailures, sharedFailureCounter } from '../config/metrics/shared-failures.ts';
import { temporalSettings } from '../config/temporal.ts';
import { startTracing, stopTracing } from '../config/tracing/tracing.ts';
import { createDatabase } from '../db/client.ts';
import { createKeyring } from '../db/common/keyring.ts';
import { serviceClock } from '../db/common/sandbox-clock.ts';
import { rejectSharedSessions, warnOfRole } from '../db/service-role.ts';
import { backgroundLoops } from './loops.ts';
import { loopMetrics } from './metrics.ts';
import { lazyTemporalClient } from './temporal.ts';

/** Runs the loops on their own, for APIs with `API_LOOPS=off`. */

/** Admissions and the exchange with a bank use up to four connections, every other loop one, and LISTEN one. */
const DATABASE_CONNECTIONS = 14;

async function main(): Promise<void> {
  const environment = readEnvironment(process.env);
  const keyring = createKeyring(readEncryptionKeys(process.env));
  const configuration = loadConfiguration(process.env);
  await startTracing(process.env, 'loops');
  const logger = pino({ level: environment.logLevel, base: { process: 'loops', pid: process.pid } });
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  warnOfPlainDatabase(process.env, logger);
  const database = createDatabase({
    url: environment.databaseUrl,
    maxConnections: DATABASE_CONNECTIONS,
    applicationName: 'loops',
    onSharedFailure: reportSharedFailures(logger, sharedFailureCounter(registry)),
    onConnectionWait: connectionWaits(registry, ['loops']),
  });
  const serviceNow = await serviceClock(database, environment, { now: () => new Date(), reject });
  const temporal = lazyTemporalClient(temporalSettings(process.env));
  const loops = await backgroundLoops({
    database,
    client: temporal.client,
    configuration,
    keyring,
    logger,
    environment,
  });
  const metricsAddress = readMetricsAddress(process.env);
  endIfOnlyChecking(process, 'The loops');
  void rejectSharedSessions(database, reject);
  void warnOfRole(database, logger);
  const read = async () => ({
    text: (await registry.metrics()) + (await loopMetrics.metrics()),
    contentType: registry.contentType,
  });
  const metrics = await startMetricsServer(metricsAddress, read, () => true);
  const calendars = watchCalendars({ calendars: configuration.calendars, logger, registry, now: serviceNow });
  for (const loop of loops) loop.start();
  logger.info({ metricsPort: metrics.port }, 'loops ready');

  stopOnSignals({
    process: 'loops',
    logger,
    message: 'loops stop',
    stop: async () => {
      calendars.stop();
      for (const loop of [...loops].reverse()) await loop.stop();
      await stopTracing();
      await temporal.close();
      await database.close();
      await metrics.close();
    },
  });
}

main().catch((error: unknown) => reject(error instanceof Error ? error.message : String(error)));

function reject(reason: string): never {
  console.error(`The loops cannot start: ${reason}`);
  process.exit(1);
}
