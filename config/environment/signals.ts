import type { Logger } from 'pino';

/** A hanging step must not keep the process alive: the starter kills it after 20 s. */
export const STOP_SECONDS_MAX = 15;

interface OrderlyStop {
  readonly process: 'api' | 'console' | 'loops' | 'worker';
  readonly logger: Pick<Logger, 'info' | 'error'>;
  /** What is logged with the signal, before anything is stopped. */
  readonly message: string;
  /** Longer than usual, where a single step may take that long. */
  readonly limitSeconds?: number;
  /** Each step in its order. */
  stop(): Promise<void>;
  /** Writes out what the logger still holds; called last. */
  readonly flush?: () => void;
}

/** Ends the process in order at SIGTERM or SIGINT, once, however many come; with status 1 if that fails or takes too long. */
export function stopOnSignals(orderly: OrderlyStop): { readonly isStopping: () => boolean } {
  const { process: name, logger, message, limitSeconds = STOP_SECONDS_MAX, stop, flush = () => {} } = orderly;
  let stopping = false;
  const end = async (signal: string): Promise<void> => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), limitSeconds * 1_000).unref();
    logger.info({ signal }, message);
    await stop();
    flush();
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      end(signal).catch((error: unknown) => {
        logger.error({ error: error instanceof Error ? error.name : 'unknown' }, `${name} did not stop in order`);
        flush();
        process.exit(1);
      });
    });
  }
  return { isStopping: () => stopping };
}
