import { pino } from 'pino';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { watchCalendars } from '../config/calendars/calendar-watch.ts';
import { loadConfiguration } from '../config/configuration.ts';
import { readEncryptionKeys } from '../config/encryption-keys.ts';
import { readEnvironment, warnOfPlainDatabase } from '../config/environment.ts';
import { readMetricsAddress, startMetricsServer } from '../config/metrics/metrics-server.ts';
import { reportSharedFailures, sharedFailureCounter } from '../config/metrics/shared-failures.ts';
import { temporalSettings } from '../config/temporal.ts';
import { createDatabase } from '../db/driver/client.ts';
import { createKeyring } from '../db/frame/keyring.ts';
import { serviceClock } from '../db/frame/sandbox-clock.ts';
import { warnOfRole } from '../db/service-role.ts';
import { backgroundLoops } from './loops.ts';
import { loopMetrics } from './metrics.ts';
import { lazyTemporalClient } from './temporal.ts';

/** Runs the loops on their own, for APIs with `API_LOOPS=off`. */

/** A hanging step must not keep the process alive. */
const STOP_LIMIT_MS = 15_000;
/** Admissions use up to four connections, every other loop one, and LISTEN one. */
const DATABASE_CONNECTIONS = 10;

async function main(): Promise<void> {
  const environment = readEnvironment(process.env);
  const keyring = createKeyring(readEncryptionKeys(process.env));
  const configuration = loadConfiguration(process.env);
  const logger = pino({ level: environment.logLevel, base: { process: 'loops', pid: process.pid } });
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  warnOfPlainDatabase(process.env, logger);
  const database = createDatabase({
    url: environment.databaseUrl,
    maxConnections: DATABASE_CONNECTIONS,
    applicationName: 'loops',
    onSharedFailure: reportSharedFailures(logger, sharedFailureCounter(registry)),
  });
  void warnOfRole(database, logger);
  const serviceNow = await serviceClock(database, environment, { now: () => new Date(), refuse });
  const temporal = lazyTemporalClient(temporalSettings(process.env));
  const loops = backgroundLoops({ database, client: temporal.client, configuration, keyring, logger });
  const metrics = await startMetricsServer(readMetricsAddress(process.env), async () => ({
    text: (await registry.metrics()) + (await loopMetrics.metrics()),
    contentType: registry.contentType,
  }));
  const calendars = watchCalendars({ calendars: configuration.calendars, logger, registry, now: serviceNow });
  for (const loop of loops) loop.start();
  logger.info({ metricsPort: metrics.port }, 'loops ready');

  let stopping = false;
  const stop = async (signal: string): Promise<void> => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
    logger.info({ signal }, 'loops stop');
    calendars.stop();
    for (const loop of [...loops].reverse()) await loop.stop();
    await temporal.close();
    await database.close();
    await metrics.close();
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      stop(signal).catch((error: unknown) => {
        logger.error({ error: error instanceof Error ? error.name : 'unknown' }, 'loops did not stop in order');
        process.exit(1);
      });
    });
  }
}

main().catch((error: unknown) => refuse(error instanceof Error ? error.message : String(error)));

function refuse(reason: string): never {
  console.error(`The loops cannot start: ${reason}`);
  process.exit(1);
}
