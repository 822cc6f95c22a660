import type { Logger } from 'pino';
import { Counter, type Registry } from 'prom-client';

interface SharedFailure {
  readonly statement: string;
  readonly sqlState: string | null;
  readonly isNews: boolean;
}

/** After a failure each call is done on its own: correct but slow. This makes a statement that always fails visible. */
export function sharedFailureCounter(registry: Registry) {
  return new Counter({
    name: 'shared_statement_failures_total',
    help: 'Statements for several calls that failed as a whole; each call is then done by itself.',
    labelNames: ['statement', 'sqlstate'] as const,
    registers: [registry],
  });
}

/**
 * Counts failures of shared statements and logs the first of each kind once a minute, by name and SQLSTATE, without
 * data.
 */
export function reportSharedFailures(logger: Logger, counter: ReturnType<typeof sharedFailureCounter>) {
  return ({ statement, sqlState, isNews }: SharedFailure): void => {
    counter.labels(statement, sqlState ?? 'other').inc();
    if (isNews)
      logger.warn({ statement, sqlState }, 'a shared statement failed, and each of its calls is done on its own');
  };
}
