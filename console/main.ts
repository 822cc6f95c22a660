import { pino } from 'pino';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { createProviders } from '../activities/providers/providers.ts';
import { startServer } from '../api/http/connections/server.ts';
import { watchCalendars } from '../config/calendars/calendar-watch.ts';
import { loadConfiguration } from '../config/configuration.ts';
import { endIfOnlyChecking } from '../config/environment/check.ts';
import { readConsoleSettings } from '../config/environment/console.ts';
import { stopOnSignals } from '../config/environment/signals.ts';
import { readEnvironment, warnOfPlainDatabase } from '../config/environment.ts';
import { readMetricsAddress, startMetricsServer } from '../config/metrics/metrics-server.ts';
import { providerCallMetrics } from '../config/metrics/provider-calls.ts';
import { reportSharedFailures, sharedFailureCounter } from '../config/metrics/shared-failures.ts';
import { temporalSettings } from '../config/temporal.ts';
import { startTracing, stopTracing } from '../config/tracing/tracing.ts';
import { createDatabase } from '../db/client.ts';
import { serviceClock } from '../db/common/sandbox-clock.ts';
import { rejectSharedSessions, warnOfRole } from '../db/service-role.ts';
import { lazyTemporalClient } from '../loops/temporal.ts';
import { createConsole } from './app.tsx';
import { remedyListMetrics } from './approvals/metrics.ts';
import { remedyListRunner } from './approvals/runner.ts';

/** Few people use the console at once, and payments need the connections more. */
const DATABASE_CONNECTIONS = 6;
const LIST_CONNECTIONS = 3;

async function main(): Promise<void> {
  const environment = readEnvironment(process.env);
  const configuration = loadConfiguration(process.env);
  const settings = readConsoleSettings(process.env, configuration);
  const metricsAddress = readMetricsAddress(process.env);
  await startTracing(process.env, 'console');
  const logger = pino({ level: environment.logLevel, base: { process: 'console', pid: process.pid } });
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  warnOfPlainDatabase(process.env, logger);
  const database = createDatabase({
    url: environment.databaseUrl,
    maxConnections: DATABASE_CONNECTIONS,
    applicationName: 'console',
    lists: { maxConnections: LIST_CONNECTIONS },
    onSharedFailure: reportSharedFailures(logger, sharedFailureCounter(registry)),
  });
  // Of the calendars only: sign-ins and sessions go by real time.
  const serviceNow = await serviceClock(database, environment, { now: () => new Date(), reject });
  const temporal = lazyTemporalClient(temporalSettings(process.env));
  const providers = createProviders(configuration, { ...environment, database }, providerCallMetrics(registry));
  const services = { database, configuration, logger, settings, temporal, providers, now: () => new Date() };
  const app = createConsole(services);
  const remedyLists = remedyListRunner(services);
  endIfOnlyChecking(process, 'The console');
  void rejectSharedSessions(database, reject);
  void warnOfRole(database, logger);
  const metrics = await startMetricsServer(metricsAddress, async () => ({
    text: (await registry.metrics()) + (await remedyListMetrics.metrics()),
    contentType: registry.contentType,
  }));
  const server = await startServer(app, settings, {
    limits: { unauthenticatedPerAddressMax: configuration.connections.withoutTokenPerAddress },
    onConnectionRejected: (reason) => logger.warn({ reason }, 'a connection was rejected'),
    variables: { port: 'CONSOLE_PORT', host: 'CONSOLE_HOST' },
  });
  const calendars = watchCalendars({ calendars: configuration.calendars, logger, registry, now: serviceNow });
  remedyLists.start();
  logger.info({ metricsPort: metrics.port, port: server.port, url: settings.url }, 'console ready');

  stopOnSignals({
    process: 'console',
    logger,
    message: 'console stops',
    stop: async () => {
      calendars.stop();
      await server.drain();
      await remedyLists.stop();
      await stopTracing();
      await temporal.close();
      await database.close();
      await metrics.close();
    },
  });
}

main().catch((error: unknown) => reject(error instanceof Error ? error.message : String(error)));

function reject(reason: string): never {
  console.error(`The console cannot start: ${reason}`);
  process.exit(1);
}
