import { Context } from '@temporalio/activity';

const HEARTBEAT_INTERVAL_MS = 2_500;

/**
 * Does something outside while telling Temporal that this worker lives, so that after a crash another goes on within
 * seconds. The signal is aborted when the worker shuts down or the workflow is gone; whatever is fetched must heed it.
 */
export async function whileHeartbeating<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(), HEARTBEAT_INTERVAL_MS);
  try {
    return await work(context.cancellationSignal);
  } finally {
    clearInterval(beat);
  }
}
